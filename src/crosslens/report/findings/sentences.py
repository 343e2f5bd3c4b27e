"""Findings as paragraphs: effects of re-initialised layers, correlations with the transfer gap, and similarity."""

from contextlib import suppress
from dataclasses import replace

from crosslens.data.corpus import trained_languages
from crosslens.encoders.condition import Condition
from crosslens.errors import RequestError
from crosslens.formatting import counted, plain, signed
from crosslens.report.findings.conclusions import conclusions, layer_names
from crosslens.report.findings.effects import Change, Effect, Estimate, effects
from crosslens.report.learning_curves import Curve, learning_curves
from crosslens.results.cells import EMPTY, Cell, cells, condition_of, encoders_apart
from crosslens.results.chart import sentences_apart
from crosslens.results.pivot import mean_row
from crosslens.results.record import Results, concatenated
from crosslens.results.record_settings import settings_of
from crosslens.similarity.transfer_gap import Correlated, correlations
from crosslens.tasks import titles
from crosslens.unseen.typology import language_name

INTERVAL = "; ± is half the width of the 95 % confidence interval over seeds"
"""What follows a number of seeds in a sentence whose numbers have intervals."""


def describe(effect: Effect) -> list[str]:
    """Describe an effect: reference scores, changes, missing scores and conclusions.

    Returns:
        One sentence each.
    """
    metric = metric_name(effect)
    over = f"mean of {_over(effect)}" if effect.corpora > 1 else _over(effect)
    seeds = f"{_seeds(effect)}{INTERVAL}" if effect.seeds > 1 and effect.changes else _seeds(effect)
    languages = "languages" if len(trained_languages(effect.source)) > 1 else "language"
    own = f", mean of {effect.own} corpora" if effect.own > 1 else ""
    sentences = [
        f"{task_name(effect.task, effect.apart)}: {plain(effect.same.mean)} {metric} in the source {languages}"
        f" ({effect.source}{own}), {plain(effect.cross.mean)} zero-shot ({over}; {seeds})."
    ]
    sentences += [_describe_change(effect, change) for change in effect.changes[:1]]
    if len(effect.changes) > 1:
        others = "; ".join(
            f"{_layers(effect, change)}: {change.cross} / {change.same}" for change in effect.changes[1:]
        )
        sentences.append(f"Other conditions (change in zero-shot / {effect.source} {metric}): {others}.")
    sentences += [condition.text for condition in effect.incomplete]
    return sentences + [claim.text for claim in conclusions(effect)]


def headline(effect: Effect) -> str:
    """Say in one sentence what an effect shows.

    A conclusion that compares sets of layers comes first, then the largest loss, then the scores of the reference.
    """
    claims = [claim for claim in conclusions(effect) if not claim.kind.startswith("loses")]
    loss = effect.largest_loss
    if claims:
        text = claims[-1].text.removeprefix("Thus ")
        text = text[0].upper() + text[1:]
    elif loss is not None:
        text = _describe_change(effect, loss)
    else:
        return describe(replace(effect, changes=()))[0]
    return f"{effect.apart}: {text}" if effect.apart else text


def _describe_change(effect: Effect, change: Change) -> str:
    """What re-initialising the layers of a change does to the zero-shot and to the same-language score."""
    metric = metric_name(effect)
    over = f" on average over {_over(effect)}" if effect.corpora > 1 else f" in {_over(effect)}"
    cross_verb, cross = _movement(change.cross, f"zero-shot {metric}", over)
    same_verb, same = _movement(change.same, f"{metric} in {effect.source}")
    verb = "" if same_verb == cross_verb else f"{same_verb} "
    return f"Re-initialising {_layers(effect, change)} {cross_verb} {cross}, and {verb}{same}."


def metric_name(effect: Effect) -> str:
    """The metric of an effect as papers write it."""
    return titles.metric_name(effect.metric)


def _seeds(effect: Effect) -> str:
    return "one seed, so no conclusions are drawn" if effect.seeds == 1 else f"{effect.seeds} seeds"


def _over(effect: Effect) -> str:
    """What the zero-shot mean is over: languages, or corpora if there are more of them."""
    languages = counted(effect.targets, "language", "languages")
    return languages if effect.corpora == effect.targets else f"{effect.corpora} corpora of {languages}"


