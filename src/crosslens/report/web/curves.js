// Similarity by layer --------------------------------------------------------------------------------------------------
const OF_KINDS = ["", "matched", "null"];
// Lines of a chart: for each state of the encoder and kind of sentences, the mean over pairs by layer. A mean needs every
// pair, and is over the seeds that all pairs have, as in tables.
const seriesOf = (shown, states, layers) => {
  const series = [];
  for (const [place, kind] of data.kinds.entries()) {
    for (const [number, state] of states.entries()) {
      const records = shown.filter((r) => r.state === state && r.sentences === kind);
      const pairs = unique(records.map((r) => r.pair));
      const points = layers.map((layer) => {
        const rows = records.filter((r) => r.layer === layer);
        const seeds = pairs.map((name) => rows.filter((r) => r.pair === name).map((r) => r.seed));
        const shared = rows.filter((r) => seeds.every((of) => of.includes(r.seed)));
        return shared.length ? { layer, value: mean(shared.map((r) => r.value)), rows, pairs: pairs.length } : null;
      }).filter(Boolean);
      if (points.length) series.push({ state, number, style: OF_KINDS[place], kind, points });
    }
  }
  return series;
};
const LINES = [0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 1];
const inWords = (s, p) => {
  const one = p.rows.length === 1 && p.rows[0].low !== null ? `, 95 % CI ${written(p.rows[0].low, 3)} to ${written(p.rows[0].high, 3)}` : "";
  return `${s.state}, ${s.kind}, layer ${p.layer}: ${written(p.value, 3)}${one}, ${p.pairs > 1 ? `mean of ${p.pairs} pairs` : `1 pair${sizeOf(p.rows[0])}`}`;
};
const kindsOf = (series) => [...new Map(series.map((s) => [s.style, s.kind]))];
const drawnLines = (series, layers, wordsOf = inWords) => series.map((s) => ({ kind: seriesClass(s.number), style: s.style, radius: s.style ? 2.5 : 4,
  points: s.points.map((p) => ({ i: layers.indexOf(p.layer), value: p.value, words: wordsOf(s, p) })) }));
