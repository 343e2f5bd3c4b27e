"""Dependency parsing with a deep biaffine head (Dozat & Manning 2017).

Each word is represented by its labelled subword, and the root by the special token of the sentence. The head of a word
is the root or another word of the sentence; the relation is predicted for the predicted head.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from crosslens.data.corpus import Corpus, item_error
from crosslens.data.formats import CONLLU, Format
from crosslens.data.formats.conllu import check_trees
from crosslens.data.sentence import ANNOTATIONS, UPOS, Item, Sentence
from crosslens.data.subwords import special_tokens
from crosslens.data.windows import room_for
from crosslens.errors import RequestError, suggest
from crosslens.scores import Score, attachment_scores
from crosslens.settings import Strict
from crosslens.tasks.heads.mst import Decode, Root
from crosslens.tasks.task import UNSEEN

if TYPE_CHECKING:  # these import torch, which scoring and reports do not need
    import torch
    from torch import nn

    from crosslens.encoders.batch import Batch
    from crosslens.encoders.encoder import Encoder
    from crosslens.encoders.inputs import EncodedCorpus
    from crosslens.tasks.heads.biaffine import BiaffineHead

NO_RELATION = "unlabelled"
"""Relation of the root word if root attachment is not trained; it is not a UD relation, so it is never correct."""

WU2019_WORDS = 140
"""Maximum number of words per sentence that Wu & Dredze (2019, section 5) parse."""

Size = Annotated[int, Field(ge=1)]


class Parsing(Strict):
    """Dependency parsing, the task ``parsing``.

    Attributes:
        arc_size: size of the projections that arcs are scored from: 500 in the code of Muller et al. (2021), 512 in
            that of Wu & Dredze (2019).
        relation_size: size of the projections that relations are scored from: 200 and 128.
        relations: relations that LAS compares: ``universal`` (without subtypes, as in CoNLL-2018) or ``full`` (with
            subtypes, as in Muller et al. 2021). Subtypes are learnt and predicted either way.
        decode: ``tree`` (the best tree with one root) or ``greedy`` (the most probable head of each word).
        tags: ``off``, or ``gold``: concatenate an embedding of the gold UPOS to the state of each word (Wu & Dredze
            2019, Table 6, Z+POS).
        tag_size: size of that embedding; 100 as in the code released for that paper.
        words: words to predict and score: ``all``, or ``wu2019``: the first 140 words of each sentence that fit into
            one window, as in that paper. A word whose head is cut off counts as an error.
        root: ``learnt``, or ``wu2019-masked``: attachment to the root is not trained and the root word never gets its
            relation, as in the code released for Wu & Dredze (2019).
        metric: main score: ``las`` or ``uas``, with or without punctuation.
    """

    name: ClassVar[str] = "parsing"
    recipe: ClassVar[str] = "muller2021.parsing"
    format: ClassVar[Format] = CONLLU
    laboratory: ClassVar[str] = "lab"

    arc_size: Size = 500
    relation_size: Size = 200
    relations: Literal["universal", "full"] = "universal"
    decode: Decode = "tree"
    tags: Literal["off", "gold"] = "off"
    tag_size: Size = 100
    words: Literal["all", "wu2019"] = "all"
    root: Root = "learnt"
    metric: Literal["las", "uas", "las_nopunct", "uas_nopunct"] = "las"

    @property
    def needs(self) -> tuple[str, ...]:
        """``heads`` and ``relations``, and ``upos`` if gold tags are input."""
        return ("heads", "relations", *(["upos"] if self.tags == "gold" else []))

    @property
    def settings(self) -> dict[str, Any]:
        """Current settings as JSON values."""
        return self.model_dump(mode="json")

    def check(self, corpus: Corpus) -> None:
        """Check that every sentence is a tree with one root, with valid UPOS tags if they are input."""
        check_trees(corpus)
        self._check_tags(corpus)

    def _check_tags(self, corpus: Corpus) -> None:
        if self.tags == "gold":
            corpus.require("upos")
            for sentence in corpus.sentences:
                unknown = set(sentence.upos or ()) - set(UPOS)
                if unknown:
                    raise item_error(
                        corpus,
                        sentence,
                        f"the tag {min(unknown)!r} is none of UPOS, which the parser reads",
                        hint="UD 1 has CONJ for CCONJ" if "CONJ" in unknown else suggest(min(unknown), UPOS),
                    )

    def read(self, encoder: "Encoder", corpus: Corpus, *, window: int | None, context: int | None) -> "EncodedCorpus":
        """Encode sentences as overlapping windows; their UPOS tags must be valid if they are input."""
        from crosslens.encoders.inputs import read_windows

        corpus.require()  # no annotation, but sentences of words
        self._check_tags(corpus)
        return read_windows(encoder, corpus, window=window, context=context)

    def labels(self, corpus: Corpus) -> tuple[str, ...]:
        """Sorted relations of the corpus, with subtypes."""
        return tuple(sorted({relation for sentence in corpus.sentences for relation in sentence.relations or ()}))

    def head(self, width: int, labels: Sequence[str], *, dropout: float) -> "nn.Module":
        """Create a randomly initialised `BiaffineHead`."""
        from crosslens.tasks.heads.biaffine import BiaffineHead

        return BiaffineHead(
            width,
            len(labels),
            arc_size=self.arc_size,
            relation_size=self.relation_size,
            tag_size=self.tag_size if self.tags == "gold" else 0,
            dropout=dropout,
        )

    def targets(self, item: Item, labels: Sequence[str]) -> np.ndarray:
        """Head (0 is the root) and relation index of each word, ``(words, 2)``."""
        indices = {label: index for index, label in enumerate(labels)}
        assert isinstance(item, Sentence)
        relations = [indices.get(relation, UNSEEN) for relation in item.relations or ()]
        return np.stack([np.asarray(item.heads, np.int64), np.asarray(relations, np.int64)], axis=1)

    def word_features(self, item: Item) -> np.ndarray | None:
        """Indices of the gold tags, ``(words,)``, if they are input."""
        if self.tags == "off":
            return None
        assert isinstance(item, Sentence)
        return np.asarray([UPOS.index(tag) for tag in item.upos or ()], np.int64)

    def cut(self, encoder: "Encoder | None", corpus: Corpus) -> Corpus:
        """Keep all words, or the first words of each sentence; see `words`."""
        if self.words == "all":
            return corpus
        if encoder is None:
            raise RequestError(
                f"words={self.words} needs an encoder, into whose window the words fit",
                hint="score with words=all, or evaluate the model",
            )
        from crosslens.encoders.inputs import cut_subwords

        specials = special_tokens(encoder.for_language(corpus.language).tokenizer)
        room = room_for(specials, capacity=encoder.capacity, repeat=encoder.reading.repeat)
        subwords = cut_subwords(encoder, corpus)
        counts = [int(np.searchsorted(split.starts, room, side="right")) - 1 for split in subwords]
        items = (
            _truncated(sentence, min(WU2019_WORDS, count))
            for sentence, count in zip(corpus.sentences, counts, strict=True)
        )
        return replace(corpus, items=tuple(items))

    def loss(
        self, head: "nn.Module", states: "torch.Tensor", batch: "Batch", targets: np.ndarray
    ) -> "tuple[torch.Tensor, int]":
        """Compute the cross-entropy of heads and relations, summed over words, and the number of words."""
        return _biaffine(head).loss(states, batch, targets, root=self.root)

    def predict(self, head: "nn.Module", states: "torch.Tensor", batch: "Batch") -> list[np.ndarray]:
        """Predict heads and relation indices (-1: none), ``(words, 2)`` for each sentence."""
        return _biaffine(head).predict(states, batch, root=self.root, decode=self.decode)

    def annotate(self, item: Item, predicted: np.ndarray, labels: Sequence[str]) -> Sentence:
        """Replace heads and relations by the predicted ones."""
        assert isinstance(item, Sentence)
        heads, indices = predicted.reshape(-1, 2).T.tolist()
        relations = (labels[index] if index >= 0 else NO_RELATION for index in indices)
        return replace(item, heads=tuple(heads), relations=tuple(relations))

    def score(self, gold: Corpus, predicted: Corpus, *, known: frozenset[str] | None = None) -> list[Score]:
        """Compute LAS and UAS, with and without punctuation."""
        if self.words == "all":
            self.check(gold)
        gold.require_same_words(predicted)
        predicted.require(*self.needs)
        return sorted(
            attachment_scores(
                gold.sentences,
                predicted.sentences,
                data=gold.digest,
                relations=self.relations,
                words=self.words,
                known=known,
            ),
            key=lambda score: score.metric != self.metric,
        )


def _truncated(sentence: Sentence, count: int) -> Sentence:
    if count >= len(sentence):
        return sentence
    layers = {name: layer[:count] for name in ("words", *ANNOTATIONS) if (layer := getattr(sentence, name)) is not None}
    return replace(sentence, lines=None, **layers)


def _biaffine(head: "nn.Module") -> "BiaffineHead":
    from crosslens.tasks.heads.biaffine import BiaffineHead

    assert isinstance(head, BiaffineHead)
    return head
