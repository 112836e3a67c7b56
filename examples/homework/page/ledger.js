// What was really booked: the receiver's ledger, whatever the pages believe.
import { make, student, task, version } from "./school.js";

const words = ["Nothing is booked", "Booked once", "Booked twice"];

/** Fills an element with the ledger of the task, and returns what tells it of bookings. */
export function ledger(root) {
  const verdict = make("p", { class: "verdict", role: "status" });
  const rows = make("tbody");
  const head = make("tr", {}, ...["Receipt", "Version", "Points", "Key"].map((name) => make("th", { scope: "col" }, name)));
  const sum = make("td", { class: "number" });
  root.append(
    make("h2", {}, "The ledger"),
    make("p", { class: "hint" }, "What the receiver really booked, whatever the pages believe."),
    verdict,
    make("div", { class: "paper", tabindex: "0", role: "region", "aria-label": "Bookings" }, make("table", {}, make("thead", {}, head), rows, make("tfoot", {}, make("tr", {}, make("th", { scope: "row", colspan: "2" }, "Mia’s points"), sum, make("td"))))),
  );

  let shown = "";
  return (booked) => {
    if (!booked || JSON.stringify(booked) === shown) {
      return;
    }
    shown = JSON.stringify(booked);
    const times = booked.filter(({ of }) => of === `${task}/${student}/${version}`).length;
    root.dataset.booked = String(times);
    verdict.textContent = `${words[times] ?? `Booked ${times} times`}${times > 1 ? "!" : ""}`;
    rows.replaceChildren(...booked.map(row));
    sum.textContent = String(booked.reduce((all, { points }) => all + Number(points), 0));
  };
}

function row({ receipt, of, points, key }) {
  const short = key.split("/").pop();
  return make(
    "tr",
    {},
    make("td", { class: "number" }, String(receipt)),
    make("td", { class: "number" }, of.split("/").pop()),
    make("td", { class: "number" }, `+${points}`),
    make("td", { class: "key", title: key }, key.startsWith("without-taskonce/") ? `none (${short})` : short),
  );
}
