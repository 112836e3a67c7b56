// What waits for a person, maybe for days, is not shown as being under way.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { everybody, eventually } from "./browser.mjs";
import { play } from "./play.mjs";

/** What is waited for, by template: the page's title and phase, what its text says, and the effects in the ledger. */
const waits = {
  "award-homework-cut": { title: "Nobody can tell yet", phase: "Processing", says: /^It may have been applied, and nobody can tell: .* make a TaskDecision/, effects: 1 },
  "award-homework-approved": { title: "Waits for approval", phase: "Pending", says: /^It waits for a TaskDecision with action Approve/, effects: 0 },
};

describe("what waits for a person", () => {
  for (const [template, { title, phase, says, effects }] of Object.entries(waits)) {
    it(`says so on every page, and what that person can do: ${template}`, play(async (homework) => {
      const people = everybody(await homework.open(await homework.device(), "", { template }));
      await people[0].press();
      for (const person of people) {
        const state = person.root.locator(".state");
        await eventually(`the title on the page of the ${person.who}`, () => state.locator("strong").textContent(), title);
        assert.deepEqual(await person.outcome(), ["submitted", phase, ""]);
        assert.match(await state.locator("span").textContent(), says);
      }
      assert.deepEqual([(await homework.effects()).length, ...people.map((person) => homework.sent(person))], [effects, 1, 0, 0]);
    }));
  }
});
