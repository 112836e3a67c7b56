import { make, say } from "./dom.js";

/**
 * A table whose rows stay the same elements while they are shown, so that focus and selection stay, too. It says its roles
 * itself: on a narrow screen its rows are laid out as cards, which would take them away.
 * columns: {title, cell(item) → Node, update?(cell, item)}; a cell is made once, and updated then.
 */
export class Table {
  #rows = new Map();
  #body = make("tbody", { role: "rowgroup" });
  #columns;
  #key;

  constructor(into, label, columns, key) {
    this.#columns = columns;
    this.#key = key;
    const head = make("tr", { role: "row" }, ...columns.map((c) => make("th", { role: "columnheader", scope: "col" }, c.title)));
    this.element = make("table", { role: "table", "aria-labelledby": label }, make("thead", { role: "rowgroup" }, head), this.#body);
    into.append(this.element);
  }

  show(items) {
    const wanted = new Map(items.map((item) => [this.#key(item), item]));
    for (const [key, row] of this.#rows) {
      if (!wanted.has(key)) {
        row.remove();
        this.#rows.delete(key);
      }
    }
    let at = this.#body.firstChild;
    for (const [key, item] of wanted) {
      const row = this.#rows.get(key) ?? this.#make(key);
      [...row.cells].forEach((cell, i) => this.#columns[i].update(cell, item));
      if (row === at) at = at.nextSibling;
      else this.#body.insertBefore(row, at);
    }
    this.element.hidden = items.length === 0;
  }

  #make(key) {
    const row = make("tr", { role: "row" }, ...this.#columns.map((c) => make("td", { role: "cell", "data-title": c.title, class: c.class })));
    this.#rows.set(key, row);
    return row;
  }
}

/** A column of text. */
export const text = (title, of, kind) => ({ title, class: kind, update: (cell, item) => say(cell, of(item)) });

/** A column of what is made anew when it changes. */
export const made = (title, of, make, kind) => ({
  title,
  class: kind,
  update(cell, item) {
    const now = of(item);
    if (cell.dataset.made !== now) {
      cell.dataset.made = now;
      cell.replaceChildren(...make(item));
    }
  },
});
