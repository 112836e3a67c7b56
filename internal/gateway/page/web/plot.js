import { draw } from "./dom.js";
import { clock, count, took } from "./words.js";

const height = 168;
const edge = { left: 40, right: 6, top: 10, bottom: 22 };

/** Round numbers from 0 to at least most, few of them. */
export function ticks(most) {
  const rough = Math.max(most, 1) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(1, [1, 2, 5, 10].find((n) => n * power >= rough) * power);
  const all = [];
  for (let tick = 0; ; tick += step) {
    all.push(tick);
    if (tick >= most && all.length > 1) return all;
  }
}

const spans = Object.entries({ "1s": 1, "10s": 10, "1m": 60, "10m": 600, "1h": 3600, "6h": 21_600, "1d": 86_400, "7d": 604_800, "30d": 2_592_000, "1y": 31_536_000 });

/** Spans that people know, each with its seconds, from one second to at least most. */
export const spansTo = (most) => spans.slice(0, Math.max(2, spans.findIndex(([, s]) => s >= most) + 1 || spans.length));

/** A drawing over the minutes of the hour, as wide as its figure, with a cursor that is moved by pointer or arrow keys. */
class Plot {
  #figure;
  #svg;
  #minutes = [];
  #onPoint;

  constructor(figure, onPoint) {
    this.#figure = figure;
    this.#onPoint = onPoint;
    this.#svg = draw("svg", { role: "img", tabindex: "0", height });
    figure.append(this.#svg);
    this.#svg.addEventListener("pointermove", (event) => this.#point(this.#at(event)));
    this.#svg.addEventListener("pointerleave", () => onPoint(null));
    this.#svg.addEventListener("blur", () => onPoint(null));
    this.#svg.addEventListener("keydown", (event) => this.#key(event));
    new ResizeObserver(() => this.#draw()).observe(figure);
  }

  /** Draws what is shown, and marks one of the minutes, or none. */
  show(minutes, pointed) {
    this.#minutes = minutes;
    this.pointed = pointed;
    this.#draw();
  }

  #draw() {
    const width = this.#figure.clientWidth;
    if (!width || this.#minutes.length === 0) return;
    const frame = new Frame(width, this.#minutes.length);
    this.#svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.#svg.setAttribute("width", width);
    this.#svg.setAttribute("aria-label", `${this.summary(this.#minutes)} Arrow keys tell the minutes.`);
    this.#svg.replaceChildren(...frame.cursor(this.pointed), ...this.marks(frame, this.#minutes), ...frame.times(this.#minutes));
  }

  #at(event) {
    const box = this.#svg.getBoundingClientRect();
    return Math.floor(((event.clientX - box.left - edge.left) / (box.width - edge.left - edge.right)) * this.#minutes.length);
  }

  #point(i) {
    const last = this.#minutes.length - 1;
    this.#onPoint(Math.min(last, Math.max(0, i)));
  }

  #key(event) {
    const last = this.#minutes.length - 1;
    const from = this.pointed ?? last + 1;
    const to = { ArrowLeft: from - 1, ArrowRight: from + 1, Home: 0, End: last }[event.key];
    if (event.key === "Escape") this.#onPoint(null);
    if (to === undefined) return;
    event.preventDefault();
    this.#point(to);
  }
}

/** Where things are in a drawing. */
class Frame {
  constructor(width, n) {
    this.width = width;
    this.step = (width - edge.left - edge.right) / n;
    this.floor = height - edge.bottom;
  }

  x = (i) => edge.left + i * this.step;

  /** The height of a share of the whole. */
  y = (share) => this.floor - share * (this.floor - edge.top);

  cursor(i) {
    if (i === null || i === undefined) return [];
    return [draw("rect", { class: "cursor", x: this.x(i), y: edge.top, width: this.step, height: this.floor - edge.top })];
  }

  grid(share, label) {
    const y = this.y(share);
    return [
      draw("line", { class: share ? "grid" : "axis", x1: edge.left, x2: this.width - edge.right, y1: y, y2: y }),
      draw("text", { class: "tick", x: edge.left - 6, y: y + 4, "text-anchor": "end" }, label),
    ];
  }

  times(minutes) {
    const every = this.width < 420 ? 20 : 10;
    return minutes.flatMap(({ at }, i) => {
      const date = new Date(at);
      const x = this.x(i);
      if (date.getMinutes() % every || x > this.width - 30) return [];
      return [
        draw("line", { class: "axis", x1: x, x2: x, y1: this.floor, y2: this.floor + 4 }),
        draw("text", { class: "tick", x, y: this.floor + 16, "text-anchor": "middle" }, clock(date)),
      ];
    });
  }
}

/** Bars: what succeeded, and on top of it what failed. */
export class Outcomes extends Plot {
  marks(frame, minutes) {
    const scale = ticks(Math.max(...minutes.map((m) => m.success + m.failed)));
    const most = scale.at(-1);
    const width = Math.max(1, frame.step - 1.5);
    const bar = (i, from, to, kind) => {
      if (from === to) return [];
      const y = frame.y(to / most);
      const gap = from ? 1 : 0; // between what succeeded and what failed, for those to whom the colours are alike
      return [draw("rect", { class: kind, x: frame.x(i) + (frame.step - width) / 2, y, width, height: Math.max(1, frame.y(from / most) - y - gap) })];
    };
    return [
      ...scale.flatMap((tick) => frame.grid(tick / most, count(tick))),
      ...minutes.flatMap((m, i) => [...bar(i, 0, m.success, "success"), ...bar(i, m.success, m.success + m.failed, "failed")]),
    ];
  }

  summary(minutes) {
    const sum = (of) => minutes.reduce((all, m) => all + of(m), 0);
    return `Outcomes per minute over the last hour: ${count(sum((m) => m.success))} succeeded, ${count(sum((m) => m.failed))} failed.`;
  }
}

/** For each minute the median, and a line up to what 95 of 100 were done in; on a logarithmic scale. */
export class Durations extends Plot {
  marks(frame, minutes) {
    const scale = spansTo(Math.max(1, ...minutes.map((m) => m.most ?? 0)));
    const most = Math.log(scale.at(-1)[1]);
    const y = (seconds) => frame.y(Math.log(Math.max(1, seconds)) / most);
    const r = Math.min(3, Math.max(1.5, frame.step / 2.5));
    return [
      ...scale.flatMap(([label, s]) => frame.grid(Math.log(s) / most, label)),
      ...minutes.flatMap((m, i) => {
        if (m.median === undefined) return [];
        const x = frame.x(i) + frame.step / 2;
        return [draw("line", { class: "most", x1: x, x2: x, y1: y(m.median), y2: y(m.most) }), draw("circle", { class: "median", cx: x, cy: y(m.median), r })];
      }),
    ];
  }

  summary(minutes) {
    const medians = minutes.flatMap((m) => m.median ?? []).sort((a, b) => a - b);
    if (medians.length === 0) return "Time from creation to completion: nothing finished in the last hour.";
    const slowest = Math.max(...minutes.map((m) => m.most ?? 0));
    return `Time from creation to completion over the last hour: in most minutes ${took(medians[medians.length >> 1])}, at most ${took(slowest)} for 95 of 100.`;
  }
}

/** What a minute says. */
export function told(minute) {
  const at = `${clock(new Date(minute.at))}: `;
  if (minute.median === undefined) return `${at}nothing finished.`;
  return `${at}${count(minute.success)} succeeded, ${count(minute.failed)} failed; half of them within ${took(minute.median)}, 95 of 100 within ${took(minute.most)}.`;
}