def task_name(task: str, variant: str = "") -> str:
    """A task as papers write it, with the properties that distinguish its models; it begins a sentence."""
    name = ", ".join(filter(None, (titles.task_name(task), variant)))
    return titles.at_the_start(name) if task in titles.TASKS else name


def _layers(effect: Effect, change: Change) -> str:
    """The layers of a change; called all layers, or the whole encoder, only if the depth is known."""
    if effect.depth is not None and change.layers == tuple(range(1, effect.depth + 1)):
        return f"all layers ({change.label}) but not the embeddings"
    if effect.depth is not None and change.layers == tuple(range(effect.depth + 1)):
        return f"the whole encoder ({change.label}) including the embeddings"
    return layer_names([change.layers or change.label], "and")


def _movement(change: Estimate, score: str, over: str = "") -> tuple[str, str]:
    """Verb and object, such as ``lowers`` and ``accuracy in en by 1.9 ± 0.3 points``.

    No direction is claimed where the interval holds 0, nor that a score is unchanged where the interval is wide.
    """
    size = plain(abs(change.mean))
    if size == plain(change.half_width or 0.0) == plain(0.0):
        return "leaves", f"{score} unchanged ({signed(0.0)}{change.spread} points{over})"
    if change.half_width is not None and not change.below(0) and not change.above(0):
        return "changes", f"{score} by {change} points{over}"
    return "lowers" if change.mean < 0 else "raises", f"{score} by {size}{change.spread} points{over}"


def findings(results: Results) -> list[str]:
    """Summarise results in paragraphs: re-initialised layers by task, source and encoder, then similarity.

    Returns:
        Paragraphs on the comparisons that the records allow: re-initialised layers with their reference, the
        transfer gap with similarity, and the pretrained with the untrained encoder. Empty if there are none.
    """
    unpaired: list[str] = []
    known = effects(results, skipped=unpaired.append)
    places = dict.fromkeys((effect.source, effect.encoder) for effect in known)
    records = encoders_apart(results)
    paragraphs = [f"{reason}." for reason in unpaired]
    for source, encoder in places:
        head = f"Source {source}, {encoder}: " if len(places) > 1 else ""
        here = [effect for effect in known if (effect.source, effect.encoder) == (source, encoder)]
        paragraphs += [head + " ".join(describe(effect)) for effect in here if effect.changes or effect.incomplete]
        for task in dict.fromkeys(effect.task for effect in here):
            models = records.filter(source=source, encoder=encoder, task=[task, None])
            paragraphs += [head + text for text in describe_correlations(models)]
    return paragraphs + describe_amounts(results) + describe_similarity(results)


def describe_amounts(results: Results) -> list[str]:
    """Say what sentences of one corpus add to models that are also trained on another, a paragraph per test corpus."""
    with suppress(RequestError):  # records that contradict one another, which the tables report
        return list(filter(None, map(_amounts_text, learning_curves(results))))
    return []


def _amounts_text(curve: Curve) -> str:
    """The paragraph; "" where no seed has a score with and without sentences of the corpus."""
    without = curve.by_amount.get(0, EMPTY)
    over = _over_seeds(without)
    gains = []
    for amount, cell in sorted(curve.by_amount.items()):
        change = cell.minus(without)
        if amount and change.mean is not None:
            fewer = f" ({_over_seeds(change)})" if _over_seeds(change) != over else ""
            gains.append(f"{Estimate(tuple(change.by_seed.values()))} with {amount:,}{fewer}")
    if not gains or without.mean is None:
        return ""
    spread = INTERVAL if len(without.by_seed) > 1 else ""
    models = "" if curve.model == "encoder" else f", {curve.model}"
    return (
        f"{task_name(curve.task)} in {language_name(curve.language)} ({curve.corpus}{models}): training on sentences of"
        f" {curve.train} beside {curve.beside} changes {titles.metric_name(curve.metric)} by {', '.join(gains)} from"
        f" {plain(without.mean)} with none ({over}{spread})."
    )


def _over_seeds(cell: Cell) -> str:
    return counted(len(cell.by_seed), "seed", "seeds")


