// A person's page with taskonce: it shows the client's states, and says nothing that the client does not know.
import { buildKey, Client } from "/client/index.js";
import { patience, points, settings, student, task, template, version } from "./school.js";

export const steps = { idle: "Not sent", submitting: "Sending", unknown: "Unknown", submitted: "Handed in" };

/** When a page that only reads asks again what it was not told, in milliseconds. */
const later = 1000;

/** Opens the page of a person, who sends over a network; tell is called after each change. */
export function open(who, traffic, tell) {
  const client = new Client({
    url: `${location.origin}/networks/${task}/${who}/gateway`,
    namespace: settings.namespace,
    user: `${settings.people[who].sub}@${settings.run}`,
    token: tokens(who),
    timeout: patience,
    fetch: traffic.fetch,
  });
  const submission = client.submission({
    key: buildKey("task_submit", task, student, version),
    template,
    parameters: { taskId: task, studentId: student, submitVersion: version, points },
  });
  let problem;
  let reading = new AbortController();
  const say = (error) => {
    problem = error;
    tell();
  };

  /** Reads what others do, also after the gateway has refused to tell for a while, and until this page sends. */
  const read = async () => {
    reading.abort();
    reading = new AbortController();
    for (const { signal } = reading; !signal.aborted; ) {
      try {
        return await submission.watch({ signal });
      } catch (error) {
        if (!signal.aborted) {
          say(error);
          await new Promise((resolve) => setTimeout(resolve, later));
        }
      }
    }
  };

  /** Sends it, or goes on. Where that is refused, others may still do it: the page reads again. */
  const send = () => {
    reading.abort();
    say(undefined);
    submission.wait().catch((error) => {
      say(error);
      void read();
    });
  };
  submission.onChange(() => say(undefined)); // it was heard of, so what was wrong before is no news
  if (submission.state === "idle" || submission.state === "failed") {
    void read();
  } else {
    send();
  }

  return {
    /** Hands it in. It may be called as often as anybody likes. */
    press: send,
    look: () => ({ state: submission.state, phase: submission.view?.phase, receipt: submission.view?.result?.receipt, ...words(submission, problem, traffic.silent) }),
  };
}

function words({ state, view }, problem, silent) {
  switch (state) {
    case "submitting":
      return { title: "Sending…", text: "Its key is kept already: a reload goes on, and does not begin anew." };
    case "unknown":
      return { title: "Unknown", text: problem ? `It may have been handed in, and nobody tells: ${detail(problem)} Press to ask again.` : "An answer was lost, so it may have been handed in. This page asks; it does not send it blindly." };
    case "failed":
      return { title: "Refused", text: problem ? `Nothing was handed in from here. ${detail(problem)}` : "Nothing was handed in from here. Press to try again." };
    case "submitted":
      return outcome(view, problem);
    default:
      return { title: "Not handed in", text: silent ? "As far as this page knows: it gets no answer now." : problem ? detail(problem) : "By nobody, so far." };
  }
}

/** What waits for a person, maybe for days, and not for a receiver. */
const forAPerson = { AwaitingApproval: "Waits for approval", OutcomeUnknown: "Nobody can tell yet" };

function outcome({ phase, reason, message, result }, problem) {
  const told = sentence(message ?? reason);
  switch (phase) {
    case "Success":
      return { title: `Done: ${points} points`, text: result ? `Receipt ${result.receipt}. Whoever asks, and whoever sends it again, gets this one.` : told };
    case "Failed":
      return { title: "It did not happen", text: told };
    default:
      return { title: forAPerson[reason] ?? "Handed in", text: problem ? `It is there. ${detail(problem)}` : told };
  }
}

function detail(error) {
  if (error.problem?.type.endsWith("/unauthenticated")) {
    return "The session has ended: log in.";
  }
  return sentence(error.problem?.detail ?? error.message);
}

function sentence(said) {
  return `${said.charAt(0).toUpperCase()}${said.slice(1).replace(/\.$/, "")}.`;
}

/** Returns what fetches tokens, and keeps one while it is valid. */
function tokens(who) {
  let token;
  let until = 0;
  return async () => {
    if (Date.now() > until) {
      const answer = await (await fetch(`/token/${who}`)).json();
      token = answer.token;
      until = Date.now() + (answer.seconds / 2) * 1000;
    }
    return token;
  };
}
