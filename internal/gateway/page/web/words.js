// Times and numbers as people read them.

/** A span of seconds, as kubectl tells it. */
export function age(seconds) {
  const s = Math.max(0, Math.floor(seconds));
  if (s < 120) return `${s}s`;
  const m = Math.floor(s / 60);
  if (m < 10) return s % 60 ? `${m}m${s % 60}s` : `${m}m`;
  if (m < 180) return `${m}m`;
  const h = Math.floor(m / 60);
  if (h < 8) return m % 60 ? `${h}h${m % 60}m` : `${h}h`;
  if (h < 48) return `${h}h`;
  const d = Math.floor(h / 24);
  return d < 8 && h % 24 ? `${d}d${h % 24}h` : `${d}d`;
}

/** A duration that was measured in whole seconds. */
export const took = (seconds) => (seconds < 1 ? "under 1s" : age(seconds));

export const count = (n) => n.toLocaleString("en").replaceAll(",", " ");

const two = (n) => String(n).padStart(2, "0");

/** The time of day, on this machine's clock. */
export const clock = (date, seconds = false) =>
  `${two(date.getHours())}:${two(date.getMinutes())}${seconds ? `:${two(date.getSeconds())}` : ""}`;
