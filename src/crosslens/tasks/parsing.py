"""Dependency parsing with a deep biaffine head (Dozat & Manning 2017) on the words' states.

A word's head is chosen among the root, for which the sentence's special token stands, and the other words of its
sentence, each by its labelled piece; the relation is chosen for the head that was chosen.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from crosslens.data.corpus import Corpus
from crosslens.data.formats import CONLLU, Format
from crosslens.data.formats.conllu import check_trees
from crosslens.data.sentence import ANNOTATIONS, UPOS, Item, Sentence
from crosslens.data.subwords import special_tokens, split_words
from crosslens.errors import DataError, suggest
from crosslens.scores import Score, attachment_scores
from crosslens.tasks.heads.mst import Decode, Root
from crosslens.tasks.task import UNSEEN

if TYPE_CHECKING:  # they bring torch, which scoring and reports need not wait for
    import torch
    from torch import nn

    from crosslens.encoders.batch import Batch
    from crosslens.encoders.encoder import Encoder
    from crosslens.encoders.inputs import EncodedCorpus
    from crosslens.tasks.heads.biaffine import BiaffineHead

NO_RELATION = "unlabelled"
"""What the root word gets where the root is not learnt: no relation of UD, so never right."""

WU2019_WORDS = 140
"""Words of a sentence that Wu & Dredze (2019, section 5) parse."""

Size = Annotated[int, Field(ge=1)]


class Parsing(BaseModel):
    """The task ``parsing``.

    Attributes:
        arc_size: of the vectors that arcs are scored from: 500 in the code behind Muller et al. (2021), 512 in Wu &
            Dredze's.
        relation_size: of the vectors that relations are scored from: 200 and 128.
        relations: what LAS compares: ``universal`` without subtypes, as CoNLL-2018; ``full`` with them, as Muller et
            al. (2021). Subtypes are learnt and predicted either way.
        decode: ``tree``: the best tree with one root; ``greedy``: the likeliest head of each word.
        tags: ``gold``: the gold UPOS of each word is read as well, as an embedding behind the word's state (Wu & Dredze
            2019, Table 6, Z+POS).
        tag_size: of that embedding; 100 as in the code released for that paper.
        words: which are predicted and scored: ``all``; or ``wu2019``: of each sentence the first 140, as far as they
            have room in one window, as in that paper. A word whose head is cut off counts as an error.
        root: ``learnt``; or ``wu2019-masked``: attachment to the root is not trained and the root word never gets its
            relation, as in the code released for Wu & Dredze (2019).
        metric: what tables show: ``las``, ``uas``, or either without punctuation.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

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
    def name(self) -> str:
        """``parsing``."""
        return "parsing"

    @property
    def needs(self) -> tuple[str, ...]:
        """Heads and relations, and the tags where they are read."""
        return ("heads", "relations", *(["upos"] if self.tags == "gold" else []))

    @property
    def recipe(self) -> str:
        """Muller et al.'s."""
        return "muller2021.parsing"

    @property
    def format(self) -> Format:
        """``.conllu``."""
        return CONLLU

    @property
    def laboratory(self) -> str:
        """``lab``: sentences of artificial languages with their trees."""
        return "lab"

    @property
    def settings(self) -> dict[str, Any]:
        """What of the task can be set."""
        return self.model_dump(mode="json")

    def check(self, corpus: Corpus) -> None:
        """Every sentence must be a tree with one root."""
        check_trees(corpus)
        if self.tags == "gold":
            corpus.require("upos")
            for sentence in corpus.sentences:
                unknown = set(sentence.upos or ()) - set(UPOS)
                if unknown:
                    file, line = sentence.where or (corpus.name, None)
                    raise DataError(
                        f"the tag {min(unknown)!r} is none of UPOS, which the parser reads",
                        file=file,
                        line=line,
                        hint="UD 1 has CONJ for CCONJ" if "CONJ" in unknown else suggest(min(unknown), UPOS),
                    )

    def read(self, encoder: "Encoder", corpus: Corpus, *, window: int | None, context: int | None) -> "EncodedCorpus":
        """Sentences as windows."""
        from crosslens.encoders.inputs import read_windows

        return read_windows(encoder, corpus, window=window, context=context)

    def labels(self, corpus: Corpus) -> tuple[str, ...]:
        """The corpus's relations with their subtypes, sorted."""
        return tuple(sorted({relation for sentence in corpus.sentences for relation in sentence.relations or ()}))

    def head(self, width: int, labels: Sequence[str], *, dropout: float) -> "nn.Module":
        """A fresh `BiaffineHead`."""
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
        """``(words, 2)``: each word's head, 0 for the root, and the number of its relation."""
        number = {label: index for index, label in enumerate(labels)}
        assert isinstance(item, Sentence)
        relations = [number.get(relation, UNSEEN) for relation in item.relations or ()]
        return np.stack([np.asarray(item.heads, np.int64), np.asarray(relations, np.int64)], axis=1)

    def word_features(self, item: Item) -> np.ndarray | None:
        """The numbers of the gold tags, where they are read."""
        if self.tags == "off":
            return None
        assert isinstance(item, Sentence)
        return np.asarray([UPOS.index(tag) for tag in item.upos or ()], np.int64)

    def cut(self, encoder: "Encoder", corpus: Corpus) -> Corpus:
        """All words, or the first of each sentence."""
        if self.words == "all":
            return corpus
        specials = sum(map(len, special_tokens(encoder.tokenizer)))
        pieces = split_words([sentence.words for sentence in corpus.sentences], encoder.tokenizer)
        room = encoder.capacity - specials
        fits = [int(np.searchsorted(words.starts, room, side="right")) - 1 for words in pieces]
        items = (_first(s, min(WU2019_WORDS, count)) for s, count in zip(corpus.sentences, fits, strict=True))
        return replace(corpus, items=tuple(items))

    def loss(
        self, head: "nn.Module", states: "torch.Tensor", batch: "Batch", targets: np.ndarray
    ) -> "tuple[torch.Tensor, int]":
        """Cross-entropy of the gold head and of its relation, summed over words."""
        return _biaffine(head).loss(states, batch, targets, root=self.root)

    def predict(self, head: "nn.Module", states: "torch.Tensor", batch: "Batch") -> list[np.ndarray]:
        """For each sentence ``(words, 2)``: heads, and the numbers of their relations (-1: none)."""
        return _biaffine(head).predict(states, batch, root=self.root, decode=self.decode)

    def annotate(self, item: Item, predicted: np.ndarray, labels: Sequence[str]) -> Sentence:
        """The sentence with the predicted heads and relations."""
        assert isinstance(item, Sentence)
        heads, relations = predicted.reshape(-1, 2).T.tolist()
        named = (labels[number] if number >= 0 else NO_RELATION for number in relations)
        return replace(item, heads=tuple(heads), relations=tuple(named))

    def score(self, gold: Corpus, predicted: Corpus, *, known: frozenset[str] | None = None) -> list[Score]:
        """LAS and UAS over all words, and over those that are no punctuation."""
        if self.words == "all":
            self.check(gold)
        gold.require_same_words(predicted)
        predicted.require(*self.needs)
        return sorted(
            attachment_scores(
                gold.sentences, predicted.sentences, data=gold.digest, relations=self.relations, known=known
            ),
            key=lambda score: score.metric != self.metric,
        )


def _first(sentence: Sentence, count: int) -> Sentence:
    if count >= len(sentence):
        return sentence
    kept = {name: layer[:count] for name in ("words", *ANNOTATIONS) if (layer := getattr(sentence, name)) is not None}
    return replace(sentence, lines=None, **kept)


def _biaffine(head: "nn.Module") -> "BiaffineHead":
    from crosslens.tasks.heads.biaffine import BiaffineHead

    assert isinstance(head, BiaffineHead)
    return head
