// Elements are made, and text is text: what comes from users never becomes markup.

/** An element with attributes and children; strings are text. */
export function make(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

const SVG = "http://www.w3.org/2000/svg";

/** The same for a drawing. */
export function draw(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}

/** Sets text where it is another one: what has not changed keeps its selection, and is not read out again. */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
