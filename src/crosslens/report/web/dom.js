"use strict";
// Reads the embedded records; makes elements. Text is always set as text, never as HTML.
const data = JSON.parse(document.getElementById("records").textContent);
const rowsOf = (columns) => {
  const names = Object.keys(columns);
  const length = names.length ? columns[names[0]].at.length : 0;
  return Array.from({ length }, (_, i) =>
    Object.fromEntries(names.map((name) => [name, columns[name].of[columns[name].at[i]]])));
};
const scores = rowsOf(data.scores), similar = rowsOf(data.similarities);
const unique = (values) => [...new Set(values)];
// As exact as Python's (Neumaier's sum), or a mean such as 0.9805 could be written with another last digit than in tables.
const mean = (values) => {
  let sum = 0, lost = 0;
  for (const value of values) {
    const next = sum + value;
    lost += Math.abs(sum) >= Math.abs(value) ? sum - next + value : value - next + sum;
    sum = next;
  }
  return (sum + lost) / values.length;
};
// Numbers as Python's tables write them: of two digits that are equally near the even one, and no negative zero.
const written = (value, digits = 2, sign = false) => {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  const size = Math.abs(value), upper = size.toFixed(digits), tie = size * 2 ** (digits + 1) % 2 === 1;
  const text = tie && upper.at(-1) % 2 ? (size - 0.25 / 10 ** digits).toFixed(digits) : upper;
  return (value < 0 && Number(text) ? "−" : sign ? "+" : "") + text;
};
const sizeOf = ({ n }) => n === null || n === undefined ? "" : `, n ${n}`;
// Right-to-left names in other text are isolated, or the brackets and numbers around them would change places.
const NAMES = data.rightToLeft.length
  ? new RegExp(`(?<![\\p{L}\\p{M}])(${data.rightToLeft.map((name) => name.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")).join("|")})(?![\\p{L}\\p{M}])`, "gu") : null;
const plainly = (text) => NAMES && typeof text === "string" ? text.replace(NAMES, "\u2068$1\u2069") : text; // where there are no elements
const isolated = (text, tag = "") => !NAMES || typeof text !== "string" || tag === "bdi" || tag === "option" ? [text] : SVG.has(tag) ? [plainly(text)]
  : text.split(NAMES).map((part, i) => i % 2 ? make("bdi", {}, part) : part).filter(Boolean);
const SVG = new Set(["svg", "line", "text", "polyline", "circle", "title", "g", "rect"]);
const SPOKEN = new Set(["title", "aria-label"]);
const make = (tag, attributes = {}, ...children) => {
  const node = SVG.has(tag) ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value); else node.setAttribute(name, SPOKEN.has(name) ? plainly(value) : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined).flatMap((child) => isolated(child, tag)));
  return node;
};
const at = (id) => document.getElementById(id);
// Redraw parts of the page: what has the keyboard focus keeps it (found by its text and place), and open values stay open.
const redrawn = (remake) => {
  const focused = document.activeElement, part = focused.closest("[id]");
  const words = (node) => node.getAttribute("aria-label") ?? node.textContent.replace(/ [↑↓]$/, "");
  const alike = () => [...part?.querySelectorAll(focused.localName) ?? []].filter((node) => words(node) === words(focused));
  const place = alike().indexOf(focused), labelOf = (details) => details.querySelector("[aria-label]")?.getAttribute("aria-label");
  const open = new Set([...document.querySelectorAll("details[open]")].map(labelOf));
  remake();
  for (const details of document.querySelectorAll("details:not([open])")) {
    if (labelOf(details) === undefined || !open.has(labelOf(details))) continue;
    details.open = true;
    details.dispatchEvent(new Event("toggle")); // the browser's own comes later, and with it the buttons of downloads
  }
  if (!focused.isConnected) (alike()[place] ?? alike()[0])?.focus();
};
const fill = (select, values) => select.replaceChildren(...values.map((value) => make("option", { value }, value)));
const tableOf = (head, rows) => [
  make("thead", {}, make("tr", {}, ...head.map((text, i) => make("th", { scope: "col", class: i ? null : "left" }, `${text}`)))),
  make("tbody", {}, ...rows.map(([name, ...values]) => make("tr", {}, make("th", { scope: "row", dir: "auto" }, name),
    ...values.map((value) => make("td", {}, value)))))];
// Round steps of an axis that holds all values and 0.
const ticks = (values, steps, least) => {
  const lowest = Math.min(0, ...values), highest = Math.max(least, ...values);
  const step = steps.find((s) => (highest - lowest) / s <= 6) ?? steps.at(-1) * Math.ceil((highest - lowest) / steps.at(-1) / 6);
  const first = Math.floor(lowest / step + 1e-9), last = Math.ceil(highest / step - 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) => (first + i) * step);
};
// The fewest decimals that tell ticks apart.
const digitsOf = (values) => [0, 1, 2, 3, 4, 5].find((digits) => values.every((value) => Math.abs(value * 10 ** digits - Math.round(value * 10 ** digits)) < 1e-6)) ?? 6;
if (NAMES) {
  const texts = [], walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) texts.push(walker.currentNode);
  for (const text of texts) text.replaceWith(...isolated(text.data, text.parentNode.localName));
}
