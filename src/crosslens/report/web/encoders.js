// Several encoders over each other, with scaled depth, and their ranking ------------------------------------------------
const styleOf = ({ line }) => line === "same language" ? "null" : "";
const encodersOf = (panels) => unique(panels.flatMap((panel) => panel.points.map((point) => point.encoder)));
const overlay = (panel) => {
  const names = encodersOf(data.encoders); // an encoder has one colour in all panels
  const W = Math.max(320, Math.min(760, at("overlays").clientWidth || 760)), H = 300, L = 44, B = 44, T = 10;
  const scale = ticks(panel.points.map((point) => point.value), [0.5, 1, 2, 5, 10, 20, 25], 0.5);
  const x = (depth) => L + depth * (W - L - 14), y = (value) => T + (scale.at(-1) - value) / (scale.at(-1) - scale[0] || 1) * (H - B - T);
  const svg = make("svg", { class: "chart", viewBox: `0 0 ${W} ${H}`, width: W, height: H, role: "img",
    "aria-label": `${panel.title}: change by re-initialised layers, one line per encoder; the values are in the table below` });
  for (const value of scale) svg.append(make("line", { class: Math.abs(value) < 1e-9 ? "zero" : "axis", x1: L, x2: W - 14, y1: y(value), y2: y(value) }),
    make("text", { x: L - 6, y: y(value) + 4, "text-anchor": "end" }, written(value, digitsOf(scale))));
  for (const depth of [0, 0.25, 0.5, 0.75, 1]) svg.append(make("text", { x: x(depth), y: H - 24, "text-anchor": depth === 1 ? "end" : "middle" }, depth));
  svg.append(make("text", { x: (L + W) / 2, y: H - 6, "text-anchor": "middle" }, "re-initialised layers, as a share of the depth"));
  for (const [number, name] of names.entries()) for (const line of unique(panel.points.map((point) => point.line))) {
    const points = panel.points.filter((point) => point.encoder === name && point.line === line), style = styleOf({ line });
    svg.append(make("polyline", { class: `${seriesClass(number)} ${style}`.trim(), points: points.map((point) => `${x(point.depth)},${y(point.value)}`).join(" ") }));
    for (const point of points) svg.append(make("circle", { class: seriesClass(number), cx: x(point.depth), cy: y(point.value), r: style ? 2.5 : 4.5 },
      make("title", {}, `${name}, ${line}, layers ${point.layers}: ${written(point.value, 1, true)} points`)));
  }
  const table = make("table", {}, ...tableOf([panel.title, ...panel.head], panel.rows));
  const values = make("table", {}, ...tableOf(["encoder", "layers", "change in points"], panel.points.map((point) => [`${point.encoder}, ${point.line}`, point.layers, written(point.value, 1, true)])));
  return make("figure", {}, make("figcaption", {}, panel.title), make("span", { class: "note" }, "change, points"), svg,
    make("details", {}, make("summary", {}, "Show values"), make("div", { class: "wide", tabindex: 0, role: "region", "aria-label": `Encoders, ${panel.title}, values` }, values)),
    make("div", { class: "wide", tabindex: 0, role: "region", "aria-label": `Encoders, ${panel.title}` }, table));
};
// The panels of the task in view; all of them where that task has none.
const overlays = (table) => {
  const ofTask = data.encoders.filter((panel) => panel.task === table.task), shown = ofTask.length ? ofTask : data.encoders;
  const drawn = new Set(encodersOf(shown));
  const kinds = [["", "zero-shot mean"], ["null", "same language"]].filter(([style]) => shown.some((panel) => panel.points.some((point) => styleOf(point) === style)));
  at("encoder-key").replaceChildren(...encodersOf(data.encoders).flatMap((name, number) => drawn.has(name) ? [make("li", {}, make("i", { class: seriesClass(number) }), name)] : []), ...keyOf([], kinds));
  at("overlays").replaceChildren(...shown.map(overlay));
};
