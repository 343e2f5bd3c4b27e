"""Deep biaffine head for dependency parsing (Dozat & Manning 2017): scores, loss and prediction."""

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
class NodeIndex:
    """Indices of the nodes of a batch, which are the root and then the words of each sentence.

    Attributes:
        grid: node at each position, ``(sentences, longest + 1)`` int64; padding is 0.
        sentence: sentence of each node, ``(nodes,)`` int64.
        words: word nodes, sentence by sentence, ``(words,)`` int64.
        roots: root nodes, ``(sentences,)`` int64.
        candidates: positions that are not padding, ``(sentences, longest + 1)`` bool.
        rows: positions of words in the flattened ``sentences x longest`` grid, ``(words,)`` int64.
    """

    grid: torch.Tensor
    sentence: torch.Tensor
    words: torch.Tensor
    roots: torch.Tensor
    candidates: torch.Tensor
    rows: torch.Tensor

    @classmethod
    def of(cls, lengths: Sequence[int], device: torch.device) -> "NodeIndex":
        """Index a batch."""
        sizes = np.asarray(lengths) + 1
        roots = np.cumsum(sizes) - sizes
        positions = np.arange(sizes.max())
        candidates = positions < sizes[:, None]
        arrays = (
            np.where(candidates, roots[:, None] + positions, 0),
            np.repeat(np.arange(len(sizes)), sizes),
            np.setdiff1d(np.arange(sizes.sum()), roots),
            roots,
            candidates,
            np.flatnonzero(candidates[:, 1:]),
        )
        return cls(*(torch.from_numpy(array).to(device, non_blocking=True) for array in arrays))


class Projection(nn.Module):
    """Linear layer, LeakyReLU, and dropout of the same features in all words of a sentence."""

    def __init__(self, width: int, size: int, *, dropout: float) -> None:
        super().__init__()
        self.linear = nn.Linear(width, size)
        nn.init.orthogonal_(self.linear.weight)
        nn.init.zeros_(self.linear.bias)
        self.dropout = dropout

    def forward(self, states: torch.Tensor, index: NodeIndex) -> torch.Tensor:
        """Project ``(nodes, width)`` to ``(nodes, size)``."""
        projected = functional.leaky_relu(linear(states, self.linear.weight, self.linear.bias), 0.1)
        if not (self.training and self.dropout):
            return projected
        mask = projected.new_ones(len(index.roots), projected.shape[1])
        return projected * functional.dropout(mask, self.dropout)[index.sentence]


