"""Dependency parsing with a deep biaffine head (Dozat & Manning 2017) on the words' states.

A word's head is chosen among the root, for which the sentence's special token stands, and the other words of its
sentence, each by its labelled piece; the relation is chosen for the head that was chosen.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
import torch
from pydantic import BaseModel, ConfigDict, Field
from torch import nn
from torch.nn import functional

from crosslens.data.conllu import check_trees
from crosslens.data.corpus import Corpus
from crosslens.data.sentence import ANNOTATIONS, UPOS, Item, Sentence
from crosslens.data.subwords import special_tokens, split_words
from crosslens.encoders.batch import Batch
from crosslens.encoders.products import linear
from crosslens.errors import DataError, suggest
from crosslens.scores import Score, attachment_scores
from crosslens.tasks.labelling import UNSEEN
from crosslens.tasks.trees import best_trees, greedy_heads

if TYPE_CHECKING:  # they bring transformers, which scoring and reports need not wait for
    from crosslens.encoders.encoder import Encoder
    from crosslens.encoders.reading import Reading

NO_RELATION = "unlabelled"
"""What the root word gets where the root is not learnt: no relation of UD, so never right."""

WU2019_WORDS = 140
"""Words of a sentence that Wu & Dredze (2019, section 5) parse."""

Size = Annotated[int, Field(ge=1)]


@dataclass(frozen=True, slots=True)
class Places:
    """Where the nodes of a batch's sentences are: of each sentence the root, then its words.

    Attributes:
        grid: ``(sentences, longest + 1)`` int64: the node of each place; 0 behind a sentence's end.
        sentence: ``(nodes,)`` int64: the sentence of each node.
        words: ``(words,)`` int64: the nodes that are words, sentence by sentence.
        roots: ``(sentences,)`` int64: the nodes that are roots.
        candidates: ``(sentences, longest + 1)`` bool: which places are nodes at all.
        rows: ``(words,)`` int64: of the flattened ``sentences x longest`` those that are words.
    """

    grid: torch.Tensor
    sentence: torch.Tensor
    words: torch.Tensor
    roots: torch.Tensor
    candidates: torch.Tensor
    rows: torch.Tensor

    @classmethod
    def of(cls, lengths: Sequence[int], device: torch.device) -> "Places":
        """For sentences of so many words."""
        sizes = np.asarray(lengths) + 1
        roots = np.cumsum(sizes) - sizes
        place = np.arange(sizes.max())
        candidates = place < sizes[:, None]
        arrays = (
            np.where(candidates, roots[:, None] + place, 0),
            np.repeat(np.arange(len(sizes)), sizes),
            np.setdiff1d(np.arange(sizes.sum()), roots),
            roots,
            candidates,
            np.flatnonzero(candidates[:, 1:]),
        )
        return cls(*(torch.from_numpy(array).to(device, non_blocking=True) for array in arrays))


class Projection(nn.Module):
    """A linear layer, a LeakyReLU, and dropout that hides the same features in all of a sentence's words."""

    def __init__(self, width: int, size: int, *, dropout: float) -> None:
        super().__init__()
        self.linear = nn.Linear(width, size)
        nn.init.orthogonal_(self.linear.weight)
        nn.init.zeros_(self.linear.bias)
        self.dropout = dropout

    def forward(self, states: torch.Tensor, places: Places) -> torch.Tensor:
        """``(nodes, width)`` to ``(nodes, size)``."""
        projected = functional.leaky_relu(linear(states, self.linear.weight, self.linear.bias), 0.1)
        if not (self.training and self.dropout):
            return projected
        mask = projected.new_ones(len(places.roots), projected.shape[1])
        return projected * functional.dropout(mask, self.dropout)[places.sentence]


