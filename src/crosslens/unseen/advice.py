"""What to do with a language: use the encoder as it is, from which source, transliterate, or adapt; and why."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from crosslens.alignment.measure import sentence_retrieval
from crosslens.data.corpus import Corpus
from crosslens.data.parallel import Parallel
from crosslens.data.scripts import script_name
from crosslens.data.transliteration import transliterate
from crosslens.encoders.encoder import Encoder
from crosslens.errors import RequestError
from crosslens.unseen.evidence import Evidence, gather
from crosslens.unseen.rule import Rule, read_rule

FEW = 5_000
"""Words of raw text below which nothing is said of adapting to it: none of the languages measured had so few."""


@dataclass(frozen=True, slots=True)
class Way:
    """One way to use the encoder, zero-shot.

    Attributes:
        scheme: how the text is transliterated; "": as it is written.
        source: the language trained on.
        expected: score in points, by the rule.
    """

    scheme: str
    source: str
    expected: float


@dataclass(frozen=True, slots=True, eq=False)
class Advice:
    """What to do, and the evidence for it.

    Attributes:
        evidence: scheme -> what the encoder makes of the text; "" is the text as it is written.
        ways: every way, the best expected first.
        rule: by which it is expected, and its error.
        alignment: points of parallel sentences that are found, layer by layer; None: none were given.
        recommendation: ``as it is``, ``transliterate`` or ``another source``, and ``adapt`` behind it where that is
            expected to help.
        reasons: a sentence each.
    """

    evidence: Mapping[str, Evidence]
    ways: tuple[Way, ...]
    rule: Rule
    alignment: tuple[float, ...] | None
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
    """Recommend how to use an encoder for a language, before anything is trained.

    Args:
        encoder: its vocabulary is looked at; it is run only on ``parallel``.
        text: raw text of the language, or sentences of words.
        sources: candidate source -> its training data, the usual one first.
        schemes: transliterations that are tried; those that change nothing are left out.
        parallel: some sentences of the language and of the first source.
        rule: None: the one that is shipped.

    Raises:
        RequestError: without a source; for a transliteration that there is not.
        DataError: for a text without a letter of a known script.
    """
    if not sources:
        raise RequestError("transfer is from a source, and none is named", hint="--sources ud/en_ewt,ud/fr_sequoia")
    rule = rule or read_rule()
    evidence = {"": gather(encoder, text, dict(sources))}
    for scheme in schemes:
        try:
            evidence[scheme] = gather(encoder, transliterate(text, scheme), dict(sources), scheme=scheme)
        except RequestError as error:
            if "changes no word" not in error.message:
                raise
    ways = [
        Way(scheme, source, rule.expected(its.features(source)))
        for scheme, its in evidence.items()
        for source in sources
    ]
    usual, chosen = ways[0], ways[rule.choose([way.expected for way in ways])]
    ways.sort(key=lambda way: -way.expected)
    reasons = []
    what = "transliterate" if chosen.scheme else "another source" if chosen.source != usual.source else "as it is"
    reasons.append(
        f"zero-shot from {chosen.source}{f' after {chosen.scheme}' if chosen.scheme else ''}: {chosen.expected:.0f}"
        f" points expected, give or take {rule.error:.0f}"
    )
    if chosen is not usual:
        reasons.append(f"as it is written, from {usual.source}: {usual.expected:.0f}")
    its = evidence[chosen.scheme]
    reasons.append(
        f"written in {script_name(evidence[''].script)}; the vocabulary has {evidence[''].pieces:,} pieces of that"
        f" script, leaves {evidence[''].coverage.unknown:.1f} % of the words unknown and cuts a word into"
        f" {evidence[''].coverage.fertility:.2f}"
    )
    if adapting := _adapting(rule, chosen.expected, its):
        what, reason = f"{what}, then adapt" if adapting[0] else what, adapting[1]
        reasons.append(reason)
    alignment = _aligned(encoder, parallel) if parallel is not None else None
    if alignment is not None:
        at = int(np.argmax(alignment))
        reasons.append(f"{alignment[at]:.0f} % of the parallel sentences are found, best in layer {at}")
    return Advice(evidence, tuple(ways), rule, alignment, what, tuple(reasons))


def _adapting(rule: Rule, expected: float, evidence: Evidence) -> tuple[bool, str] | None:
    """Whether adapting to the text is worth it, by the measured languages that were expected to score alike."""
    if evidence.coverage.words < FEW:
        return False, f"{evidence.coverage.words:,} words are too few to say anything of adapting to them"
    if not rule.gains:
        return None
    near = sorted(rule.gains, key=lambda gain: abs(gain[1] - expected))[:3]
    gain = float(np.mean([after - before for _, before, after in near]))
    named = ", ".join(f"{language} {after - before:+.1f}" for language, before, after in near)
    return gain > 1.0, f"adapting to raw text changed the three most alike measured languages by {named} points"


def _aligned(encoder: Encoder, parallel: Parallel) -> tuple[float, ...]:
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
