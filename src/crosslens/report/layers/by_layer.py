"""Tables by layer: similarity, word and sentence retrieval, transfer through a mapping, and probes, with baselines."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Any

import numpy as np

from crosslens.alignment.baselines import BASELINES, LEVELS, baseline_of
from crosslens.encoders.condition import Condition
from crosslens.encoders.interventions.one_layer import OnOneLayer
from crosslens.errors import RequestError
from crosslens.formatting import counted
from crosslens.report.blocks import cautions_ending, on_one_layer
from crosslens.report.table import Cell, Kind, Notes, Row, Table, cell_of
from crosslens.results import cells
from crosslens.results.cells import condition_of, disambiguated, layer_of, mean_of, without_digest
from crosslens.results.chart import (
    PAIR,
    SENTENCE_PAIRS,
    SENTENCES,
    State,
    by_probed_state,
    by_state,
    corpus_names,
    done_to,
)
from crosslens.results.record import Results
from crosslens.results.record_settings import SECOND_ENCODER, settings_of
from crosslens.tasks import main_metric
from crosslens.tasks.titles import at_the_start, metric_name, task_name

PROBED = {"accuracy": "", "accuracy_shuffled": "shuffled labels"}
"""Metric of a probe -> what distinguishes its control task."""

MOST_NAMED = 3
"""Maximum number of corpora that a caption names; rows name those of a table with several."""

EXPLAINED = {
    "untrained": "every parameter re-initialised",
    "shuffled": "mapping learnt from shuffled pairs",
    "identity": "no mapping",
}
"""Baseline of an alignment -> its description in a caption."""

UNMAPPED = "untrained, identity"
"""Untrained encoders without a mapping, in results that have measurements with one."""

ORDER = ("", *BASELINES, UNMAPPED)
"""A measurement stands above its baselines."""

Layer = int | None
"""A layer, 0 being the embeddings; None for static word vectors."""


@dataclass(frozen=True, slots=True)
class Line:
    """A row of a table by layer.

    Attributes:
        group: language pair or probe that its group is about.
        label: name of the row.
        by_layer: layer, or pair of layers -> mean over seeds.
        baseline: name of the baseline, or "" for the measurement itself.
        state: encoder, state and corpus of a similarity or retrieval; None for anything else.
        languages: source and target of a similarity or retrieval.
        directions: layer -> every source and target that the value is a mean over.
        cutoff: of a retrieval, such as ``precision at 1``: each has a group of its own; "" of anything else.
    """

    group: str
    label: str
    by_layer: Mapping[Any, cells.Cell]
    baseline: str = ""
    state: State | None = None
    languages: tuple[str, str] | None = None
    directions: Mapping[Any, Sequence[tuple[str, str]]] = field(default_factory=dict)
    cutoff: str = ""

    @property
    def title(self) -> str:
        """Title of its group."""
        return _title(self.group, self.cutoff)

    @property
    def name(self) -> str:
        """The label, and the baseline if it is one."""
        return ", ".join(filter(None, (self.label, self.baseline)))


def _title(group: str, cutoff: str) -> str:
    return ": ".join(filter(None, (group, cutoff)))


def similarity(results: Results) -> list[Table]:
    """Similarity of translations and of unrelated sentences: the mean over language pairs, then each pair."""
    named = results.filter(metric="similarity", target_layer=None)
    caption = "{} of the representations of {}, by layer (0: embeddings){}."
    tables = []
    for measure in measures_of(named):
        lines = similarity_lines(named, measure)
        shown = [*means_over_pairs(lines), *lines]
        words = caption.format(at_the_start(metric_name(measure)), sentences_of(lines), with_baselines(lines))
        words += without_mean(shown) + data_ending(named.filter(measure=measure)) + cautions_ending(named)
        tables += _table(f"similarity-{measure}", words, shown, "similarity")
    return tables


def data_ending(results: Results) -> str:
    """The sentence of a caption on the corpora of measurements; "" where there are more than `MOST_NAMED`.

    >>> from crosslens.results.record import Record
    >>> data_ending(Results.of([Record(corpus="ud/pud", n=1000), Record(corpus="ud/pud", n=1000)]))
    ' Data: ud/pud (1,000 items).'
    """
    sizes: dict[str, set[int | None]] = {}
    for (corpus, size), _ in results.groups("corpus", "n"):
        if corpus is None:
            return ""
        sizes.setdefault(corpus, set()).add(size)
    if not 0 < len(sizes) <= MOST_NAMED:
        return ""
    return f" Data: {', '.join(_sized(corpus, *known) for corpus, known in sizes.items())}."


def _sized(corpus: str, *sizes: int | None) -> str:
    """A corpus with its number of items, if that is known and always the same."""
    size = sizes[0] if len(sizes) == 1 else None
    return corpus if size is None else f"{corpus} ({counted(size, 'item', 'items')})"


def measures_of(results: Results) -> list[str]:
    """Names of the measures, without the suffixes of their baselines."""
    return list(dict.fromkeys(_without_ending(measure) for (measure,), _ in results.groups("measure")))


def similarity_lines(results: Results, measure: str, *, columns: Sequence[str] = ("layer",)) -> list[Line]:
    """One line per language pair, state of the encoder and kind of sentence pairs.

    Args:
        measure: name of a measure, without the suffix of a baseline.
        columns: ``layer``, or ``layer`` and ``target_layer`` for pairs of layers.
    """
    lines = []
    for state, records in by_state(results.filter(measure=[measure + ending for ending in SENTENCE_PAIRS])):
        for (name,), block in sorted(records.groups("measure"), key=lambda group: group[0] != (measure,)):
            table = cells.cells(block, rows=PAIR, columns=columns)
            ending = str(name).removeprefix(measure)
            for row in table.rows:
                pair = "–".join(str(language) for language in row[:2]) + (f" with {row[2]}" if row[2] else "")
                values = {column: table.get(row, column) for column in table.columns}
                lines.append(Line(pair, state.name, values, SENTENCE_PAIRS[ending] if ending else "", state, row[:2]))
    order = list(dict.fromkeys(line.group for line in lines))
    return sorted(_corpora_named(lines), key=lambda line: order.index(line.group))


def _corpora_named(lines: Sequence[Line]) -> list[Line]:
    """Name corpora only of encoders that have several, or that stand beside others with another one."""
    measured = [(line, line.state, replace(line.state, corpus="")) for line in lines if line.state is not None]
    corpora: dict[State | str, set[str]] = {}
    for line, state, unnamed in measured:
        for place in (unnamed, line.group):
            corpora.setdefault(place, set()).add(state.corpus)
    several = {unnamed for line, _, unnamed in measured if len(corpora[unnamed]) > 1 or len(corpora[line.group]) > 1}
    return [line if unnamed in several else replace(line, label=unnamed.name) for line, _, unnamed in measured]


def _without_ending(measure: str | None) -> str:
    name = str(measure)
    return next((name.removesuffix(ending) for ending in SENTENCE_PAIRS if ending and name.endswith(ending)), name)


def means_over_pairs(lines: Sequence[Line]) -> list[Line]:
    """Means over all pairs of different languages, for rows that every pair has."""
    different = list(dict.fromkeys(line.group for line in lines if len(set(line.languages or ())) > 1))
    if len(different) < 2:
        return []
    names: dict[tuple[str, str], dict[str, Line]] = {}
    for line in lines:
        names.setdefault((line.label, line.baseline), {})[line.group] = line
    means = []
    for (label, baseline), by_pair in names.items():
        chosen = [by_pair[pair] for pair in different if pair in by_pair]
        if len(chosen) == len(different):
            layers = dict.fromkeys(layer for line in chosen for layer in line.by_layer)
            values = {layer: mean_of([line.by_layer.get(layer, cells.EMPTY) for line in chosen]) for layer in layers}
            means.append(Line(f"mean of {len(different)} pairs", label, values, baseline))
    return means


def sentences_of(lines: Sequence[Line]) -> str:
    """The part of a caption on the sentences of a pair: translations, or the same ones of one language in two encoders.

    >>> sentences_of([Line("en–fr", "", {}, languages=("en", "fr")), Line("en–en", "", {}, languages=("en", "en"))])
    'translations, or of the same sentences in a pair of one language'
    """
    different = {len(set(line.languages)) > 1 for line in lines if line.languages}
    if different == {False}:
        return "the same sentences"
    return "translations" + (", or of the same sentences in a pair of one language" if False in different else "")


def with_baselines(lines: Sequence[Line]) -> str:
    """The part of a caption on unrelated sentences; empty if none were measured."""
    return ", and of pairs of unrelated sentences as baselines" if any(line.baseline for line in lines) else ""


def without_mean(lines: Sequence[Line]) -> str:
    """The sentence of a caption on rows of pairs that have no mean over pairs; empty if all have one.

    Args:
        lines: similarities of pairs, and their means.
    """
    pairs = [line for line in lines if len(set(line.languages or ())) > 1]
    averaged = {(line.label, line.baseline) for line in lines if line.languages is None}
    lacking = [line for line in pairs if (line.label, line.baseline) not in averaged]
    if not lacking or len({line.group for line in pairs}) < 2:
        return ""
    versions = [line for line in lacking if line.state and without_digest(line.state.corpus) != line.state.corpus]
    why = " Versions of a corpus with equally many sentences, each with its digest, cannot be matched between pairs."
    return " Rows that some pair lacks are in no mean over pairs." + why * bool(versions)


def retrieval(results: Results) -> list[Table]:
    """Precision of word translation and of sentence retrieval."""
    names = {"words": "word translation", "sentences": "sentence retrieval"}
    tables = []
    for level in LEVELS:
        lines = retrieval_lines(results, level)
        unread = cautions_ending(of_level(results, level))
        caption = f"Precision of {names[level]} by layer (0: embeddings), percent{over_directions(lines)}."
        tables += _table(level, caption + _explained(lines) + unread, lines, "score")
    return tables


def of_level(results: Results, level: str) -> Results:
    """The records of word translation or of sentence retrieval."""
    measures = [name for (name,), _ in results.groups("measure") if name and name.split()[0] == level]
    return results.filter(measure=measures)


def over_directions(lines: Sequence[Line]) -> str:
    """The part of a caption on the directions of retrieval, which are averaged."""
    every = [directions for line in lines for directions in line.directions.values()]
    if not any(len(directions) > 1 for directions in every):
        return ""
    where = " where both were measured" if any(map(_only, every)) else ""
    return f", mean over both directions{where}"


def _only(directions: Sequence[tuple[str, str]]) -> str | None:
    """The note of a value of one direction, in a table of means over both."""
    source, target = directions[0]
    return f"only {source} to {target}" if len(directions) == 1 and source != target else None


def retrieval_lines(results: Results, level: str) -> list[Line]:
    """One line per language pair, cutoff, encoders and baseline."""
    measured = of_level(results, level)
    names, corpora = corpus_names(measured), measured.columns.together(*SENTENCES).to_list()
    records = [
        {**record, "corpus": names[corpus]}
        for record, corpus in zip(disambiguated(measured), corpora, strict=True)
        if record["value"] is not None
    ]
    sources = list(dict.fromkeys(record["source"] for record in records))
    # Pairs are named, and stand, as in the direction from the language that is a source first.
    records.sort(key=lambda record: record["target"] in sources[: sources.index(record["source"])])
    orientation: dict[frozenset, tuple[str, str]] = {}
    for record in records:
        pair = (str(record["source"]), str(record["target"]))
        orientation.setdefault(frozenset(pair), pair)
    read = [(_retrieved(record, orientation), record) for record in records]
    methods = {retrieved.method for retrieved, _ in read}
    # Where no mapping was learnt, "identity" is the measurement and not its baseline.
    mapped = {retrieved for retrieved, record in read if "procrustes" in record["measure"]}
    entries = (
        (
            ("–".join(retrieved.languages), record["metric"].replace("@", " at ")),
            ", ".join([retrieved.encoders, *_model(record), *([retrieved.method] if len(methods) > 1 else [])]),
            _baseline(record, is_mapped=retrieved in mapped),
            {
                **record,
                "layer": layer_of(record, source=retrieved.languages[0]),
                "settings": None,
                "measured": State(
                    retrieved.encoders,
                    ", ".join(_model(record)),
                    record["corpus"] or "",
                    two="against" in settings_of(record["settings"]),
                ),
            },
        )
        for retrieved, record in read
    )
    return _gather(entries)


def _model(record: cells.Row) -> list[str]:
    """What the encoders of a retrieval were trained for and what was done to the first; nothing if it is untrained."""
    if baseline_of(record) == "untrained":
        return []
    tasks = [record["task"] if record["state"] == "fine-tuned" else None]
    tasks += [settings_of(record["settings"]).get("against_task")]
    trained = [f"fine-tuned for {task_name(task)}" for task in dict.fromkeys(filter(None, tasks))]
    return [*trained, *done_to(condition_of(record["condition"]))]


def _baseline(record: cells.Row, *, is_mapped: bool) -> str:
    """Name of the baseline; "" for the measurement. Untrained encoders can be compared without a mapping, too."""
    name = baseline_of(record, mapping="procrustes" if is_mapped else "identity") or ""
    return UNMAPPED if name == "untrained" and is_mapped and "procrustes" not in record["measure"] else name


@dataclass(frozen=True, slots=True)
class _Retrieved:
    """The two sides of a retrieval, whatever its direction; the method is how neighbours are ranked."""

    languages: tuple[str, str]
    encoders: str
    method: str


def _retrieved(record: cells.Row, orientation: Mapping[frozenset, tuple[str, str]]) -> _Retrieved:
    settings = settings_of(record["settings"])
    pair = (str(record["source"]), str(record["target"]))
    encoders = [record["encoder"], settings.get("against")]
    first = orientation[frozenset(pair)]
    method = " ".join(value for name, value in settings.items() if name not in SECOND_ENCODER)
    return _Retrieved(first, _joined(encoders if pair == first else reversed(encoders)), method)


def _joined(encoders: Iterable[str | None]) -> str:
    return " and ".join(dict.fromkeys(filter(None, encoders)))


def similarity_against_retrieval(results: Results) -> list[Table]:
    """Pearson's correlation, over layers, of CKA and sentence retrieval (Conneau, Wu et al. 2020, section 5.2)."""
    measured: dict[tuple, list[Line]] = {}
    for line in similarity_lines(results.filter(metric="similarity", target_layer=None), "cka"):
        if line.state and not line.baseline:
            measured.setdefault((line.languages, line.state.encoder, line.state.text), []).append(line)
    names = ("pretrained", "untrained")
    coefficients: dict[tuple[str, str], dict[str, Cell]] = {}
    notes = Notes()
    for line in retrieval_lines(results, "sentences"):
        if line.state is None or line.state.text:
            continue
        state = line.baseline or names[0]
        alike = [each for name in (line.state.encoder, "") for each in measured.get((line.languages, name, state), ())]
        in_corpus = [each for each in alike if each.state and each.state.corpus == line.state.corpus]
        similar = alike if len(alike) == 1 else in_corpus[:1]
        coefficient = _correlation(similar[0], line, notes) if similar else None
        if coefficient is not None:
            coefficients.setdefault(("–".join(line.languages or ()), line.label), {})[state] = coefficient
    groups: dict[str, tuple[Row, ...]] = {}
    for (pair, label), values in coefficients.items():
        printed = tuple(values.get(name, Cell(None, "coefficient")) for name in names)
        groups[pair] = (*groups.get(pair, ()), Row(label, printed))
    caption = "Pearson correlation, over layers, of CKA and the precision of sentence retrieval."
    return [Table("cka-against-retrieval", caption, names, groups, tuple(notes.texts))] if groups else []


