import type { JSONValue, Payload } from "./action.js";
import { same } from "./action.js";
import type { ServerEvent } from "./sse.js";

/** Where a submission stands: Success: it happened, once. Failed: it certainly did not happen, unless a person has it retried. */
export type Phase = "Pending" | "Processing" | "Success" | "Failed";

/** A submission as the gateway shows it. */
export interface View {
  name: string;
  idempotencyKey: string;
  template: string;
  parameters: { [name: string]: JSONValue };
  phase: Phase;
  /** Why it is in this phase, in one word from a closed list. */
  reason: string;
  /** The same for a person, in one sentence. */
  message?: string;
  attempts?: number;
  /** What the effect returned. */
  result?: JSONValue;
  resultDigest?: string;
  /** The submission whose result this is, where another one was first for the same business key. */
  duplicateOf?: string;
  /** An earlier submission of this key had the outcome already. */
  replayed?: boolean;
  startedAt?: string;
  completedAt?: string;
}

/** What is wrong, as RFC 9457 says it. Its types are listed in docs/errors.md. */
export interface Problem {
  type: string;
  title?: string;
  status?: number;
  detail?: string;
  /** The submission that it speaks of, where there is one. */
  submission?: View;
}

/** What every type of a problem begins with. */
export const problemTypes = "https://taskonce.dev/problems/";

/** Says whether nothing more happens by itself: a person may have one that failed retried. */
export function finished(view: View | undefined): boolean {
  return view?.phase === "Success" || view?.phase === "Failed";
}

/** Returns the newer of two views of one key. Success never changes, so what else is seen after it is older. */
export function newer(known: View | undefined, seen: View): View {
  return known?.phase === "Success" && seen.phase !== "Success" ? known : seen;
}

/** Says whether a submission that is there stands for an action. */
export function standsFor(view: View, action: Payload): boolean {
  return view.idempotencyKey === action.key && view.template === action.template && same(view.parameters, action.parameters);
}

const inputReasons = ["InvalidName", "InvalidParameters", "KeyMismatch", "KeyReused"];

/** Says whether it failed for its own input: nothing ran, and its key is not used up. */
export function failedAtTheDoor(view: View): boolean {
  return view.phase === "Failed" && inputReasons.includes(view.reason);
}

/** Says whether its key is certainly its own: not that of one that failed at the door, nor of one that nobody has looked at. */
export function holdsItsKey(view: View): boolean {
  return !failedAtTheDoor(view) && view.reason !== "";
}

/** Says whether something that came over the network is a submission. */
export function isView(value: unknown): value is View {
  const view = value as Partial<View> | null;
  return typeof view === "object" && view !== null && typeof view.name === "string" && typeof view.idempotencyKey === "string" && typeof view.phase === "string" && typeof view.parameters === "object";
}

/** Returns the submission that an event shows, where it shows one. */
export function viewOf(event: ServerEvent): View | undefined {
  try {
    const view: unknown = event.type === "submission" ? JSON.parse(event.data) : undefined;
    return isView(view) ? view : undefined;
  } catch {
    return undefined;
  }
}
