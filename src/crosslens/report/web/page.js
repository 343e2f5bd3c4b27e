"use strict";
// Reads the embedded records and draws tables and curves from them. Text is always set as text, never as HTML.
const data = JSON.parse(document.getElementById("records").textContent);
const rowsOf = (columns) => {
  const names = Object.keys(columns);
  const length = names.length ? columns[names[0]].at.length : 0;
  return Array.from({ length }, (_, i) =>
    Object.fromEntries(names.map((name) => [name, columns[name].of[columns[name].at[i]]])));
};
const scores = rowsOf(data.scores), similar = rowsOf(data.similarities);
const unique = (values) => [...new Set(values)];
const mean = (values) => values.reduce((a, b) => a + b, 0) / values.length;
const written = (value, digits = 2, sign = false) => value === null || value === undefined || Number.isNaN(value) ? "–"
  : ((sign && value >= 0 ? "+" : "") + (Math.abs(value) < 0.5 / 10 ** digits ? 0 : value).toFixed(digits)).replace("-", "−");
const make = (tag, attributes = {}, ...children) => {
  const svg = ["svg", "line", "text", "polyline", "circle", "title", "g"].includes(tag) && attributes.svg !== false;
  const node = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "svg" || value === null || value === undefined) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value); else node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== null));
  return node;
};
const at = (id) => document.getElementById(id);
const fill = (select, values) => select.replaceChildren(...values.map((value) => make("option", { value }, value)));

// Scores of one task, computed in Python with the same rule as all tables and only displayed here -------------------
const heat = () => {
  const wanted = data.tables.find((t) => ["task", "source", "encoder"].every((id) => `${t[id] ?? ""}` === at(id).value));
  if (!wanted) return at("heat").replaceChildren();
  const cell = (row, column, shown) => {
    const name = `${row.name}, ${column.name}`;
    if (!shown.seeds) return make("td", { title: shown.lacks ? `${name}: ${shown.lacks} of ${row.over} corpora have no score` : null }, "–");
    const value = shown.value ?? 0, difference = column.difference;
    const level = !difference ? "" : value >= 0 ? "above" : value > -2 ? "below" : value > -5 ? "two" : "five";
    const interval = shown.low === undefined || shown.low === null ? ""
      : `, 95 % confidence interval over sentences ${written(shown.low)} to ${written(shown.high)}`;
    const words = `${name}: ${written(value, 2, difference)}`
      + (shown.seeds < 2 ? `, 1 seed${interval}` : `, ± ${written(shown.std ?? 0)} over ${shown.seeds} seeds`)
      + (shown.left ? `, ${shown.left} seeds excluded` : "") + (row.over ? "" : `, n ${shown.n ?? "–"}`);
    const show = () => { at("filter").value = [wanted.task, wanted.source, column.name, row.over ? "" : row.name]
      .filter(Boolean).join(" "); shownRows = 100; table(); at("results").scrollIntoView(); };
    return make("td", { class: `cell ${level}` },
      make("button", { title: words, "aria-label": words, onclick: show }, written(value, 2, difference)));
  };
  const head = make("tr", {}, make("th", { class: "left", scope: "col" }, "evaluated on"),
    ...wanted.columns.map((column) => make("th", { scope: "col" }, column.head)));
  at("heat").replaceChildren(make("thead", {}, head), make("tbody", {}, ...wanted.rows.map((row) =>
    make("tr", { class: row.over ? "mean" : null }, make("th", { scope: "row" }, row.name),
      ...row.cells.map((shown, i) => cell(row, wanted.columns[i], shown))))));
};