def _correlation(similar: Line, retrieved: Line, notes: Notes) -> Cell | None:
    """Correlation of CKA and precision over the layers that have both; None for fewer than three."""
    both = [
        (similar.by_layer[layer].mean, cell.mean)
        for layer, cell in retrieved.by_layer.items()
        if layer in similar.by_layer
    ]
    known = np.array([pair for pair in both if None not in pair], float)
    if len(known) < 3:
        return None
    constant = [name for name, values in zip(("CKA", "precision"), known.T, strict=True) if not np.ptp(values)]
    if constant:
        reason = f"no coefficient: {' and '.join(constant)} equal in all layers"
        return Cell(None, "coefficient", note=notes.number(reason))
    return Cell(float(np.corrcoef(known.T)[0, 1]), "coefficient")


def transfer(results: Results) -> list[Table]:
    """Scores of a head on one fixed layer, read through a mapping where there is a second encoder."""
    tables = []
    for (task, metric), lines in transfer_lines(results).items():
        caption = (
            f"Scores ({task}, {metric}) of fresh layers trained on one fixed layer of the source language's encoder, by"
            f" layer (0: embeddings).{_explained(lines)}"
        )
        if results.filter(task=task).records["target_layer"].null_count < len(results.filter(task=task)):
            caption += " Layers are those of the source language's encoder; of the other encoder, those mapped to them."
        tables += _table(f"transfer-by-layer-{task}", caption, lines, "score")
    return tables


