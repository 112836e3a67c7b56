// What all pages know: the homework that this page is about, the people, and what the server says of both.

const query = new URLSearchParams(location.search);

export const settings = await (await fetch("/settings")).json();
export const task = Number(query.get("task") ?? 42);
export const version = Number(query.get("version") ?? 1);
export const template = query.get("template") ?? "award-homework";
/** Without taskonce: what the page was before. */
export const old = query.get("mode") === "old";
/** This page is the second tab of another one. */
export const second = query.has("tab");
/** How long a page waits for an answer, in milliseconds. */
export const patience = Number(query.get("patience") ?? settings.patience);
export const points = 10;
export const student = settings.people.student.sub;

export const cast = {
  student: { name: "Mia", role: "student", press: `Hand in version ${version}` },
  teacher: { name: "Ms Lee", role: "teacher", press: `Take in version ${version}` },
  parent: { name: "Pat", role: "Mia’s parent", press: `Hand in version ${version} for Mia` },
};

/** Returns the address of a page, with some of what this page is about changed. */
export function address(path, changes = {}) {
  const about = new URLSearchParams(location.search);
  about.set("task", String(task));
  about.set("version", String(version));
  for (const [name, value] of Object.entries(changes)) {
    value === undefined ? about.delete(name) : about.set(name, String(value));
  }
  return `${path}?${about}`;
}

const often = 500;

/** Calls back with what the server knows of the task: what was booked, and what is wrong with whose network. */
export async function observe(tell) {
  for (;;) {
    try {
      tell(await (await fetch(`/state/${task}`)).json());
    } catch {
      tell(undefined); // the example's own server is away
    }
    await new Promise((resolve) => setTimeout(resolve, often));
  }
}

/** Makes an element. */
export function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) {
    element.setAttribute(attribute, value);
  }
  element.append(...children);
  return element;
}
