// What the pages are like to use: by keyboard, in the dark, on a phone, read aloud, and with nothing from elsewhere.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { everybody, Person } from "./browser.mjs";
import { faint, overflow } from "./looks.mjs";
import { play } from "./play.mjs";

/** Runs a test on a device. */
const onDevice = (run, options) => play(async (homework) => run(homework, await homework.device(options)));

/** Pages with much on them: states of all kinds, requests, and bookings. */
async function busy(homework, device) {
  const tab = await homework.open(device);
  const [student, teacher, parent] = everybody(tab);
  await student.turn("lost-answer");
  await parent.turn("logged-out");
  await parent.press();
  await parent.is("failed");
  await student.press();
  await student.is("unknown");
  await homework.allDone(teacher);
  return tab;
}

describe("the keyboard alone", () => {
  it("turns faults on, hands it in, and turns them off", onDevice(async (homework, device) => {
    const tab = await homework.open(device);
    const [student, teacher, parent] = everybody(tab);
    const reach = async (target) => {
      for (let presses = 0; presses < 60; presses++) {
        if (await target.evaluate((element) => element === document.activeElement)) {
          const outline = await target.evaluate((element) => getComputedStyle(element).outlineStyle);
          assert.notEqual(outline, "none", "expected what has the focus to show it");
          return;
        }
        await tab.keyboard.press("Tab");
      }
      assert.fail(`expected the Tab key to lead to ${target}`);
    };
    await reach(student.switch("lost-answer"));
    await tab.keyboard.press("Space");
    await homework.on(student, "lost-answer");
    await tab.keyboard.press("Shift+Tab");
    await reach(student.button);
    await tab.keyboard.press("Enter");
    await student.is("unknown");
    await reach(student.switch("lost-answer"));
    await tab.keyboard.press("Space");
    await homework.allDone(student, teacher, parent);
  }));
});

for (const colorScheme of ["light", "dark"]) {
  describe(`in a ${colorScheme} room`, () => {
    for (const about of [{}, { mode: "old" }]) {
      it(`every text is readable, ${about.mode ? "without" : "with"} taskonce`, onDevice(
        async (homework, device) => {
          const tab = about.mode ? await homework.open(device, "", about) : await busy(homework, device);
          const ground = await tab.evaluate(() => getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number));
          assert.equal(ground[0] < 128, colorScheme === "dark", `expected a ${colorScheme} ground, and it is rgb(${ground})`);
          assert.deepEqual(await tab.evaluate(faint), [], "expected a contrast of 4.5 at least (WCAG 2.2, 1.4.3)");
        },
        { colorScheme },
      ));
    }
  });
}

describe("a window of 360 px", () => {
  it("has nothing beside it", onDevice(
    async (homework, device) => {
      const tab = await busy(homework, device);
      assert.deepEqual(await tab.evaluate(overflow), []);
      for (const [path, about] of [["", { mode: "old" }], ["student", {}], ["teacher", {}]]) {
        assert.deepEqual(await (await homework.open(device, path, about)).evaluate(overflow), [], `on /${path}`);
      }
    },
    { viewport: { width: 360, height: 740 } },
  ));
});

describe("a page", () => {
  it("is told aloud, and each thing on it has a name", onDevice(async (homework, device) => {
    const tab = await homework.open(device);
    for (const { root, button } of everybody(tab)) {
      assert.equal(await root.getByRole("status").count(), 1);
      assert.match(await root.getByRole("status").textContent(), /Not handed in/);
      assert.notEqual(await button.textContent(), "");
      assert.equal(await root.getByRole("switch").count(), 6);
    }
    assert.equal(await tab.getByRole("heading", { level: 1 }).count(), 1);
  }));

  it("needs nothing from elsewhere, and breaks none of its own rules", onDevice(async (homework, device) => {
    const wrong = [];
    device.on("request", (request) => request.url().startsWith(process.env.SCHOOL) || wrong.push(request.url()));
    device.on("console", (message) => message.type() === "error" && !message.location().url.includes("/networks/") && wrong.push(message.text()));
    device.on("weberror", (error) => wrong.push(String(error.error())));
    const tab = await busy(homework, device);
    const policy = (await tab.request.get(`${process.env.SCHOOL}/`)).headers()["content-security-policy"];
    assert.match(policy, /default-src 'none'/);
    assert.doesNotMatch(policy, /unsafe|\*|https?:/);
    const alone = new Person(await homework.open(device, "student"), "student");
    await alone.is("unknown"); // another tab of this browser has sent it
    assert.deepEqual(wrong, []);
  }));
});
