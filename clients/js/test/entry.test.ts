import { describe, expect, it } from "vitest";
import { after, type Entry, isEntry, learned, type State, type Step } from "../src/entry.js";
import type { View } from "../src/index.js";
import { action } from "./gateway.js";

const view: View = { name: "name", idempotencyKey: action.key, template: action.template, parameters: action.parameters, phase: "Processing", reason: "Executing" };
const success: View = { ...view, phase: "Success", reason: "Applied" };

function entry(state: State, doubt: boolean, more: Partial<Entry> = {}): Entry {
  return { action, state, doubt, sentAt: 7, ...more };
}

/** All that can be known. */
const entries = [entry("idle", false), entry("submitting", false), entry("submitting", true), entry("unknown", true), entry("failed", false), entry("submitted", false, { view }), entry("submitted", false, { view: success })];
const steps: Step[] = [{ is: "sends", at: 9 }, { is: "there", view }, { is: "busy" }, { is: "refused" }, { is: "lost" }, { is: "gone" }];

const name = ({ state, doubt, view: seen }: Entry): string => `${state}${doubt ? ", in doubt" : ""}${seen ? `, ${seen.phase}` : ""}`;
const walks = entries.flatMap((known) => steps.map((step): [string, string, Entry, Step] => [name(known), step.is, known, step]));
const tales = entries.flatMap((known) => entries.map((told): [string, string, Entry, Entry] => [name(known), name(told), known, told]));

describe("after a step", () => {
  it.each(walks)("%s: %s", (_, __, known, step) => {
    const next = after(known, step);
    expect(entries.map(name)).toContain(name(next));
    if (known.state === "submitted" && step.is !== "gone") {
      expect(next.state, "what is there stays there").toBe("submitted");
    }
    if (known.doubt && next.state !== "submitted") {
      expect([next.doubt, next.sentAt], "doubt ends only when it is there, and is as old as it was").toEqual([true, 7]);
    }
    if (known.view?.phase === "Success" && next.view) {
      expect(next.view, "what succeeded stays so").toEqual(success);
    }
    expect(next.state === "submitted", "it is there when it was seen, and only then").toBe(step.is === "there" || (known.state === "submitted" && step.is !== "gone"));
    expect(isEntry(JSON.parse(JSON.stringify(next)), action.key), "it can be read again").toBe(true);
  });

  it.each<[State, boolean, Step["is"], State]>([
    ["submitting", false, "busy", "idle"],
    ["submitting", true, "busy", "unknown"],
    ["submitting", false, "refused", "failed"],
    ["submitting", true, "refused", "unknown"],
    ["submitting", false, "lost", "unknown"],
    ["unknown", true, "sends", "submitting"],
  ])("%s, in doubt: %s, %s: %s", (state, doubt, is, next) => expect(after(entry(state, doubt), steps.find((step) => step.is === is) as Step).state).toBe(next));
});

describe("what another tab tells", () => {
  it.each(tales)("%s, told: %s", (_, __, known, told) => {
    const next = learned(known, told);
    expect(entries.map(name)).toContain(name(next));
    const there = [known, told].some(({ state }) => state === "submitted");
    expect(next.state === "submitted", "one who has seen it is enough").toBe(there);
    if (!there) {
      expect(next.doubt, "so is one who doubts").toBe(known.doubt || told.doubt);
    }
    if ([known, told].some((one) => one.view?.phase === "Success")) {
      expect(next.view).toEqual(success);
    }
    expect(isEntry(JSON.parse(JSON.stringify(next)), action.key), "it can be read again").toBe(true);
  });

  it.each<[string, number | undefined, number | undefined, number]>([
    ["the other one later", 7, 9, 7],
    ["the other one earlier", 9, 7, 7],
    ["nobody knows when", undefined, 9, 0],
    ["the other one does not know when", 9, undefined, 0],
  ])("is in doubt since the first was sent: %s", (_, mine, others, since) => {
    const sent = (sentAt: number | undefined): Entry => ({ action, state: "unknown", doubt: true, ...(sentAt !== undefined && { sentAt }) });
    expect(learned(sent(mine), sent(others)).sentAt).toBe(since);
  });
});
