// Opening: headline, tiles, task tabs; then the layer profile ---------------------------------------------------------
const tile = (label, value, small) => make("div", { class: "tile" }, make("span", { class: "note" }, label),
  make("strong", {}, value), make("span", { class: "note" }, small));
const described = (language) => data.languages[language] ? `, ${["name", ...FACTS].map((name) => data.languages[language][name]).filter(Boolean).join(", ")}` : "";
const within = (estimate) => estimate.half === null ? "" : ` ± ${written(estimate.half, 1)}`;
const layersOf = ({ layers, size }) => `${size === 1 ? "layer" : "layers"} ${layers}`;
const tiles = (overview) => {
  const seeds = overview.seeds === 1 ? "1 seed, no interval" : `${overview.seeds} seeds, ± 95 % CI over seeds`;
  const correlation = overview.correlation;
  return make("div", { class: "tiles" },
    tile(`in-language ${overview.metric}`, written(overview.same.mean, 1) + within(overview.same),
      `${overview.own === 1 ? "" : `mean of ${overview.own} corpora, `}${seeds}`),
    tile("zero-shot mean", written(overview.cross.mean, 1) + within(overview.cross),
      `${overview.corpora === overview.targets ? "" : `mean of ${overview.corpora} corpora, `}${overview.targets} target ${overview.targets === 1 ? "language" : "languages"}, ${seeds}`),
    overview.loss && tile("largest zero-shot loss", `${written(overview.loss.mean, 1, true)}${within(overview.loss)}`,
      `points, ${layersOf(overview.loss)} re-initialised`),
    correlation && tile("gap and CKA (Spearman)", written(correlation.value),
      [correlation.low === null ? "" : `95 % CI ${written(correlation.low)} to ${written(correlation.high)}`,
        `${correlation.languages} languages`, "negative: similar languages transfer better"].filter(Boolean).join(", ")));
};
const opening = (table) => {
  const tasks = unique(data.tables.map((t) => valueOf(t, "task")));
  at("tabs").replaceChildren(...(tasks.length < 2 ? [] : tasks.map((task) => make("button", {
    "aria-pressed": `${task === valueOf(table, "task")}`, onclick: () => set({ task }) },
  data.tables.find((t) => valueOf(t, "task") === task).title))));
  for (const name of ["source", "encoder"]) {
    const values = unique(data.tables.filter((t) => t.task === table.task && (name === "source" || t.source === table.source)).map((t) => valueOf(t, name)));
    fill(at(name), values);
    at(name).value = valueOf(table, name);
    at(`${name}-choice`).hidden = values.length < 2;
  }
  at("subject").replaceChildren(...[table.encoder, table.title, `source ${table.source}`]
    .filter(Boolean).flatMap((text, i) => [i ? " · " : "", ...isolated(text)]));
  at("headline").replaceChildren(...isolated(table.overviews[0]?.headline ?? ""));
  at("tiles").replaceChildren(...table.overviews.flatMap((overview) => [
    table.overviews.length > 1 ? make("h2", { class: "models" }, overview.apart || "default settings") : null, tiles(overview)].filter(Boolean)));
};

// Filters and colours by family and script.
const facts = () => {
  for (const name of FACTS) {
    const values = valuesOf(name);
    at(`${name}-choice`).hidden = values.length < 2;
    at(name).replaceChildren(make("option", { value: "" }, "all"), ...values.map(([value, count]) => make("option", { value }, `${value} (${count})`)));
    showState(name);
  }
  at("colour-choice").hidden = FACTS.every((name) => at(`${name}-choice`).hidden);
  showState("colour");
  const kept = targets.filter(isKept);
  at("kept").hidden = kept.length === targets.length;
  at("kept").textContent = `Shown: ${kept.length} of ${targets.length} languages. ${similar.length ? "Curves of mean similarity are over the pairs shown; headline, key numbers and all other means" : "Headline, key numbers and means"} are over all languages.`;
  const colours = state.colour ? coloursOf(state.colour) : new Map();
  const others = state.colour && targets.some((language) => colourOf(language) === "other");
  at("colours").replaceChildren(...[...colours].map(([value, colour]) => make("li", {}, make("i", { class: colour }), value)),
    ...(others ? [make("li", {}, make("i", { class: "thin" }), "others")] : []));
  const languages = [...state.languages];
  at("chosen").hidden = !languages.length;
  at("chosen").replaceChildren("Following ", ...languages.flatMap((language, i) => [i ? ", " : "", ...isolated(language)]), " ",
    make("button", { onclick: () => set({ languages: new Set() }) }, "Show all"));
};

