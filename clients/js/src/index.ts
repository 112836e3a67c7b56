export { type Action, ActionError, type JSONValue } from "./action.js";
export { Client, type ClientOptions } from "./client.js";
export { GoneError, OtherActionError, RefusedError, UnknownError } from "./errors.js";
export type { GatewayOptions } from "./gateway.js";
export { type KeyValueStore, MemoryStore, type State, StorageError } from "./journal.js";
export { buildKey, keyFault } from "./key.js";
export type { Submission, Waiting } from "./submission.js";
export { finished, type Phase, type Problem, type View } from "./view.js";