def transfer_lines(results: Results) -> dict[tuple[str, str], list[Line]]:
    """Task and metric -> one line per target, encoders and baseline."""
    read = [
        (record, condition.find(OnOneLayer))
        for record in disambiguated(on_one_layer(results.filter(measure=None), where=True))
        for condition in [condition_of(record["condition"])]
    ]
    scores = [
        (record, layer)
        for record, layer in read
        if layer and record["metric"] == main_metric(record["task"]) and record["value"] is not None
    ]
    lines: dict[tuple[str, str], list[Line]] = {}
    for task, metric in dict.fromkeys((record["task"], record["metric"]) for record, _ in scores):
        lines[task, metric] = _gather(
            (
                (f"{record['source']} → {record['target']}", ""),
                ", ".join([_joined((record["encoder"], layer.mapped_from)), *_done_besides(record, layer)]),
                baseline_of(record) or "",
                {
                    **record,
                    # A second encoder's layer may have another number than the one that the head was trained on.
                    "layer": layer.layer if record["layer"] is None else record["layer"],
                    # Each mapping has its own head, and all heads of a seed are scored on the source language.
                    "head": layer.mapping if record["target"] == record["source"] else None,
                },
            )
            for record, layer in scores
            if (record["task"], record["metric"]) == (task, metric)
        )
    return lines


