// Drawing and wiring ---------------------------------------------------------------------------------------------------
const draw = () => {
  if (at("chosen")) facts();
  if (scores.length) {
    const table = tableInView();
    showState("sort", data.sort);
    if (document.activeElement !== at("find")) at("find").value = state.find;
    if (document.activeElement !== at("filter") && !isListed) at("filter").value = state.filter;
    opening(table); profiles(table); heat(table); gaps(table); scoreTable();
    if (data.encoders.length) overlays();
  }
  if (similar.length) {
    for (const name of ["measure", "pair"]) {
      const known = [...at(name).options].map((option) => option.value);
      at(name).value = known.includes(state[name]) ? state[name] : known[0];
    }
    curves();
  }
  sections();
};
if (at("chosen")) for (const id of ["family", "script", "colour"]) at(id).addEventListener("change", () => set({ [id]: at(id).value }));
if (scores.length) {
  for (const id of ["source", "encoder", "sort"]) at(id).addEventListener("change", () => set({ [id]: at(id).value }));
  at("find").addEventListener("input", () => set({ find: at("find").value }));
  at("filter").addEventListener("input", () => { isListed = null; shownRows = 100; set({ filter: at("filter").value }); });
  at("more").addEventListener("click", () => { shownRows += 1000; scoreTable(); });
  at("scores-csv").addEventListener("click", () => save(csv(scores.map(({ place, ...record }) => record)), "text/csv", "scores.csv"));
}
if (similar.length) {
  const measures = unique(similar.map((r) => r.of)).sort((a, b) => (b === "cka") - (a === "cka")); // CKA first, as in the papers
  at("measure").replaceChildren(...measures.map((value) => make("option", { value }, data.measures[value])));
  const pairs = unique(similar.map((r) => r.pair)), different = unique(similar.filter((r) => r.different).map((r) => r.pair));
  fill(at("pair"), pairs);
  // A mean over pairs says something where encoders have a pair in common.
  const measured = [...Map.groupBy(similar.filter((r) => r.different), (r) => r.state).values()].map((records) => new Set(records.map((r) => r.pair)));
  if (different.some((pair) => measured.every((pairs) => pairs.has(pair)))) at("pair").prepend(make("option", { value: "" }, `mean over pairs (${different.length})`));
  for (const id of ["measure", "pair"]) at(id).addEventListener("change", () => set({ [id]: at(id).value }));
  at("similar-csv").addEventListener("click", () => save(csv(similar.map(({ language, encoder, two, ...record }) => record)), "text/csv", "similarities.csv"));
  at("svg").addEventListener("click", () => save(drawing([at("curves").firstChild]), "image/svg+xml", "similarity.svg"));
}
at("close").addEventListener("click", () => at("run").close());
addEventListener("hashchange", () => { isListed = null; readState(); draw(); });
let width = innerWidth;
addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; draw(); } });
addEventListener("beforeprint", () => document.querySelectorAll("details.findings").forEach((details) => { details.open = true; }));
readState(); draw();
