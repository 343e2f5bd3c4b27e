// Lines by layer, or by sets of layers: one drawing for all charts of this form ------------------------------------------
// Shape: size, title of the axis across, ticks, places of marks and their labels. Lines: class, style and points.
const STYLES = ["", "null", "matched", "apart", "mixed"];
// Class of the n-th line or mark of a key: colours first, then the same ones in broad lines, then in fine ones.
const seriesClass = (number) => `series${number % 6}${["", " broad", " fine"][Math.floor(number / 6) % 3]}`;
const LEGEND = { "": "", null: "dashed", matched: "dotted", apart: "round", mixed: "mixed" };
// Entries of a key: names in their colours, then kinds of lines as [style, kind]. One kind of plain lines needs no entry.
const keyOf = (names, kinds) => [
  ...names.map((name, i) => make("li", {}, make("i", { class: seriesClass(i) }), name)),
  ...(kinds.length > 1 || kinds.some(([style]) => style) ? kinds.map(([style, kind]) => make("li", {}, make("i", { class: LEGEND[style] }), kind)) : [])];
const lineChart = ({ label, W, H, scale, sign = false, places, labels, across = "", inset = false, lines }) => {
  const L = 46, T = 10, digits = digitsOf(scale), low = scale[0], high = scale.at(-1), inner = W - L - 16, many = places.length > 1;
  const wide = Math.max(...labels.map((text) => `${text}`.length)) * 7 + 6, steep = labels.some(isNaN) && wide > inner / places.length;
  const B = (steep ? 16 + wide * 0.8 : 24) + (across ? 20 : 0), ends = inset || steep || labels.some(isNaN) ? inner / places.length / 2 : 0;
  const isBarred = (point) => point.low !== undefined && point.low !== null && point.low !== point.high;
  const barred = lines.filter((line) => line.points.some(isBarred)); // drawn beside one another, so that no bar hides another
  const shifted = (line) => barred.includes(line) ? (barred.indexOf(line) - (barred.length - 1) / 2) * Math.min(6, 18 / barred.length) : 0;
  const placed = (i) => L + (many ? ends + (places[i] - places[0]) / (places.at(-1) - places[0]) * (inner - 2 * ends) : inner / 2);
  const y = (value) => T + (high - value) / (high - low || 1) * (H - B - T);
  const svg = make("svg", { class: "chart", viewBox: `0 0 ${W} ${H}`, width: W, height: H, role: "img", "aria-label": `${label}; the values are in the table below` });
  for (const tick of scale) svg.append(make("line", { class: low < 0 && Math.abs(tick) < 1e-9 ? "zero" : "axis", x1: L, x2: W, y1: y(tick), y2: y(tick) }),
    make("text", { x: L - 6, y: y(tick) + 4, "text-anchor": "end" }, written(tick, digits, sign).replace(/^\+0(\.0+)?$/, "0")));
  const every = Math.max(1, Math.ceil(steep ? places.length * 14 / inner : places.length * Math.max(22, wide) / (W - L))); // labels stand apart
  labels.forEach((text, i) => i % every ? null : svg.append(steep
    ? make("text", { x: placed(i) + 4, y: H - B + 16, "text-anchor": "end", transform: `rotate(-60 ${placed(i) + 4} ${H - B + 16})` }, text)
    : make("text", { x: placed(i), y: H - B + 20, "text-anchor": "middle" }, text)));
  if (across) svg.append(make("text", { x: (L + W) / 2, y: H - 6, "text-anchor": "middle" }, across));
  for (const line of lines) {
    const { kind, style = "", points, radius = 4, target = null, joined } = line, x = (i) => placed(i) + shifted(line);
    const parts = points.reduce((all, point, k) => {
      if (!k || joined && (!joined[point.i] || points[k - 1].i !== point.i - 1)) all.push([]);
      all.at(-1).push(`${x(point.i)},${y(point.value)}`);
      return all;
    }, []);
    const into = target ? make("g", { class: `target ${kind}`.trim(), onclick: target.onclick }, make("title", {}, target.words)) : svg;
    for (const part of parts) {
      if (part.length > 1) into.append(make("polyline", { class: target ? null : `${kind} ${style}`.trim(), points: part.join(" ") }));
      else if (target) { const [px, py] = part[0].split(",").map(Number); into.append(make("line", { x1: px - 7, x2: px + 7, y1: py, y2: py })); }
      if (target) into.append(part.length > 1 ? make("polyline", { class: "reach", points: part.join(" ") }) : into.lastChild.cloneNode());
      if (target && part.length === 1) into.lastChild.setAttribute("class", "reach");
    }
    if (target) svg.append(into);
    for (const point of points) {
      if (isBarred(point)) svg.append(make("line", { class: `whisker ${kind}`, x1: x(point.i), x2: x(point.i), y1: y(point.low), y2: y(point.high) }));
      if (point.words) svg.append(make("circle", { cx: x(point.i), cy: y(point.value), r: radius, class: kind }, make("title", {}, point.words)));
    }
  }
  return svg;
};
const follow = (language) => (event) => choose(language, event.ctrlKey || event.metaKey || event.shiftKey);
const heading = ({ title, language }) => language
  ? make("button", { "aria-pressed": `${isChosen(language)}`, onclick: follow(language) }, title) : title;
// Small charts stand in columns of one width; few charts are larger.
const multiples = (node, count, figuresOf, least = 246) => {
  const room = node.clientWidth || 800, columns = Math.max(1, Math.min(count, Math.floor((room + 24) / (room < 500 ? 180 : least + 24))));
  const W = Math.min(count === 1 ? 620 : 420, Math.floor((room + 24) / columns) - 24), grid = make("div", { class: "multiples" });
  grid.style.gridTemplateColumns = `repeat(${columns}, minmax(0, ${W}px))`;
  grid.append(...figuresOf(W));
  node.replaceChildren(grid);
};
// A cell of a heat map: the more, the darker.
const shaded = (value, highest = 1, attributes = {}) => {
  const node = make("td", attributes, written(value));
  node.style.background = `color-mix(in srgb, var(--c0) ${Math.round(48 * Math.max(0, Math.min(1, value / highest)))}%, var(--paper))`;
  return node;
};
