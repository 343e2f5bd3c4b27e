"""Code-switching: replace words of raw text by their translations (Conneau, Wu et al. 2020, section 4.2)."""

from collections.abc import Mapping, Sequence

import numpy as np

from crosslens.digests import stream_seed
from crosslens.errors import RequestError

BLOCK = 2000
"""Number of words, about a batch, in which the maximum fraction of replacements holds."""

Translations = Mapping[str, Sequence[tuple[str, float]]]
"""Word -> its translations and their weights."""


def switch_words(
    lines: Sequence[str], translations: Translations, *, probability: float, most: float, seed: int, language: str
) -> list[str]:
    """Replace random words by translations.

    Words are separated by spaces and looked up without lowercasing. Translations of several words are ignored.

    Args:
        translations: translations into all other languages.
        probability: probability that a word in the dictionary is replaced.
        most: maximum fraction of replaced words in each `BLOCK`; excess replacements are dropped at random.

    Raises:
        RequestError: if no word of the text is in the dictionary.

    >>> switch_words(["a b", "a c"], {"a": [("x", 1.0)]}, probability=1.0, most=1.0, seed=1, language="en")
    ['x b', 'x c']
    """
    generator = np.random.default_rng(stream_seed(seed, "switch", language))
    words = [line.split() for line in lines]
    flat = np.asarray([word for line in words for word in line], object)
    single_words = {
        word: [(text, weight) for text, weight in weighted if len(text.split()) == 1 and weight > 0]
        for word, weighted in translations.items()
    }
    tables = {
        word: ([text for text, _ in weighted], np.cumsum([weight for _, weight in weighted]))
        for word, weighted in single_words.items()
        if weighted
    }
    known = np.fromiter((word in tables for word in flat), bool, len(flat))
    if not known.any():
        raise RequestError(
            f"no word of the text of {language!r} is in its dictionary", hint="is it of other languages, or lowercased?"
        )
    replaced = known & (generator.random(len(flat)) < probability)
    for start in range(0, len(flat), BLOCK):
        places = start + np.flatnonzero(replaced[start : start + BLOCK])
        maximum = int(most * min(BLOCK, len(flat) - start))
        if len(places) > maximum:
            replaced[generator.permutation(places)[maximum:]] = False
    for place in np.flatnonzero(replaced):
        choices, weights = tables[flat[place]]
        choice = int(np.searchsorted(weights, generator.random() * weights[-1], side="right"))
        flat[place] = choices[min(choice, len(choices) - 1)]
    ends = np.cumsum([len(line) for line in words])[:-1]
    return [" ".join(line) for line in np.split(flat, ends)]
