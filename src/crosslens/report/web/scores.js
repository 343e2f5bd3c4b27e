// All scores ----------------------------------------------------------------------------------------------------------
const several = unique(scores.map((record) => record.encoder)).length > 1;
const COLUMNS = [...(several ? ["encoder"] : []), "task", "metric", "source", "target", "corpus", "condition", "seed", "value", "low", "high", "n", "run"];
const WORDS = new Set(["encoder", "task", "metric", "source", "target", "corpus", "condition"]);
let order = { by: null, down: false }, shownRows = 100;
let isListed = null; // instead of the filter, where a number of the table above was clicked
const listScores = (words, wanted) => {
  at("filter").value = words.filter(Boolean).join(" ");
  isListed = wanted; shownRows = 100; scoreTable();
  at("results").scrollIntoView();
};
const sought = scores.map((r) => COLUMNS.map((c) => `${r[c] ?? ""}`).join(" ").toLowerCase());
const scoreTable = () => {
  const words = at("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  const parts = sought.map((text) => text.split(" "));
  let found = scores.map((_, i) => i).filter((i) => isListed ? isListed(scores[i]) : isKept(scores[i].target) && words.every((w) => w.length < 4 ? parts[i].some((p) => p === w || p.includes(w) && w.length > 2) : sought[i].includes(w)));
  if (order.by) {
    const key = (i) => scores[i][order.by === "condition" ? "place" : order.by]; // conditions are sorted by position, not by name
    found = found.sort((a, b) => {
      const [p, q] = [key(a), key(b)];
      if (p === null || q === null) return (p === null) - (q === null);
      return (typeof p === "number" ? p - q : `${p}`.localeCompare(`${q}`)) * (order.down ? -1 : 1);
    });
  }
  at("count").textContent = `${found.length} of ${scores.length} scores`;
  const sorting = (c) => order.by !== c ? "none" : order.down ? "descending" : "ascending";
  const sort = (c) => { order = { by: c, down: order.by === c && !order.down }; redrawn(scoreTable); };
  const numeric = new Set(["value", "low", "high"]);
  const show = (r, c) => c === "run" && r.run
    ? make("td", {}, make("button", { onclick: () => details(r) }, r.run.slice(0, 8)))
    : make("td", { class: WORDS.has(c) ? "left" : null }, numeric.has(c) ? written(r[c]) : `${r[c] ?? "–"}`);
  at("results").replaceChildren(
    make("thead", {}, make("tr", {}, ...COLUMNS.map((c) => make("th", { scope: "col", class: WORDS.has(c) ? "left" : null, "aria-sort": sorting(c) },
      make("button", { onclick: () => sort(c) }, c + (order.by === c ? (order.down ? " ↓" : " ↑") : "")))))),
    make("tbody", {}, ...found.slice(0, shownRows).map((i) => make("tr", {}, ...COLUMNS.map((c) => show(scores[i], c))))));
  at("more").hidden = found.length <= shownRows;
};
const details = (row) => {
  const run = data.runs[row.run] ?? {};
  const facts = { ...Object.fromEntries(COLUMNS.map((c) => [c, row[c]])), signature: row.signature, ...run.facts,
    machine: run.machine, seconds: run.seconds };
  at("facts").replaceChildren(...Object.entries(facts).filter(([, v]) => v !== null && v !== undefined)
    .flatMap(([k, v]) => [make("dt", {}, k), make("dd", {}, `${v}`)]));
  at("log").textContent = [run.repeat ? `Command to reproduce this run:\n${run.repeat}\n` : "", run.log ?? ""].filter(Boolean).join("\n");
  at("run").showModal();
};
