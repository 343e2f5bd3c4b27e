"""The biaffine head: which heads of a word are candidates, and how relations are scored."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
import torch
from torch.nn import functional

from crosslens.data.sentence import UPOS, Sentence
from crosslens.data.windows import by_sentence
from crosslens.encoders.batch import make_batch
from crosslens.tasks.heads.biaffine import NodeIndex
from crosslens.tasks.heads.mst import best_trees
from crosslens.tasks.parsing import Parsing
from crosslens.tasks.task import UNSEEN

PARSING = Parsing(arc_size=20, relation_size=10)


def test_candidates_are_the_root_and_the_other_words(encoder, read):
    """R11: the distribution over heads knows nothing of padding, nor of pieces that answer for no word."""
    corpus, batch, states = read
    torch.manual_seed(0)
    head = PARSING.head(encoder.width, PARSING.labels(corpus), dropout=0.0).eval()

    def distributions(batch, states):
        places = NodeIndex.of(batch.lengths, states.device)
        nodes = torch.cat(
            [states.new_zeros(0, states.shape[-1]), states.new_empty(len(places.sentence), states.shape[-1])]
        )
        nodes[places.words], nodes[places.roots] = batch.word_states(states), batch.sentence_states(states)
        return torch.log_softmax(head.arc_scores(nodes, places), -1)

    together = distributions(batch, states)
    for row, unit in enumerate(by_sentence(batch.windows)):
        alone = make_batch(unit, padding=encoder.padding, device=encoder.device)
        own = distributions(alone, states[row : row + 1, : alone.ids.shape[1]])
        words = batch.lengths[row]
        torch.testing.assert_close(together[row, :words, : words + 1], own[0])
        assert torch.isneginf(together[row, :words, words + 1 :]).all()
        assert torch.isneginf(own[0][torch.arange(words), torch.arange(1, words + 1)]).all()
    answering = torch.zeros(states.shape[:2], dtype=torch.bool).flatten()
    answering[batch.word_index] = True
    answering = answering.view(states.shape[:2])
    answering[:, 0] = True
    disturbed = torch.where(answering[:, :, None], states, states + 7.0)
    torch.testing.assert_close(distributions(batch, disturbed), together)


def test_decoded_heads_are_those_of_the_scores(encoder, read):
    """R10: heads by the arcs' own scores, relations by the pair dependent and head, never the other way round."""
    corpus, batch, states = read
    torch.manual_seed(2)
    labels = PARSING.labels(corpus)
    head = PARSING.head(encoder.width, labels, dropout=0.0).eval()
    first = torch.zeros(1, dtype=torch.int64)

    def with_one(projected):
        return torch.cat([projected[0], torch.ones(1)])

    with torch.no_grad():
        places = NodeIndex.of(batch.lengths, states.device)
        nodes = torch.empty(len(places.sentence), states.shape[-1])
        nodes[places.words], nodes[places.roots] = batch.word_states(states), batch.sentence_states(states)
        scores = torch.log_softmax(head.arc_scores(nodes, places), -1).double().numpy()
        predicted = PARSING.predict(head, states, batch)
        for row, (its, words) in enumerate(zip(best_trees(scores, batch.lengths), predicted, strict=True)):
            np.testing.assert_array_equal(words[:, 0], its)
            base = int(places.roots[row])
            for word, governor in enumerate(its):
                one = with_one(head.relation_dependent(nodes[base + word + 1].unsqueeze(0), first))
                other = with_one(head.relation_head(nodes[base + governor].unsqueeze(0), first))
                by_hand = torch.stack([one @ weight @ other for weight in head.relations])
                assert int(by_hand.argmax()) == words[word, 1]


def test_dropout_hides_the_same_features_in_all_words_of_a_sentence():
    torch.manual_seed(0)
    projection = PARSING.head(8, ["a"], dropout=0.5).arc_head.train()
    places = NodeIndex.of([2, 1], torch.device("cpu"))
    hidden = projection(torch.randn(5, 8), places) == 0
    assert torch.equal(hidden[0], hidden[1])
    assert torch.equal(hidden[3], hidden[4])
    assert not torch.equal(hidden[0], hidden[3])


def test_the_root_has_a_tag_of_its_own(read):
    """Beside the seventeen of words."""
    corpus, batch, states = read
    task = Parsing(arc_size=4, relation_size=4, tags="gold", tag_size=3)
    head = task.head(states.shape[-1], task.labels(corpus), dropout=0.0)
    tags = np.concatenate([task.word_features(sentence) for sentence in corpus.sentences])
    nodes, index = head.nodes(states, replace(batch, word_features=torch.from_numpy(tags)))
    rows = [head.tags.weight.detach().tolist().index(row) for row in nodes[:, -3:].detach().tolist()]
    assert np.array_equal(np.asarray(rows)[index.words.numpy()], tags)
    assert np.asarray(rows)[index.roots.numpy()].tolist() == [len(UPOS)] * len(corpus)


