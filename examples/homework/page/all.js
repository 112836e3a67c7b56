// All three persons and the ledger on one page.
import { ledger } from "./ledger.js";
import { person } from "./person.js";
import { address, old, observe, task, version } from "./school.js";

const $ = (selector) => document.querySelector(selector);

$("h1").textContent = `Homework ${task}, version ${version}`;
$("#next").href = address("/", { version: version + 1 });
$("#mode-once").href = address("/", { mode: undefined });
$("#mode-old").href = address("/", { mode: "old" });
$(old ? "#mode-old" : "#mode-once").setAttribute("aria-current", "page");
$(old ? "#about-old" : "#about-once").hidden = false;
document.body.classList.toggle("old", old);

const book = ledger($("#ledger"));
const people = Object.fromEntries([...document.querySelectorAll("[data-who]")].map((root) => [root.dataset.who, person(root, root.dataset.who)]));

void observe((state) => {
  $("#away").hidden = state !== undefined;
  book(state?.booked);
  for (const [who, learn] of Object.entries(people)) {
    learn(state?.networks[who]);
  }
});