def _done_besides(record: cells.Row, layer: OnOneLayer) -> list[str]:
    """What was done to the encoder besides training a head on one layer, and the height of an unusual head."""
    height = [f"height={layer.height}"] if layer.height != OnOneLayer.model_fields["height"].default else []
    if baseline_of(record) == "untrained":
        return height
    others = [part for part in condition_of(record["condition"]).interventions if part != layer]
    return [*height, *done_to(Condition.of(tuple(others)))]


def probes(results: Results) -> list[Table]:
    """Accuracy of linear probes, with the control task of Hewitt & Liang (2019)."""
    caption = "Accuracy of linear probes by layer (0: embeddings), percent."
    probed = results.filter(metric="accuracy", target=None)
    probed = probed.filter(measure=[name for (name,), _ in probed.groups("measure") if name is not None])
    return _table("probes", caption + data_ending(probed), probe_lines(results), "score")


def probe_lines(results: Results) -> list[Line]:
    """One line per probe, state of the encoder and kind of labels."""
    lines = []
    for (measure,), block in results.filter(metric=list(PROBED), target=None).groups("measure"):
        for name, records in by_probed_state(block) if measure is not None else ():
            for metric, control in PROBED.items():
                table = cells.cells(records.filter(metric=metric), rows=("measure",), columns=("layer",))
                for row in table.rows:
                    values = {layer: table.get(row, layer) for layer in table.columns}
                    lines.append(Line(str(measure), name, values, control))
    return lines


