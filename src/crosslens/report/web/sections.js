// Sections below scores and similarity: small charts with lines, scatter plots, tables. Each is hidden where the view has none.
const languagesOf = (panel) => panel.languages ?? panel.rows?.map((row) => row.language) ?? [panel.language];
// Whether a panel belongs to the table in view, and the filters keep any of it.
const inView = (panel) => (!panel.tables || panel.tables.includes(data.tables.indexOf(data.tables.length ? tableInView() : null)))
  && languagesOf(panel).some((language) => !language || isKept(language));
// Panels of languages that are followed, if there are any.
const followedOf = (panels) => {
  const followed = panels.filter((panel) => languagesOf(panel).some(isChosen));
  return followed.length ? followed : panels;
};
const STEPS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 25, 50];
const scaleOf = (lines) => ticks(lines.flatMap((line) => [...line.values, ...(line.low ?? []), ...(line.high ?? [])]).filter((value) => value !== null && value !== undefined), STEPS, 0.05);
const multiple = (section, panel, W, scale, numberOf) => {
  const words = (line, i) => `${[line.name, line.kind].filter(Boolean).join(", ")}, ${section.each} ${panel.labels[i]}: ${written(line.values[i], 1, section.alone)}`;
  const lines = [...panel.lines].filter((line) => line.mark !== "target" || isKept(line.language)).sort((a, b) => isChosen(a.language) * (a.mark === "target") - isChosen(b.language) * (b.mark === "target"));
  lines.sort((a, b) => (b.mark === "target") - (a.mark === "target")); // means above targets
  return lineChart({ label: `${at(section.name).querySelector("h2").textContent}, ${panel.title}`, W, H: W > 500 ? 260 : 190, scale, sign: section.alone,
    places: panel.places ?? panel.labels.map((_, i) => i), labels: panel.labels, inset: !panel.places,
    lines: lines.map((line) => {
      const target = line.mark === "target", points = line.values.flatMap((value, i) => value === null ? [] : [{ i, value, low: line.low?.[i], high: line.high?.[i], words: target ? null : words(line, i) }]);
      const style = line.mark ? "" : STYLES[section.styles[section.kinds.indexOf(line.kind || section.kinds[0])]];
      return { points, joined: panel.joined, style, radius: style ? 2 : line.mark ? 4 : 3,
        kind: target ? `${isChosen(line.language) ? "chosen " : ""}${colourOf(line.language)}`.trim() : line.mark ?? seriesClass(numberOf(line.name)),
        target: target ? { onclick: follow(line.language), words: `${line.name}${described(line.language)}: ${panel.labels.map((text, i) => `${text} ${written(line.values[i], 1, true)}`).join(", ")}` } : null };
    }) });
};
// The view that is chosen of several, such as a cutoff; the state keeps one for the whole page.
const viewOf = ({ name }, views) => {
  const node = at(name).querySelector(".controls"), select = node.querySelector("select"), view = views.includes(state.view) ? state.view : views[0] ?? "";
  fill(select, views); select.value = view; select.onchange = () => set({ view: select.value });
  node.hidden = views.length < 2;
  return view;
};
const MARKS = [["same", "hollow", "same language"], ["cross", "filled", "zero-shot mean"], ["target", "thin", "single targets"]];
const curvesSection = (section, panels) => {
  const node = at(section.name), view = viewOf(section, section.views), shown = followedOf(panels.filter((panel) => panel.view === view));
  const lines = shown.flatMap((panel) => panel.lines), names = unique(lines.filter((line) => !line.mark).map((line) => line.name));
  const alike = shown.every((panel) => names.every((name) => panel.lines.some((line) => line.name === name)));
  const kinds = section.kinds.map((kind, k) => [STYLES[section.styles[k]], kind]).filter(([, kind]) => lines.some((line) => !line.mark && (line.kind || section.kinds[0]) === kind));
  const marks = MARKS.filter(([mark]) => lines.some((line) => line.mark === mark)).map(([, kind, text]) => make("li", {}, make("i", { class: kind }), text));
  node.querySelector(".key").replaceChildren(...(marks.length ? marks : keyOf(alike ? names : [], kinds)));
  const common = section.alone ? null : scaleOf(lines);
  multiples(node.querySelector(".charts"), shown.length, (W) => shown.map((panel) => {
    const own = unique(panel.lines.map((line) => line.name)), numberOf = (name) => (alike ? names : own).indexOf(name);
    return make("figure", {}, make("figcaption", {}, heading(panel)), make("span", { class: "note" }, `${section.axis}, by ${section.across}`), multiple(section, panel, W, common ?? scaleOf(panel.lines), numberOf),
      alike || marks.length ? null : make("ul", { class: "key" }, ...keyOf(own, [])));
  }));
  const labels = unique(shown.flatMap((panel) => panel.labels)), rows = shown.flatMap((panel) => panel.lines.filter((line) => line.mark !== "target" || isKept(line.language)).map((line) =>
    [[panel.title, line.name, line.kind].filter(Boolean).join(", "), ...labels.map((text) => {
      const value = line.values[panel.labels.indexOf(text)];
      return value === null || value === undefined ? "not run" : written(value, 1, section.alone);
    })]));
  node.querySelector("details table").replaceChildren(...tableOf([section.across, ...labels], rows));
};
const scatterSection = (section, panels) => {
  const node = at(section.name);
  node.querySelector(".columns").replaceChildren(...panels.map((panel) => scatter({ ...panel, label: `${node.querySelector("h2").textContent}, ${panel.name}`, width: node.clientWidth,
    across: { title: panel.x, digits: panel.digits[0], values: panel.across }, up: { title: panel.y, digits: panel.digits[1], values: panel.up } })));
};
const tableSection = (section, panels) => {
  const choices = followedOf(panels), view = viewOf(section, section.views.length ? choices.map(({ title }) => title) : []), shown = view ? choices.filter(({ title }) => title === view) : panels;
  const cell = ({ value, level, note, difference, share }) => {
    const title = note ? section.notes[note - 1] : null, node = value === undefined ? make("td", { class: "missing", title }, "not run")
      : share ? shaded(value, 1, { title }) : make("td", { class: level ?? null, title }, written(value, 2, difference));
    if (note) node.append(make("sup", {}, `${note}`));
    return node;
  };
  const body = shown.flatMap(({ title, rows }) => [make("tr", { class: "mean" }, make("th", { scope: "colgroup", class: "left", colspan: section.head.length + 1 }, title)),
    ...rows.filter((row) => !row.language || isKept(row.language)).map((row) => make("tr", { class: isChosen(row.language) && !view ? "chosen" : null },
      make("th", { scope: "row" }, heading({ title: row.name, language: view ? null : row.language })), ...row.cells.map(cell)))]);
  at(section.name).querySelector("table").replaceChildren(
    make("thead", {}, make("tr", {}, make("th", { scope: "col", class: "left" }, section.corner), ...section.head.map((text) => make("th", { scope: "col" }, text)))), make("tbody", {}, ...body));
};
const FORMS = { curves: curvesSection, scatter: scatterSection, heat: tableSection };
const sections = () => {
  for (const section of data.sections) {
    const panels = section.panels.filter(inView);
    at(section.name).hidden = !panels.length;
    if (panels.length) FORMS[section.form](section, panels);
  }
};
