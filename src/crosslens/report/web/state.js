// One state of the page, kept in the address, so that a view can be sent: #task=pos&language=fr,de&sort=name
const HASH = ["task", "source", "encoder", "sort", "find", "filter", "family", "script", "colour", "measure", "pair", "layer", "view", "language"];
const state = {};
const readState = () => {
  const told = new URLSearchParams(location.hash.slice(1));
  for (const name of HASH) state[name] = told.get(name) ?? "";
  state.languages = new Set(told.getAll("language").filter(Boolean));
};
const writeState = () => {
  const kept = new URLSearchParams();
  for (const name of HASH) if (name !== "language" && state[name]) kept.append(name, state[name]);
  for (const language of state.languages) kept.append("language", language);
  const text = kept.toString();
  history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
};
// Shows the state in a control; a value that it lacks, in an address from another page, becomes its default.
const showState = (name, standard = "") => {
  at(name).value = state[name] || standard;
  if (!at(name).value && state[name]) { state[name] = ""; at(name).value = standard; }
};
const set = (changes) => { Object.assign(state, changes); writeState(); redrawn(draw); };
const choose = (language, more = false) => {
  if (!language) return;
  const languages = new Set(more ? state.languages : []);
  if (state.languages.has(language) && (more || state.languages.size === 1)) languages.delete(language); else languages.add(language);
  set({ languages, pair: "" });
};
const isChosen = (language) => state.languages.has(language);

// Families and scripts of languages: filters and colours of the whole page.
const UNKNOWN = "unknown";
const factOf = (language, name) => data.languages[language]?.[name] || UNKNOWN;
const FACTS = ["family", "script"];
const isKept = (language) => FACTS.every((name) => !state[name] || factOf(language, name) === state[name]);
const inSections = data.sections.flatMap(({ panels }) => panels.flatMap((panel) => [panel.language, ...[...(panel.lines ?? []), ...(panel.rows ?? [])].map((each) => each.language), ...(panel.languages ?? [])]));
const targets = unique([...data.tables.flatMap((table) => table.rows.map((row) => row.language)), ...similar.map((record) => record.language), ...inSections].filter(Boolean));
const valuesOf = (name) => {
  const counts = new Map();
  for (const language of targets) counts.set(factOf(language, name), (counts.get(factOf(language, name)) ?? 0) + 1);
  return [...counts].sort(([a, m], [b, n]) => (a === UNKNOWN) - (b === UNKNOWN) || n - m || (a < b ? -1 : 1));
};
const COLOURS = 5; // what is rarer than that shares a grey; the first colour is that of means
const coloursOf = (name) => new Map(valuesOf(name).filter(([value]) => value !== UNKNOWN).slice(0, COLOURS).map(([value], i) => [value, `series${i + 1}`]));
const colourOf = (language) => state.colour ? coloursOf(state.colour).get(factOf(language, state.colour)) ?? "other" : "";

// The table of scores in view: task, source and encoder as chosen, or the nearest that exists.
const OF_TABLE = ["task", "source", "encoder"];
const valueOf = (table, name) => `${table[name] ?? ""}`;
const tableInView = () => {
  let left = data.tables;
  for (const name of OF_TABLE) {
    const kept = left.filter((table) => valueOf(table, name) === state[name]);
    left = kept.length ? kept : left;
  }
  return left[0];
};
