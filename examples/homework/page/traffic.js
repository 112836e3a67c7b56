// The requests of one page, as its browser sees them.
import { make } from "./school.js";

const shownLines = 6;

/** Returns a fetch that writes down what it does in a list. */
export function listen(list, tell) {
  const traffic = { silent: false, fetch: undefined };
  let last;

  const write = (what, came) => {
    if (last?.what === what && last.came === came) {
      last.times++;
      last.line.querySelector(".times").textContent = ` ${last.times}×`;
      return;
    }
    const line = make("li", {}, make("span", {}, what), " ", make("span", { class: "came" }, came), make("span", { class: "times" }));
    last = { what, came, line, times: 1 };
    list.append(line);
    while (list.children.length > shownLines) {
      list.firstChild.remove();
    }
  };

  traffic.fetch = async (url, init = {}) => {
    const what = kind(String(url), init);
    try {
      const answer = await fetch(url, init);
      traffic.silent = false;
      write(what, said(what, answer));
      return answer;
    } catch (error) {
      traffic.silent = true;
      write(what, init.signal?.aborted ? "no answer in time" : "no answer");
      throw error;
    } finally {
      tell();
    }
  };
  return traffic;
}

function kind(url, { method = "GET" }) {
  if (method === "POST") {
    return "send";
  }
  return url.endsWith("/events") ? "follow" : "ask";
}

const meanings = { 200: "done", 201: "done", 202: "in process", 404: "not there", 409: "in process already", 424: "it failed" };

function said(what, answer) {
  const first = answer.headers.get("Idempotency-Replayed") === "true" ? ", the first outcome" : "";
  return `${answer.status} ${(what !== "send" && answer.status === 200 ? "there" : meanings[answer.status]) ?? answer.statusText.toLowerCase()}${first}`;
}
