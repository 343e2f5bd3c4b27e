"""The identity of a run."""

from dataclasses import replace

from crosslens.encoders.condition import Condition
from crosslens.runs.question import CorpusRef, FittedScore, Overlap, Score
from crosslens.runs.run import EncoderRef, EncoderRun
from crosslens.training.recipe import RECIPES
from made_runs import FRENCH, make_run

BASE = EncoderRef("folder", "name", "c" * 64)


def test_identities_stay_what_they_were():
    """A store that somebody has stays valid: these change only where results change, or what is part of an identity."""
    assert make_run().id == "9ee4d3e8c41fa232"
    assert make_run(condition=Condition(layers="1-2"), seed=3).id == "9d7aac82cc93b12e"
    assert EncoderRun(EncoderRef("folder", "name", "c" * 64), Condition(layers="0,all"), 1).id == "36e7aa4c8db99422"
    assert FRENCH.id == "42a6224382dd43be"


def test_an_identity_is_what_determines_the_weights_and_nothing_else():
    run = make_run()
    training = run.training
    renamed = replace(training, train=CorpusRef("mine.conllu", "a" * 64), source="english", language=None)
    assert make_run(base=EncoderRef("elsewhere", "other", "c" * 64), training=renamed, partner="fr").id == run.id
    assert make_run(condition=Condition(recipe="small")).id == run.id  # its settings are in the training's recipe
    changed = [
        make_run(seed=2),
        make_run(base=EncoderRef("folder", "name", "e" * 64)),
        make_run(condition=Condition(layers="1")),
        make_run(training=replace(training, recipe=RECIPES["small"])),
        make_run(training=replace(training, train=CorpusRef("ud/en_ewt:train", "0" * 64))),
        make_run(training=replace(training, dev=None)),
        make_run(training=replace(training, task="ner")),
    ]
    assert len({run.id, *(each.id for each in changed)}) == 1 + len(changed)


def test_languages_are_part_of_ids_only_where_they_select_parts_of_the_encoder():
    """Any other encoder reads a file in the same way whatever its language is called."""
    training, french = make_run().training, Score(replace(FRENCH.corpus, language="fr"), {})
    corpora = {"test": replace(FRENCH.corpus, language="de"), "train": training.train}
    german = [
        Score(corpora["test"], {}),
        Overlap(**corpora),
        FittedScore(corpora["test"], {}, "none", 1, FRENCH.corpus),
    ]
    trained = [
        training,
        replace(training, language="de"),
        replace(training, dev=replace(training.dev, language="de")),
    ]
    specific = replace(BASE, language_specific=True)
    assert {make_run(base=BASE, training=each).id for each in trained} == {make_run().id}
    assert len({make_run(base=specific, training=each).id for each in trained} | {make_run().id}) == 4
    assert BASE.question(german[0]).id == BASE.question(french).id == FRENCH.id
    assert len({specific.question(german[0]).id, specific.question(french).id, FRENCH.id}) == 3
    for question in german:
        assert specific.question(question).id != question.id == BASE.question(question).id


def test_records_name_the_digest_of_an_encoder_that_all_runs_of_the_study_share():
    """Encoders that runs made, and checkpoints, share a name; their digests would keep the seeds of one mean apart."""
    made = EncoderRef("folder", "name", "c" * 64, made=True)
    for make in (lambda **changes: EncoderRun(BASE, **{"condition": Condition(), "seed": 1, **changes}), make_run):
        assert make().columns["encoder_digest"] == "c" * 64
        assert make(condition=Condition(checkpoint="500")).columns["encoder_digest"] is None
    assert make_run(base=made).columns["encoder_digest"] is None


def test_records_say_what_training_data_were_translated_from():
    training = make_run().training
    assert make_run().columns["translated_from"] is None
    assert make_run(training=replace(training, translated_from="de")).columns["translated_from"] == "de"