// Records of the pairs of two languages that all encoders have, whose means can be compared.
const inCommon = (records) => {
  const different = records.filter((r) => r.different);
  const measured = [...Map.groupBy(different, (r) => r.state).values()].map((own) => new Set(own.map((r) => r.pair)));
  return different.filter((r) => measured.every((own) => own.has(r.pair)));
};
// The pairs of a measure, and their mean.
const choosePair = (records) => {
  const kept = unique(inCommon(records).filter((r) => isKept(r.language)).map((r) => r.pair));
  fill(at("pair"), unique(records.map((r) => r.pair)));
  if (kept.length && unique(records.filter((r) => r.different).map((r) => r.pair)).length > 1) at("pair").prepend(make("option", { value: "" }, `mean over pairs (${kept.length})`));
  const offered = [...at("pair").options].map((option) => option.value);
  at("pair").value = offered.includes(state.pair) ? state.pair : offered[0];
};
const curves = () => {
  const measure = at("measure").value, ofMeasure = similar.filter((r) => r.of === measure), chosen = ofMeasure.filter((r) => isChosen(r.language));
  choosePair(ofMeasure);
  // Languages that are followed have curves of their own; else one pair, or the mean over pairs. No mean is over a
  // language with itself.
  const followed = chosen.some((r) => r.different) ? chosen.filter((r) => r.different) : chosen;
  const filtered = FACTS.some((name) => state[name]);
  const pair = followed.length ? unique(followed.map((r) => r.language)).join(", ") : at("pair").value;
  at("pair").disabled = followed.length > 0;
  const shown = followed.length ? followed : pair === "" ? inCommon(ofMeasure).filter((r) => isKept(r.language)) : ofMeasure.filter((r) => r.pair === pair);
  const states = unique(shown.map((r) => r.state));
  const layers = unique(similar.map((r) => r.layer)).sort((a, b) => a - b);
  const series = seriesOf(shown, states, layers);
  const scale = ticks(series.flatMap((s) => s.points.map((p) => p.value)), LINES, 0.05);
  const svg = lineChart({ label: `${data.measures[measure]} by layer, ${pair || (filtered ? "mean over the pairs shown" : "mean over pairs")}`,
    W: Math.max(320, Math.min(1000, at("curves").clientWidth || 760)), H: 330, scale, places: layers, labels: layers, across: "layer (0: embeddings)",
    lines: drawnLines(series, layers) });
  at("curves").replaceChildren(svg);
  at("key").replaceChildren(...keyOf(states, kindsOf(series)));
  at("values").replaceChildren(
    make("thead", {}, make("tr", {}, make("th", { class: "left", scope: "col" }, "encoder"), ...layers.map((l) => make("th", { scope: "col" }, l)))),
    make("tbody", {}, ...series.map((s) => make("tr", {}, make("th", { scope: "row" }, `${s.state}: ${s.kind}, ${s.points[0].pairs} ${s.points[0].pairs > 1 ? "pairs" : "pair"}`),
      ...layers.map((l) => make("td", {}, written(s.points.find((p) => p.layer === l)?.value, 3).replace("–", "not run")))))));
  byLanguage(measure, states, layers);
  pairMap(measure, layers);
};
// One small chart for each pair of languages: states of the encoder, and unrelated sentences of the same length.
const byLanguage = (measure, states, layers) => {
  const byPair = Map.groupBy(similar.filter((r) => r.of === measure && r.different && r.sentences !== data.kinds[2] && isKept(r.language)), (r) => r.pair);
  const followed = [...byPair].filter(([, records]) => isChosen(records[0].language)), pairs = followed.length ? followed : [...byPair];
  at("by-language").hidden = pairs.length < 2;
  if (pairs.length < 2) { for (const name of ["language-key", "languages"]) at(name).replaceChildren(); return; }
  // Where pairs have encoders of their own, each chart names its lines; an encoder of several charts has one colour.
  const statesOf = pairs.map(([, records]) => unique(records.map((r) => r.state))), alike = statesOf.every((own) => own.length === statesOf[0].length && own.every((state) => states.includes(state) && statesOf[0].includes(state)));
  const every = unique(statesOf.flat()), apart = every.length === statesOf.flat().length;
  const panels = pairs.map(([pair, records], i) => ({ pair, source: records[0].source, language: records[0].language, states: statesOf[i], series: seriesOf(records, alike ? states : apart ? statesOf[i] : every, layers) }));
  at("matched").hidden = !panels.some(({ series }) => series.some((s) => s.style));
  const scale = ticks(panels.flatMap(({ series }) => series.flatMap((s) => s.points.map((p) => p.value))), LINES, 0.05);
  // Where all pairs have one source, a target names its chart, unless several charts have it.
  const short = unique(panels.map(({ source }) => source)).length === 1 && unique(panels.map(({ language }) => language)).length === panels.length;
  at("language-key").replaceChildren(...keyOf(alike ? states : [], kindsOf(panels.flatMap(({ series }) => series))));
  multiples(at("languages"), pairs.length, (W) => panels.map(({ pair, language, states: own, series }) => make("figure", {}, make("figcaption", {}, heading({ title: short ? language : pair, language })), make("span", { class: "note" }, `${data.measures[measure]}, by layer (0: embeddings)`),
    lineChart({ label: `${data.measures[measure]} by layer, ${pair}`, W, H: 150, scale, places: layers, labels: layers,
      lines: drawnLines(series, layers, (s, p) => s.style ? null : inWords(s, p)).map((line) => ({ ...line, radius: 2 })) }), alike ? null : make("ul", { class: "key" }, ...own.map((name, i) => make("li", {}, make("i", { class: seriesClass(apart ? i : every.indexOf(name)) }), name))))), 215);
  const rows = () => panels.flatMap(({ pair, series }) => series.map((s) => [`${pair}, ${s.state}: ${s.kind}`, ...layers.map((layer) => written(s.points.find((p) => p.layer === layer)?.value, 3).replace("–", "not run"))]));
  const details = at("by-language").querySelector("details"), show = () => { if (details.open) details.querySelector("table").replaceChildren(...tableOf(["pair and encoder", ...layers], rows())); };
  details.ontoggle = show; show();
};
// Pairs of languages and layers for two encoders: Figure 7 of Conneau, Wu et al. (2020).
const pairMap = (measure, layers) => {
  const records = similar.filter((r) => r.of === measure && r.two && r.sentences === data.kinds[0] && isKept(r.language));
  at("pair-map").hidden = !records.length;
  const highest = Math.max(1, ...records.map((r) => r.value));
  const of = (group, layer) => group.filter((r) => r.layer === layer).map((r) => r.value);
  at("pair-map").querySelector("table").replaceChildren(make("thead", {}, make("tr", {}, make("th", { scope: "col", class: "left" }, "pair"), ...layers.map((layer) => make("th", { scope: "col" }, layer)))),
    ...[...Map.groupBy(records, (r) => r.described)].map(([text, group]) => make("tbody", {},
      make("tr", { class: "mean" }, make("th", { scope: "rowgroup", class: "left", colspan: layers.length + 1 }, text)),
      ...[...Map.groupBy(group, (r) => `${r.pair} ${r.encoder}`).values()].map((rows) => make("tr", { class: isChosen(rows[0].language) ? "chosen" : null },
        make("th", { scope: "row" }, heading({ title: rows[0].pair, language: rows[0].language }), rows[0].encoder ? make("small", {}, rows[0].encoder) : null),
        ...layers.map((layer) => of(rows, layer).length ? shaded(mean(of(rows, layer)), highest) : make("td", { class: "missing" }, "not run")))))));
};
