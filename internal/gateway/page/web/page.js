import { make, say } from "./dom.js";
import { Durations, Outcomes, told } from "./plot.js";
import { made, Table, text } from "./table.js";
import { age, clock, count, took } from "./words.js";

const every = 2000; // milliseconds between two looks
const late = 6; // seconds after which what is shown is called old

const find = (id) => document.getElementById(id);
const part = (id, selector) => document.querySelector(`#${id} ${selector}`);

// --- what the lists show

const named = made(
  "Submission",
  (item) => JSON.stringify([item.key, item.namespace, item.name, item.deleted]),
  (item) => {
    const name = `${item.namespace}/${item.name}`;
    const lines = [make("b", { title: item.key ?? name }, item.key ?? item.name), make("small", {}, name)];
    if (item.deleted) lines.push(make("small", { class: "note" }, "its submission was deleted"));
    return lines;
  },
  "named",
);

const state = made(
  "State",
  (item) => `${item.phase}/${item.reason}`,
  (item) => [make("span", { class: `state ${item.phase.toLowerCase()}` }, item.phase), make("small", {}, item.reason)],
  "stated",
);

const wanted = made(
  "Waits for",
  (item) => `${item.for}/${item.reason}`,
  (item) => [make("span", {}, item.for), make("small", {}, item.reason)],
  "wanted",
);

/** A column that tells how long ago something was, and goes on doing so. */
const since = (title) =>
  made(
    title,
    (item) => item.since,
    (item) => [make("time", { datetime: item.since, title: new Date(item.since).toLocaleString() }, age((now() - Date.parse(item.since)) / 1000))],
    "number",
  );

const command = (item) => `kubectl taskonce explain ${item.name} -n ${item.namespace}`;

/** The command that tells the story of one. */
const explain = {
  title: "Its story",
  class: "action",
  update(cell, item) {
    if (cell.firstChild) return;
    const button = make("button", { type: "button", title: command(item), "aria-label": `Copy the command: ${command(item)}` }, "Copy command");
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(command(item));
        say(button, "Copied");
      } catch {
        cell.replaceChildren(make("code", {}, command(item))); // to be copied by hand
        return;
      }
      setTimeout(() => say(button, "Copy command"), 2000);
    });
    cell.append(button);
  },
};

const attempts = text("Attempts", (item) => String(item.attempts), "number");
const template = text("Template", (item) => item.template, "template");
const keyOf = (item) => `${item.namespace}/${item.name}`;

const tables = {
  waiting: new Table(part("waiting", ".list"), "waiting-title", [named, template, wanted, since("Since"), explain], keyOf),
  inProcess: new Table(part("in-process", ".list"), "in-process-title", [named, template, state, attempts, since("Since")], keyOf),
  recent: new Table(part("recent", ".list"), "recent-title", [named, template, state, attempts, text("Took", (item) => took(item.took), "number"), since("Ago")], (item) => `${keyOf(item)} ${item.since}`),
  numbers: new Table(
    part("numbers", ".list"),
    "hour-title",
    [
      text("Minute", (m) => clock(new Date(m.at))),
      text("Success", (m) => count(m.success), "number"),
      text("Failed", (m) => count(m.failed), "number"),
      text("Median", (m) => took(m.median), "number"),
      text("95 of 100", (m) => took(m.most), "number"),
    ],
    (m) => m.at,
  ),
};

// --- plots, and the minute that is pointed at in both

let pointed = null; // the time of the minute
const point = (i) => {
  pointed = i === null ? null : view.recent.minutes[i].at;
  showPlots();
};
const plots = [new Outcomes(find("outcomes"), point), new Durations(find("durations"), point)];

function showPlots() {
  const { minutes } = view.recent;
  const at = pointed === null ? -1 : minutes.findIndex((m) => m.at === pointed);
  for (const plot of plots) plot.show(minutes, at < 0 ? null : at);
  say(find("readout"), at < 0 ? "" : told(minutes[at]));
}

// --- showing a view

let view = null;
let ahead = 0; // milliseconds that the gateway's clock is ahead of this one
const now = () => Date.now() + ahead;

