"""Label-free evidence of how well an encoder reads a text: coverage, subword overlap and probe confidence."""

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
"""Number of source sentences used for subword overlap, fixed so that the size of the data does not matter."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Evidence of how well an encoder reads a text.

    Attributes:
        corpus: name of the text.
        scheme: transliteration scheme; "": original script.
        scripts: ISO 15924 code -> percentage of the letters, the most frequent first.
        pieces: number of subwords in the vocabulary with the most frequent script and more than one letter.
        coverage: coverage of the text by the vocabulary.
        overlap: candidate source -> percentage of the text's subwords that occur in its training data.
        confidence: candidate source -> confidence and agreement of its probes on the text.
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
        """Most frequent script."""
        return next(iter(self.scripts))

    def features(self, source: str) -> np.ndarray:
        """``(features,)`` values of `FEATURES` for transfer from a source."""
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
    "characters per subword",
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
    """Gather evidence of how well an encoder reads a text.

    Args:
        sources: candidate source -> its training data.
        probes: candidate source -> its probes on the encoder.
        scheme: transliteration scheme of the text; "": original script.

    Raises:
        DataError: if the text has no letter of a known script, or no word.
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
    """Count the subwords of each script in a vocabulary, without those of a single letter."""
    scripts: Counter[str] = Counter()
    for piece in _readable(tokenizer):
        script = next(iter(count_scripts([piece])), None)
        if script is not None and sum(map(str.isalpha, piece)) > 1:
            scripts[script] += 1
    return scripts


def _readable(tokenizer: "PreTrainedTokenizerBase") -> list[str]:
    """Subwords of a vocabulary as text; those of byte-level vocabularies are decoded."""
    pieces = tokenizer.get_vocab()
    if "Ġ" not in "".join(list(pieces)[:5000]):
        return list(pieces)
    return [str(tokenizer.decode([number])) for number in pieces.values()]