// Similarity by layer --------------------------------------------------------------------------------------------------
const STYLES = [["", ""], ["matched", "dotted"], ["null", "dashed"]];
const curves = () => {
  const measure = at("measure").value, pair = at("pair").value;
  // Seeds of a pair are averaged first. A mean over pairs needs a value for every pair of different languages.
  const shown = similar.filter((r) => r.of === measure && (pair === "" ? r.different : r.pair === pair));
  const states = unique(shown.map((r) => r.state));
  const layers = unique(similar.map((r) => r.layer)).sort((a, b) => a - b);
  const series = [];
  for (const [place, kind] of data.kinds.entries()) {
    for (const [number, state] of states.entries()) {
      const records = shown.filter((r) => r.state === state && r.sentences === kind);
      const pairs = unique(records.map((r) => r.pair));
      const points = layers.map((layer) => {
        const rows = records.filter((r) => r.layer === layer);
        const values = pairs.map((name) => rows.filter((r) => r.pair === name).map((r) => r.value));
        return pairs.length && values.every((v) => v.length) ? { layer, value: mean(values.map(mean)), rows, pairs: pairs.length } : null;
      }).filter(Boolean);
      if (points.length) series.push({ state, number, kind: [...STYLES[place], kind], points });
    }
  }
  const all = series.flatMap((s) => s.points.map((p) => p.value));
  const lowest = Math.min(0, ...all), highest = Math.max(0.05, ...all);
  const step = [0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5].find((s) => (highest - lowest) / s <= 6) ?? 1;
  const low = Math.floor(lowest / step) * step, high = Math.ceil(highest / step) * step;
  const W = 760, H = 330, L = 46, B = 44;
  const x = (layer) => L + (layers.length < 2 ? 0 : (layer - layers[0]) / (layers.at(-1) - layers[0])) * (W - L - 16);
  const y = (value) => 10 + (high - value) / (high - low) * (H - B - 10);
  const svg = make("svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": `${measure} by layer, ${pair || "mean over pairs"}` });
  for (let i = 0; i <= Math.round((high - low) / step); i++) {
    const tick = low + step * i;
    svg.append(make("line", { class: "axis", x1: L, x2: W, y1: y(tick), y2: y(tick) }),
      make("text", { x: L - 6, y: y(tick) + 4, "text-anchor": "end" }, written(tick)));
  }
  for (const layer of layers) svg.append(make("text", { x: x(layer), y: H - 24, "text-anchor": "middle" }, layer));
  svg.append(make("text", { x: (L + W) / 2, y: H - 6, "text-anchor": "middle" }, "layer (0: embeddings)"));
  for (const s of series) {
    const colour = `var(--c${s.number % 6})`;
    svg.append(make("polyline", { class: s.kind[0], style: `stroke:${colour}`,
      points: s.points.map((p) => `${x(p.layer)},${y(p.value)}`).join(" ") }));
    for (const p of s.points) {
      const one = p.rows.length === 1 && p.rows[0].low !== null
        ? `, 95 % CI ${written(p.rows[0].low, 3)} to ${written(p.rows[0].high, 3)}` : "";
      const over = p.pairs > 1 ? `mean of ${p.pairs} pairs` : `1 pair, n ${p.rows[0].n}`;
      const words = `${s.state}, ${s.kind[2]}, layer ${p.layer}: ${written(p.value, 3)}${one}, ${over}`;
      svg.append(make("circle", { cx: x(p.layer), cy: y(p.value), r: s.kind[0] ? 2.5 : 4, style: `fill:${colour}` },
        make("title", {}, words)));
    }
  }
  at("curves").replaceChildren(svg);
  const kinds = [...new Map(series.map((s) => [s.kind[2], s.kind])).values()];
  at("key").replaceChildren(
    ...states.map((state, number) => make("li", {}, make("i", { style: `border-color:var(--c${number % 6})` }), state)),
    ...(kinds.length > 1 ? kinds.map((kind) => make("li", {}, make("i", { class: kind[1] }), kind[2])) : []));
  at("values").replaceChildren(
    make("thead", {}, make("tr", {}, make("th", { class: "left", scope: "col" }, "encoder"), ...layers.map((l) => make("th", { scope: "col" }, l)))),
    make("tbody", {}, ...series.map((s) => make("tr", {}, make("th", { scope: "row" }, `${s.state}: ${s.kind[2]}, ${s.points[0].pairs} ${s.points[0].pairs > 1 ? "pairs" : "pair"}`),
      ...layers.map((l) => make("td", {}, written(s.points.find((p) => p.layer === l)?.value, 3)))))));
};

