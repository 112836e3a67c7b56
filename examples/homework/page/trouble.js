// The switches of one page: what is wrong with its network, which its server does, and how it is used, which the page does.
import { make, task } from "./school.js";

const ofTheNetwork = {
  "lost-answer": ["Lost answers", "what is asked is done, and no answer comes back"],
  slow: ["Slow answers", "what is sent is done at once, and answered late"],
  offline: ["Offline", "nothing gets through"],
  "logged-out": ["Logged out", "the session has ended"],
};
const ofTheHand = {
  "double-click": ["Double click", "each press is two"],
  "two-tabs": ["Two tabs", "each press is one in both tabs"],
};

/** Fills a fieldset with switches. onHand is called when one of the hand's is switched. */
export function switches(fieldset, who, onHand) {
  const buttons = new Map();
  const row = make("div", { class: "switches" });
  for (const [fault, [name, means]] of Object.entries({ ...ofTheNetwork, ...ofTheHand })) {
    const button = make("button", { type: "button", role: "switch", "aria-checked": "false", "data-fault": fault, title: means }, name, make("span", { class: "count" }));
    button.addEventListener("click", () => {
      set(fault, !on(fault));
      fault in ofTheHand ? onHand(fault, on(fault)) : send();
    });
    buttons.set(fault, { button, count: 0 });
    row.append(button);
  }
  fieldset.append(row);

  const on = (fault) => buttons.get(fault).button.getAttribute("aria-checked") === "true";
  const set = (fault, value) => buttons.get(fault).button.setAttribute("aria-checked", String(value));
  const count = (fault, times) => {
    const entry = buttons.get(fault);
    entry.count = times;
    entry.button.dataset.injected = String(times);
    entry.button.querySelector(".count").textContent = times ? ` ${times}×` : "";
  };

  // What the server said while a switch is on its way to it is old.
  let sending = 0;
  const send = async () => {
    sending++;
    try {
      const list = Object.keys(ofTheNetwork).filter(on);
      await fetch(`/networks/${task}/${who}`, { method: "PUT", body: JSON.stringify(list) });
    } finally {
      sending--;
    }
  };

  return {
    on,
    /** Counts one more of the hand's. */
    met: (fault) => count(fault, buttons.get(fault).count + 1),
    /** Shows what the server says of the network. */
    learn(network) {
      for (const fault of sending || !network ? [] : Object.keys(ofTheNetwork)) {
        set(fault, network.on.includes(fault));
        count(fault, network.injected[fault]);
      }
    },
  };
}
