// Similarity by layer --------------------------------------------------------------------------------------------------
const STYLES = [["", ""], ["matched", "dotted"], ["null", "dashed"]];
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
      if (points.length) series.push({ state, number, kind: [...STYLES[place], kind], points });
    }
  }
  const scale = ticks(series.flatMap((s) => s.points.map((p) => p.value)), [0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 1], 0.05);
  const low = scale[0], high = scale.at(-1);
  const W = Math.max(320, Math.min(1000, at("curves").clientWidth || 760)), H = 330, L = 46, B = 44;
  const x = (layer) => L + (layers.length < 2 ? 0 : (layer - layers[0]) / (layers.at(-1) - layers[0])) * (W - L - 16);
  const y = (value) => 10 + (high - value) / (high - low) * (H - B - 10);
  const svg = make("svg", { class: "chart", viewBox: `0 0 ${W} ${H}`, width: W, height: H, role: "img",
    "aria-label": `${measure} by layer, ${pair || (filtered ? "mean over the pairs shown" : "mean over pairs")}; the values are in the table below` });
  for (const tick of scale) {
    svg.append(make("line", { class: "axis", x1: L, x2: W, y1: y(tick), y2: y(tick) }),
      make("text", { x: L - 6, y: y(tick) + 4, "text-anchor": "end" }, written(tick)));
  }
  const every = Math.ceil(layers.length * 22 / (W - L)); // labels of layers stand apart
  for (const layer of layers.filter((_, i) => i % every === 0)) svg.append(make("text", { x: x(layer), y: H - 24, "text-anchor": "middle" }, layer));
  svg.append(make("text", { x: (L + W) / 2, y: H - 6, "text-anchor": "middle" }, "layer (0: embeddings)"));
  for (const s of series) {
    svg.append(make("polyline", { class: `series${s.number % 6} ${s.kind[0]}`,
      points: s.points.map((p) => `${x(p.layer)},${y(p.value)}`).join(" ") }));
    for (const p of s.points) {
      const one = p.rows.length === 1 && p.rows[0].low !== null
        ? `, 95 % CI ${written(p.rows[0].low, 3)} to ${written(p.rows[0].high, 3)}` : "";
      const over = p.pairs > 1 ? `mean of ${p.pairs} pairs` : `1 pair, n ${p.rows[0].n}`;
      const words = `${s.state}, ${s.kind[2]}, layer ${p.layer}: ${written(p.value, 3)}${one}, ${over}`;
      svg.append(make("circle", { cx: x(p.layer), cy: y(p.value), r: s.kind[0] ? 2.5 : 4, class: `series${s.number % 6}` },
        make("title", {}, words)));
    }
  }
  at("curves").replaceChildren(svg);
  const kinds = [...new Map(series.map((s) => [s.kind[2], s.kind])).values()];
  at("key").replaceChildren(
    ...states.map((state, number) => make("li", {}, make("i", { class: `series${number % 6}` }), state)),
    ...(kinds.length > 1 ? kinds.map((kind) => make("li", {}, make("i", { class: kind[1] }), kind[2])) : []));
  at("values").replaceChildren(
    make("thead", {}, make("tr", {}, make("th", { class: "left", scope: "col" }, "encoder"), ...layers.map((l) => make("th", { scope: "col" }, l)))),
    make("tbody", {}, ...series.map((s) => make("tr", {}, make("th", { scope: "row" }, `${s.state}: ${s.kind[2]}, ${s.points[0].pairs} ${s.points[0].pairs > 1 ? "pairs" : "pair"}`),
      ...layers.map((l) => make("td", {}, written(s.points.find((p) => p.layer === l)?.value, 3).replace("–", "not run")))))));
};
