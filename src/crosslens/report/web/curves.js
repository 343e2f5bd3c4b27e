// Similarity by layer --------------------------------------------------------------------------------------------------
const OF_KINDS = ["", "matched", "null"];
const curves = () => {
  // Languages that are followed have curves of their own; else one pair, or the mean over pairs.
  const measure = at("measure").value, followed = similar.some((r) => r.of === measure && isChosen(r.language));
  const filtered = FACTS.some((name) => state[name]);
  const pair = followed ? [...state.languages].join(", ") : at("pair").value;
  at("pair").disabled = followed;
  // Seeds of a pair are averaged first. A mean over pairs needs a value for every pair of different languages.
  const shown = similar.filter((r) => r.of === measure && (followed ? isChosen(r.language) : pair === "" ? r.different && isKept(r.language) : r.pair === pair));
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
      if (points.length) series.push({ state, number, style: OF_KINDS[place], kind, points });
    }
  }
  const scale = ticks(series.flatMap((s) => s.points.map((p) => p.value)), [0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 1], 0.05);
  const words = (s, p) => {
    const one = p.rows.length === 1 && p.rows[0].low !== null ? `, 95 % CI ${written(p.rows[0].low, 3)} to ${written(p.rows[0].high, 3)}` : "";
    return `${s.state}, ${s.kind}, layer ${p.layer}: ${written(p.value, 3)}${one}, ${p.pairs > 1 ? `mean of ${p.pairs} pairs` : `1 pair, n ${p.rows[0].n}`}`;
  };
  const svg = lineChart({ label: `${measure} by layer, ${pair || (filtered ? "mean over the pairs shown" : "mean over pairs")}`,
    W: Math.max(320, Math.min(1000, at("curves").clientWidth || 760)), H: 330, scale, digits: 2, places: layers, labels: layers, across: "layer (0: embeddings)",
    lines: series.map((s) => ({ kind: `series${s.number % 6}`, style: s.style, radius: s.style ? 2.5 : 4,
      points: s.points.map((p) => ({ i: layers.indexOf(p.layer), value: p.value, words: words(s, p) })) })) });
  at("curves").replaceChildren(svg);
  const kinds = [...new Map(series.map((s) => [s.kind, s.style]))];
  at("key").replaceChildren(
    ...states.map((state, number) => make("li", {}, make("i", { class: `series${number % 6}` }), state)),
    ...(kinds.length > 1 ? kinds.map(([kind, style]) => make("li", {}, make("i", { class: LEGEND[style] }), kind)) : []));
  at("values").replaceChildren(
    make("thead", {}, make("tr", {}, make("th", { class: "left", scope: "col" }, "encoder"), ...layers.map((l) => make("th", { scope: "col" }, l)))),
    make("tbody", {}, ...series.map((s) => make("tr", {}, make("th", { scope: "row" }, `${s.state}: ${s.kind}, ${s.points[0].pairs} ${s.points[0].pairs > 1 ? "pairs" : "pair"}`),
      ...layers.map((l) => make("td", {}, written(s.points.find((p) => p.layer === l)?.value, 3).replace("–", "not run")))))));
};
