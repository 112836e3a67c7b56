// The gateway's page for people: what it shows while it changes, and what it is like to use.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { eventually, launch, patience } from "./browser.mjs";
import { hour } from "./hour.mjs";
import { faint, overflow } from "./looks.mjs";

const { PAGE, HOSTILE, KUBECTL, OFFICE } = process.env;

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

/** Opens the page in a browser that nobody has used. Where answers are given, they are told in the gateway's place. */
function play(run, { answer, ...options } = {}) {
  return async () => {
    const device = await browser.newContext({ viewport: { width: 1200, height: 900 }, ...options });
    device.setDefaultTimeout(patience);
    try {
      const tab = await device.newPage();
      if (answer) {
        await tab.route("**/page/state", (route) => route.fulfill(answer(route.request())));
      }
      await tab.goto(PAGE);
      await run(tab, device);
    } finally {
      await device.close();
    }
  };
}

const busy = () => ({ json: hour() });
const shown = (tab) => tab.locator("#waiting tbody tr").first().waitFor();
const names = (tab, section) => tab.locator(`#${section} tbody .named b`).allTextContents();
const standing = (tab) => tab.locator("#standing").textContent();

const kubectl = async (...args) => (await promisify(execFile)(KUBECTL, ["-n", OFFICE, ...args])).stdout;

describe("what the page shows", () => {
  it("is text, whatever it is made of, and changes while it happens", play(async (tab) => {
    await eventually("what waits", () => names(tab, "waiting"), [HOSTILE]);
    await eventually("what is in process", () => names(tab, "in-process"), ["print-letter-12"]);
    await eventually("how current it is", () => standing(tab), "Live");
    assert.match(await tab.title(), /^\(1\) taskonce$/, "expected nothing to have run");
    assert.equal(await tab.locator("main img, main script, main b b").count(), 0, "expected no markup from a key");
    assert.doesNotMatch(await tab.content(), /a secret/);
    const name = (await kubectl("get", "tasksubmissions", "-o", "jsonpath={.items[?(@.status.reason=='AwaitingApproval')].metadata.name}")).trim();
    const uid = (await kubectl("get", "tasksubmission", name, "-o", "jsonpath={.metadata.uid}")).trim();
    const decision = { apiVersion: "taskonce.dev/v1alpha1", kind: "TaskDecision", metadata: { name: "deny" }, spec: { submission: name, uid, attempt: 0, action: "Cancel", reason: "nobody wants it" } };
    const create = promisify(execFile)(KUBECTL, ["-n", OFFICE, "create", "-f", "-"]);
    create.child.stdin.end(JSON.stringify(decision));
    await create;
    await eventually("what finished", () => names(tab, "recent"), [HOSTILE]);
    assert.deepEqual(await names(tab, "waiting"), []);
    assert.equal(await tab.locator("#tile-failed b").textContent(), "1");
    assert.equal(await tab.title(), "taskonce");
  }));

  it("is the oldest of many, and how many there are", play(
    async (tab) => {
      await shown(tab);
      assert.equal(await tab.locator("#tile-inProcess b").textContent(), "10 000");
      assert.match(await tab.locator("#in-process .hint").textContent(), /The oldest 4 of 10 000 are shown/);
    },
    { answer: () => ({ json: hour({ inProcess: { ...hour().inProcess, total: 10_000 } }) }) },
  ));
});

