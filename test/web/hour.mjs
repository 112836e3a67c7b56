// What a page would show after a busy hour, told by the gateway's own names: an hour is longer than a test.

const minutes = 60;

/** Numbers that look drawn, and are the same each time. */
function drawn(seed) {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}

const ago = (seconds) => new Date(Date.now() - seconds * 1000).toISOString();

const item = (key, template, phase, reason, attempts, seconds, more = {}) => {
  const named = key.includes(":") ? { name: `${key.replaceAll(":", "-")}-x3xeacmppfnisvkj4bysicyvpq`, key } : { name: key };
  return { namespace: "shop", ...named, template, phase, reason, attempts, since: ago(seconds), ...more };
};

const listed = (items, total = items.length) => {
  const reasons = Map.groupBy ? [...Map.groupBy(items, (i) => i.reason)] : [];
  return { total, items, reasons: reasons.map(([reason, all]) => ({ reason, total: all.length })) };
};

/** The state of the page: {...} replaces parts of it. */
export function hour(more = {}) {
  const random = drawn(7);
  const start = Math.floor(Date.now() / 60_000) - minutes + 1;
  const counted = Array.from({ length: minutes }, (_, i) => {
    const at = new Date((start + i) * 60_000).toISOString();
    if (i > 33 && i < 37) return { at, success: 0, failed: 0 };
    const failed = i > 20 && i < 26 ? 3 + Math.floor(random() * 6) : Math.floor(random() * 1.6);
    const median = 1 + Math.floor(random() * 3 + (i > 20 && i < 26 ? 9 : 0));
    return { at, success: 9 + Math.floor(random() * 9), failed, median, most: Math.ceil(median * (2 + random() * 7)) };
  });
  const sum = (of) => counted.reduce((all, m) => all + m[of], 0);
  const finished = Array.from({ length: 20 }, (_, i) => {
    const failed = i % 7 === 3;
    return item(`charge:order:${1441 - i}`, "charge-card", failed ? "Failed" : "Success", failed ? "Rejected" : "Applied", 1, 2 + i * 4, { took: 1 + (i % 4) });
  });
  return {
    now: ago(0),
    asOf: ago(0),
    namespaces: [],
    waiting: listed([
      item("refund-order-1001", "refund-order", "Pending", "AwaitingApproval", 0, 6840, { for: "an approval" }),
      item("charge:order:977", "charge-card", "Processing", "OutcomeUnknown", 1, 1260, { for: "an answer: did it happen?" }),
      item("charge:order:1016", "charge-card", "Processing", "OutcomeUnknown", 1, 840, { for: "an answer: did it happen?", deleted: true }),
    ]),
    inProcess: listed([
      item("award:42:stu-7", "award-points", "Processing", "Retrying", 3, 250),
      item("charge:order:1442", "charge-card", "Processing", "Verifying", 1, 44),
      item("charge:order:1443", "charge-card", "Processing", "Executing", 1, 2),
      item("charge:order:1444", "charge-card", "Pending", "LimitReached", 0, 1),
    ]),
    recent: { success: sum("success"), failed: sum("failed"), minutes: counted, items: finished },
    ...more,
  };
}
