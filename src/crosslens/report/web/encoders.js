// Several encoders over each other, with scaled depth, and their ranking ------------------------------------------------
const styleOf = ({ line }) => line === "same language" ? "null" : "";
const encodersOf = (panels) => unique(panels.flatMap((panel) => panel.points.map((point) => point.encoder)));
// As in the figure, zero-shot means over several seeds have bars from the lowest to the highest.
const isRange = ({ low, line }) => low !== null && !styleOf({ line });
const rangeOf = ({ low, high }, before = "") => low === null ? "" : `${before}${written(low, 1, true)} to ${written(high, 1, true)}`;
const overlay = (panel) => {
  const names = encodersOf(data.encoders); // an encoder has one colour in all panels
  const drawn = encodersOf([panel]), aside = (name) => 3 * (drawn.indexOf(name) - (drawn.length - 1) / 2); // bars stand beside each other
  const W = Math.max(320, Math.min(760, at("overlays").clientWidth || 760)), H = 300, L = 44, B = 44, T = 10;
  const scale = ticks(panel.points.flatMap(({ value, ...point }) => isRange(point) ? [point.low, value, point.high] : [value]), [0.5, 1, 2, 5, 10, 20, 25], 0.5);
  const x = (depth) => L + depth * (W - L - 14), y = (value) => T + (scale.at(-1) - value) / (scale.at(-1) - scale[0] || 1) * (H - B - T);
  const svg = make("svg", { class: "chart", viewBox: `0 0 ${W} ${H}`, width: W, height: H, role: "img",
    "aria-label": `${panel.title}: change by re-initialised layers, one line per encoder; the values are in the table below` });
  for (const value of scale) svg.append(make("line", { class: Math.abs(value) < 1e-9 ? "zero" : "axis", x1: L, x2: W - 14, y1: y(value), y2: y(value) }),
    make("text", { x: L - 6, y: y(value) + 4, "text-anchor": "end" }, written(value, digitsOf(scale), true).replace(/^\+0(\.0)?$/, "0")));
  for (const depth of [0, 0.25, 0.5, 0.75, 1]) svg.append(make("text", { x: x(depth), y: H - 24, "text-anchor": depth === 1 ? "end" : "middle" }, depth));
  svg.append(make("text", { x: (L + W) / 2, y: H - 6, "text-anchor": "middle" }, "re-initialised layers, as a share of the depth"));
  for (const [number, name] of names.entries()) for (const line of unique(panel.points.map((point) => point.line))) {
    const points = panel.points.filter((point) => point.encoder === name && point.line === line), style = styleOf({ line });
    const across = (point) => x(point.depth) + aside(name);
    svg.append(make("polyline", { class: `${seriesClass(number)} ${style}`.trim(), points: points.map((point) => `${across(point)},${y(point.value)}`).join(" ") }));
    for (const point of points) {
      if (isRange(point)) svg.append(make("line", { class: `whisker ${seriesClass(number)}`, x1: across(point), x2: across(point), y1: y(point.low), y2: y(point.high) }));
      svg.append(make("circle", { class: seriesClass(number), cx: across(point), cy: y(point.value), r: style ? 2.5 : 4.5 },
        make("title", {}, `${name}, ${line}, layers ${point.layers}: ${written(point.value, 1, true)} points${rangeOf(point, ", seeds ")}`)));
    }
  }
  const table = make("table", {}, ...tableOf([panel.title, ...panel.head], panel.rows));
  const ranges = panel.points.some((point) => point.low !== null) ? ["lowest and highest seed"] : [];
  const values = make("table", {}, ...tableOf(["encoder", "layers", "change in points", ...ranges], panel.points.map((point) =>
    [`${point.encoder}, ${point.line}`, point.layers, written(point.value, 1, true), ...ranges.map(() => rangeOf(point) || "–")])));
  return make("figure", {}, make("figcaption", {}, panel.title), make("span", { class: "note" }, "change, points"), svg,
    make("details", {}, make("summary", {}, "Show values"), make("div", { class: "wide", tabindex: 0, role: "region", "aria-label": `Encoders, ${panel.title}, values` }, values)),
    make("div", { class: "wide", tabindex: 0, role: "region", "aria-label": `Encoders, ${panel.title}` }, table));
};
// The panels of the task in view; all of them where that task has none.
const overlays = (table) => {
  const ofTask = data.encoders.filter((panel) => panel.task === table.task), shown = ofTask.length ? ofTask : data.encoders;
  const drawn = new Set(encodersOf(shown));
  const kinds = [["", "zero-shot mean"], ["null", "same language"]].filter(([style]) => shown.some((panel) => panel.points.some((point) => styleOf(point) === style)));
  at("encoder-key").replaceChildren(...encodersOf(data.encoders).flatMap((name, number) => drawn.has(name) ? [make("li", {}, make("i", { class: seriesClass(number) }), name)] : []), ...keyOf([], kinds),
    ...(shown.some((panel) => panel.points.some(isRange)) ? [make("li", {}, make("i", { class: "whisker" }), "lowest and highest seed of zero-shot means")] : []));
  at("overlays").replaceChildren(...shown.map(overlay));
};
