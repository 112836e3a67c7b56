// What the tests of pages share: a browser, devices, homeworks, and the receiver's ledger.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { chromium } from "playwright-core";

const { SCHOOL, LEDGER, CHROMIUM, CHROMIUM_SANDBOX, TASKS } = process.env;

/** How long something may take on a machine that is busy. */
export const patience = 90_000;

/** Starts the browser. Chromium has no sandbox for root, and elsewhere does without one only where that is said. */
export async function launch() {
  const args = ["--disable-dev-shm-usage", "--disable-background-networking", "--no-first-run"];
  const chromiumSandbox = process.getuid?.() !== 0 && CHROMIUM_SANDBOX !== "off";
  try {
    return await chromium.launch({ executablePath: CHROMIUM, chromiumSandbox, args, timeout: patience });
  } catch (error) {
    if (/no usable sandbox/i.test(error.message)) {
      throw new Error("Chromium finds no user namespaces for its sandbox, as in most containers: grant them, or set CHROMIUM_SANDBOX=off, since nothing but this repository's pages is opened", { cause: error });
    }
    throw error;
  }
}

/** Resolves when what is read is as expected; else it says what was expected, and what was there. */
export async function eventually(what, read, expected) {
  let found;
  for (const end = Date.now() + patience; Date.now() < end; await new Promise((resolve) => setTimeout(resolve, 25))) {
    found = await read();
    try {
      assert.deepEqual(found, expected);
      return;
    } catch {}
  }
  assert.deepEqual(found, expected, `${what}: expected ${JSON.stringify(expected)}, and after ${patience / 1000} s it is ${JSON.stringify(found)}`);
}

let tasks = Number(TASKS ?? 0);

/** A homework of its own, so that tests see nothing of each other. */
export class Homework {
  task = ++tasks;
  #devices = [];
  #sent = [];

  constructor(browser) {
    this.browser = browser;
  }

  /** Returns a browser that nobody has used: storage of its own. */
  async device(options = {}) {
    const device = await this.browser.newContext({ viewport: { width: 1400, height: 1000 }, ...options });
    device.setDefaultTimeout(patience);
    device.on("request", (request) => request.method() === "POST" && this.#sent.push(new URL(request.url()).pathname));
    this.#devices.push(device);
    return device;
  }

  /** Opens a page on a device: "" is that with all three. A page may be opened for a mode, and with a patience of its own. */
  async open(device, path = "", about = {}) {
    const tab = await device.newPage();
    await tab.goto(`${SCHOOL}/${path}?${new URLSearchParams({ task: this.task, version: 1, ...about })}`);
    await tab.locator("[data-state]").first().waitFor();
    return tab;
  }

  async close() {
    await Promise.all(this.#devices.map((device) => device.close()));
  }

  /** Returns the effects that the receiver has really had for this homework. */
  async effects() {
    const lines = (await readFile(LEDGER, "utf8")).split("\n").slice(0, -1);
    return lines.map((line) => JSON.parse(line)).filter(({ kind, businessKey }) => kind === "effect" && businessKey === `${this.task}/stu-7/1`);
  }

  /** Fails where there is not exactly one effect in the ledger. */
  async oneEffect() {
    const effects = await this.effects();
    assert.equal(effects.length, 1, `expected one effect for homework ${this.task}, and the receiver booked ${JSON.stringify(effects)}`);
  }

  /** Returns how often the pages of a person have sent something. What Chromium sends again by itself is not counted. */
  sent({ who }) {
    return this.#sent.filter((path) => path.startsWith(`/networks/${this.task}/${who}/`)).length;
  }

  /** Resolves when the server has injected a fault into a person's network. */
  injected({ who }, fault) {
    return eventually(`whether the server has injected ${fault} for the ${who}`, async () => (await this.#network(who))?.injected[fault] > 0, true);
  }

  async #network(who) {
    const { networks } = await (await fetch(`${SCHOOL}/state/${this.task}`)).json();
    return networks[who];
  }

  /** Resolves when a fault is on at the server. */
  on({ who }, fault) {
    return eventually(`whether ${fault} is on`, async () => (await this.#network(who))?.on.includes(fault), true);
  }

  /** Has nothing wrong with a person's network any more, also where that person's page cannot say so. */
  heal({ who }) {
    return fetch(`${SCHOOL}/networks/${this.task}/${who}`, { method: "PUT", body: "[]" });
  }

  /** Resolves when all of these show the one outcome, with the receipt of the one effect. */
  async allDone(...people) {
    for (const shown of people) {
      await shown.is("submitted");
    }
    await eventually("the effects in the ledger", async () => (await this.effects()).length > 0, true);
    const [{ receipt }] = await this.effects();
    for (const shown of people) {
      await eventually(`the outcome on the page of the ${shown.who}`, () => shown.outcome(), ["submitted", "Success", String(receipt)]);
    }
    await this.oneEffect();
  }
}

/** One person's page, or that person's part of a page. */
export class Person {
  constructor(tab, who) {
    this.who = who;
    this.tab = tab;
    this.root = tab.locator(`[data-page="${who}"]`);
    this.button = this.root.locator("button.press");
  }

  press() {
    return this.button.click();
  }

  /** Turns a fault on, or off. */
  async turn(fault) {
    const button = this.switch(fault);
    const turned = (await button.getAttribute("aria-checked")) === "false" ? "true" : "false";
    const answered = fault.includes("-click") || fault.includes("-tabs") ? undefined : this.tab.waitForResponse((answer) => answer.request().method() === "PUT");
    await button.click();
    await answered;
    await eventually(`the switch ${fault}`, () => button.getAttribute("aria-checked"), turned);
  }

  switch(fault) {
    return this.root.locator(`[data-fault="${fault}"]`);
  }

  state() {
    return this.root.getAttribute("data-state");
  }

  is(state) {
    return eventually(`the state on the page of the ${this.who}`, () => this.state(), state);
  }

  /** Returns the states that the page has shown since it was loaded. */
  async passed() {
    return (await this.root.getAttribute("data-passed")).split(" ");
  }

  async outcome() {
    return [await this.state(), await this.root.getAttribute("data-phase"), await this.root.getAttribute("data-receipt")];
  }
}

/** The three persons of a page. */
export const everybody = (tab) => ["student", "teacher", "parent"].map((who) => new Person(tab, who));