describe("while somebody is away", () => {
  it("the page says how old what it shows is", play(
    async (tab) => {
      await shown(tab);
      await eventually("what is said", async () => /^The API server does not answer\. What you see is of \d\d:\d\d:\d\d\.$/.test(await standing(tab)), true);
      await eventually("its age", async () => /^\(9\ds ago\)$/.test(await tab.locator("#age").textContent()), true);
      await tab.unroute("**/page/state");
      await eventually("how current it is", () => standing(tab), "Live");
    },
    { answer: () => ({ json: hour({ asOf: new Date(Date.now() - 90_000).toISOString(), trouble: "The API server does not answer." }) }) },
  ));

  it("what was shown stays, and the gateway is asked again", play(async (tab) => {
    await eventually("how current it is", () => standing(tab), "Live");
    await tab.route("**/page/state", (route) => route.abort());
    await eventually("what is said", async () => (await standing(tab)).startsWith("The gateway does not answer."), true);
    assert.deepEqual(await names(tab, "in-process"), ["print-letter-12"]);
    await tab.unroute("**/page/state");
    await eventually("how current it is", () => standing(tab), "Live");
  }));

  it("nothing is not said to be there before it is known", play(
    async (tab) => {
      await eventually("what is said", () => standing(tab), "The gateway may not read.");
      assert.equal(await tab.locator("#board").isVisible(), false);
    },
    { answer: () => ({ json: hour({ asOf: undefined, trouble: "The gateway may not read." }) }) },
  ));

  it("what cannot be read is named, and the rest is shown", play(
    async (tab) => {
      await shown(tab);
      await eventually("what is said", () => standing(tab), "The gateway may not read school.");
    },
    { answer: () => ({ json: hour({ missing: "The gateway may not read school." }) }) },
  ));
});

describe("who has to say who they are", () => {
  const bearer = (request) => request.headers().authorization ?? "";

  it("is asked for a token, which goes with each look, and is forgotten when it is refused", async () => {
    let accepted = "Bearer right";
    await play(
      async (tab) => {
        const token = tab.getByLabel("A token that the API server knows");
        await token.fill("wrong");
        await tab.keyboard.press("Enter");
        await eventually("the refusal", () => tab.locator("#refusal").textContent(), "The token is not accepted, or no longer.");
        await token.fill(" right ");
        await tab.keyboard.press("Enter");
        await shown(tab);
        assert.equal(await tab.locator("#login").isVisible(), false);
        accepted = "Bearer another";
        await token.waitFor();
        assert.equal(await tab.locator("#board").isVisible(), false);
        assert.equal(await tab.evaluate(() => sessionStorage.length + localStorage.length), 0);
      },
      { answer: (request) => (bearer(request) === accepted ? busy() : { status: 401 }) },
    )();
  });

  it("is told what is missing", play(
    async (tab) => {
      await tab.getByLabel("A token that the API server knows").fill("somebody's");
      await tab.keyboard.press("Enter");
      await eventually("the refusal", async () => (await tab.locator("#refusal").textContent()).includes("taskonce-page-viewer"), true);
    },
    { answer: (request) => ({ status: bearer(request) ? 403 : 401 }) },
  ));

  it("is told that nobody can judge it yet, and is shown the page when somebody can", async () => {
    let status = 503;
    await play(
      async (tab) => {
        await tab.getByLabel("A token that the API server knows").fill("somebody's");
        await tab.keyboard.press("Enter");
        const refusal = () => tab.locator("#refusal").textContent();
        await eventually("the refusal", refusal, "The gateway cannot find out who you are. It is asked again.");
        status = 429;
        await eventually("the refusal", refusal, "Too many tokens were tried within a second. It is asked again.");
        status = 200;
        await shown(tab);
      },
      { answer: (request) => (!bearer(request) ? { status: 401 } : status === 200 ? busy() : { status }) },
    )();
  });
});

