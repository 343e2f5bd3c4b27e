"""The identity of a question."""

import json
from dataclasses import replace

from crosslens.runs.question import CorpusRef, Overlap, ProbeQuestion, Score, Similarity
from crosslens.runs.store import Store
from crosslens.training import versions
from made_runs import FRENCH, answers, asked, publish


def test_a_question_is_known_by_all_that_decides_its_answer():
    similar = Similarity("ud/pud", "en", "fr", ("1", "2"), "cka", None)
    probed = ProbeQuestion("langid", {"pooling": "mean"}, FRENCH.corpus, FRENCH.corpus, None, "scaled", 1)
    questions = [
        FRENCH,
        Score(CorpusRef("ud/fr_pud:test", "e" * 64), {}),
        Score(FRENCH.corpus, {"punct": "exclude"}),
        similar,
        replace(similar, target="de"),
        replace(similar, measure="rsa"),
        replace(similar, digests=("1", "3")),
        replace(similar, sentences=100),
        probed,
        replace(probed, settings={"pooling": "cls"}),
        replace(probed, seed=7),
        replace(probed, inputs="raw"),
        replace(probed, dev=FRENCH.corpus),
        Overlap(FRENCH.corpus, FRENCH.corpus),
        Overlap(FRENCH.corpus, FRENCH.corpus, limit=320),
    ]
    assert len({question.id for question in questions}) == len(questions)


def test_lists_of_questions_say_what_is_tested_and_what_is_trained_on():
    train = CorpusRef("ud/en_toy:train", "e" * 64)
    assert Overlap(train, FRENCH.corpus).about == "subwords of ud/fr_pud:test in ud/en_toy:train"
    probed = ProbeQuestion("langid", {}, train, FRENCH.corpus, None, "scaled", 1)
    assert probed.about == "langid on ud/fr_pud:test"


def test_another_rule_is_another_question(monkeypatch, tmp_path):
    """An old store keeps its old answers, apart from the new."""
    store, before = Store(tmp_path), asked()
    publish(store, before, answers(FRENCH))
    assert store.missing(before) is None
    monkeypatch.setattr(Score, "version", Score.version + 1)
    after = Score(FRENCH.corpus, {})
    assert store.missing(asked(after)).questions == (after,)
    store.add_answers(before.run.id, answers(after, value=60.0), {})
    store.keep_plan(
        "s",
        {
            "plan.json": json.dumps(
                {"runs": {}, "waiting": 0, "versions": versions.current(), "asked": [asked(after).view]}
            )
        },
    )
    assert store.collect("s").records["value"].to_pylist() == [60.0]
    assert store.answers(before.run.id).records["value"].to_pylist() == [50.0, 60.0]


def test_an_overlap_with_all_training_sentences_has_the_id_that_it_had_before_limits():
    assert Overlap(CorpusRef("a", "1"), CorpusRef("b", "2")).id == "2c54337231a232cd"