class BiaffineHead(nn.Module):
    """Scores all arcs, and all relations of given arcs."""

    def __init__(
        self, width: int, labels: int, *, arc_size: int, relation_size: int, tag_size: int = 0, dropout: float
    ) -> None:
        super().__init__()
        self.tags = nn.Embedding(len(UPOS) + 1, tag_size) if tag_size else None  # the last tag is the root
        width += tag_size
        self.arc_dependent = Projection(width, arc_size, dropout=dropout)
        self.arc_head = Projection(width, arc_size, dropout=dropout)
        self.relation_dependent = Projection(width, relation_size, dropout=dropout)
        self.relation_head = Projection(width, relation_size, dropout=dropout)
        # Constant features add bias terms: for the head of an arc, and for both sides of a relation.
        self.arcs = nn.Parameter(_initial_weights(arc_size + 1, arc_size))
        self.relations = nn.Parameter(_initial_weights(labels, relation_size + 1, relation_size + 1))

    def nodes(self, states: torch.Tensor, batch: Batch) -> tuple[torch.Tensor, NodeIndex]:
        """States of roots and words, ``(nodes, width)``, and their index."""
        index = NodeIndex.of(batch.lengths, states.device)
        words, roots = batch.word_states(states), batch.sentence_states(states)
        if self.tags is not None:
            assert batch.word_features is not None
            words = torch.cat([words, self.tags(batch.word_features)], 1)
            roots = torch.cat([roots, self.tags.weight[-1:].expand(len(roots), -1)], 1)
        nodes = words.new_empty(len(words) + len(roots), words.shape[1])
        return nodes.index_copy(0, index.words, words).index_copy(0, index.roots, roots), index

    def arc_scores(self, nodes: torch.Tensor, index: NodeIndex) -> torch.Tensor:
        """Score each candidate head of each word: ``(nodes, width)`` to ``(sentences, words, words + 1)``.

        Padding and the word itself score -inf.
        """
        dependents = _with_one(self.arc_dependent(nodes, index))[index.grid[:, 1:]]
        heads = self.arc_head(nodes, index)[index.grid]
        scores = linear(dependents, self.arcs.t()) @ heads.transpose(1, 2)
        itself = torch.eye(*scores.shape[1:], dtype=torch.bool, device=scores.device).roll(1, 1)  # word i is node i + 1
        return scores.masked_fill(itself | ~index.candidates[:, None, :], -torch.inf)

    def relation_scores(self, nodes: torch.Tensor, index: NodeIndex, heads: torch.Tensor) -> torch.Tensor:
        """Score the relations of each word, ``(words, relations)``, from ``(nodes, width)`` and heads ``(words,)``."""
        dependents = _with_one(self.relation_dependent(nodes, index))[index.words]
        head_nodes = index.roots[index.sentence[index.words]] + heads
        governors = _with_one(self.relation_head(nodes, index))[head_nodes]
        # On a CPU a few relations at a time, so that the product with the governors stays in the cache.
        chunks = self.relations.split(4 if nodes.device.type == "cpu" else len(self.relations))
        scores = [
            (linear(governors, chunk.flatten(0, 1)).unflatten(1, chunk.shape[:2]) * dependents[:, None]).sum(2)
            for chunk in chunks
        ]
        return torch.cat(scores, dim=1)

    def loss(self, states: torch.Tensor, batch: Batch, targets: np.ndarray, *, root: Root) -> tuple[torch.Tensor, int]:
        """Compute the cross-entropy of heads and relations, summed over words, and the number of words.

        Args:
            targets: head (0 is the root) and relation index of each word, ``(words, 2)``.
            root: see `Parsing`.
        """
        nodes, index = self.nodes(states, batch)
        heads, relations = torch.from_numpy(targets).to(nodes.device, non_blocking=True).unbind(1)
        scores = self.arc_scores(nodes, index).flatten(0, 1)[index.rows].float()
        learnt = heads
        if root == "wu2019-masked":
            learnt = heads.masked_fill(heads == 0, UNSEEN)
            scores = scores.index_fill(1, torch.zeros(1, dtype=torch.int64, device=scores.device), -torch.inf)
            # Root words are ignored, but their scores must be finite, and all their candidates may be masked.
            scores = scores.masked_fill(heads[:, None] == 0, 0.0)
        arc_loss = functional.cross_entropy(scores, learnt, ignore_index=UNSEEN, reduction="sum")
        relation_scores = self.relation_scores(nodes, index, heads).float()
        relation_loss = functional.cross_entropy(relation_scores, relations, ignore_index=UNSEEN, reduction="sum")
        return arc_loss + relation_loss, len(heads)

    def predict(self, states: torch.Tensor, batch: Batch, *, root: Root, decode: Decode) -> list[np.ndarray]:
        """Predict heads and relation indices (-1: none), ``(words, 2)`` for each sentence.

        Args:
            states: ``(windows, length, width)``.
            batch: the windows.
            root: see `Parsing`.
            decode: see `Parsing`.
        """
        nodes, index = self.nodes(states, batch)
        logits = self.arc_scores(nodes, index)
        if root == "wu2019-masked":  # when decoding a tree, any word can become the root, with score 0
            logits[:, :, 0] = -torch.inf
            scores = torch.log_softmax(logits.float(), -1).nan_to_num(nan=-torch.inf, neginf=-torch.inf)
            scores[:, :, 0] = 0.0 if decode == "tree" else -torch.inf
        else:
            scores = torch.log_softmax(logits.float(), -1)
        log_probs = scores.cpu().numpy().astype(np.float64)
        if decode == "tree":
            decoded = best_trees(log_probs, batch.lengths)
        else:
            decoded, _ = greedy_heads(log_probs, batch.lengths)
        heads = torch.from_numpy(np.concatenate(decoded)).to(states.device)
        relations = self.relation_scores(nodes, index, heads).argmax(-1)
        if root == "wu2019-masked":
            relations = relations.masked_fill(heads == 0, -1)
        predicted = torch.stack([heads, relations], dim=1).cpu().numpy()
        return np.split(predicted, np.cumsum(batch.lengths)[:-1])


def _with_one(states: torch.Tensor) -> torch.Tensor:
    return functional.pad(states, (0, 1), value=1.0)


def _initial_weights(*shape: int) -> torch.Tensor:
    """Random weights that give initial scores of magnitude 1; zeros would give the projections no gradient."""
    return torch.randn(shape) / math.sqrt(shape[-1] * shape[-2])