function show(next) {
  view = next;
  ahead = Date.parse(view.now) - Date.now();
  find("login").hidden = true;
  find("board").hidden = !view.asOf; // nothing is known yet, which is not nothing
  say(find("scope"), view.namespaces.length === 0 ? "all namespaces" : view.namespaces.join(", "));
  const { waiting, inProcess, recent } = view;
  say(part("tile-waiting", "span"), waiting.total === 1 ? "waits for a person" : "wait for a person");
  tile("waiting", waiting.total, waiting.total ? `the oldest for ${oldest(waiting)}` : "nothing waits");
  tile("inProcess", inProcess.total, inProcess.total ? `the oldest for ${oldest(inProcess)}` : "nothing is");
  tile("success", recent.success);
  tile("failed", recent.failed);
  document.title = waiting.total ? `(${count(waiting.total)}) taskonce` : "taskonce";
  list("waiting", tables.waiting, waiting, "Nothing waits for a person.", "kubectl taskonce inbox lists all.");
  list("in-process", tables.inProcess, inProcess, "Nothing is in process.", "kubectl get tasksubmissions -A lists all.");
  tables.recent.show(recent.items);
  say(part("recent", ".hint"), recent.items.length ? "" : "Nothing has finished within the last hour.");
  if (find("numbers").open) tables.numbers.show(recent.minutes.filter((m) => m.median !== undefined).reverse());
  showPlots();
}

const oldest = ({ items }) => age((now() - Date.parse(items[0].since)) / 1000);

function tile(name, total, note) {
  const element = find(`tile-${name}`);
  say(element.querySelector("b"), count(total));
  element.classList.toggle("none", total === 0);
  if (note !== undefined) say(element.querySelector("small"), note);
}

function list(id, table, { total, items, reasons }, none, rest) {
  table.show(items);
  part(id, ".reasons").replaceChildren(...(reasons.length > 1 ? reasons : []).map((r) => make("li", {}, make("b", {}, count(r.total)), ` ${r.reason}`)));
  say(part(id, ".hint"), total === 0 ? none : total > items.length ? `The oldest ${items.length} of ${count(total)} are shown; ${rest}` : "");
}

// --- how old what is shown is

let unanswered = ""; // why the last look brought nothing

function tellAge() {
  for (const time of document.querySelectorAll("time")) say(time, age((now() - Date.parse(time.dateTime)) / 1000));
  const asOf = view?.asOf && Date.parse(view.asOf);
  const seconds = asOf ? (now() - asOf) / 1000 : 0;
  const old = Boolean(asOf) && seconds > late;
  const missing = view?.missing ?? "";
  const why = `${unanswered || view?.trouble || ""} ${missing}`.trim();
  document.body.classList.toggle("old", old || Boolean(why && !asOf));
  document.body.classList.toggle("lacking", Boolean(missing));
  if (!find("login").hidden) say(find("standing"), "Nothing is shown yet");
  else if (!asOf) say(find("standing"), why || "Reading what is there …");
  else say(find("standing"), old ? `${why} What you see is of ${clock(new Date(asOf), true)}.`.trim() : missing || "Live");
  say(find("age"), old ? `(${age(seconds)} ago)` : "");
}

// --- asking

const tokenKey = "taskonce-page-token";
let looking = false;
let next = 0;

async function look() {
  if (looking) return;
  looking = true;
  clearTimeout(next);
  try {
    await ask();
  } catch (error) {
    unanswered = error instanceof Unanswered ? error.message : "The gateway does not answer.";
    if (!find("login").hidden) say(find("refusal"), `${unanswered} It is asked again.`);
  } finally {
    looking = false;
  }
  tellAge();
  if (asks()) next = setTimeout(look, every);
}

/** Whether it is of use to look again: while the login is shown, where there is a token that may yet be accepted. */
const asks = () => !document.hidden && (find("login").hidden || sessionStorage.getItem(tokenKey) !== null);

class Unanswered extends Error {}

async function ask() {
  const token = sessionStorage.getItem(tokenKey);
  const answer = await fetch("page/state", { headers: token ? { Authorization: `Bearer ${token}` } : {}, signal: AbortSignal.timeout(15_000) });
  if (answer.status === 401 || answer.status === 403) return refuse(answer.status, token);
  if (answer.status === 429) throw new Unanswered("Too many tokens were tried within a second.");
  if (!answer.ok) throw new Unanswered("The gateway cannot find out who you are.");
  unanswered = "";
  show(await answer.json());
}

/** Asks for a token; what was shown with another one goes. */
function refuse(status, token) {
  view = null;
  unanswered = "";
  if (sessionStorage.getItem(tokenKey) === token) sessionStorage.removeItem(tokenKey); // another one may have been given since
  find("board").hidden = true;
  find("login").hidden = false;
  document.title = "taskonce";
  const why = status === 403 ? "This account may not see the page: bind the ClusterRole taskonce-page-viewer to it." : "The token is not accepted, or no longer.";
  say(find("refusal"), token ? why : "");
  find("token").focus();
}

find("login").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem(tokenKey, find("token").value.trim());
  find("token").value = "";
  look();
});
find("numbers").addEventListener("toggle", () => view && show(view));
document.addEventListener("visibilitychange", () => {
  if (asks()) look();
});
setInterval(tellAge, 1000);
look();