const profile = (overview, apart) => {
  const changes = overview.profile, names = Object.keys(overview.languages).filter((name) => isKept(overview.languages[name]));
  const W = Math.max(320, Math.min(1200, at("profiles").clientWidth || 800)), H = W < 500 ? 320 : 360, L = 44, T = 12;
  const gap = 22, breaks = changes.map((change, i) => Number(i > 0 && change.size !== changes[i - 1].size));
  const shifts = breaks.map((_, i) => breaks.slice(0, i + 1).reduce((a, b) => a + b, 0) * gap);
  const right = state.languages.size ? 70 : 10;
  const band = (W - L - right - (shifts.at(-1) ?? 0)) / changes.length;
  const steep = Math.max(...changes.map((change) => change.layers.length)) * 7.5 > band;
  const B = steep ? 34 + Math.max(...changes.map((change) => change.layers.length)) * 6 : 46;
  const ends = (e) => [e.mean - (e.half ?? 0), e.mean + (e.half ?? 0)];
  const scale = ticks(changes.flatMap((c) => [...ends(c.same), ...ends(c.cross), ...Object.values(c.targets)]), [0.5, 1, 2, 5, 10, 20, 25], 0.5);
  const x = (i) => L + shifts[i] + band * (i + 0.5);
  const y = (value) => T + (scale.at(-1) - value) / (scale.at(-1) - scale[0] || 1) * (H - B - T);
  const svg = make("svg", { class: "chart", viewBox: `0 0 ${W} ${H}`, width: W, height: H, role: "img",
    "aria-label": `Change in ${overview.metric} by re-initialised layers${apart}; the values are in the table below` });
  for (const value of scale) svg.append(make("line", { class: Math.abs(value) < 1e-9 ? "zero" : "axis", x1: L, x2: W - right, y1: y(value), y2: y(value) }),
    make("text", { x: L - 6, y: y(value) + 4, "text-anchor": "end" }, written(value, digitsOf(scale), true).replace(/^\+0(\.0)?$/, "0")));
  changes.forEach((change, i) => svg.append(steep
    ? make("text", { x: x(i) + 4, y: H - B + 14, "text-anchor": "end", transform: `rotate(-60 ${x(i) + 4} ${H - B + 14})` }, change.layers)
    : make("text", { x: x(i), y: H - B + 18, "text-anchor": "middle" }, change.layers)));
  svg.append(make("text", { x: (L + W - right) / 2, y: H - 6, "text-anchor": "middle" }, "re-initialised layers (0: embeddings)"));
  // Lines join sets of one size only: between sets of different sizes there is no order that a slope could show.
  const runs = (values) => changes.reduce((all, change, i) => {
    if (!all.length || breaks[i] || values[i] === undefined) all.push([]);
    if (values[i] !== undefined) all.at(-1).push([x(i), y(values[i])]);
    return all;
  }, []).filter((points) => points.length);
  const labels = [];
  for (const name of [...names].sort((a, b) => isChosen(overview.languages[a]) - isChosen(overview.languages[b]))) {
    const language = overview.languages[name], values = changes.map((change) => change.targets[name]), kind = isChosen(language) ? " chosen" : "", colour = colourOf(language);
    const words = `${name}${described(language)}: ${changes.map((c, i) => `${c.layers} ${written(values[i], 1, true)}`).join(", ")}`;
    const group = make("g", { class: `target${kind} ${colour}`.trim(), onclick: follow(language) }, make("title", {}, words));
    for (const points of runs(values)) {
      const text = points.map((point) => point.join(",")).join(" ");
      if (points.length > 1) group.append(make("polyline", { points: text }), make("polyline", { class: "reach", points: text }));
      else group.append(make("line", { x1: points[0][0] - 9, x2: points[0][0] + 9, y1: points[0][1], y2: points[0][1] }),
        make("line", { class: "reach", x1: points[0][0] - 9, x2: points[0][0] + 9, y1: points[0][1], y2: points[0][1] }));
    }
    const last = values.findLast((value) => value !== undefined);
    if (kind && last !== undefined) labels.push({ language, y: y(last) });
    svg.append(group);
  }
  const mark = (estimate, i, kind, words) => {
    const place = x(i) + (kind === "same" ? -5 : 5), [low, high] = ends(estimate);
    if (estimate.half !== null) svg.append(make("line", { class: "whisker", x1: place, x2: place, y1: y(low), y2: y(high) }));
    svg.append(make("circle", { class: kind, cx: place, cy: y(estimate.mean), r: 5 },
      make("title", {}, `${words}, ${layersOf(changes[i])}: ${written(estimate.mean, 1, true)}${within(estimate)} points`)));
  };
  changes.forEach((change, i) => { mark(change.same, i, "same", "same language"); mark(change.cross, i, "cross", "zero-shot mean"); });
  labels.sort((a, b) => a.y - b.y); // labels stand at least a line apart, down from the first and up from the lowest place
  labels.forEach((label, i) => { if (i) label.y = Math.max(label.y, labels[i - 1].y + 14); });
  labels.reverse().forEach((label, i) => { label.y = Math.min(label.y, i ? labels[i - 1].y - 14 : H - 8); });
  for (const { language, y: place } of labels) svg.append(make("text", { x: W - right + 6, y: place + 4 }, language.length > 9 ? `${language.slice(0, 8)}…` : language));
  const number = (estimate) => written(estimate.mean, 1, true) + within(estimate);
  const values = make("table", {}, ...tableOf(["change in points", ...changes.map((change) => change.layers)], [
    ["same language", ...changes.map((change) => number(change.same))], ["zero-shot mean", ...changes.map((change) => number(change.cross))],
    ...names.map((name) => [name + described(overview.languages[name]), ...changes.map((change) => change.targets[name] === undefined ? "not run" : written(change.targets[name], 1, true))])]));
  return make("figure", {}, apart ? make("figcaption", {}, apart.slice(2)) : null, svg,
    ...overview.missing.map((text) => make("p", { class: "note" }, text)),
    make("details", {}, make("summary", {}, "Show values"), make("div", { class: "wide", tabindex: 0, role: "region", "aria-label": `Layer profile, values${apart}` }, values)));
};
const profiles = (table) => {
  const shown = table.overviews.filter((overview) => overview.profile.length);
  at("profile").hidden = !shown.length;
  at("interval-key").hidden = shown.every((overview) => overview.seeds === 1);
  at("profiles").replaceChildren(...shown.map((overview) => profile(overview, table.overviews.length > 1 ? `, ${overview.apart || "default settings"}` : "")));
};