def _explained(lines: Sequence[Line]) -> str:
    baselines = dict.fromkeys(line.baseline for line in lines)
    words = [f"{name}: {text}" for name, text in EXPLAINED.items() if name in baselines]
    return f" Baselines: {'; '.join(words)}." if words else ""


def _table(name: str, caption: str, lines: Sequence[Line], kind: Kind) -> list[Table]:
    """A table with one column per layer; none without lines."""
    layers = {layer for line in lines for layer in line.by_layer}
    if not layers:
        return []
    ordered = sorted(layers, key=lambda layer: -1 if layer is None else layer)
    notes = Notes()
    averaged = over_directions(lines)
    groups: dict[str, tuple[Row, ...]] = {}
    for line in lines:
        only = {layer: _only(directions) for layer, directions in line.directions.items()} if averaged else {}
        most = cells.most_seeds(line.by_layer.values())  # other lines are of models that may have no seed
        values = tuple(
            cell_of(line.by_layer.get(layer, cells.EMPTY), kind, notes, note=only.get(layer), most=most)
            for layer in ordered
        )
        row = Row(line.name, values, "beside" if line.baseline else "plain")
        groups[line.title] = (*groups.get(line.title, ()), row)
    head = tuple("vectors" if layer is None else str(layer) for layer in ordered)
    return [Table(name, caption, head, groups, tuple(notes.texts))]


Group = tuple[str, str]
"""Group and cutoff of a line."""

