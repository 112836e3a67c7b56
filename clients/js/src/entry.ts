import type { Payload } from "./action.js";
import { prepare, same } from "./action.js";
import type { View } from "./view.js";
import { isView, newer, standsFor } from "./view.js";

/**
 * How far a submission has come.
 *
 * - idle: nothing was sent, or nothing of what was sent can have been created
 * - submitting: a request is under way
 * - unknown: an answer was lost: it may have been created
 * - submitted: it is there; its phase says what came of it
 * - failed: it was refused, and nothing was created
 */
export type State = (typeof states)[number];

const states = ["idle", "submitting", "unknown", "submitted", "failed"] as const;

/** What is known of one submission. What is submitted has a view, and nothing else has. */
export interface Entry {
  action: Payload;
  state: State;
  /** Some answer was lost, so no later refusal says that nothing was created. */
  doubt: boolean;
  /** When it was sent, in milliseconds: the first time of those that are in doubt. */
  sentAt?: number;
  view?: View;
}

/** What changes an entry. */
export type Step =
  /** A request leaves. */
  | { is: "sends"; at: number }
  /** It is there. */
  | { is: "there"; view: View }
  /** A request was not looked at. */
  | { is: "busy" }
  /** A request was refused. */
  | { is: "refused" }
  /** Nobody can tell what a request did, or whether the one that another page began is still under way. */
  | { is: "lost" }
  /** It was there, and no longer is. */
  | { is: "gone" };

/** Of an action nothing is known. */
export function fresh(action: Payload): Entry {
  return { action, state: "idle", doubt: false };
}

/** Something was kept of an action, so something may have been sent, and what it was cannot be read. */
export function unreadable(action: Payload): Entry {
  return { action, state: "unknown", doubt: true };
}

/** Returns what is kept where there is no room for the view: enough to have it asked for. */
export function withoutView({ view, ...rest }: Entry): Entry {
  return view ? { ...rest, state: "unknown", doubt: true } : rest;
}

/**
 * Returns what is known after a step. What is submitted stays so, whatever becomes of other requests, until it is gone; and
 * doubt ends only when it is there.
 */
export function after(known: Entry, step: Step): Entry {
  if (known.state === "submitted" && step.is !== "there" && step.is !== "gone") {
    return known;
  }
  const { view, ...kept } = known;
  switch (step.is) {
    case "sends":
      return { ...kept, state: "submitting", ...(!known.doubt && { sentAt: step.at }) };
    case "there":
      return { ...kept, state: "submitted", doubt: false, view: newer(view, step.view) };
    case "busy":
      return { ...kept, state: known.doubt ? "unknown" : "idle" };
    case "refused":
      return { ...kept, state: known.doubt ? "unknown" : "failed" };
    case "lost":
    case "gone":
      return { ...kept, state: "unknown", doubt: true };
  }
}

/** Returns what is known after another tab has told what it knows. Neither an outcome nor a doubt is talked away. */
export function learned(known: Entry, told: Entry): Entry {
  if (told.state === "submitted") {
    return { ...told, view: newer(known.view, told.view as View) };
  }
  if (known.state === "submitted") {
    return known;
  }
  if (!known.doubt) {
    return told;
  }
  const sent = [known, told].filter(mayBeThere).map((entry) => entry.sentAt ?? 0);
  return { ...told, state: told.state === "submitting" ? "submitting" : "unknown", doubt: true, sentAt: Math.min(...sent) };
}

/** Says whether something of it may have been created. */
export function mayBeThere({ state, doubt }: Entry): boolean {
  return doubt || (state !== "idle" && state !== "failed");
}

/** Says whether something that was kept, or told by another tab, is what this version knows of a key. */
export function isEntry(value: unknown, key: string): value is Entry {
  try {
    const { action, state, doubt, sentAt, view } = value as Entry;
    return action.key === key && same(prepare(action), action) && states.includes(state) && typeof doubt === "boolean" && ["number", "undefined"].includes(typeof sentAt) && (state === "submitted" ? isView(view) && standsFor(view, action) : view === undefined);
  } catch {
    return false;
  }
}
