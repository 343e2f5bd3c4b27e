// Transfer gap against similarity: one point for each language, at the layer that is chosen ------------------------------
const pen = document.createElement("canvas").getContext("2d");
const PLACES = [[8, 4, "start"], [-8, 4, "end"], [0, -9, "middle"], [0, 18, "middle"]]; // of a name beside its point
const between = ([low, high], most) => {
  const step = [-6, -5, -4, -3, -2, -1, 0, 1, 2].flatMap((power) => [1, 2, 5].map((first) => first * 10 ** power)).find((s) => (high - low) / s <= most);
  return Array.from({ length: Math.floor(high / step) - Math.ceil(low / step) + 1 }, (_, i) => (Math.ceil(low / step) + i) * step);
};
const around = (values) => {
  const low = Math.min(...values), high = Math.max(...values), margin = (high - low) * 0.06 || 1;
  return [low - margin, high + margin];
};
// Names stand where they cover neither a point nor another name; the rest is named on hover and in the table.
const named = (points, right) => {
  const boxes = points.map((p) => [p.x - 5, p.y - 5, p.x + 5, p.y + 5]), texts = [];
  for (const point of [...points].sort((a, b) => isChosen(b.language) - isChosen(a.language))) {
    const width = pen.measureText(point.language).width;
    for (const [dx, dy, anchor] of PLACES) {
      const x = point.x + dx - (anchor === "end" ? width : anchor === "middle" ? width / 2 : 0), y = point.y + dy;
      const box = [x, y - 10, x + width, y + 3];
      if (x < 46 || box[2] > right || box[1] < 0 || boxes.some((b) => b[0] < box[2] && box[0] < b[2] && b[1] < box[3] && box[1] < b[3])) continue;
      boxes.push(box);
      texts.push(make("text", { x: point.x + dx, y, "text-anchor": anchor }, point.language));
      break;
    }
  }
  return texts;
};
// A point for each language. Axes are { title, digits, values }; a longer label than the title is for readers of screens.
const scatter = ({ name, label, coefficient, languages, across, up, width }) => {
  const W = Math.max(300, Math.min(560, width || 560)), H = 350, L = 46, B = 44, T = 22;
  const [horizontal, vertical] = [around(across.values), around(up.values)];
  const x = (value) => L + (value - horizontal[0]) / (horizontal[1] - horizontal[0]) * (W - L - 10), y = (value) => T + (vertical[1] - value) / (vertical[1] - vertical[0]) * (H - B - T);
  const svg = make("svg", { class: "chart", viewBox: `0 0 ${W} ${H}`, width: W, height: H, role: "img", "aria-label": `${label}; the values are in the table below` });
  const heights = between(vertical, 7), widths = between(horizontal, W < 400 ? 4 : 7);
  for (const value of heights) svg.append(make("line", { class: "axis", x1: L, x2: W - 10, y1: y(value), y2: y(value) }),
    make("text", { x: L - 6, y: y(value) + 4, "text-anchor": "end" }, written(value, digitsOf(heights))));
  for (const value of widths) svg.append(make("text", { x: x(value), y: H - 24, "text-anchor": "middle" }, written(value, digitsOf(widths))));
  svg.append(make("text", { x: (L + W) / 2, y: H - 6, "text-anchor": "middle" }, across.title), make("text", { x: 0, y: 12 }, up.title));
  pen.font = "12px system-ui, sans-serif";
  const points = languages.map((language, i) => ({ language, value: across.values[i], height: up.values[i], x: x(across.values[i]), y: y(up.values[i]) })).filter((point) => isKept(point.language));
  for (const { language, value, height, ...point } of points) svg.append(make("circle", { class: `${colourOf(language) || "series0"}${isChosen(language) ? " chosen" : ""}`, cx: point.x, cy: point.y, r: 5,
    onclick: follow(language) },
  make("title", {}, `${language}${described(language)}: ${up.title} ${written(height, up.digits)}, ${across.title} ${written(value, across.digits)}`)));
  svg.append(...named(points, W));
  const rows = points.map(({ language, value, height }) => [language + described(language), written(height, up.digits), written(value, across.digits)]);
  return make("figure", {}, make("figcaption", {}, name, make("br"), make("span", { class: "note" }, coefficient)), svg,
    make("details", {}, make("summary", {}, "Show values"), make("div", { class: "wide", tabindex: 0, role: "region", "aria-label": `${label}, values` },
      make("table", {}, ...tableOf(["language", up.title, across.title], rows)))));
};
const gapAt = (panel, { coefficient, similarities }) => scatter({ name: panel.name, label: `Transfer gap against CKA, ${panel.name}`, coefficient,
  languages: Object.keys(similarities), width: at("gap").clientWidth, across: { title: "CKA with the source", digits: 3, values: Object.values(similarities) },
  up: { title: "gap, points", digits: 1, values: Object.keys(similarities).map((language) => panel.gaps[language]) } });
const gaps = (table) => {
  const panels = table.gaps.filter((panel) => Object.keys(panel.gaps).some(isKept));
  at("gap").hidden = !panels.length;
  // null: the mean, which is first; the mean over one layer is that layer.
  const known = unique(panels.flatMap((panel) => panel.layers.map((each) => each.layer))), layers = known.length === 2 ? known.slice(1) : known;
  const place = Math.max(0, layers.findIndex((layer) => `${layer}` === state.layer));
  Object.assign(at("layer"), { max: layers.length - 1, value: place });
  at("layer-name").textContent = layers[place] === null ? "mean over layers" : layers[place] === 0 ? "embeddings" : `layer ${layers[place]}`;
  at("layer").setAttribute("aria-valuetext", at("layer-name").textContent);
  at("layer").oninput = () => set({ layer: +at("layer").value ? `${layers[at("layer").value]}` : "" });
  at("gaps").replaceChildren(...panels.flatMap((panel) => panel.layers.filter((each) => each.layer === layers[place]).map((each) => gapAt(panel, each))));
};