Entry = tuple[Group, str, str, cells.Row]
"""A record, with the group, label and baseline of its line."""

TOLD_APART = ("corpus", "train", "selection", "recipe", "settings")
"""Columns that become part of labels where a line would otherwise hold several of their values, or where lines that are
compared have different ones: of the same language pair, and, but for corpora, of one task."""


def _told_apart(entries: Sequence[Entry]) -> Iterator[Entry]:
    """Add to labels what would otherwise be averaged or compared as one: corpora, and how encoders were trained."""
    values: dict[tuple, dict[tuple, set[Any]]] = {}
    for group, label, _, record in entries:
        direction = (record["source"], record["target"])
        for name in TOLD_APART:
            values.setdefault((group, label, name), {}).setdefault(direction, set()).add(record[name])
            if record[name] is not None:
                compared = values.setdefault(_compared(group, name, record), {})
                compared.setdefault(direction, set()).add(record[name])
    varying = {line for line, by_direction in values.items() if any(len(of) > 1 for of in by_direction.values())}
    for group, label, baseline, record in entries:
        words = [
            record[name]
            for name in TOLD_APART
            if record[name] and not varying.isdisjoint(((group, label, name), _compared(group, name, record)))
        ]
        yield group, ", ".join([label, *words]), baseline, record


def _compared(group: Group, name: str, record: cells.Row) -> tuple:
    """The lines with which a record is compared, whatever their label."""
    return group, None, name, None if name == "corpus" else record["task"]


def _gather(records: Iterable[Entry]) -> list[Line]:
    """Records of one group, label and baseline as a line: mean over directions and heads, seed by seed."""
    kept: dict[tuple[Group, str, str], dict[Layer, dict[tuple, dict[tuple, float]]]] = {}
    languages: dict[Group, tuple[str, str]] = {}
    states: dict[tuple[Group, str, str], State | None] = {}
    for group, label, baseline, record in _told_apart(list(records)):
        side = (record["source"], record["target"], record["corpus"])
        languages.setdefault(group, (str(record["source"]), str(record["target"])))
        states.setdefault((group, label, baseline), record.get("measured"))
        layers = kept.setdefault((group, label, baseline), {})
        by_head = layers.setdefault(record["layer"], {}).setdefault(side, {})
        if by_head.setdefault((record["seed"], record.get("head")), record["value"]) != record["value"]:
            name = ", ".join(filter(None, (_title(*group), label, baseline)))
            raise RequestError(
                f"two records contradict one another: {name}, layer {record['layer']}, seed {record['seed']}",
                hint="report the results one by one",
            )
    order = list(dict.fromkeys(key[:2] for key in kept))
    groups = list(dict.fromkeys(group for group, _ in order))
    return [
        Line(
            group[0],
            label,
            {layer: mean_of([_over_heads(by_head) for by_head in sides.values()]) for layer, sides in layers.items()},
            baseline,
            states[group, label, baseline],
            languages[group],
            directions={layer: list(dict.fromkeys(side[:2] for side in sides)) for layer, sides in layers.items()},
            cutoff=group[1],
        )
        for (group, label, baseline), layers in sorted(
            kept.items(), key=lambda item: (groups.index(item[0][0]), order.index(item[0][:2]), ORDER.index(item[0][2]))
        )
    ]


def _over_heads(by_head: Mapping[tuple, float]) -> cells.Cell:
    by_seed: dict[int | None, list[float]] = {}
    for (seed, _), value in by_head.items():
        by_seed.setdefault(seed, []).append(value)
    return cells.Cell({seed: fmean(values) for seed, values in by_seed.items()})


BY_LAYER: tuple[Callable[[Results], list[Table]], ...] = (
    similarity,
    retrieval,
    similarity_against_retrieval,
    transfer,
    probes,
)
"""Makers of the tables of everything that has a value for each layer:

- ``similarity-MEASURE`` (Muller et al. 2021, Figures 1, 2 and 4 to 8; Conneau, Wu et al. 2020, Figure 7)
- ``words`` and ``sentences``: retrieval (Conneau, Wu et al. 2020, Figures 4 and 6)
- ``cka-against-retrieval``: their correlation over layers (section 5.2)
- ``transfer-by-layer-TASK``: zero-shot transfer of a head on one fixed layer (Figure 5)
- ``probes`` (Wu & Dredze 2019, Figure 2)
"""
