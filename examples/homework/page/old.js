// A person's page without taskonce, as in the incident: two states, no key, and one more try after 180 ms.
import { patience, points, student, task, version } from "./school.js";

export const steps = { idle: "Not sent", submitted: "Sent" };

const again = 180;

/** Opens the page of a person, who sends over a network; tell is called after each change. */
export function open(who, traffic, tell) {
  let shown = { state: "idle", title: "Not handed in", text: "This page knows what it did itself." };
  const show = (state, title, text) => {
    shown = { state, title, text };
    tell();
  };

  const send = () =>
    traffic.fetch(`/networks/${task}/${who}/receiver/plain/points`, {
      method: "POST",
      headers: { "Content-Type": "application/json", "Business-Key": `${task}/${student}/${version}` },
      body: JSON.stringify({ amount: points }),
      signal: AbortSignal.timeout(patience),
    });

  const hand = async () => {
    const answer = await send().catch(() => undefined);
    if (!answer) {
      await new Promise((resolve) => setTimeout(resolve, again));
      return send();
    }
    return answer;
  };

  return {
    press() {
      show("submitting", "Sending…", "");
      hand().then(
        () => show("submitted", `Done: ${points} points`, "That is what this page believes. What was booked is in the ledger."),
        () => show("failed", "Failed", "“Please try again.” That is what this page believes. What was booked is in the ledger."),
      );
    },
    look: () => shown,
  };
}
