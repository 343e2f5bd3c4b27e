// Drawing and wiring ---------------------------------------------------------------------------------------------------
const draw = () => {
  if (at("chosen")) facts();
  if (scores.length) {
    const table = tableInView();
    showState("sort", data.sort);
    if (document.activeElement !== at("find")) at("find").value = state.find;
    if (document.activeElement !== at("filter") && !isListed) at("filter").value = state.filter;
    opening(table); profiles(table); heat(table); gaps(table); scoreTable();
    if (data.encoders.length) overlays(table);
  }
  if (similar.length) {
    showState("measure", at("measure").options[0].value);
    curves();
  }
  sections();
};
if (at("chosen")) for (const id of ["family", "script", "colour"]) at(id).addEventListener("change", () => set({ [id]: at(id).value }));
if (scores.length) {
  for (const id of ["source", "encoder", "sort"]) at(id).addEventListener("change", () => set({ [id]: at(id).value }));
  at("find").addEventListener("input", () => set({ find: at("find").value }));
  at("filter").addEventListener("input", () => { isListed = null; shownRows = 100; set({ filter: at("filter").value }); });
  at("more").addEventListener("click", () => { // the first of the rows that it adds follows where no more are left
    shownRows += 1000; scoreTable();
    if (at("more").hidden) at("results").parentElement.focus();
  });
  at("scores-csv").addEventListener("click", () => save(csv(scores.map(({ place, ...record }) => record)), "text/csv", "scores.csv"));
}
if (similar.length) {
  const measures = unique(similar.map((r) => r.of)).sort((a, b) => (b === "cka") - (a === "cka")); // CKA first, as in the papers
  at("measure").replaceChildren(...measures.map((value) => make("option", { value }, data.measures[value])));
  for (const id of ["measure", "pair"]) at(id).addEventListener("change", () => set({ [id]: at(id).value }));
  at("similar-csv").addEventListener("click", () => save(csv(similar.map(({ source, language, encoder, described, two, ...record }) => record)), "text/csv", "similarities.csv"));
  at("svg").addEventListener("click", () => save(drawing([at("curves").firstChild]), "image/svg+xml", "similarity.svg"));
}
at("close").addEventListener("click", () => at("run").close());
addEventListener("hashchange", () => { isListed = null; readState(); redrawn(draw); });
let width = innerWidth;
addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; redrawn(draw); } });
addEventListener("beforeprint", () => document.querySelectorAll("details.findings").forEach((details) => { details.open = true; }));
readState(); draw();