describe("the keyboard alone", () => {
  it("leads to everything, and tells the minutes", play(
    async (tab) => {
      await shown(tab);
      const reach = async (target) => {
        for (let presses = 0; presses < 40; presses++) {
          if (await target.evaluate((element) => element === document.activeElement)) {
            assert.notEqual(await target.evaluate((element) => getComputedStyle(element).outlineStyle), "none", "expected what has the focus to show it");
            return;
          }
          await tab.keyboard.press("Tab");
        }
        assert.fail(`expected the Tab key to lead to ${target}`);
      };
      await reach(tab.locator(".skip"));
      await reach(tab.locator("#tile-failed"));
      await reach(tab.locator("#waiting button").first());
      await tab.keyboard.press("Enter");
      await eventually("what was copied", () => tab.evaluate(() => navigator.clipboard.readText()), "kubectl taskonce explain refund-order-1001 -n shop");
      await reach(tab.locator("#outcomes svg"));
      assert.match(await tab.locator("#outcomes svg").getAttribute("aria-label"), /^Outcomes per minute over the last hour: \d+ succeeded, \d+ failed\./);
      await tab.keyboard.press("Home");
      assert.match(await tab.locator("#readout").textContent(), /^\d\d:\d\d: \d+ succeeded, \d+ failed; half of them within \d+s/);
      await tab.keyboard.press("ArrowRight");
      assert.equal(await tab.locator("#durations .cursor").count(), 1, "expected both drawings to mark the minute");
      await reach(tab.locator("#numbers summary"));
      await tab.keyboard.press("Enter");
      await eventually("the minutes in which something finished", () => tab.locator("#numbers tbody tr").count(), 57);
      assert.equal(await tab.locator("#readout").textContent(), "");
    },
    { answer: busy, permissions: ["clipboard-read", "clipboard-write"] },
  ));

  it("keeps its place while what is shown changes", play(
    async (tab) => {
      await shown(tab);
      const button = tab.locator("#waiting button").nth(1);
      await button.focus();
      const { items } = hour().waiting;
      await tab.route("**/page/state", (route) => route.fulfill({ json: hour({ waiting: { total: 2, reasons: [], items: items.slice(1) } }) }));
      await eventually("how many wait", () => tab.locator("#waiting tbody tr").count(), 2);
      assert.equal(await tab.locator("#waiting button").first().evaluate((element) => element === document.activeElement), true);
    },
    { answer: busy },
  ));
});

describe("the page to look at", () => {
  for (const colorScheme of ["light", "dark"]) {
    it(`is readable in a ${colorScheme} room`, play(
      async (tab) => {
        await shown(tab);
        const ground = await tab.evaluate(() => getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number));
        assert.equal(ground[0] < 128, colorScheme === "dark", `expected a ${colorScheme} ground, and it is rgb(${ground})`);
        assert.deepEqual(await tab.evaluate(faint), [], "expected a contrast of 4.5 at least (WCAG 2.2, 1.4.3)");
      },
      { answer: busy, colorScheme },
    ));
  }

  it("has nothing beside it at 360 px, also with a key that cannot be broken", play(
    async (tab) => {
      await shown(tab);
      await tab.locator("#numbers summary").click();
      assert.deepEqual(await tab.evaluate(overflow), []);
    },
    {
      answer: () => {
        const state = hour();
        for (const list of [state.waiting, state.inProcess, state.recent]) {
          Object.assign(list.items[0], { key: HOSTILE, name: "n".repeat(52), template: "t".repeat(63), namespace: "s".repeat(63) });
        }
        return { json: state };
      },
      viewport: { width: 360, height: 740 },
    },
  ));

  it("is told aloud: lists are tables with their headings, at any width", play(
    async (tab) => {
      await shown(tab);
      const table = tab.getByRole("table", { name: "What waits for a person" });
      assert.equal(await table.getByRole("row").count(), 4);
      assert.deepEqual(await table.getByRole("columnheader").allTextContents(), ["Submission", "Template", "Waits for", "Since", "Its story"]);
      assert.equal(await tab.getByRole("heading", { level: 1 }).count(), 1);
      assert.equal(await tab.getByRole("img", { name: /Time from creation to completion/ }).count(), 1);
    },
    { answer: busy, viewport: { width: 360, height: 740 } },
  ));

  it("needs nothing from elsewhere, and breaks none of its own rules", play(async (tab, device) => {
    const wrong = [];
    device.on("request", (request) => request.url().startsWith(PAGE) || wrong.push(request.url()));
    device.on("console", (message) => message.type() === "error" && wrong.push(message.text()));
    device.on("weberror", (error) => wrong.push(String(error.error())));
    await tab.reload();
    await eventually("how current it is", () => standing(tab), "Live");
    await tab.locator("#outcomes svg").hover();
    await tab.locator("#numbers summary").click();
    assert.deepEqual(wrong, []);
  }));
});
