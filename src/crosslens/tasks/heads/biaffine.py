"""The deep biaffine head (Dozat & Manning 2017): what it scores, what it learns from, what it predicts."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from crosslens.data.sentence import UPOS
from crosslens.encoders.batch import Batch
from crosslens.encoders.matmul import linear
from crosslens.tasks.heads.mst import Decode, Root, best_trees, greedy_heads
from crosslens.tasks.task import UNSEEN


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

    def nodes(self, states: torch.Tensor, batch: Batch) -> tuple[torch.Tensor, Places]:
        """The states of roots and words, ``(nodes, width)``, and where they are."""
        places = Places.of(batch.lengths, states.device)
        words, roots = batch.word_states(states), batch.sentence_states(states)
        if self.tags is not None:
            assert batch.word_features is not None
            words = torch.cat([words, self.tags(batch.word_features)], 1)
            roots = torch.cat([roots, self.tags.weight[-1:].expand(len(roots), -1)], 1)
        nodes = words.new_empty(len(words) + len(roots), words.shape[1])
        return nodes.index_copy(0, places.words, words).index_copy(0, places.roots, roots), places

    def arc_scores(self, nodes: torch.Tensor, places: Places) -> torch.Tensor:
        """``(nodes, width)`` to ``(sentences, words, words + 1)``: of each candidate head, for each word.

        Padding and the word itself, which are not candidates, have -inf.
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

    def loss(self, states: torch.Tensor, batch: Batch, targets: np.ndarray, *, root: Root) -> tuple[torch.Tensor, int]:
        """Cross-entropy of the gold heads and of their relations, summed over words, and how many words they are.

        Args:
            states: ``(windows, length, width)``.
            batch: the windows.
            targets: ``(words, 2)``: each word's head, 0 for the root, and the number of its relation.
            root: see `Parsing`.
        """
        nodes, places = self.nodes(states, batch)
        heads, relations = torch.from_numpy(targets).to(nodes.device, non_blocking=True).unbind(1)
        scores = self.arc_scores(nodes, places).flatten(0, 1)[places.rows].float()
        learnt = heads
        if root == "wu2019-masked":
            learnt = heads.masked_fill(heads == 0, UNSEEN)
            scores = scores.index_fill(1, torch.zeros(1, dtype=torch.int64, device=scores.device), -torch.inf)
            # Words of the root are not learnt: what they score must be a number, whatever else is masked.
            scores = scores.masked_fill(heads[:, None] == 0, 0.0)
        arc_loss = functional.cross_entropy(scores, learnt, ignore_index=UNSEEN, reduction="sum")
        of_arcs = self.relation_scores(nodes, places, heads).float()
        relation_loss = functional.cross_entropy(of_arcs, relations, ignore_index=UNSEEN, reduction="sum")
        return arc_loss + relation_loss, len(heads)

    def predict(self, states: torch.Tensor, batch: Batch, *, root: Root, decode: Decode) -> list[np.ndarray]:
        """For each sentence ``(words, 2)``: heads, and the numbers of their relations (-1: none).

        Args:
            states: ``(windows, length, width)``.
            batch: the windows.
            root: see `Parsing`.
            decode: likewise.
        """
        nodes, places = self.nodes(states, batch)
        logits = self.arc_scores(nodes, places)
        if root == "wu2019-masked":  # every word may as well be the root: the cheapest to leave without a head
            logits[:, :, 0] = -torch.inf
            scores = torch.log_softmax(logits.float(), -1).nan_to_num(nan=-torch.inf, neginf=-torch.inf)
            scores[:, :, 0] = 0.0 if decode == "tree" else -torch.inf
        else:
            scores = torch.log_softmax(logits.float(), -1)
        scored = scores.cpu().numpy().astype(np.float64)
        decoded = best_trees(scored, batch.lengths) if decode == "tree" else greedy_heads(scored, batch.lengths)[0]
        heads = torch.from_numpy(np.concatenate(decoded)).to(states.device)
        relations = self.relation_scores(nodes, places, heads).argmax(-1)
        if root == "wu2019-masked":
            relations = relations.masked_fill(heads == 0, -1)
        both = torch.stack([heads, relations], dim=1).cpu().numpy()
        return np.split(both, np.cumsum(batch.lengths)[:-1])


def _with_one(states: torch.Tensor) -> torch.Tensor:
    return functional.pad(states, (0, 1), value=1.0)


def _fresh(*shape: int) -> torch.Tensor:
    """Small enough for the first scores to be near 1, and not zero, so that both sides learn from the first step."""
    return torch.randn(shape) / math.sqrt(shape[-1] * shape[-2])
