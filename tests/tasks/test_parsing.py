"""The parser: its loss, its trees, and the settings of Wu and Dredze (2019)."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from crosslens.data.corpus import Corpus
from crosslens.data.formats import conllu
from crosslens.data.sentence import Sentence
from crosslens.encoders.batch import make_batch
from crosslens.encoders.encoder import Encoder
from crosslens.encoders.inputs import read_windows
from crosslens.errors import DataError
from crosslens.tasks import find_task
from crosslens.tasks.heads.biaffine import BiaffineHead
from crosslens.tasks.parsing import NO_RELATION, Parsing
from crosslens.training.checkpoint import load_model, save_model
from crosslens.training.evaluate import evaluate
from crosslens.training.finetune import finetune
from crosslens.training.predict import predict
from crosslens.training.recipe import Recipe

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


# Wu & Dredze 2019: gold tags, and at most 140 words


def parser(encoder, corpus, **settings):
    recipe = Recipe(batch=4, learning_rate=5e-3, epochs=8, select="last", encoder_dropout="off", head_dropout=0.0)
    return finetune(encoder, Parsing(arc_size=20, relation_size=10, **settings), train=corpus, recipe=recipe)


def test_gold_tags_are_read(encoder, toy, tmp_path):
    corpus = toy()
    model = parser(encoder, corpus, tags="gold", tag_size=8)
    before = predict(model, corpus)
    assert model.head.tags.weight.shape == (18, 8)
    other = replace(corpus, items=tuple(replace(s, upos=s.upos[::-1], lines=None) for s in corpus.sentences))
    assert [s.heads for s in predict(model, other).sentences] != [s.heads for s in before.sentences]
    assert [s.upos for s in before.sentences] == [s.upos for s in corpus.sentences]
    save_model(model, tmp_path / "model")
    assert predict(load_model(tmp_path / "model", device="cpu"), corpus) == before
    blind = parser(encoder, corpus)
    told, untold = (predict(blind, its) for its in (corpus, other))
    assert [s.heads for s in told.sentences] == [s.heads for s in untold.sentences]


def test_each_word_has_its_own_tag_whatever_it_is_batched_with(encoder, toy):
    corpus = toy()
    model = parser(encoder, corpus, tags="gold", tag_size=8)
    together = predict(model, corpus).sentences
    for place, sentence in enumerate(corpus.sentences):
        alone = predict(model, replace(corpus, items=(sentence,))).sentences[0]
        assert alone.heads == together[place].heads


def test_a_tag_that_is_none_of_upos_is_refused_with_its_line(toy):
    task = Parsing(tags="gold")
    first = toy().sentences[0]
    old = replace(first, upos=("CONJ", *first.upos[1:]))
    with pytest.raises(DataError, match=r"en_toy-ud-train.conllu:1: the tag 'CONJ' is none of UPOS.*CCONJ"):
        task.check(replace(toy(), items=(old,)))
    with pytest.raises(DataError, match="has no UPOS tags"):
        task.check(replace(toy(), items=(replace(first, upos=None),)))
    untagged = replace(first, upos=("_", *first.upos[1:]))
    with pytest.raises(DataError, match="the tag '_' is none of UPOS"):
        task.check(replace(toy(), items=(untagged,)))
    Parsing().check(replace(toy(), items=(old,)))  # who does not read tags does not mind


def long_sentence(one, times):
    heads = [head + len(one) * turn if head else 0 for turn in range(times) for head in one.heads]
    root = one.heads.index(0) + 1
    heads = [head if head or place < len(one) else root for place, head in enumerate(heads)]
    many = {name: getattr(one, name) * times for name in ("words", "upos", "relations")}
    return replace(one, heads=tuple(heads), lines=None, **many)


def test_at_most_140_words_are_scored_where_that_is_asked_for(encoder, toy, monkeypatch):
    one = toy().sentences[0]
    long = replace(toy(), items=(long_sentence(one, 30), one))
    fits = Parsing(words="wu2019").cut(encoder, long)
    # 62 subwords fit this encoder, which has positions for 64; and 140 words where there is more room.
    assert len(fits[0]) < 62 < len(long[0])
    assert fits[1] == long[1]
    with monkeypatch.context() as roomy:
        roomy.setattr(Encoder, "capacity", 10_000)
        assert len(Parsing(words="wu2019").cut(encoder, long)[0]) == 140
    assert Parsing().cut(encoder, long) is long
    model = parser(encoder, toy(), words="wu2019")
    records = evaluate(model, [long]).filter(metric="las").to_pandas()
    assert records["n"][0] == len(fits[0]) + len(one)


def test_a_sentence_that_was_cut_is_written_without_the_words_that_were_cut_off(encoder, toy, tmp_path, monkeypatch):
    monkeypatch.setattr(Encoder, "capacity", 8)
    cut = Parsing(words="wu2019").cut(encoder, toy())
    assert cut.words < toy().words
    conllu.write(cut, tmp_path / "cut.conllu")
    rows = [line.split("\t") for line in (tmp_path / "cut.conllu").read_text("utf-8").splitlines() if "\t" in line]
    assert [row[1] for row in rows] == [word for sentence in cut.sentences for word in sentence.words]


def test_a_head_that_was_cut_off_is_an_error():
    sentence = Sentence(("a", "b", "c"), heads=(3, 3, 0), relations=("x", "y", "root"))
    task = Parsing(words="wu2019")
    gold = Corpus((replace(sentence, words=("a", "b"), heads=(3, 3), relations=("x", "y")),), "cut")
    best = replace(gold, items=(replace(gold.sentences[0], heads=(2, 0)),))
    assert {score.metric: score.value for score in task.score(gold, best)} == {"las": 0.0, "uas": 0.0}


@pytest.mark.parametrize("capacity", range(6, 24))
def test_the_words_that_are_scored_are_the_most_that_fit_into_one_window(encoder, toy, capacity, monkeypatch):
    monkeypatch.setattr(Encoder, "capacity", capacity)
    cut = Parsing(words="wu2019").cut(encoder, toy())
    shorter = 0
    for whole, kept in zip(toy().sentences, cut.sentences, strict=True):
        pieces = [len(encoder.tokenizer.tokenize(word)) for word in whole.words]
        assert sum(pieces[: len(kept)]) <= capacity - 2
        assert kept.words == whole.words[: len(kept)]
        if len(kept) < len(whole):
            assert sum(pieces[: len(kept) + 1]) > capacity - 2
            shorter += 1
    assert shorter or capacity > 8
