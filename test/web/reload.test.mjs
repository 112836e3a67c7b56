// A page that is loaded anew goes on where it was, whatever state that was.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Person } from "./browser.mjs";
import { play } from "./play.mjs";

/** Each state, how a page gets into it, how it gets out of it, and how often it has sent it by then. */
const states = {
  submitting: { about: { patience: 3_600_000 }, fault: "slow", leaves: async () => {}, sent: 1 },
  unknown: { about: {}, fault: "lost-answer", leaves: (student) => student.turn("lost-answer"), sent: 1 },
  submitted: { about: {}, fault: undefined, leaves: async () => {}, sent: 1 },
  failed: {
    about: {},
    fault: "logged-out",
    leaves: async (student) => {
      await student.turn("logged-out");
      await student.press();
    },
    sent: 2, // the first one was refused
  },
};

describe("a page that is loaded anew", () => {
  for (const [state, { about, fault, leaves, sent }] of Object.entries(states)) {
    it(`goes on when it was ${state}`, play(async (homework) => {
      const tab = await homework.open(await homework.device(), "student", about);
      const student = new Person(tab, "student");
      if (fault) {
        await student.turn(fault);
      }
      await student.press();
      await student.is(state);
      if (fault) {
        await homework.injected(student, fault);
      }
      await tab.reload();
      await student.root.waitFor();
      // What is under way when a page is left is cut: it may say so before it is gone.
      const [begins] = await student.passed();
      assert.ok(begins === state || (state === "submitting" && begins === "unknown"), `expected the page to begin as ${state}, and it began as ${begins}`);
      await leaves(student);
      const teacher = new Person(await homework.open(await homework.device(), "teacher"), "teacher");
      await homework.allDone(student, teacher);
      assert.deepEqual([homework.sent(student), homework.sent(teacher)], [sent, 0]);
    }));
  }

  it("reads on when nothing was sent", play(async (homework) => {
    const student = new Person(await homework.open(await homework.device(), "student"), "student");
    await student.tab.reload();
    await student.is("idle");
    const parent = new Person(await homework.open(await homework.device(), "parent"), "parent");
    await parent.press();
    await homework.allDone(student, parent);
    assert.deepEqual([homework.sent(student), homework.sent(parent)], [0, 1]);
  }));
});