class BiaffineHead(nn.Module):
    """Scores of all arcs, and of all relations of given arcs."""

    def __init__(
        self, width: int, labels: int, *, arc_size: int, relation_size: int, tag_size: int = 0, dropout: float
    ) -> None:
        super().__init__()
        self.tags = nn.Embedding(len(UPOS) + 1, tag_size) if tag_size else None  # the last is the root's
        width += tag_size
        self.arc_dependent = Projection(width, arc_size, dropout=dropout)
        self.arc_head = Projection(width, arc_size, dropout=dropout)
        self.relation_dependent = Projection(width, relation_size, dropout=dropout)
        self.relation_head = Projection(width, relation_size, dropout=dropout)
        # A 1 behind the dependent scores each head by itself; relations are scored by either side as well.
        self.arcs = nn.Parameter(_fresh(arc_size + 1, arc_size))
        self.relations = nn.Parameter(_fresh(labels, relation_size + 1, relation_size + 1))

    def arc_scores(self, nodes: torch.Tensor, places: Places) -> torch.Tensor:
        """``(nodes, width)`` to ``(sentences, words, words + 1)``: of each candidate head, for each word.

        What is no candidate, the padding and the word itself, has -inf.
        """
        dependents = _with_one(self.arc_dependent(nodes, places))[places.grid[:, 1:]]
        heads = self.arc_head(nodes, places)[places.grid]
        scores = linear(dependents, self.arcs.t()) @ heads.transpose(1, 2)
        itself = torch.eye(*scores.shape[1:], dtype=torch.bool, device=scores.device).roll(1, 1)  # word i is node i + 1
        return scores.masked_fill(itself | ~places.candidates[:, None, :], -torch.inf)

    def relation_scores(self, nodes: torch.Tensor, places: Places, heads: torch.Tensor) -> torch.Tensor:
        """``(nodes, width)`` and each word's head, ``(words,)``, to ``(words, relations)``."""
        dependents = _with_one(self.relation_dependent(nodes, places))[places.words]
        owners = places.roots[places.sentence[places.words]] + heads
        governors = _with_one(self.relation_head(nodes, places))[owners]
        # A few relations at a time: of all of them the product with one side does not stay in a CPU's cache.
        parts = self.relations.split(4 if nodes.device.type == "cpu" else len(self.relations))
        scores = [
            (linear(governors, part.flatten(0, 1)).unflatten(1, part.shape[:2]) * dependents[:, None]).sum(2)
            for part in parts
        ]
        return torch.cat(scores, dim=1)


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
    decode: Literal["tree", "greedy"] = "tree"
    tags: Literal["off", "gold"] = "off"
    tag_size: Size = 100
    words: Literal["all", "wu2019"] = "all"
    root: Literal["learnt", "wu2019-masked"] = "learnt"
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
                        f"the tag {min(unknown)!r} is none of UPOS, which the parser reads", file=file, line=line,
                        hint="UD 1 has CONJ for CCONJ" if "CONJ" in unknown else suggest(min(unknown), UPOS),
                    )  # fmt: skip

    def read(self, encoder: "Encoder", corpus: Corpus, *, window: int | None, context: int | None) -> "Reading":
        """Sentences as windows."""
        from crosslens.encoders.reading import read_windows

        return read_windows(encoder, corpus, window=window, context=context)

    def labels(self, corpus: Corpus) -> tuple[str, ...]:
        """The corpus's relations with their subtypes, sorted."""
        return tuple(sorted({relation for sentence in corpus.sentences for relation in sentence.relations or ()}))

    def head(self, width: int, labels: Sequence[str], *, dropout: float) -> nn.Module:
        """A fresh `BiaffineHead`."""
        return BiaffineHead(
            width, len(labels), arc_size=self.arc_size, relation_size=self.relation_size,
            tag_size=self.tag_size if self.tags == "gold" else 0, dropout=dropout,
        )  # fmt: skip

    def targets(self, item: Item, labels: Sequence[str]) -> np.ndarray:
        """``(words, 2)``: each word's head, 0 for the root, and the number of its relation."""
        number = {label: index for index, label in enumerate(labels)}
        assert isinstance(item, Sentence)
        relations = [number.get(relation, UNSEEN) for relation in item.relations or ()]
        return np.stack([np.asarray(item.heads, np.int64), np.asarray(relations, np.int64)], axis=1)

    def given(self, item: Item) -> np.ndarray | None:
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
        fits = [int(np.searchsorted(its.starts, room, side="right")) - 1 for its in pieces]
        items = (_first(s, min(WU2019_WORDS, count)) for s, count in zip(corpus.sentences, fits, strict=True))
        return replace(corpus, items=tuple(items))

    def loss(
        self, head: nn.Module, states: torch.Tensor, batch: Batch, targets: np.ndarray
    ) -> tuple[torch.Tensor, int]:
        """Cross-entropy of the gold head and of its relation, summed over words."""
        assert isinstance(head, BiaffineHead)
        nodes, places = _nodes(head, states, batch)
        heads, relations = torch.from_numpy(targets).to(nodes.device, non_blocking=True).unbind(1)
        scores = head.arc_scores(nodes, places).flatten(0, 1)[places.rows].float()
        learnt = heads
        if self.root == "wu2019-masked":
            learnt = heads.masked_fill(heads == 0, UNSEEN)
            scores = scores.index_fill(1, torch.zeros(1, dtype=torch.int64, device=scores.device), -torch.inf)
            # Words of the root are not learnt: what they score must be a number, whatever else is masked.
            scores = scores.masked_fill(heads[:, None] == 0, 0.0)
        arc_loss = functional.cross_entropy(scores, learnt, ignore_index=UNSEEN, reduction="sum")
        of_arcs = head.relation_scores(nodes, places, heads).float()
        relation_loss = functional.cross_entropy(of_arcs, relations, ignore_index=UNSEEN, reduction="sum")
        return arc_loss + relation_loss, len(heads)

    def predict(self, head: nn.Module, states: torch.Tensor, batch: Batch) -> list[np.ndarray]:
        """For each sentence ``(words, 2)``: heads, and the numbers of their relations (-1: none)."""
        assert isinstance(head, BiaffineHead)
        nodes, places = _nodes(head, states, batch)
        logits = head.arc_scores(nodes, places)
        if self.root == "wu2019-masked":  # every word may as well be the root: the cheapest to leave without a head
            logits[:, :, 0] = -torch.inf
            scores = torch.log_softmax(logits.float(), -1).nan_to_num(nan=-torch.inf, neginf=-torch.inf)
            scores[:, :, 0] = 0.0 if self.decode == "tree" else -torch.inf
        else:
            scores = torch.log_softmax(logits.float(), -1)
        scored = scores.cpu().numpy().astype(np.float64)
        decoded = best_trees(scored, batch.lengths) if self.decode == "tree" else greedy_heads(scored, batch.lengths)[0]
        heads = torch.from_numpy(np.concatenate(decoded)).to(states.device)
        relations = head.relation_scores(nodes, places, heads).argmax(-1)
        if self.root == "wu2019-masked":
            relations = relations.masked_fill(heads == 0, -1)
        both = torch.stack([heads, relations], dim=1).cpu().numpy()
        return np.split(both, np.cumsum(batch.lengths)[:-1])

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
        )  # fmt: skip


