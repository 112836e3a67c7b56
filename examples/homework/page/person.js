// The page of one person, in an element.
import * as withOld from "./old.js";
import * as withOnce from "./once.js";
import { address, cast, make, old, second, task } from "./school.js";
import { listen } from "./traffic.js";
import { switches } from "./trouble.js";

/** Shows the page of a person, and returns what tells it of its network. */
export function person(root, who) {
  const { name, role, press: label } = cast[who];
  const kind = old ? withOld : withOnce;
  const face = make("span", { class: "face", "aria-hidden": "true" }, name.charAt(0));
  const path = make("ol", { class: "path", "aria-hidden": "true" });
  for (const [step, text] of Object.entries(kind.steps)) {
    path.append(make("li", { "data-step": step }, text));
  }
  const title = make("strong");
  const text = make("span");
  const button = make("button", { type: "button", class: "press" }, label);
  const trouble = make("fieldset", { class: "trouble" }, make("legend", {}, "What goes wrong here"));
  const lines = make("ol", { class: "lines" });
  const tab = make("div", { class: "tab" });
  root.dataset.page = who;
  root.append(
    make("header", {}, face, make("div", {}, make("h2", {}, second ? `${name}, second tab` : name), make("p", {}, role))),
    path,
    make("p", { class: "state", role: "status" }, title, " ", text),
    button,
  );
  if (!second) {
    root.append(trouble, make("details", { class: "traffic", open: "" }, make("summary", {}, "Requests of this page"), lines), tab);
  }

  const passed = [];
  const show = () => {
    if (!page) {
      return;
    }
    const { state, phase, receipt, title: head, text: rest } = page.look();
    if (passed.at(-1) !== state) {
      passed.push(state);
    }
    Object.assign(root.dataset, { state, phase: phase ?? "", receipt: receipt ?? "", passed: passed.join(" ") });
    const at = state === "failed" ? "idle" : state; // nothing of it is there
    for (const step of path.children) {
      step.className = step.dataset.step === at ? "now" : passed.includes(step.dataset.step) ? "passed" : "";
    }
    say(title, head);
    say(text, rest);
  };
  let page;
  const traffic = listen(lines, show);
  page = kind.open(who, traffic, show);
  show();

  const channel = new BroadcastChannel(`hand:${task}:${who}`);
  channel.addEventListener("message", ({ data }) => {
    if (second && data === "press") {
      page.press();
      channel.postMessage("pressed");
    } else if (!second && data === "pressed") {
      hand.met("two-tabs");
    } else if (!second && data === "ready") {
      tab.dataset.ready = "";
    }
  });
  const hand = switches(trouble, who, (fault, on) => {
    if (fault === "two-tabs") {
      delete tab.dataset.ready;
      tab.replaceChildren(...(on ? [make("iframe", { src: address(`/${who}`, { tab: 2 }), title: `${name}’s second tab` })] : []));
    }
  });
  button.addEventListener("click", () => {
    if (hand.on("two-tabs")) {
      channel.postMessage("press");
    }
    page.press();
    if (hand.on("double-click")) {
      hand.met("double-click");
      page.press();
    }
  });
  if (second) {
    channel.postMessage("ready");
  }
  return (network) => hand.learn(network);
}

/** Changes a text that is read aloud only where it is another one. */
function say(element, text) {
  if (element.textContent !== text) {
    element.textContent = text;
  }
}
