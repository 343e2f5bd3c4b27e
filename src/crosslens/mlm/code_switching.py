"""Extra anchors: words of a text replaced by their translations (Conneau, Wu et al. 2020, section 4.2)."""

from collections.abc import Mapping, Sequence

import numpy as np

from crosslens.digests import stream_seed
from crosslens.errors import RequestError

BLOCK = 2000
"""Words among which the largest share is kept to: about a batch."""

Translations = Mapping[str, Sequence[tuple[str, float]]]
"""Word -> its translations, each with a weight."""


def switch_words(
    lines: Sequence[str], translations: Translations, *, probability: float, most: float, seed: int, language: str
) -> list[str]:
    """Lines in which some words are in another language.

    Words stand between spaces, and are looked up as they are. A translation of several words is passed over: it would
    be no anchor. Where more than ``most`` of a block of words were drawn, those that stay are chosen at random.

    Args:
        lines: the text.
        translations: into all other languages together.
        probability: that a word of the dictionary is replaced.
        most: largest share of all words that is replaced.
        seed: of the drawing.
        language: of the text.

    Raises:
        RequestError: when no word of the text is in the dictionary.
    """
    generator = np.random.default_rng(stream_seed(seed, "switch", language))
    words = [line.split() for line in lines]
    flat = np.asarray([word for line in words for word in line], object)
    single = {
        word: ([t for t, _ in single_words], np.cumsum([weight for _, weight in single_words]))
        for word, all_of_it in translations.items()
        if (single_words := [(t, weight) for t, weight in all_of_it if len(t.split()) == 1 and weight > 0])
    }
    known = np.fromiter((word in single for word in flat), bool, len(flat))
    if not known.any():
        raise RequestError(
            f"no word of the text of {language!r} is in its dictionary", hint="is it of other languages, or lowercased?"
        )
    drawn = known & (generator.random(len(flat)) < probability)
    for start in range(0, len(flat), BLOCK):
        places = start + np.flatnonzero(drawn[start : start + BLOCK])
        room = int(most * min(BLOCK, len(flat) - start))
        if len(places) > room:
            drawn[generator.permutation(places)[room:]] = False
    for place in np.flatnonzero(drawn):
        choices, weights = single[flat[place]]
        chosen = int(np.searchsorted(weights, generator.random() * weights[-1], side="right"))
        flat[place] = choices[min(chosen, len(choices) - 1)]
    ends = np.cumsum([len(line) for line in words])[:-1]
    return [" ".join(line) for line in np.split(flat, ends)]