def describe_similarity(results: Results) -> list[str]:
    """Compare similarity in the pretrained and the untrained encoder, a paragraph per encoder, corpus and setting."""
    similar = encoders_apart(results).filter(metric="similarity", task=None, target_layer=None)
    of_encoders = [sentences_apart(records) for _, records in similar.groups("encoder")]
    groups = concatenated(of_encoders).groups("encoder", "corpus", "partner", "settings")
    apart = [place for place in range(4) if len({key[place] for key, _ in groups}) > 1]
    paragraphs = []
    for key, records in groups:
        head = ", ".join(str(key[place]) for place in apart if key[place])
        text = _similarity_text(records)
        paragraphs += [f"{head}: {text}" if head else text] if text else []
    return paragraphs


UNRELATED = "cka_length_matched"
"""CKA of unrelated sentences of matched length."""


def _similarity_text(records: Results) -> str | None:
    """The paragraph; None unless both encoders have the same pairs at every layer, from the embeddings up."""
    depths = set(records.records["depth"].to_pylist()) - {None}
    if len(depths) != 1:
        return None
    layers = range(depths.pop() + 1)
    reference = Condition().text
    untrained = [
        text
        for (text, state), _ in records.groups("condition", "state")
        if state == "untrained" and condition_of(text).is_untrained(len(layers) - 1) and condition_of(text).reinit
    ]
    if len(untrained) != 1:
        return None
    tables = {
        (state, measure): cells(
            records.filter(condition=condition, state=state, measure=measure),
            rows=("source", "target"),
            columns=("layer",),
        )
        for state, condition in (("pretrained", reference), ("untrained", untrained[0]))
        for measure in ("cka", UNRELATED)
    }
    needed = [table for kind, table in tables.items() if kind != ("untrained", UNRELATED)]
    pairs = [
        row
        for row in tables["pretrained", "cka"].rows
        if row[0] != row[1] and all(table.get(row, layer).by_seed for table in needed for layer in layers)
    ]
    if not pairs:
        return None
    means = {kind: [mean_row(table, pairs, layer).mean for layer in layers] for kind, table in tables.items()}
    wanted = (("pretrained", "cka"), ("untrained", "cka"), ("pretrained", UNRELATED))
    curves = [[value for value in means[kind] if value is not None] for kind in wanted]
    if any(len(values) < len(layers) for values in curves):  # pairs that share no seed
        return None
    widest = max(layers, key=lambda layer: abs(curves[0][layer] - curves[1][layer]))
    where = f"layer {widest}" if widest else "the embeddings"
    over = counted(len(pairs), "language pair", "language pairs")
    two = any("against" in settings_of(text) for text in records.columns.coded("settings").values)
    encoder, these = ("encoders", "They") if two else ("encoder", "The two encoders")
    trained, fresh, unrelated = ([plain(value, decimals=2) for value in curve] for curve in curves)
    return (
        f"In the pretrained {encoder}, the CKA of translations is {trained[0]} in the embeddings and {trained[-1]} in"
        f" the last layer (mean of {over}); in the untrained {encoder} it is {fresh[0]} and {fresh[-1]}. {these}"
        f" differ most in {where} ({trained[widest]} against {fresh[widest]}). For unrelated sentences of"
        f" matched length, the CKA of the pretrained {encoder} is {unrelated[0]} and {unrelated[-1]}."
    )


def describe_correlations(results: Results) -> list[str]:
    """Describe the correlation, over languages, of the transfer gap and similarity in the pretrained encoder."""
    try:
        return [
            _correlation_text(correlated) for correlated in correlations(results) if correlated.state == "pretrained"
        ]
    except RequestError:  # there is no similarity, or there are too few languages
        return []


def _correlation_text(correlated: Correlated) -> str:
    correlation = correlated.correlation
    if correlated.undefined:
        name = task_name(correlated.task, correlated.variant)
        return f"{name}: transfer gap and CKA with {correlated.source} (mean over layers): {correlated.undefined}."
    text = (
        f"{task_name(correlated.task, correlated.variant)}: the transfer gap and the CKA with {correlated.source} (mean"
        f" over layers) have a Spearman correlation of {plain(correlation.value, decimals=2)}"
    )
    languages = f" over {len(correlation.languages)} languages"
    if correlation.warning:
        return f"{text}{languages}: {'; '.join(correlated.warnings)}."
    languages += f" ({'; '.join(correlated.warnings)})" if correlated.warnings else ""
    low, high = (plain(end, decimals=2) for end in (correlation.low, correlation.high))
    interval = f" (95 % confidence interval over languages {low} to {high}, permutation p {correlation.p:.3f})"
    return f"{text}{interval}{languages}; a negative correlation means that similar languages transfer better."
