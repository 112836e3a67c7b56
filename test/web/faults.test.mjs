// Each fault of the example's page, asserted to have been injected: with taskonce one effect, without it more.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { eventually, everybody } from "./browser.mjs";
import { play } from "./play.mjs";

/** Runs a test on the page with all three. */
const onAll = (about, run) =>
  play(async (homework) => {
    const tab = await homework.open(await homework.device(), "", about);
    await run(homework, ...everybody(tab), tab);
  });

const impatient = { patience: 1000 };

describe("with taskonce there is one effect, and every page says so", () => {
  it("without any fault", onAll({}, async (homework, student, teacher, parent) => {
    assert.deepEqual([await student.state(), await teacher.state(), await parent.state()], ["idle", "idle", "idle"]);
    await student.press();
    await homework.allDone(student, teacher, parent);
  }));

  it("when answers are lost", onAll({}, async (homework, student, teacher, parent) => {
    await student.turn("lost-answer");
    await student.press();
    await student.is("unknown");
    await homework.allDone(teacher, parent); // they know already
    await student.is("unknown");
    await homework.injected(student, "lost-answer");
    await student.turn("lost-answer");
    await homework.allDone(student, teacher, parent);
  }));

  it("when answers are slow", onAll(impatient, async (homework, student, teacher, parent) => {
    await student.turn("slow");
    await student.press();
    await homework.allDone(student, teacher, parent);
    assert.ok((await student.passed()).includes("unknown"), `expected the page to have said unknown, and it said ${await student.passed()}`);
    await homework.injected(student, "slow");
  }));

  it("when the network is away", onAll({}, async (homework, student, teacher, parent) => {
    await student.turn("offline");
    await student.press();
    await student.is("unknown");
    assert.deepEqual([await teacher.state(), await parent.state(), await homework.effects()], ["idle", "idle", []]);
    await homework.injected(student, "offline");
    await student.turn("offline");
    await homework.allDone(student, teacher, parent);
  }));

  it("when the session has ended", onAll({}, async (homework, student, teacher, parent) => {
    await student.turn("logged-out");
    await student.press();
    await student.is("failed");
    assert.deepEqual([await teacher.state(), await homework.effects()], ["idle", []]);
    await homework.injected(student, "logged-out");
    await teacher.press();
    await homework.allDone(teacher, parent);
    assert.equal(await student.state(), "failed"); // and nobody tells it more
    await student.turn("logged-out");
    await homework.allDone(student, teacher, parent); // it has read on
    assert.equal(homework.sent(student), 1);
  }));

  it("when the button is clicked twice", onAll({}, async (homework, student, teacher, parent) => {
    await student.turn("double-click");
    await student.press();
    await homework.allDone(student, teacher, parent);
    assert.equal(homework.sent(student), 1);
    await eventually("the double clicks that the page counted", () => student.switch("double-click").getAttribute("data-injected"), "1");
  }));

  it("when it is sent from two tabs", onAll({}, async (homework, student, teacher, parent, tab) => {
    await student.turn("two-tabs");
    await tab.locator('[data-page="student"] .tab[data-ready]').waitFor();
    await student.press();
    await homework.allDone(student, teacher, parent);
    await eventually("the presses in the second tab", () => student.switch("two-tabs").getAttribute("data-injected"), "1");
    const second = tab.frameLocator('[data-page="student"] iframe').locator("[data-page]");
    await eventually("the second tab", () => second.getAttribute("data-receipt"), await student.root.getAttribute("data-receipt"));
  }));
});

describe("without taskonce there is more than one, and this test sees it", () => {
  const planted = {
    "lost-answer": async (student) => student.press(),
    slow: async (student) => student.press(),
    "double-click": async (student) => student.press(),
    "two-tabs": async (student, tab) => {
      await tab.locator('[data-page="student"] .tab[data-ready]').waitFor();
      await student.press();
    },
  };
  for (const [fault, press] of Object.entries(planted)) {
    it(fault, onAll({ mode: "old", ...impatient }, async (homework, student, _teacher, _parent, tab) => {
      await student.turn(fault);
      await press(student, tab);
      await eventually("whether it was booked twice at least", async () => (await homework.effects()).length >= 2, true);
      await assert.rejects(homework.oneEffect(), /expected one effect/);
      await eventually("the ledger's verdict", async () => (await tab.locator(".verdict").textContent()).endsWith("!"), true);
    }));
  }
});
