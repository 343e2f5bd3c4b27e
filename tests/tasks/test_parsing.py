"""The parser: its loss and its trees."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from crosslens.data.formats import conllu
from crosslens.data.sentence import Sentence
from crosslens.encoders.batch import make_batch
from crosslens.encoders.inputs import read_windows
from crosslens.errors import DataError
from crosslens.tasks import find_task
from crosslens.tasks.heads.biaffine import BiaffineHead
from crosslens.tasks.parsing import NO_RELATION, Parsing

PARSING = Parsing(arc_size=20, relation_size=10)


class Perfect(BiaffineHead):
    """Scores the gold heads and relations highest."""

    def __init__(self, task, sentences, labels):
        torch.nn.Module.__init__(self)  # none of the parameters of a head
        self.tags = None
        targets = [task.targets(sentence, labels) for sentence in sentences]
        self.heads = [target[:, 0] for target in targets]
        self.relations = np.concatenate([target[:, 1] for target in targets])
        self.labels = len(labels)
        self.weight = torch.nn.Parameter(torch.zeros(()))

    def arc_scores(self, nodes, places):
        shape = (len(self.heads), places.grid.shape[1] - 1, places.grid.shape[1])
        scores = torch.full(shape, -5.0)
        for row, heads in enumerate(self.heads):
            scores[row, torch.arange(len(heads)), torch.from_numpy(heads)] = 5.0
        return scores.masked_fill(~places.candidates[:, None, :], -torch.inf) + self.weight

    def relation_scores(self, nodes, places, heads):
        return torch.nn.functional.one_hot(torch.from_numpy(self.relations), self.labels).float() + self.weight


def annotated(task, corpus, head, batch, states):
    labels = task.labels(corpus)
    with torch.no_grad():
        predicted = task.predict(head, states, batch)
    items = [task.annotate(s, words, labels) for s, words in zip(corpus.sentences, predicted, strict=True)]
    return replace(corpus, items=tuple(items))


@pytest.mark.parametrize("decode", ["tree", "greedy"])
def test_a_perfect_scorer_gets_everything_right_the_root_too(read, decode):
    """R1: root words have the root for a head, and its relation."""
    corpus, batch, states = read
    task = Parsing(decode=decode)
    predicted = annotated(task, corpus, Perfect(task, corpus.sentences, task.labels(corpus)), batch, states)
    assert {score.metric: score.value for score in task.score(corpus, predicted)} == dict.fromkeys(
        ("las", "uas", "las_nopunct", "uas_nopunct"), 100.0
    )


def test_a_perfect_scorer_whose_root_is_masked_loses_a_word_a_sentence(read):
    """R1, as in the code released for Wu & Dredze (2019): UAS 100, and no root word counts for LAS."""
    corpus, batch, states = read
    task = Parsing(root="wu2019-masked")
    predicted = annotated(task, corpus, Perfect(task, corpus.sentences, task.labels(corpus)), batch, states)
    scores = {score.metric: score.value for score in task.score(corpus, predicted)}
    assert scores["uas"] == 100.0
    assert scores["las"] == pytest.approx(100 * (corpus.words - len(corpus)) / corpus.words)
    assert predicted.sentences[0].relations.count(NO_RELATION) == 1


@pytest.mark.parametrize("root", ["learnt", "wu2019-masked"])
def test_the_loss_is_that_of_every_head_and_every_relation_word_by_word(read, root):
    """Where the root is masked, it is no candidate, and its words' heads are not learnt; their relations are."""
    corpus, batch, states = read
    task = PARSING.model_copy(update={"root": root})
    labels = task.labels(corpus)
    torch.manual_seed(0)
    head = task.head(states.shape[-1], labels, dropout=0.0).eval()
    gold = np.concatenate([task.targets(s, labels) for s in corpus.sentences])
    with torch.no_grad():
        total, count = task.loss(head, states, batch, gold)
        nodes, places = head.nodes(states, batch)
        arcs = head.arc_scores(nodes, places)
        relations = torch.log_softmax(head.relation_scores(nodes, places, torch.from_numpy(gold[:, 0])), -1)
        expected, word = 0.0, 0
        for row, sentence in enumerate(corpus.sentences):
            for place, gold_head in enumerate(sentence.heads):
                scores = arcs[row, place].clone()
                if root == "wu2019-masked":
                    scores[0] = -torch.inf
                if root == "learnt" or gold_head:
                    expected -= float(torch.log_softmax(scores, -1)[gold_head])
                expected -= float(relations[word, gold[word, 1]])
                word += 1
    assert count == word == corpus.words
    assert float(total) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(("root", "learns"), [("learnt", True), ("wu2019-masked", False)])
