"""Advice for an unseen language: which source language to transfer from, and whether to adapt the encoder first."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from crosslens.alignment.measure import sentence_retrieval
from crosslens.data.corpus import Corpus, require_corpus
from crosslens.data.language_families import bare_language
from crosslens.data.parallel import Parallel
from crosslens.data.scripts import script_name
from crosslens.data.transliteration import transliterate
from crosslens.encoders.encoder import Encoder, require_encoder
from crosslens.encoders.reinit import random_init
from crosslens.errors import RequestError
from crosslens.formatting import counted
from crosslens.unseen.confidence import SourceProbes, train_probes
from crosslens.unseen.evidence import Evidence, gather
from crosslens.unseen.rule import LEVEL, Rule, read_rule

FEW = 5_000
"""Fewest words of raw text for which adaptation is assessed; every measured language had at least as many."""

ALIKE = 3
"""Number of measured languages with the most similar expected scores from which adaptation is assessed."""

LEARNT = 4.0
"""Points by which probes must be better on an encoder than on its untrained copy for it to count as trained."""

GAIN = 1.0
"""Mean gain in points on these languages above which adaptation is recommended."""


@dataclass(frozen=True, slots=True)
class Way:
    """Zero-shot transfer from one source.

    Attributes:
        expected: expected score in points.
    """

    source: str
    expected: float


@dataclass(frozen=True, slots=True, eq=False)
class Advice:
    """A recommendation and the evidence for it.

    Attributes:
        evidence: transliteration scheme -> evidence from the encoder; "" is the text in its original script.
        accuracy: source -> accuracy of its probes on held-out sentences of it, in points.
        ways: transfer of the text as it is written from every source within the fitted range, the best expected first;
            empty if nothing can be estimated.
        rule: the rule that was applied, fitted without the language that was asked for.
        refusals: why no score can be estimated, a sentence each; empty if it can be.
        retrieval: precision of the retrieval of parallel sentences in points, layer by layer; None if none were given.
        recommendation: ``cannot estimate``, ``as it is`` or ``another source``, followed by ``, then adapt`` where that
            is expected to help.
        reasons: a sentence each.
    """

    evidence: Mapping[str, Evidence]
    accuracy: Mapping[str, float]
    ways: tuple[Way, ...]
    rule: Rule
    refusals: tuple[str, ...]
    retrieval: tuple[float, ...] | None
    recommendation: str
    reasons: tuple[str, ...]


def advise(
    encoder: Encoder,
    text: Corpus,
    sources: Mapping[str, Corpus],
    *,
    schemes: Sequence[str] = ("uroman",),
    parallel: Parallel | None = None,
    rule: Rule | None = None,
) -> Advice:
    """Recommend how to use an encoder for a language, or report that no score can be estimated.

    The language of the text is left out of the rule, so no score measured on it is used.

    Args:
        encoder: the encoder that the rule was fitted to, trimmed or not; any other one gets evidence but no estimate.
        text: raw text of the language, or sentences of words.
        sources: candidate source language -> its training data with parts of speech, the default source first.
        schemes: transliterations to gather evidence of, for which nothing is estimated; those that change nothing are
            skipped.
        parallel: sentences of the language and of the first source.
        rule: None for the shipped one.

    Returns:
        The evidence about the text, the expected score from each source, and a recommendation with its reasons.

    Raises:
        RequestError: without a source, for anything else than corpora, or for an unknown transliteration.
        DataError: for a text without a letter of a known script, or a source without parts of speech.
    """
    require_encoder(encoder)
    if not isinstance(sources, Mapping) or not sources:
        raise RequestError(
            "no source language was given", hint='sources={"en": xl.load_corpus("ud/en_ewt")} is English'
        )
    for corpus in (text, *sources.values()):
        require_corpus(corpus)
    rule = (rule or read_rule()).without(_language(text.language), text.name)
    probes = {name: train_probes(encoder, source) for name, source in sources.items()}
    accuracy = {name: trained.accuracy for name, trained in probes.items()}
    evidence = _evidence(encoder, text, sources, probes, schemes)
    written = evidence[""]
    first = next(iter(sources))
    retrieval = _retrieval(encoder, parallel) if parallel is not None else None
    seen = tuple(_seen(written, retrieval))
    refusals = _refusals(rule, written, first)
    if encoder.body_digest != rule.provenance.body:
        refusals = (_stranger(encoder, sources[first], probes[first], rule), *refusals)
    if refusals:
        return Advice(evidence, accuracy, (), rule, refusals, retrieval, "cannot estimate", seen)
    features = {source: written.features(source) for source in sources}
    outside = {source: rule.outside(values, source) for source, values in features.items()}
    ways = [Way(source, rule.expected(values, source)) for source, values in features.items() if not outside[source]]
    default = ways[0]
    ways.sort(key=lambda way: -way.expected)
    chosen = ways[0] if rule.can_choose else default
    expectations = [_expectation(way, rule) for way in dict.fromkeys((chosen, default))]
    limits = _limits(rule, outside, vocabulary=len(encoder.tokenizer), transliterated=len(evidence) > 1)
    helps, adapting = _adapting(rule, chosen.expected, written)
    what = "as it is" if chosen is default else "another source"
    what = f"{what}, then adapt" if helps else what
    return Advice(evidence, accuracy, tuple(ways), rule, (), retrieval, what, (*expectations, *seen, *limits, adapting))


def _evidence(
    encoder: Encoder,
    text: Corpus,
    sources: Mapping[str, Corpus],
    probes: Mapping[str, SourceProbes],
    schemes: Sequence[str],
) -> dict[str, Evidence]:
    """Evidence of the text as it is written, under "", and of each transliteration that changes it."""
    evidence = {"": gather(encoder, text, sources, probes)}
    for scheme in schemes:
        try:
            evidence[scheme] = gather(encoder, transliterate(text, scheme), sources, probes, scheme=scheme)
        except RequestError as error:
            if "changes no word" not in error.message:
                raise
    return evidence


def _seen(written: Evidence, retrieval: tuple[float, ...] | None) -> Iterator[str]:
    """What the encoder makes of the language, a sentence each."""
    yield (
        f"The text is in {script_name(written.script)} script. The encoder's vocabulary has {written.pieces:,} subwords"
        f" in that script; {written.coverage.unknown:.1f} % of the words are unknown to it, and a word is split into"
        f" {written.coverage.fertility:.2f} subwords on average."
    )
    if retrieval is not None:
        layer = int(np.argmax(retrieval))
        yield f"Retrieval of parallel sentences is best in layer {layer}: {retrieval[layer]:.0f} % are found."


def _limits(
    rule: Rule, outside: Mapping[str, Sequence[str]], *, vocabulary: int, transliterated: bool
) -> Iterator[str]:
    """Where the rule estimates nothing, cannot choose, or holds on a condition, a sentence each.

    Args:
        outside: source -> the features that lie outside the range of the rule, the default source first.
        vocabulary: number of subwords of the encoder.
    """
    for source, beyond in outside.items():
        if beyond:
            yield (
                f"From {source}, nothing is estimated, because it lies outside the range that the rule was fitted to:"
                f" {', '.join(beyond)}."
            )
    if not rule.can_choose and sum(not beyond for beyond in outside.values()) > 1:
        gain = rule.choice_gain
        yield (
            "This rule cannot choose among sources: on held-out languages, the source with the highest expected score"
            f" is not measurably better than {rule.sources[0]} ({gain.value:+.1f} points, 95 % CI [{gain.low:+.1f},"
            f" {gain.high:+.1f}]). The first source, {next(iter(outside))}, is recommended."
        )
    full = rule.provenance.vocabulary
    if full.isdecimal() and vocabulary < int(full):
        yield (
            f"The vocabulary is trimmed to {vocabulary:,} subwords, and the rule was fitted with all {int(full):,}: the"
            " expected score holds only if the files that it was trimmed to contain this text and the sources."
        )
    if transliterated:
        yield "No score is estimated for transliterated text: the rule was fitted to text in its original script."


def _language(tag: str | None) -> frozenset[str]:
    """The language of a tag as rules write it, without its script; none for an unknown language."""
    return frozenset({bare_language(tag)}) if tag else frozenset()


def _refusals(rule: Rule, evidence: Evidence, source: str) -> tuple[str, ...]:
    """Why the rule estimates nothing from this evidence."""
    if len(rule.languages) < 3:
        return ("The rule has fewer than three languages once the language of the text is left out.",)
    beyond = rule.outside(evidence.features(source), source)
    return (
        (f"This language lies outside the range that the rule was fitted to: {', '.join(beyond)}.",) if beyond else ()
    )


def _stranger(encoder: Encoder, source: Corpus, probes: SourceProbes, rule: Rule) -> str:
    """Why nothing is estimated for an encoder that the rule was not fitted to, and whether it is trained at all."""
    fresh = train_probes(random_init(encoder, "0,all", seed=1), source).accuracy
    compared = (
        f"part-of-speech probes reach {probes.accuracy:.1f} % accuracy on held-out words of {source.name}, and"
        f" {fresh:.1f} % on a randomly initialised copy"
    )
    if probes.accuracy - fresh < LEARNT:
        return f"{encoder.name} looks untrained: {compared}."
    return (
        f"The rule was fitted to {rule.provenance.encoder or 'another encoder'} and does not apply"
        f" to {encoder.name} ({compared})."
    )


def _expectation(way: Way, rule: Rule) -> str:
    low, high = (min(max(way.expected + sign * rule.half_width, 0), 100) for sign in (-1, 1))
    return (
        f"Zero-shot from {way.source}: {way.expected:.0f} points expected, {100 * LEVEL:.0f} % interval"
        f" [{low:.0f}, {high:.0f}]."
    )


def _adapting(rule: Rule, expected: float, evidence: Evidence) -> tuple[bool, str]:
    """Whether adapting to the text is worth it, by the measured languages that were expected to score alike."""
    if evidence.coverage.words < FEW:
        return (
            False,
            f"Adaptation is not assessed: {evidence.coverage.words:,} words of raw text are too few (under {FEW:,}).",
        )
    if len(rule.gains) < ALIKE:
        return (
            False,
            f"Adaptation is not assessed: it was measured on only {len(rule.gains)} other languages (under {ALIKE}).",
        )
    alike = sorted(rule.gains, key=lambda gain: abs(gain[1] - expected))[:ALIKE]
    mean = float(np.mean([after - before for _, before, after in alike]))
    named = ", ".join(f"{language} {after - before:+.1f}" for language, before, after in alike)
    return (
        mean > GAIN,
        f"Adapting to raw text changed the score of the three most similar measured languages by {named} points.",
    )


def _retrieval(encoder: Encoder, parallel: Parallel) -> tuple[float, ...]:
    languages = parallel.languages
    if len(languages) != 2:
        raise RequestError(
            f"{parallel.name} has {counted(len(languages), 'language', 'languages')}, but two are needed"
        )
    pair = (languages[0], languages[1])
    results = sentence_retrieval(
        encoder, encoder, train=parallel, test=parallel, pair=pair, mapping="identity", baselines=()
    )
    by_layer: dict[int, list[float]] = {}
    for layer, value in zip(*(results.records[name].to_pylist() for name in ("layer", "value")), strict=True):
        by_layer.setdefault(layer, []).append(value)
    return tuple(float(np.mean(by_layer[layer])) for layer in sorted(by_layer))
