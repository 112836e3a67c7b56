// Tabs, devices and people that meet at one key, and a browser that is really offline.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import { everybody, eventually, Person } from "./browser.mjs";
import { play } from "./play.mjs";

const open = async (homework, device, who) => new Person(await homework.open(device, who), who);

describe("two tabs of one browser", () => {
  it("show the same states, also what one of them does not know", play(async (homework) => {
    const device = await homework.device();
    const [one, two] = [await open(homework, device, "student"), await open(homework, device, "student")];
    await one.turn("lost-answer");
    await one.press();
    await one.is("unknown");
    await two.is("unknown");
    await one.turn("lost-answer");
    await homework.allDone(one, two);
  }));

  it("go on for one that was closed", play(async (homework) => {
    const device = await homework.device();
    const one = await open(homework, device, "student");
    await one.turn("lost-answer");
    await one.press();
    await one.is("unknown");
    await one.tab.close();
    const two = await open(homework, device, "student");
    assert.equal((await two.passed())[0], "unknown");
    await two.turn("lost-answer");
    await homework.allDone(two);
  }));

  it("send it at the same moment", play(async (homework) => {
    const device = await homework.device();
    const tabs = [await open(homework, device, "student"), await open(homework, device, "student")];
    await Promise.all(tabs.map((tab) => tab.press()));
    await homework.allDone(...tabs);
  }));
});

describe("two devices", () => {
  it("send it at the same moment, and are told the same", play(async (homework) => {
    const devices = [];
    for (const device of [await homework.device(), await homework.device()]) {
      devices.push(await open(homework, device, "student"));
    }
    await Promise.all(devices.map((device) => device.press()));
    await homework.allDone(...devices);
  }));

  it("of three people are told the same", play(async (homework) => {
    const people = [];
    for (const who of ["student", "teacher", "parent"]) {
      people.push(await open(homework, await homework.device(), who));
    }
    await Promise.all(people.map((person) => person.press()));
    await homework.allDone(...people);
  }));
});

describe("a browser that is offline, and then online", () => {
  it("sends it once it can", play(async (homework) => {
    const device = await homework.device();
    const student = await open(homework, device, "student");
    await device.setOffline(true);
    await student.press();
    await student.is("unknown");
    assert.deepEqual(await homework.effects(), []);
    await device.setOffline(false);
    await homework.allDone(student);
  }));

  it("does not send again what had arrived", play(async (homework) => {
    const device = await homework.device();
    const [student, teacher] = [await open(homework, device, "student"), await open(homework, await homework.device(), "teacher")];
    await student.turn("lost-answer");
    await student.press();
    await homework.allDone(teacher);
    await device.setOffline(true);
    await student.is("unknown");
    await homework.heal(student);
    await device.setOffline(false);
    await homework.allDone(student, teacher);
    assert.deepEqual([homework.sent(student), homework.sent(teacher)], [1, 0]);
  }));
});

describe("a phone that slept", () => {
  it("goes on when it wakes up", play(async (homework) => {
    const device = await homework.device();
    const student = await open(homework, device, "student");
    await student.turn("lost-answer");
    await student.press();
    await student.is("unknown");
    const phone = await device.newCDPSession(student.tab);
    await phone.send("Page.setWebLifecycleState", { state: "frozen" });
    await homework.heal(student);
    const teacher = await open(homework, await homework.device(), "teacher");
    await homework.allDone(teacher);
    await phone.send("Page.setWebLifecycleState", { state: "active" });
    await homework.allDone(student);
  }));
});

describe("what takes long", () => {
  it("is followed by every page, also by one whose connection was cut", play(async (homework) => {
    const about = { template: "award-homework-later", patience: 60_000 };
    const people = [];
    for (const who of ["student", "teacher", "parent"]) {
      people.push(new Person(await homework.open(await homework.device(), who, about), who));
    }
    const [student] = people;
    await student.press();
    for (const person of people) {
      await eventually(`the page of the ${person.who}`, async () => (await person.outcome()).slice(0, 2), ["submitted", "Pending"]);
      await eventually(`whether the page of the ${person.who} follows it`, () => person.root.locator(".lines").textContent().then((lines) => lines.includes("follow 200")), true);
    }
    await student.turn("offline");
    await homework.injected(student, "offline");
    await resume();
    await homework.allDone(...people.slice(1));
    assert.deepEqual((await student.outcome()).slice(0, 2), ["submitted", "Pending"]);
    await student.turn("offline");
    await homework.allDone(student);
  }));
});

/** Lets the template that is suspended begin. */
const resume = () => promisify(execFile)(process.env.KUBECTL, ["patch", "tasktemplate", "award-homework-later", "--namespace=school", "--type=merge", '--patch={"spec":{"suspend":false}}']);

describe("a storm of clicks", () => {
  it("on three pages, whose networks each have a fault", play(async (homework) => {
    const tab = await homework.open(await homework.device(), "", { patience: 1000 });
    const people = everybody(tab);
    const storm = ["lost-answer", "slow", "offline"];
    for (const [i, person] of people.entries()) {
      await person.turn(storm[i]);
    }
    await tab.evaluate(() => {
      for (let click = 0; click < 60; click++) {
        document.querySelectorAll("button.press")[click % 3].click();
      }
    });
    await people[0].is("unknown");
    await people[2].is("unknown");
    for (const [i, person] of people.entries()) {
      await homework.injected(person, storm[i]);
      await person.turn(storm[i]);
    }
    await homework.allDone(...people);
    await Promise.all(people.map((person) => person.press()));
    await homework.allDone(...people);
  }));
});