def test_attachment_to_the_root_is_learnt_unless_it_is_masked(read, root, learns):
    """R1: the gradient of the arc scores in the root's column."""
    corpus, batch, states = read
    task = PARSING.model_copy(update={"root": root})
    labels = task.labels(corpus)
    head = task.head(states.shape[-1], labels, dropout=0.0)
    kept = []
    original = head.arc_scores

    def arc_scores(nodes, places):
        scores = original(nodes, places)
        scores.retain_grad()
        kept.append(scores)
        return scores

    head.arc_scores = arc_scores
    gold = np.concatenate([task.targets(s, labels) for s in corpus.sentences])
    total, count = task.loss(head, states, batch, gold)
    total.backward()
    assert count == corpus.words
    assert bool(kept[0].grad[:, :, 0].abs().sum() > 0) is learns
    roots = [(row, s.heads.index(0)) for row, s in enumerate(corpus.sentences)]
    assert all(bool(kept[0].grad[row, word].abs().sum() > 0) is learns for row, word in roots)


def test_trees_have_one_root_and_greedy_heads_need_not(encoder, read):
    corpus, batch, states = read
    torch.manual_seed(1)
    head = PARSING.head(encoder.width, PARSING.labels(corpus), dropout=0.0).eval()
    trees = annotated(PARSING, corpus, head, batch, states)
    PARSING.check(trees)
    greedy = annotated(PARSING.model_copy(update={"decode": "greedy"}), corpus, head, batch, states)
    assert any(sentence.heads.count(0) != 1 for sentence in greedy.sentences)


def test_where_the_root_is_masked_greedy_heads_are_other_words(encoder, read):
    corpus, batch, states = read
    task = PARSING.model_copy(update={"decode": "greedy", "root": "wu2019-masked"})
    torch.manual_seed(1)
    head = task.head(encoder.width, task.labels(corpus), dropout=0.0).eval()
    heads = [sentence.heads for sentence in annotated(task, corpus, head, batch, states).sentences]
    assert len(heads) == 6
    assert not any(0 in each for each in heads)


@pytest.mark.parametrize("metric", ["las", "uas", "las_nopunct", "uas_nopunct"])
def test_the_main_score_is_the_one_that_is_asked_for(toy, metric):
    scores = Parsing(metric=metric).score(toy(), toy())
    assert scores[0].metric == metric
    assert len({score.metric for score in scores}) == 4


def test_gold_that_is_no_tree_is_refused(tmp_path):
    row = "{}\tx\t_\tNOUN\t_\t_\t{}\tdep\t_\t_\n"
    path = tmp_path / "x.conllu"
    path.write_text(row.format(1, 0) + row.format(2, 1) + "\n" + row.format(1, 0) + row.format(2, 0) + "\n")
    with pytest.raises(DataError, match=r"x.conllu:4: the sentence has 2 roots, but a tree has exactly one"):
        PARSING.check(conllu.read(path))


def test_one_word_sentences(encoder, toy):
    corpus = replace(toy(), items=(Sentence(("cat",), upos=("NOUN",), heads=(0,), relations=("root",)),) * 2)
    batch = make_batch(read_windows(encoder, corpus).windows, padding=encoder.padding, device=encoder.device)
    with torch.no_grad():
        states = encoder.states(batch.ids, batch.mask)
    for root in ("learnt", "wu2019-masked"):
        for decode in ("tree", "greedy"):
            task = find_task("parsing", {"root": root, "decode": decode})
            head = task.head(encoder.width, ["root"], dropout=0.0)
            gold = np.concatenate([task.targets(s, ["root"]) for s in corpus.sentences])
            total, _ = task.loss(head, states, batch, gold)
            total.backward()
            assert all(torch.isfinite(p.grad).all() for p in head.parameters() if p.grad is not None)
            assert annotated(task, corpus, head, batch, states).sentences[0].heads == (0,)


def test_windows_overlap_by_the_context_that_is_given(encoder, toy):
    long = replace(toy(), items=(Sentence(toy().sentences[0].words * 6),))

    def ids(windows):
        return [window.ids.tolist() for window in windows]

    read = {}
    for context in (0, 8):
        read[context] = ids(PARSING.read(encoder, long, window=12, context=context).windows)
        assert read[context] == ids(read_windows(encoder, long, window=12, context=context).windows)
    assert len(read[0]) < len(read[8])
