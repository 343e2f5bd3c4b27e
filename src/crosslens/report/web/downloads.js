// Files of what is shown: values of any table as CSV, charts as SVG --------------------------------------------------------
const save = (text, type, name) => {
  const link = make("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click(); URL.revokeObjectURL(link.href);
};
const quoted = (value) => value === null || value === undefined ? "" : /[",\n]/.test(`${value}`) ? `"${`${value}`.replaceAll('"', '""')}"` : `${value}`;
const separated = (rows) => rows.map((row) => row.map(quoted).join(",")).join("\n") + "\n";
const csv = (records) => records.length ? separated([Object.keys(records[0]), ...records.map(Object.values)]) : "";
// The keys of charts: those of their figures and part of the page, and that of colours where languages have colours.
const isSeen = (node) => node.getBoundingClientRect().width > 0, partOf = (node) => node.closest("#by-language, section");
const keysOf = (charts) => [...document.querySelectorAll("ul.key")].filter((key) => isSeen(key) && (key.closest("figure")
  ? charts.some((chart) => chart.closest("figure") === key.closest("figure"))
  : partOf(key) === partOf(charts[0]) || key.id === "colours" && charts.some((chart) => chart.querySelector(".target") || chart.closest("#gap, .scatter"))));
const DASHES = { dashed: "5 4", dotted: "2 3", round: "1 5", mixed: "9 3 2 3" };
const inLines = (text, width) => text.split(" ").reduce((lines, word) => {
  const longer = lines.length ? `${lines.at(-1)} ${word}` : word;
  return lines.length && pen.measureText(longer).width <= width ? [...lines.slice(0, -1), longer] : [...lines, word];
}, []);
// An entry of a key, moved by (dx, dy) from its place on the page: its mark and its lines of text.
const entry = (item, dx, dy) => {
  const mark = item.querySelector("i"), box = mark.getBoundingClientRect(), style = getComputedStyle(mark), words = getComputedStyle(item);
  const left = box.left + dx, right = box.right + dx, top = box.top + dy, middle = top + box.height / 2, size = parseFloat(words.fontSize);
  const line = (ends, stroke, width) => make("line", { ...ends, stroke, "stroke-width": width, "stroke-dasharray": DASHES[mark.className] });
  pen.font = `${size}px sans-serif`;
  return [style.borderTopLeftRadius === "50%"
    ? make("circle", { cx: (left + right) / 2, cy: middle, r: box.width / 2 - 1, fill: style.backgroundColor === "rgba(0, 0, 0, 0)" ? "none" : style.backgroundColor, stroke: style.borderTopColor, "stroke-width": 2 })
    : box.height > box.width ? line({ x1: left, x2: left, y1: top, y2: top + box.height }, style.borderLeftColor, 2)
      : line({ x1: left, x2: right, y1: middle, y2: middle }, style.borderTopColor, parseFloat(style.borderTopWidth)),
  ...inLines(item.textContent, item.parentElement.getBoundingClientRect().right + dx - right - 6).map((text, i) =>
    make("text", { x: right + 6, y: middle + size * (0.35 + 1.35 * i), fill: words.color, "font-family": "sans-serif", "font-size": size }, text))];
};
// The caption and axis above a chart, line by line; a chart without them says what it shows to readers of screens.
const titleOf = (chart) => {
  const lines = [...chart.closest("figure")?.querySelectorAll(":scope > figcaption, :scope > span.note") ?? []].flatMap((node) => node.innerText.split(/\s*\n\s*/).filter(Boolean));
  return lines.length ? lines : [chart.getAttribute("aria-label").replace(/; the values are in the table below$/, "")];
};
// Charts as one file of its own, where they stand on the page, with their keys: that of a figure in its place, others below.
const drawing = (charts) => {
  pen.font = "13px sans-serif";
  const titles = charts.map((chart) => titleOf(chart).flatMap((line) => inLines(line, chart.getBoundingClientRect().width)));
  const keys = keysOf(charts), boxOf = (node) => node.getBoundingClientRect(), inside = keys.filter((key) => key.closest("figure")), below = keys.filter((key) => !key.closest("figure"));
  const boxes = [...charts, ...inside].map(boxOf), left = Math.min(...boxes.map((box) => box.left)), top = Math.min(...boxes.map((box) => box.top)) - 5 - 15 * Math.max(...titles.map((lines) => lines.length));
  const ink = getComputedStyle(document.body), back = make("rect", { width: "100%", height: "100%", fill: ink.backgroundColor }), file = make("svg", {}, back);
  charts.forEach((chart, i) => {
    const copy = chart.cloneNode(true), nodes = [chart, ...chart.querySelectorAll("*")], x = boxes[i].left - left, y = boxes[i].top - top;
    [copy, ...copy.querySelectorAll("*")].forEach((node, k) => {
      const style = getComputedStyle(nodes[k]);
      for (const name of ["fill", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "font-family", "font-size"]) node.setAttribute(name, style.getPropertyValue(name));
    });
    for (const [name, value] of Object.entries({ x, y, width: boxes[i].width, height: boxes[i].height })) copy.setAttribute(name, value);
    file.append(...titles[i].map((line, k) => make("text", { x, y: y - 6 - 15 * (titles[i].length - 1 - k), fill: ink.color, "font-family": "sans-serif", "font-size": 13 }, line)), copy);
  });
  let bottom = Math.max(...boxes.map((box) => box.bottom)) - top, width = Math.max(...boxes.map((box) => box.right)) - left;
  const place = (key, dx, dy, items) => items.forEach((item) => {
    const [mark, ...texts] = entry(item, dx, dy);
    width = Math.max(width, ...texts.map((text) => +text.getAttribute("x") + pen.measureText(text.textContent).width + 4));
    file.append(mark, ...texts);
  });
  for (const key of inside) place(key, -left, -top, [...key.children].filter(isSeen));
  for (const key of below) { // colours that each figure explains are not explained again
    const items = [...key.children].filter((item) => isSeen(item) && (!inside.length || !item.querySelector("[class^=series]")));
    if (!items.length) continue;
    const first = boxOf(items[0]);
    place(key, 4 - first.left, bottom + 10 - first.top, items);
    bottom += 10 + Math.max(...items.map((item) => boxOf(item).bottom)) - first.top;
  }
  file.setAttribute("width", width); file.setAttribute("height", bottom);
  return new XMLSerializer().serializeToString(file);
};
// Under every table of values: the table, and the charts that it belongs to.
const charted = (details) => [...details.parentElement.querySelectorAll("svg.chart")].filter((chart) => {
  let owner = chart;
  while (!owner.querySelector(":scope > details")) owner = owner.parentElement;
  return owner === details.parentElement && isSeen(chart);
});
const valuesOfTable = (table) => [...table.rows].map((row) => [...row.cells].flatMap((cell) => [cell.textContent.replaceAll("−", "-").replace(/^(–|not run)$/, ""), ...Array(cell.colSpan - 1).fill("")]));
const fileName = (details) => details.querySelector("[aria-label]").getAttribute("aria-label").replace(", values", "").toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "");
document.addEventListener("toggle", ({ target: details }) => {
  if (!details.open || !details.querySelector("table") || details.querySelector(".downloads")) return;
  details.append(make("div", { class: "controls downloads" },
    make("button", { onclick: () => save(separated(valuesOfTable(details.querySelector("table"))), "text/csv", `${fileName(details)}.csv`) }, "Download values (CSV)"),
    charted(details).length ? make("button", { onclick: () => save(drawing(charted(details)), "image/svg+xml", `${fileName(details)}.svg`) }, "Download figure (SVG)") : null));
}, true);