// All scores ----------------------------------------------------------------------------------------------------------
const COLUMNS = ["task", "metric", "source", "target", "corpus", "condition", "seed", "value", "low", "high", "n", "run"];
const WORDS = new Set(["task", "metric", "source", "target", "corpus", "condition"]);
let order = { by: null, down: false }, shownRows = 100;
const sought = scores.map((r) => COLUMNS.map((c) => `${r[c] ?? ""}`).join(" ").toLowerCase());
const table = () => {
  const words = at("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  const parts = sought.map((text) => text.split(" "));
  let found = scores.map((_, i) => i).filter((i) => words.every((w) => w.length < 4 ? parts[i].some((p) => p === w || p.includes(w) && w.length > 2) : sought[i].includes(w)));
  if (order.by) {
    const key = (i) => scores[i][order.by === "condition" ? "place" : order.by]; // conditions are sorted by position, not by name
    found = found.sort((a, b) => {
      const [p, q] = [key(a), key(b)];
      if (p === null || q === null) return (p === null) - (q === null);
      return (typeof p === "number" ? p - q : `${p}`.localeCompare(`${q}`)) * (order.down ? -1 : 1);
    });
  }
  at("count").textContent = `${found.length} of ${scores.length} scores`;
  const sorting = (c) => order.by !== c ? "none" : order.down ? "descending" : "ascending";
  const sort = (c) => { order = { by: c, down: order.by === c && !order.down }; table(); };
  const numeric = new Set(["value", "low", "high"]);
  const show = (r, c) => c === "run" && r.run
    ? make("td", {}, make("button", { onclick: () => details(r) }, r.run.slice(0, 8)))
    : make("td", { class: WORDS.has(c) ? "left" : null }, numeric.has(c) ? written(r[c]) : `${r[c] ?? "–"}`);
  at("results").replaceChildren(
    make("thead", {}, make("tr", {}, ...COLUMNS.map((c) => make("th", { scope: "col", class: WORDS.has(c) ? "left" : null, "aria-sort": sorting(c) },
      make("button", { onclick: () => sort(c) }, c + (order.by === c ? (order.down ? " ↓" : " ↑") : "")))))),
    make("tbody", {}, ...found.slice(0, shownRows).map((i) => make("tr", {}, ...COLUMNS.map((c) => show(scores[i], c))))));
  at("more").hidden = found.length <= shownRows;
};
const details = (row) => {
  const run = data.runs[row.run] ?? {};
  const facts = { ...Object.fromEntries(COLUMNS.map((c) => [c, row[c]])), signature: row.signature, ...run.facts,
    machine: run.machine, seconds: run.seconds };
  at("facts").replaceChildren(...Object.entries(facts).filter(([, v]) => v !== null && v !== undefined)
    .flatMap(([k, v]) => [make("dt", {}, k), make("dd", {}, `${v}`)]));
  at("log").textContent = [run.repeat ? `Command to reproduce this run:\n${run.repeat}\n` : "", run.log ?? ""].filter(Boolean).join("\n");
  at("run").showModal();
};

// Downloads --------------------------------------------------------------------------------------------------------------
const save = (text, type, name) => {
  const link = make("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click(); URL.revokeObjectURL(link.href);
};
const quoted = (value) => value === null || value === undefined ? "" : /[",\n]/.test(`${value}`) ? `"${`${value}`.replaceAll('"', '""')}"` : `${value}`;
const csv = (rows) => rows.length ? [Object.keys(rows[0]), ...rows.map(Object.values)].map((r) => r.map(quoted).join(",")).join("\n") + "\n" : "";

if (scores.length) {
  for (const id of ["task", "source", "encoder"]) fill(at(id), unique(data.tables.map((t) => `${t[id] ?? ""}`)));
  for (const id of ["task", "source", "encoder"]) at(id).addEventListener("change", heat);
  at("filter").addEventListener("input", () => { shownRows = 100; table(); });
  at("more").addEventListener("click", () => { shownRows += 1000; table(); });
  at("scores-csv").addEventListener("click", () => save(csv(scores.map(({ place, ...record }) => record)), "text/csv", "scores.csv"));
  heat(); table();
}
if (similar.length) {
  fill(at("measure"), unique(similar.map((r) => r.of)));
  const pairs = unique(similar.map((r) => r.pair)).sort(), different = unique(similar.filter((r) => r.different).map((r) => r.pair));
  fill(at("pair"), pairs);
  if (different.length) at("pair").prepend(make("option", { value: "", selected: "" }, `mean over pairs (${different.length})`));
  for (const id of ["measure", "pair"]) at(id).addEventListener("change", curves);
  at("similar-csv").addEventListener("click", () => save(csv(similar), "text/csv", "similarities.csv"));
  at("svg").addEventListener("click", () => {
    const copy = at("curves").firstChild.cloneNode(true), style = getComputedStyle(document.documentElement);
    const text = new XMLSerializer().serializeToString(copy).replace(/var\((--c\d)\)/g, (_, name) => style.getPropertyValue(name).trim());
    save(text.replace("<svg ", '<svg fill="#1b1f24" font-family="sans-serif" font-size="12" '), "image/svg+xml", "similarity.svg");
  });
  curves();
}
at("close").addEventListener("click", () => at("run").close());