def test_words_with_relations_that_training_lacks_are_counted():
    """Their heads are learnt."""
    torch.manual_seed(0)
    task = Parsing(arc_size=4, relation_size=4)
    head = task.head(8, ["det", "obj"], dropout=0.0)
    sentence = Sentence(("a", "b", "c"), heads=(2, 3, 0), relations=("det", "nsubj", "root"))
    index = NodeIndex.of([3], torch.device("cpu"))
    head.nodes = lambda states, batch: (states, index)
    targets = task.targets(sentence, ["det", "obj"])
    assert targets[:, 1].tolist() == [0, UNSEEN, UNSEEN]
    total, words = task.loss(head, torch.randn(4, 8), None, targets)
    total.backward()
    assert words == 3
    assert (head.arcs.grad.abs().sum() > 0).item()


def test_the_loss_of_coarse_scores_is_summed_in_float32(read):
    """Both of heads and of relations."""
    corpus, batch, states = read
    torch.manual_seed(0)
    labels = PARSING.labels(corpus)
    head = PARSING.head(states.shape[-1], labels, dropout=0.0).bfloat16()
    gold = np.concatenate([PARSING.targets(sentence, labels) for sentence in corpus.sentences])
    heads, relations = torch.from_numpy(gold).unbind(1)
    with torch.no_grad():
        total, _ = PARSING.loss(head, states.bfloat16(), batch, gold)
        nodes, index = head.nodes(states.bfloat16(), batch)
        arcs = head.arc_scores(nodes, index).flatten(0, 1)[index.rows]
        expected = sum(
            functional.cross_entropy(scores.double(), target, reduction="sum")
            for scores, target in ((arcs, heads), (head.relation_scores(nodes, index, heads), relations))
        )
    assert float(total) == pytest.approx(float(expected), rel=1e-6)


def test_a_word_is_projected_for_each_of_its_roles_apart():
    """As dependent and as head, of an arc and of a relation."""
    torch.manual_seed(0)
    head = Parsing(arc_size=4, relation_size=4).head(8, ["a"], dropout=0.0).eval()
    roles = (head.arc_dependent, head.arc_head, head.relation_dependent, head.relation_head)
    with torch.no_grad():
        seen = [project(torch.ones(1, 8), torch.zeros(1, dtype=torch.int64)) for project in roles]
    for one, other in combinations(seen, 2):
        assert not torch.allclose(one, other)


def test_projections_begin_orthogonal_and_without_bias():
    """As in the parsers of Dozat & Manning (2017): all features are equally large, and none is preferred."""
    projection = PARSING.head(32, ["a"], dropout=0.0).arc_head.linear
    weight = projection.weight.detach()
    torch.testing.assert_close(weight @ weight.T, torch.eye(len(weight)), rtol=1e-5, atol=1e-5)
    assert not projection.bias.detach().any()


@pytest.mark.parametrize("decode", ["tree", "greedy"])
def test_without_root_attachment_words_alone_compete_to_be_heads(encoder, read, decode):
    """Among the words, the probabilities of a word's heads sum to 1; a tree may begin at any word."""
    corpus, batch, states = read
    torch.manual_seed(3)
    task = PARSING.model_copy(update={"root": "wu2019-masked", "decode": decode})
    head = task.head(encoder.width, task.labels(corpus), dropout=0.0).eval()
    with torch.no_grad():
        words = torch.log_softmax(head.arc_scores(*head.nodes(states, batch))[:, :, 1:], -1).double()
        root = torch.full_like(words[:, :, :1], 0.0 if decode == "tree" else -torch.inf)
        predicted = task.predict(head, states, batch)
    if decode == "tree":
        expected = best_trees(torch.cat([root, words], -1).numpy(), batch.lengths)
    else:
        expected = [row[:size].argmax(-1).numpy() + 1 for row, size in zip(words, batch.lengths, strict=True)]
    assert min(batch.lengths) > 1
    assert {1} < {governor for heads in expected for governor in heads.tolist()}
    for heads, chosen in zip(expected, predicted, strict=True):
        assert chosen[:, 0].tolist() == heads.tolist()
        assert ((chosen[:, 1] == -1) == (heads == 0)).all()
