"""What an encoder makes of a text in a language, before it is fine-tuned."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from crosslens.data.corpus import Corpus
from crosslens.data.formats.text import cut_words
from crosslens.data.scripts import count_scripts
from crosslens.encoders.coverage import Coverage, measure_coverage
from crosslens.encoders.encoder import Encoder
from crosslens.encoders.inputs import cut_subwords
from crosslens.errors import DataError
from crosslens.unseen.confidence import Confidence, SourceProbes, measure_confidence, read_states

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


OF_A_SOURCE = 1000
"""Sentences of a source's training data whose subwords are looked for: so that size does not matter."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """An encoder on a text.

    Attributes:
        corpus: the text's name.
        scheme: how it was transliterated; "": it is as it is written.
        language: of the text.
        scripts: ISO 15924 code -> share of the letters, in percent, the commonest first.
        pieces: of the vocabulary that are of the commonest script and have more than one character.
        coverage: how the vocabulary reads it.
        overlap: candidate source -> share of the text's subwords that its training data have, in percent.
        confidence: candidate source -> how sure its probes are of the text.
    """

    corpus: str
    scheme: str
    language: str | None
    scripts: dict[str, float]
    pieces: int
    coverage: Coverage
    overlap: dict[str, float]
    confidence: dict[str, Confidence]

    @property
    def script(self) -> str:
        """The commonest script."""
        return next(iter(self.scripts))

    def features(self, source: str) -> np.ndarray:
        """What the rule is fitted on, of transfer from one candidate source: `FEATURES`."""
        confidence = self.confidence[source]
        return np.asarray(
            [
                self.coverage.fertility,
                self.coverage.characters,
                self.overlap[source],
                confidence.confident,
                confidence.agreement,
            ],
            float,
        )


FEATURES = (
    "fertility",
    "characters a piece",
    "overlap with the source %",
    "confident words %",
    "agreement of probes %",
)


def gather(
    encoder: Encoder,
    text: Corpus,
    sources: Mapping[str, Corpus],
    probes: Mapping[str, SourceProbes],
    *,
    scheme: str = "",
) -> Evidence:
    """What an encoder makes of a text.

    Args:
        encoder: reads the first sentences of the text, in evaluation mode.
        text: raw text, or sentences of words.
        sources: candidate source -> its training data.
        probes: candidate source -> its probes on the encoder.
        scheme: how the text was transliterated.

    Raises:
        DataError: for a text without a letter of a known script, or without a word.
    """
    counted = count_scripts(item.text for item in text)
    if not counted:
        raise DataError(f"{text.name} has no letter of any known script", hint="check that it is UTF-8 text")
    letters = sum(counted.values())
    words = cut_words(text)
    unknown = encoder.tokenizer.unk_token_id
    ids = np.concatenate([subwords.ids for subwords in cut_subwords(encoder, words)])
    ids = ids[ids != unknown] if unknown is not None else ids
    overlap = {}
    for name, corpus in sources.items():
        some = cut_words(corpus[:OF_A_SOURCE])
        seen = np.unique(np.concatenate([subwords.ids for subwords in cut_subwords(encoder, some)]))
        overlap[name] = 100.0 * float(np.isin(ids, seen).mean()) if len(ids) else 0.0
    states = read_states(encoder, text)
    confidence = {name: measure_confidence(probe, states) for name, probe in probes.items()}
    scripts = {script: 100.0 * count / letters for script, count in counted.items()}
    return Evidence(
        text.name,
        scheme,
        text.language,
        scripts,
        vocabulary_scripts(encoder.tokenizer)[next(iter(scripts))],
        measure_coverage(encoder, words),
        overlap,
        confidence,
    )


@lru_cache(maxsize=4)
def vocabulary_scripts(tokenizer: "PreTrainedTokenizerBase") -> Counter[str]:
    """How many pieces of a vocabulary are of each script; pieces of one character say nothing of a language."""
    scripts: Counter[str] = Counter()
    for piece in _readable(tokenizer):
        script = next(iter(count_scripts([piece])), None)
        if script is not None and sum(map(str.isalpha, piece)) > 1:
            scripts[script] += 1
    return scripts


def _readable(tokenizer: "PreTrainedTokenizerBase") -> list[str]:
    """The pieces as text: those of byte-level vocabularies are bytes in disguise, and are decoded."""
    pieces = tokenizer.get_vocab()
    if "Ġ" not in "".join(list(pieces)[:5000]):
        return list(pieces)
    return [str(tokenizer.decode([number])) for number in pieces.values()]
