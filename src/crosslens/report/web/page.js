"use strict";
// All that the page does: read the records below it, and draw tables and curves of them. Text is always set as text.
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
const std = (values) => values.length < 2 ? null
  : Math.sqrt(values.reduce((a, b) => a + (b - mean(values)) ** 2, 0) / (values.length - 1));
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

// What layers cost each target -----------------------------------------------------------------------------------------
const heat = () => {
  const chosen = scores.filter((r) => r.task === at("task").value && r.source === at("source").value
    && r.encoder === at("encoder").value);
  const conditions = unique(chosen.map((r) => r.condition));
  const reference = conditions.includes("reference");
  const others = conditions.filter((name) => name !== "reference").sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  const corpora = unique(chosen.map((r) => r.corpus));
  const values = new Map(chosen.map((r) => [JSON.stringify([r.corpus, r.condition, r.seed]), r]));
  const seeds = unique(chosen.map((r) => r.seed));
  const of = (corpus, condition) => seeds.map((seed) => {
    const its = values.get(JSON.stringify([corpus, condition, seed]));
    const ref = values.get(JSON.stringify([corpus, "reference", seed]));
    if (!its || (condition !== "reference" && reference && !ref)) return null;
    return condition === "reference" || !reference ? its.value : its.value - ref.value;
  });
  const language = new Map(chosen.map((r) => [r.corpus, r.target]));
  const source = at("source").value;
  const same = corpora.filter((c) => language.get(c) === source).sort();
  const cross = corpora.filter((c) => language.get(c) !== source).sort();
  const cell = (label, condition, perSeed, wanted) => {
    const kept = perSeed.filter((v) => v !== null && !Number.isNaN(v));
    if (!kept.length) return make("td", {}, "–");
    const value = mean(kept), spread = std(kept), difference = reference && condition !== "reference";
    const level = !difference ? "" : value >= 0 ? "above" : value > -2 ? "below" : value > -5 ? "two" : "five";
    const example = chosen.find((r) => wanted.includes(r.corpus) && r.condition === condition);
    const interval = !difference && kept.length === 1 && wanted.length === 1 && example.low !== null
      ? `, 95 % interval ${written(example.low)} to ${written(example.high)}` : "";
    const said = `${label}, ${condition}: ${written(value, 2, difference)}`
      + (spread === null ? `, 1 seed${interval}` : `, ± ${written(spread)} over ${kept.length} seeds`)
      + (wanted.length === 1 ? `, n ${example.n}` : `, mean of ${wanted.length} corpora`);
    const show = () => { at("filter").value = [example.task, source, condition, wanted.length === 1 ? label : ""]
      .filter(Boolean).join(" "); shown = 100; table(); at("results").scrollIntoView(); };
    return make("td", { class: `cell ${level}` },
      make("button", { title: said, "aria-label": said, onclick: show }, written(value, 2, difference)));
  };
  const line = (label, wanted, kind) => make("tr", { class: kind }, make("th", { scope: "row" }, label),
    ...[...(reference ? ["reference"] : []), ...others].map((condition) => {
      const columns = wanted.map((corpus) => of(corpus, condition));
      const perSeed = seeds.map((_, i) => { const its = columns.map((c) => c[i]).filter((v) => v !== null);
        return its.length ? mean(its) : null; });
      return cell(label, condition, perSeed, wanted);
    }));
  const head = make("tr", {}, make("th", { class: "left", scope: "col" }, "evaluated on"),
    ...[...(reference ? ["reference"] : []), ...others].map((c) =>
      make("th", { scope: "col" }, (reference && c !== "reference" ? "Δ " : "") + c.replace(/^reference /, ""))));
  const body = [...same.map((c) => line(c, [c], "")), ...(same.length > 1 ? [line("same-language mean", same, "mean")] : []),
    ...cross.map((c) => line(c, [c], "")), ...(cross.length > 1 ? [line("cross-language mean", cross, "mean")] : [])];
  at("heat").replaceChildren(make("thead", {}, head), make("tbody", {}, ...body));
};

