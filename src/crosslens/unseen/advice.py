"""What to do with a language: use the encoder as it is, from which source, transliterate, or adapt; and why."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import langcodes
import numpy as np

from crosslens.alignment.measure import sentence_retrieval
from crosslens.data.corpus import Corpus
from crosslens.data.parallel import Parallel
from crosslens.data.scripts import script_name
from crosslens.data.transliteration import transliterate
from crosslens.encoders.encoder import Encoder
from crosslens.errors import RequestError
from crosslens.unseen.evidence import Evidence, gather
from crosslens.unseen.rule import LEVEL, Rule, read_rule

FEW = 5_000
"""Words of raw text below which adapting is not judged: none of the measured languages had so few."""

ALIKE = 3
"""Measured languages of the most similar expected score by which adapting is judged; with fewer it is not."""

GAIN = 1.0
"""Points that adapting must have gained these languages on average to be recommended."""


@dataclass(frozen=True, slots=True)
class Way:
    """One way to use the encoder zero-shot.

    Attributes:
        scheme: transliteration; "" for the text as it is written.
        source: source language.
        expected: expected score in points.
    """

    scheme: str
    source: str
    expected: float


@dataclass(frozen=True, slots=True, eq=False)
class Advice:
    """What to do, and the evidence for it.

    Attributes:
        evidence: scheme -> what the encoder makes of the text; "" is the text as it is written.
        ways: every way, the best expected first; empty if nothing can be estimated.
        rule: the rule that was applied, fitted without the language that was asked for.
        refusals: why nothing can be estimated, a sentence each; empty if it can.
        retrieval: precision of the retrieval of parallel sentences in points, layer by layer; None if none were given.
        recommendation: ``cannot estimate``, ``as it is``, ``transliterate`` or ``another source``, followed by
            ``, then adapt`` where that is expected to help.
        reasons: a sentence each.
    """

    evidence: Mapping[str, Evidence]
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
    """Recommend how to use an encoder for a language, or say that nothing can be estimated.

    The language of the text is left out of the rule: nothing measured on it is used.

    Args:
        encoder: encoder that the rule was fitted to; for any other one, nothing is estimated.
        text: raw text of the language, or sentences of words.
        sources: candidate source language -> its training data, the default source first.
        schemes: transliterations to try; those that change nothing are skipped.
        parallel: sentences of the language and of the first source.
        rule: None for the shipped one.

    Raises:
        RequestError: without a source, or for an unknown transliteration.
        DataError: for a text without a letter of a known script.
    """
    if not sources:
        raise RequestError("transfer is from a source, and none is named", hint="--sources ud/en_ewt,ud/fr_sequoia")
    rule = (rule or read_rule()).without(_language(text.language), text.name)
    evidence = {"": gather(encoder, text, dict(sources))}
    for scheme in schemes:
        try:
            evidence[scheme] = gather(encoder, transliterate(text, scheme), dict(sources), scheme=scheme)
        except RequestError as error:
            if "changes no word" not in error.message:
                raise
    written = evidence[""]
    reasons = [
        f"The text is in {script_name(written.script)} script; the vocabulary has {written.pieces:,} subwords of that"
        f" script, leaves {written.coverage.unknown:.1f} % of the words unknown and cuts a word into"
        f" {written.coverage.fertility:.2f} subwords."
    ]
    retrieval = _retrieval(encoder, parallel) if parallel is not None else None
    if retrieval is not None:
        layer = int(np.argmax(retrieval))
        reasons.append(f"{retrieval[layer]:.0f} % of the parallel sentences are retrieved, best in layer {layer}.")
    refusals = _refusals(rule, encoder, written, next(iter(sources)))
    if refusals:
        return Advice(evidence, (), rule, refusals, retrieval, "cannot estimate", tuple(reasons))
    ways = [
        Way(scheme, source, rule.expected(read.features(source)))
        for scheme, read in evidence.items()
        for source in sources
        if not rule.outside(read.features(source))
    ]
    default, chosen = ways[0], ways[rule.choose([way.expected for way in ways])] if rule.can_choose else ways[0]
    what = "transliterate" if chosen.scheme else "another source" if chosen.source != default.source else "as it is"
    reasons.insert(0, _expectation(chosen, rule))
    if chosen is not default:
        reasons.insert(1, _expectation(default, rule))
    if not rule.can_choose and len(ways) > 1:
        reasons.append(
            "This rule cannot choose among sources and scripts: on languages left out its choice gains nothing"
            f" measurable over the first source as the text is written ({rule.choice_gain.value:+.1f} points, 95 % CI"
            f" [{rule.choice_gain.low:+.1f}, {rule.choice_gain.high:+.1f}]). That is what is recommended."
        )
    gain, reason = _adapting(rule, chosen.expected, evidence[chosen.scheme])
    what = f"{what}, then adapt" if gain else what
    ways.sort(key=lambda way: -way.expected)
    return Advice(evidence, tuple(ways), rule, (), retrieval, what, (*reasons, reason))


def _language(tag: str | None) -> frozenset[str]:
    """The language of a tag as rules write it, without its script; none for an unknown language."""
    return frozenset({langcodes.Language.get(tag).language or tag}) if tag else frozenset()


def _refusals(rule: Rule, encoder: Encoder, evidence: Evidence, source: str) -> tuple[str, ...]:
    """Why the rule says nothing of this encoder on this text."""
    if len(rule.languages) < 3:
        return ("Without the language of the text, the rule has fewer than three languages.",)
    fitted = rule.provenance
    refusals = []
    if not fitted.body:
        refusals.append("The rule does not say which encoder it was fitted to.")
    elif encoder.body_digest != fitted.body:
        refusals.append(
            f"The rule was fitted to {fitted.encoder}, and {encoder.name} is another encoder. How a vocabulary cuts a"
            " text says nothing of what an encoder learnt: an untrained one would be promised the same points."
        )
    if beyond := rule.outside(evidence.features(source)):
        refusals.append(f"The text lies outside what the rule was fitted to: {', '.join(beyond)}.")
    return tuple(refusals)


def _expectation(way: Way, rule: Rule) -> str:
    low, high = (min(max(way.expected + sign * rule.half_width, 0), 100) for sign in (-1, 1))
    text = f"after {way.scheme}" if way.scheme else "as it is written"
    return (
        f"Zero-shot from {way.source}, {text}: {way.expected:.0f} points expected, {100 * LEVEL:.0f} % interval"
        f" [{low:.0f}, {high:.0f}]."
    )


def _adapting(rule: Rule, expected: float, evidence: Evidence) -> tuple[bool, str]:
    """Whether adapting to the text is worth it, by the measured languages that were expected to score alike."""
    if evidence.coverage.words < FEW:
        return False, f"Adapting is not judged: {evidence.coverage.words:,} words of text are too few."
    if len(rule.gains) < ALIKE:
        return False, f"Adapting is not judged: it was measured on {len(rule.gains)} other languages."
    alike = sorted(rule.gains, key=lambda gain: abs(gain[1] - expected))[:ALIKE]
    mean = float(np.mean([after - before for _, before, after in alike]))
    named = ", ".join(f"{language} {after - before:+.1f}" for language, before, after in alike)
    return mean > GAIN, f"Adapting to raw text changed the three most similar measured languages by {named} points."


def _retrieval(encoder: Encoder, parallel: Parallel) -> tuple[float, ...]:
    languages = parallel.languages
    if len(languages) != 2:
        raise RequestError(f"{parallel.name} is of {len(languages)} languages, and two are needed")
    pair = (languages[0], languages[1])
    results = sentence_retrieval(
        encoder, encoder, train=parallel, test=parallel, pair=pair, mapping="identity", baselines=()
    )
    by_layer: dict[int, list[float]] = {}
    for layer, value in zip(*(results.records[name].to_pylist() for name in ("layer", "value")), strict=True):
        by_layer.setdefault(layer, []).append(value)
    return tuple(float(np.mean(by_layer[layer])) for layer in sorted(by_layer))
