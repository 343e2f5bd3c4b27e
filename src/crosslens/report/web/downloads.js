// Files of what is shown: values of any table as CSV, charts as SVG --------------------------------------------------------
const save = (text, type, name) => {
  const link = make("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click(); URL.revokeObjectURL(link.href);
};
const quoted = (value) => value === null || value === undefined ? "" : /[",\n]/.test(`${value}`) ? `"${`${value}`.replaceAll('"', '""')}"` : `${value}`;
const separated = (rows) => rows.map((row) => row.map(quoted).join(",")).join("\n") + "\n";
const csv = (records) => records.length ? separated([Object.keys(records[0]), ...records.map(Object.values)]) : "";
// Charts as one file of its own, where they stand on the page: what the style sheet gives them becomes attributes.
const drawing = (charts) => {
  const boxes = charts.map((chart) => chart.getBoundingClientRect()), edge = (name) => boxes.map((box) => box[name]);
  const left = Math.min(...edge("left")), top = Math.min(...edge("top")) - 20, file = make("svg", { width: Math.max(...edge("right")) - left, height: Math.max(...edge("bottom")) - top });
  charts.forEach((chart, i) => {
    const copy = chart.cloneNode(true), nodes = [chart, ...chart.querySelectorAll("*")], x = boxes[i].left - left, y = boxes[i].top - top;
    [copy, ...copy.querySelectorAll("*")].forEach((node, k) => {
      const style = getComputedStyle(nodes[k]);
      for (const name of ["fill", "stroke", "stroke-width", "stroke-dasharray", "font-family", "font-size"]) node.setAttribute(name, style.getPropertyValue(name));
    });
    for (const [name, value] of Object.entries({ x, y, width: boxes[i].width, height: boxes[i].height })) copy.setAttribute(name, value);
    const title = chart.closest("figure")?.querySelector("figcaption")?.textContent;
    file.append(...(title ? [make("text", { x, y: y - 6, "font-family": "sans-serif", "font-size": 13 }, title)] : []), copy);
  });
  return new XMLSerializer().serializeToString(file);
};
// Under every table of values: the table, and the charts that it belongs to.
const charted = (details) => [...details.parentElement.querySelectorAll("svg.chart")].filter((chart) => {
  let owner = chart;
  while (!owner.querySelector(":scope > details")) owner = owner.parentElement;
  return owner === details.parentElement && chart.getBoundingClientRect().width;
});
const valuesOfTable = (table) => [...table.rows].map((row) => [...row.cells].flatMap((cell) => [cell.textContent.replaceAll("−", "-").replace(/^(–|not run)$/, ""), ...Array(cell.colSpan - 1).fill("")]));
const fileName = (details) => details.querySelector("[aria-label]").getAttribute("aria-label").replace(", values", "").toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "");
document.addEventListener("toggle", ({ target: details }) => {
  if (!details.open || !details.querySelector("table") || details.querySelector(".downloads")) return;
  details.append(make("div", { class: "controls downloads" },
    make("button", { onclick: () => save(separated(valuesOfTable(details.querySelector("table"))), "text/csv", `${fileName(details)}.csv`) }, "Download values (CSV)"),
    charted(details).length ? make("button", { onclick: () => save(drawing(charted(details)), "image/svg+xml", `${fileName(details)}.svg`) }, "Download figure (SVG)") : null));
}, true);
