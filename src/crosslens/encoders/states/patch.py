"""Patch: the states of the translation stand in for those of a sentence.

Activation patching with translations as in Dumas et al. (2025), https://arxiv.org/abs/2411.08745, word by word.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from crosslens.encoders.states.corpus_intervention import CorpusIntervention
from crosslens.encoders.states.state_intervention import Edit, Inputs
from crosslens.errors import RequestError
from crosslens.formatting import short_name

if TYPE_CHECKING:
    from torch import Tensor

    from crosslens.data.windows import Window
    from crosslens.encoders.states.corpus_states import CorpusStates
    from crosslens.encoders.states.sites import Replacement, Site


class Patch(CorpusIntervention):
    """Replace the states of each sentence by those of its translation in another corpus, with the same sentence id.

    By words, each subword of a word that is linked one to one takes the state of a subword of the linked word: the one
    that taggers read takes the state of the one that they read there (see `Subwords.labelled`), the next that of the
    next, and so on; the outermost are repeated. Words without a link, with several, or linked to a word with several,
    keep their states. By sentences, the states of all words are shifted so that their mean is the mean over the
    translation's words. Special tokens take the states of the translation's in both cases.

    Attributes:
        corpus: name of the corpus of translations; None: in a study the parallel test corpus in the source language, in
            Python the argument ``reference`` of `crosslens.intervene`.
        by: ``words`` or ``sentences``.
        links: file of word alignments, see `crosslens.corpora.translations.find_translations`.
    """

    kind = "patch"
    keys: ClassVar = {
        "patch": "at",
        "patch_from": "corpus",
        "patch_digest": "digest",
        "patch_by": "by",
        "patch_links": "links",
    }
    parallel = True

    by: Literal["words", "sentences"] = "words"
    links: str | None = None

    @property
    def dosed(self) -> str:
        """``patch`` or ``patch=sentences``."""
        return "patch" if self.by == "words" else f"patch={self.by}"

    @property
    def label(self) -> str:
        """``patch 5.output``, ``patch 5.output from ud/en_pud``, ``patch 5.output word-aligned``."""
        words = [self.treatment, self.at, *(["from", short_name(self.corpus)] if self.corpus else [])]
        return " ".join([*words, *([alignment_label(self.links)] if self.links else [])])

    def fitted(self, source: "CorpusStates") -> "Patching":
        """Return the patch with the states of the translations."""
        from crosslens.encoders.states.sites import sites

        sites(source.encoder, self.at)
        return Patching(self, source)


def alignment_label(links: str) -> str:
    """Name word alignments by their file or folder, if that says more than the language.

    >>> alignment_label("links/{language}.links"), alignment_label("/home/me/links/eflomal-{language}.links")
    ('word-aligned', 'word-aligned (eflomal)')

    Args:
        links: file of word alignments, with ``{language}`` in its place.
    """
    path = PurePosixPath(links.replace("\\", "/"))
    named = path.stem.replace("{language}", "").strip("-_. ") or path.parent.name
    return "word-aligned" if named in ("", "links") else f"word-aligned ({named})"


@dataclass(frozen=True, slots=True, eq=False)
class Patching:
    """A patch with the states of the translations.

    Attributes:
        intervention: where and how.
        source: states of the corpus of translations.
    """

    intervention: Patch
    source: "CorpusStates"

    def prepare(self, clean: "CorpusStates", *, seed: int) -> Edit:
        """Find the translation of each window and the subwords that stand in.

        Sentences with the same words have the translation of the first. Of a translation that is read in several
        windows, the first stands in.

        Raises:
            DataError: for a corpus that is not parallel to that of the translations.
            RequestError: if the corpus is not known.
        """
        import torch

        from crosslens.corpora.translations import find_translations
        from crosslens.data.subwords import special_tokens
        from crosslens.encoders.batch import make_batch
        from crosslens.encoders.states.sites import sites

        corpus, source = clean.corpus, self.source
        if corpus is None or source.corpus is None:
            raise RequestError("patch needs the corpus, not only its windows", hint="evaluate the model on the corpus")
        by_words = self.intervention.by == "words"
        translations = find_translations(source.corpus, corpus, words=by_words, links=self.intervention.links)
        firsts: dict[int, Window] = {}
        for window in source.windows:
            firsts.setdefault(window.sentence, window)
        places = sites(clean.encoder, self.intervention.at)
        asked = source.at(sites(source.encoder, self.intervention.at))
        batch = make_batch(clean.windows, padding=clean.encoder.padding, device=torch.device("cpu"))
        keys = Inputs(batch.ids, batch.mask, batch.segments).windows()
        stands_in: dict[tuple[int, ...], tuple[Window, Window, np.ndarray]] = {}
        own = words_of(clean.windows) if by_words else None
        theirs = words_of(list(firsts.values())) if by_words else None
        rows = {sentence: row for row, sentence in enumerate(firsts)}
        before, after = special_tokens(clean.encoder.tokenizer)
        special = len(before), len(after)
        for number, (key, window) in enumerate(zip(keys, clean.windows, strict=True)):
            translation = firsts[translations.items[window.sentence]]
            index = specials(window, translation, numbers=special)
            if own is not None and theirs is not None and translations.links is not None:
                linked = translations.links[window.sentence]
                of_translation = theirs[rows[translation.sentence]]
                for word, subwords in own[number].items():
                    if linked.get(word) in of_translation:
                        index[subwords[0]] = paired(subwords, of_translation[linked[word]])
            stands_in.setdefault(key, (window, translation, index))

        def patched(inputs: Inputs) -> "Replacement":
            chosen = [stands_in[key] for key in inputs.windows()]
            _, states_of = asked([translation for _, translation, _ in chosen])
            index = torch.full(inputs.mask.shape, -1)
            for row, (_, _, positions) in enumerate(chosen):
                index[row, : len(positions)] = torch.from_numpy(positions)
            index = index.to(inputs.mask.device)

            def replacement(site: "Site", states: "Tensor") -> "Tensor":
                other = states_of[site.name].to(states.dtype)
                taken = other.gather(1, index.clamp(min=0)[..., None].expand(*index.shape, other.shape[2]))
                if not by_words:
                    shift = _means(other, [window for _, window, _ in chosen])
                    shift = shift - _means(states, [window for window, _, _ in chosen])
                    states = states + shift[:, None] * _inside(states, [window for window, _, _ in chosen])[..., None]
                return torch.where((index >= 0)[..., None], taken, states)

            return replacement

        return Edit(places, patched)


def specials(window: "Window", translation: "Window", *, numbers: tuple[int, int]) -> np.ndarray:
    """Position in the translation that each position of a window takes its state from: ``(length,)``, -1 for words.

    Args:
        window: window of the evaluated corpus; it may hold context and several copies of its words.
        translation: window whose states stand in.
        numbers: special tokens at the beginning and at the end of every window.
    """
    index = np.full(len(window), -1)
    before, after = numbers
    index[:before] = np.arange(before)
    index[len(window) - after :] = np.arange(len(translation) - after, len(translation))
    return index


Word = tuple[np.ndarray, int]
"""Positions of the subwords of a word in its window, and that of its labelled subword."""


def words_of(windows: "Sequence[Window]") -> list[dict[int, Word]]:
    """Subwords of each word that is labelled in a window, window by window."""
    return [
        {
            word: (np.arange(*span), int(labelled))
            for word, (span, labelled) in enumerate(
                zip(pairwise(window.starts), window.labelled, strict=True), start=window.first
            )
        }
        for window in windows
    ]


def paired(own: Word, theirs: Word) -> np.ndarray:
    """Positions of the linked word's subwords for each subword of a word, counted from the labelled ones.

    >>> paired((np.arange(3), 0), (np.arange(10, 12), 10)).tolist()
    [10, 11, 11]
    >>> paired((np.arange(3), 2), (np.arange(10, 12), 11)).tolist()
    [10, 10, 11]
    """
    (positions, labelled), (others, other) = own, theirs
    return np.clip(positions - labelled + other, others[0], others[-1])


def _inside(states: "Tensor", windows: "Sequence[Window]") -> "Tensor":
    """1 for the positions of words, ``(windows, length)``."""
    inside = states.new_zeros(states.shape[:2])
    for row, window in enumerate(windows):
        inside[row, slice(*window.span)] = 1
    return inside


def _means(states: "Tensor", windows: "Sequence[Window]") -> "Tensor":
    """Mean state of the words of each window, ``(windows, width)``."""
    import torch

    inside = _inside(states, windows)
    return torch.bmm((inside / inside.sum(1, keepdim=True).clamp(min=1))[:, None], states)[:, 0]