// Similarity by layer --------------------------------------------------------------------------------------------------
const TRANSLATIONS = ["", "", "translations"];
const NULLS = { _shuffled: ["null", "dashed", "unrelated sentences"], _length_matched: ["matched", "dotted", "unrelated, of like length"] };
const curves = () => {
  const measure = at("measure").value, pair = at("pair").value;
  const of = (name) => similar.filter((r) => r.measure === name && (pair === "mean of all pairs" || r.pair === pair));
  const states = unique(of(measure).map((r) => r.state));
  const layers = unique(similar.map((r) => r.layer)).sort((a, b) => a - b);
  const series = [];
  for (const [ending, kind] of [["", TRANSLATIONS], ...Object.entries(NULLS)]) {
    for (const [number, state] of states.entries()) {
      const its = of(measure + ending).filter((r) => r.state === state && r.value !== null);
      const points = layers.map((layer) => its.filter((r) => r.layer === layer))
        .map((rows, i) => rows.length ? { layer: layers[i], value: mean(rows.map((r) => r.value)), rows } : null).filter(Boolean);
      if (points.length) series.push({ state, number, kind, points });
    }
  }
  const all = series.flatMap((s) => s.points.map((p) => p.value));
  const lowest = Math.min(0, ...all), highest = Math.max(0.05, ...all);
  const step = [0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5].find((s) => (highest - lowest) / s <= 6) ?? 1;
  const low = Math.floor(lowest / step) * step, high = Math.ceil(highest / step) * step;
  const W = 760, H = 330, L = 46, B = 44;
  const x = (layer) => L + (layers.length < 2 ? 0 : (layer - layers[0]) / (layers.at(-1) - layers[0])) * (W - L - 16);
  const y = (value) => 10 + (high - value) / (high - low) * (H - B - 10);
  const svg = make("svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": `${measure} by layer, ${pair}` });
  for (let i = 0; i <= Math.round((high - low) / step); i++) {
    const tick = low + step * i;
    svg.append(make("line", { class: "axis", x1: L, x2: W, y1: y(tick), y2: y(tick) }),
      make("text", { x: L - 6, y: y(tick) + 4, "text-anchor": "end" }, written(tick)));
  }
  for (const layer of layers) svg.append(make("text", { x: x(layer), y: H - 24, "text-anchor": "middle" }, layer));
  svg.append(make("text", { x: (L + W) / 2, y: H - 6, "text-anchor": "middle" }, "layer (0 is the embeddings)"));
  for (const s of series) {
    const colour = `var(--c${s.number % 6})`;
    svg.append(make("polyline", { class: s.kind[0], style: `stroke:${colour}`,
      points: s.points.map((p) => `${x(p.layer)},${y(p.value)}`).join(" ") }));
    for (const p of s.points) {
      const one = p.rows.length === 1 && p.rows[0].low !== null
        ? `, 95 % ${written(p.rows[0].low, 3)} to ${written(p.rows[0].high, 3)}` : "";
      const said = `${s.state}, ${s.kind[2]}, layer ${p.layer}: ${written(p.value, 3)}${one}, ${p.rows.length} pair(s), n ${p.rows[0].n}`;
      svg.append(make("circle", { cx: x(p.layer), cy: y(p.value), r: s.kind[0] ? 2.5 : 4, style: `fill:${colour}` },
        make("title", {}, said)));
    }
  }
  at("curves").replaceChildren(svg);
  const kinds = unique(series.map((s) => s.kind));
  at("key").replaceChildren(
    ...states.map((state, number) => make("li", {}, make("i", { style: `border-color:var(--c${number % 6})` }), state)),
    ...(kinds.length > 1 ? kinds.map((kind) => make("li", {}, make("i", { class: kind[1] }), kind[2])) : []));
  at("values").replaceChildren(
    make("thead", {}, make("tr", {}, make("th", { class: "left", scope: "col" }, "encoder"), ...layers.map((l) => make("th", { scope: "col" }, l)))),
    make("tbody", {}, ...series.map((s) => make("tr", {}, make("th", { scope: "row" }, `${s.state}: ${s.kind[2]}`),
      ...layers.map((l) => make("td", {}, written(s.points.find((p) => p.layer === l)?.value, 3)))))));
};

// Every result ---------------------------------------------------------------------------------------------------------
const COLUMNS = ["task", "metric", "source", "target", "corpus", "condition", "seed", "value", "low", "high", "n", "run"];
const WORDS = new Set(["task", "metric", "source", "target", "corpus", "condition"]);
let order = { by: null, down: false }, shown = 100;
const sought = scores.map((r) => COLUMNS.map((c) => `${r[c] ?? ""}`).join(" ").toLowerCase());
const table = () => {
  const words = at("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  const parts = sought.map((text) => text.split(" "));
  let found = scores.map((_, i) => i).filter((i) => words.every((w) => w.length < 4 ? parts[i].some((p) => p === w || p.includes(w) && w.length > 2) : sought[i].includes(w)));
  if (order.by) {
    const key = (i) => scores[i][order.by];
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
    make("tbody", {}, ...found.slice(0, shown).map((i) => make("tr", {}, ...COLUMNS.map((c) => show(scores[i], c))))));
  at("more").hidden = found.length <= shown;
};
const details = (row) => {
  const run = data.runs[row.run] ?? {};
  const facts = { ...Object.fromEntries(COLUMNS.map((c) => [c, row[c]])), signature: row.signature, ...run.facts,
    machine: run.machine, seconds: run.seconds };
  at("facts").replaceChildren(...Object.entries(facts).filter(([, v]) => v !== null && v !== undefined)
    .flatMap(([k, v]) => [make("dt", {}, k), make("dd", {}, `${v}`)]));
  at("log").textContent = [run.repeat ? `repeat it:\n${run.repeat}\n` : "", run.log ?? ""].filter(Boolean).join("\n");
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
  fill(at("task"), unique(scores.map((r) => r.task)));
  fill(at("source"), unique(scores.map((r) => r.source)));
  fill(at("encoder"), unique(scores.map((r) => r.encoder)));
  for (const id of ["task", "source", "encoder"]) at(id).addEventListener("change", heat);
  at("filter").addEventListener("input", () => { shown = 100; table(); });
  at("more").addEventListener("click", () => { shown += 1000; table(); });
  at("scores-csv").addEventListener("click", () => save(csv(scores), "text/csv", "scores.csv"));
  heat(); table();
}
if (similar.length) {
  const named = unique(similar.map((r) => r.measure));
  fill(at("measure"), named.filter((name) => !Object.keys(NULLS).some((ending) => name.endsWith(ending))));
  fill(at("pair"), ["mean of all pairs", ...unique(similar.map((r) => r.pair)).sort()]);
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
