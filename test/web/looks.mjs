// What is judged within a page: each function is sent there as it is, and returns what is wrong.

/** Returns what reaches beyond the window. */
export function overflow() {
  const width = document.documentElement.clientWidth;
  const beyond = [...document.body.querySelectorAll("*")].filter((element) => {
    const box = element.getBoundingClientRect();
    return box.width > 0 && (box.right > width + 1 || box.left < -1) && !element.parentElement.closest(".paper");
  });
  const wide = document.documentElement.scrollWidth > width ? [`the page is ${document.documentElement.scrollWidth} px wide, and the window ${width} px`] : [];
  return [...wide, ...beyond.map((element) => `${element.tagName}.${element.className}: ${Math.round(element.getBoundingClientRect().right)} px`)];
}

/** Returns texts whose contrast with what is behind them is below 4.5. */
export function faint() {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  canvas.canvas.width = canvas.canvas.height = 1;
  /** Paints colours over each other, the last one on top, and returns what comes of it. */
  const paint = (colours) => {
    canvas.fillStyle = "white";
    canvas.fillRect(0, 0, 1, 1);
    for (const colour of colours) {
      canvas.fillStyle = colour;
      canvas.fillRect(0, 0, 1, 1);
    }
    return canvas.getImageData(0, 0, 1, 1).data;
  };
  const luminance = ([red, green, blue]) => {
    const [r, g, b] = [red, green, blue].map((value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const found = [];
  for (const element of document.body.querySelectorAll("*")) {
    const text = [...element.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE).map((node) => node.textContent.trim()).join("");
    if (text === "" || !element.checkVisibility()) {
      continue;
    }
    const grounds = [];
    let opacity = 1;
    for (let behind = element; behind; behind = behind.parentElement) {
      grounds.unshift(getComputedStyle(behind).backgroundColor);
      opacity *= Number(getComputedStyle(behind).opacity);
    }
    const ground = paint(grounds);
    canvas.globalAlpha = opacity;
    const ink = paint([...grounds, getComputedStyle(element).color]);
    canvas.globalAlpha = 1;
    const [dark, light] = [luminance(ground), luminance(ink)].sort((a, b) => a - b);
    const contrast = (light + 0.05) / (dark + 0.05);
    if (contrast < 4.5) {
      found.push(`${contrast.toFixed(2)}: ${text.slice(0, 40)} (${element.tagName}.${element.className})`);
    }
  }
  return found;
}
