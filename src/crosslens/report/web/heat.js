// Scores of one task, computed in Python with the same rule as all tables and only displayed here -------------------
const heatRows = (table) => {
  const words = state.find.toLowerCase().split(/\s+/).filter(Boolean);
  const seen = (row) => row.over || isKept(row.language) && words.every((word) => `${row.name} ${row.language ?? ""}${described(row.language)}`.toLowerCase().includes(word));
  // The orders are those of all tables. Means stand below their part whatever the order.
  const order = state.sort in (table.rows[0]?.places ?? {}) ? state.sort : data.sort;
  const key = (a, b) => a.places[order] - b.places[order];
  return unique(table.rows.map((row) => row.part)).flatMap((part) => {
    const rows = table.rows.filter((row) => row.part === part);
    return [...rows.filter((row) => !row.over).sort(key), ...rows.filter((row) => row.over)].filter(seen);
  });
};
const heat = (table) => {
  const cell = (row, column, shown) => {
    const name = `${row.name}, ${column.name}`;
    if (!shown.seeds) return make("td", { class: "missing", title: shown.lacks ? `${name}: ${shown.lacks} of ${row.over} corpora have no score` : shown.left ? `${name}: no seed of the reference` : null },
      shown.lacks ? "incomplete" : shown.left ? "no shared seed" : "not run");
    const value = shown.value ?? 0, difference = column.difference;
    const level = !difference ? "" : value >= 0 ? "above" : value > -2 ? "below" : value > -5 ? "two" : "five";
    const interval = shown.low === undefined || shown.low === null ? ""
      : `, 95 % confidence interval over sentences ${written(shown.low)} to ${written(shown.high)}`;
    const words = `${name}: ${written(value, 2, difference)}`
      + (shown.seeds < 2 ? `, 1 seed${interval}` : `, standard deviation ${written(shown.std ?? 0)} over ${shown.seeds} seeds`)
      + (shown.left ? `, ${shown.left} ${shown.left === 1 ? "seed" : "seeds"} excluded` : "") + (row.over ? "" : sizeOf(shown));
    const rows = row.over ? table.rows.filter((other) => !other.over && other.part === row.part) : [row];
    const show = () => listScores([table.task, table.source, several ? table.encoder : "", column.name, row.over ? "" : row.name],
      (record) => OF_TABLE.every((name) => record[name] === table[name]) && record.condition === column.name
        && rows.some((other) => record.corpus === other.name && record.target === other.language));
    return make("td", { class: `cell ${level}` },
      make("button", { title: words, "aria-label": words, onclick: show }, written(value, 2, difference)));
  };
  const about = (row) => row.over || !data.languages[row.language] ? null : make("small", {},
    state.colour ? make("i", { class: colourOf(row.language) }) : null, described(row.language).slice(2));
  const name = (row) => row.over || !row.language ? row.name : make("button", { "aria-pressed": `${isChosen(row.language)}`,
    onclick: follow(row.language) }, row.name);
  const head = make("tr", {}, make("th", { class: "left", scope: "col" }, "evaluated on"),
    ...table.columns.map((column) => make("th", { scope: "col" }, column.head)));
  at("heat").replaceChildren(make("thead", {}, head), make("tbody", {}, ...heatRows(table).map((row) =>
    make("tr", { class: row.over ? "mean" : isChosen(row.language) ? "chosen" : null }, make("th", { scope: "row" }, name(row), about(row)),
      ...row.cells.map((shown, i) => cell(row, table.columns[i], shown))))));
};
