import { halfPair, keyFault } from "./key.js";

/** What JSON can say. */
export type JSONValue = null | boolean | number | string | JSONValue[] | { [name: string]: JSONValue };

/** One business action. The same action, tried again, has the same key, template and parameters. */
export interface Action {
  /** The client's name for the action; buildKey makes one from parts. */
  key: string;
  /** The name of the TaskTemplate. */
  template: string;
  /** What the template's expressions see as params. */
  parameters?: { [name: string]: JSONValue };
}

/** An action that was checked, with parameters as they are sent. */
export type Payload = Required<Action>;

/** Says that an action can be sent by nobody: the same one fails the same way everywhere. Nothing was sent. */
export class ActionError extends Error {
  override name = "ActionError";
}

/** Checks an action, and returns it with parameters that nobody changes afterwards. */
export function prepare(action: Action): Payload {
  const fault = keyFault(action.key);
  if (fault !== undefined) {
    throw new ActionError(fault);
  }
  if (!action.template) {
    throw new ActionError("the name of the template is missing");
  }
  refuseWhatIsLost(action.template, "template");
  const written = action.parameters ?? {};
  refuseWhatIsLost(written, "parameters");
  return { key: action.key, template: action.template, parameters: JSON.parse(JSON.stringify(written)) };
}

/** Refuses what becomes another value on its way: numbers in JSON or a double, and halves of surrogate pairs in UTF-8. */
function refuseWhatIsLost(value: unknown, path: string): void {
  if (typeof value === "bigint" || (typeof value === "number" && (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))))) {
    throw new ActionError(`${path}: the number ${value} cannot be told exactly: write it as a string`);
  }
  if (typeof value === "string" && halfPair.test(value)) {
    throw new ActionError(`${path}: the string has half of a surrogate pair, as where text was cut inside an emoji`);
  }
  if (typeof value === "object" && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      if (halfPair.test(name)) {
        throw new ActionError(`${path}: the name ${JSON.stringify(name)} has half of a surrogate pair`);
      }
      refuseWhatIsLost(member, `${path}.${name}`);
    }
  }
}

/** Says whether two JSON values are the same, whatever the order of their members. */
export function same(a: unknown, b: unknown): boolean {
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) {
    return a === b;
  }
  const [left, right] = [Object.entries(a), Object.entries(b)];
  return Array.isArray(a) === Array.isArray(b) && left.length === right.length && left.every(([name, member]) => Object.hasOwn(b, name) && same(member, (b as Record<string, unknown>)[name]));
}