def _first(sentence: Sentence, count: int) -> Sentence:
    if count >= len(sentence):
        return sentence
    kept = {name: its[:count] for name in ("words", *ANNOTATIONS) if (its := getattr(sentence, name)) is not None}
    return replace(sentence, lines=None, **kept)


def _nodes(head: BiaffineHead, states: torch.Tensor, batch: Batch) -> tuple[torch.Tensor, Places]:
    """The states of roots and words, ``(nodes, width)``, and where they are."""
    places = Places.of(batch.lengths, states.device)
    words, roots = batch.at_words(states), batch.at_sentences(states)
    if head.tags is not None:
        assert batch.given is not None
        words = torch.cat([words, head.tags(batch.given)], 1)
        roots = torch.cat([roots, head.tags.weight[-1:].expand(len(roots), -1)], 1)
    nodes = words.new_empty(len(words) + len(roots), words.shape[1])
    return nodes.index_copy(0, places.words, words).index_copy(0, places.roots, roots), places


def _with_one(states: torch.Tensor) -> torch.Tensor:
    return functional.pad(states, (0, 1), value=1.0)


def _fresh(*shape: int) -> torch.Tensor:
    """Small enough for the first scores to be near 1, and not zero, so that both sides learn from the first step."""
    return torch.randn(shape) / math.sqrt(shape[-1] * shape[-2])
