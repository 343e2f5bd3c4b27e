"""Interventions on trained models, from Python."""

import json
from dataclasses import replace

import pytest
import torch

from crosslens.corpora.catalogue import load_corpus
from crosslens.encoders.condition import Condition
from crosslens.encoders.inputs import read_windows
from crosslens.encoders.represent import represent
from crosslens.encoders.states.erase import Erase
from crosslens.errors import EncoderError, RequestError
from crosslens.studies.paired import test as paired_test
from crosslens.training.checkpoint import load_model, save_model
from crosslens.training.evaluate import evaluate
from crosslens.training.finetune import finetune
from crosslens.training.intervene import intervene, parse_intervention
from crosslens.training.predict import predict
from toy_trainings import FAST


def test_no_intervention_is_the_model(tagger, toy):
    assert evaluate(intervene(tagger), toy("test")).records.equals(evaluate(tagger, toy("test")).records)


def test_records_name_the_interventions_and_the_model_is_untouched(tagger, toy):
    before = evaluate(tagger, toy("test"))
    model = intervene(tagger, "4.output:zero", {"noise": "1", "noise_dose": 0.5})
    record = evaluate(model, toy("test"))[0]
    assert record.condition == '{"zero": "4.output", "noise": "1", "noise_dose": 0.5}'
    assert record.layers == "4;1"
    assert record.run == before[0].run
    assert "zero 4.output" in repr(model)
    assert evaluate(tagger, toy("test")).records.equals(before.records)


@pytest.mark.parametrize(("written", "recorded"), [("2,1", "1-2"), ("02.output", "2.output"), ("all", "1-4")])
def test_an_address_has_one_name_in_records(tagger, written, recorded):
    assert json.loads(intervene(tagger, f"{written}:zero").encoder.condition.text) == {"zero": recorded}


def test_a_model_without_states_predicts_one_tag(tagger, toy):
    tags = {
        tag for sentence in predict(intervene(tagger, "4.output:zero"), toy("test")).sentences for tag in sentence.upos
    }
    assert len(tags) == 1


def test_every_kind_gives_a_score_and_the_same_bits_twice(tagger, toy):
    for text in ("1-2:zero", "1-2:mean", "1-2:resample", "1.output:noise=2", "1.output:rotate=90", "0,all:revert"):
        first, second = (evaluate(intervene(tagger, text, seed=2), toy("test")) for _ in range(2))
        assert first.records.equals(second.records)
        assert 0 <= first[0].value <= 100


def test_erase_names_a_corpus_or_takes_it(tagger, toy, treebanks):
    named = intervene(tagger, "2.output:erase=ud/en_toy:train", data=treebanks)
    given = intervene(tagger, {"erase": "2.output"}, reference=toy("train"))
    french = load_corpus("ud/fr_pud", data=treebanks)
    assert evaluate(named, french)[0].value == evaluate(given, french)[0].value
    keys = {"erase": "2.output", "erase_to": "ud/en_toy:train", "erase_digest": toy("train").digest[:12]}
    assert json.loads(evaluate(named, french)[0].condition) == keys
    assert json.loads(evaluate(given, french)[0].condition) == keys
    with pytest.raises(RequestError, match="erase takes a value"):
        intervene(tagger, "2.output:erase")
    with pytest.raises(RequestError, match="needs a corpus of the source language"):
        intervene(tagger, {"erase": "2.output"})


@pytest.mark.parametrize(
    "other", ["3.output:mean", "3.output:erase=ud/en_pud", "2.output:patch=ud/en_pud;by=sentences"]
)
def test_the_order_in_which_interventions_are_given_is_none(tagger, toy, treebanks, other):
    french = load_corpus("ud/fr_pud", data=treebanks)
    models = [
        intervene(tagger, *given, data=treebanks)
        for given in (("3.output:noise=1", other), (other, "3.output:noise=1"))
    ]
    recorded = intervene(tagger, models[0].encoder.condition, data=treebanks)
    first, *others = (represent(model.encoder, french).vectors for model in (*models, recorded))
    assert all((first == vectors).all() for vectors in others)
    assert not (first == represent(tagger.encoder, french).vectors).all()


def test_interventions_of_one_kind_act_in_the_given_order_which_is_recorded(tagger, toy):
    given = ("3.output:noise=1", "3.output:noise=0.1")
    one, other = (intervene(tagger, *order).encoder for order in (given, given[::-1]))
    assert [part["noise_dose"] for part in one.condition.plain] == [1, 0.1]
    assert one.condition != other.condition
    assert not (represent(one, toy()).vectors[3] == represent(other, toy()).vectors[3]).all()


def test_what_would_have_to_act_before_an_intervention_that_acts_already_is_refused(tagger):
    zeroed = intervene(tagger, "1:zero")
    assert intervene(zeroed, "2:mean").encoder.condition.plain == {"zero": "1", "mean": "2"}
    with pytest.raises(RequestError, match="revert 1 acts before zero 1") as caught:
        intervene(zeroed, "1:revert")
    assert "one call" in caught.value.hint
    noisy = intervene(tagger, "1:zero", "2.output:noise=1")  # the last of them counts
    with pytest.raises(RequestError, match=r"mean 3 acts before noise=1 2\.output"):
        intervene(noisy, "3:mean")


def test_layers_return_to_the_pretrained_encoder_wherever_it_is_now(tagger, encoder, tiny_bert):
    """By the name it had in training, or by the one that is given."""
    moved = replace(tagger, encoder=replace(tagger.encoder, name="no/longer-there"))
    for model, pretrained in ((tagger, None), (moved, tiny_bert)):
        assert intervene(model, "0,all:revert", pretrained=pretrained).encoder.digest == encoder.digest


def test_a_corpus_that_an_intervention_names_is_not_replaced_by_another(tagger, toy, treebanks):
    named = "2.output:erase=ud/en_toy:train"
    models = [intervene(tagger, named, reference=reference, data=treebanks) for reference in (None, toy("test")[:2])]
    assert models[0].encoder.condition == models[1].encoder.condition
    assert (represent(models[0].encoder, toy()).vectors == represent(models[1].encoder, toy()).vectors).all()


def test_interventions_of_two_kinds_learn_from_one_corpus_what_they_would_alone(tagger, treebanks, monkeypatch):
    """One of them reads only some of its sentences."""
    monkeypatch.setattr(Erase, "most", 2)
    kinds = ("2.output:erase=ud/en_pud", "3.output:patch=ud/en_pud;by=sentences")
    french = load_corpus("ud/fr_pud", data=treebanks)
    together = intervene(tagger, *kinds, data=treebanks)
    in_turn = intervene(intervene(tagger, kinds[0], data=treebanks), kinds[1], data=treebanks)
    assert together.encoder.condition == in_turn.encoder.condition
    assert (represent(together.encoder, french).vectors == represent(in_turn.encoder, french).vectors).all()


def test_a_seed_that_is_not_the_models_own_is_part_of_the_condition(tagger, toy):
    for text in ("1.output:noise=2", "1.output:rotate=90", "1-2:resample"):
        own, named, other = (intervene(tagger, text, seed=seed).encoder for seed in (None, tagger.seed, 7))
        assert "seed=0" in intervene(tagger, text, seed=0).encoder.condition.label
        assert own.condition == named.condition == parse_intervention(text)
        assert other.condition == parse_intervention(f"{text};seed=7")
        assert "seed=7" in other.condition.label
        again = intervene(tagger, Condition.parse(other.condition.text)).encoder
        vectors = [represent(encoder, toy()).vectors for encoder in (own, named, other, again)]
        assert (vectors[0] == vectors[1]).all()
        assert (vectors[2] == vectors[3]).all()
        # Sentences of different lengths have one partner each, whatever the seed.
        assert (vectors[0] == vectors[2]).all() == ("resample" in text)


def test_the_seed_of_an_erasure_is_that_of_its_control(tagger, toy):
    def condition(**keys):
        return intervene(tagger, {"erase": "2.output", **keys}, reference=toy(), seed=7).encoder.condition

    assert "erase_seed" not in condition().plain
    assert condition(erase_control="random").plain["erase_seed"] == 7
    assert "seed" not in intervene(tagger, "1:zero", "2:mean", seed=7).encoder.condition.text


def test_vectors_of_an_edited_encoder_are_those_of_the_edited_states(tagger, toy):
    corpus = toy("test")
    vectors = represent(intervene(tagger, "2.output:zero").encoder, corpus).vectors
    assert not vectors[2].any()
    assert (vectors[1] == represent(tagger.encoder, corpus).vectors[1]).all()


@pytest.mark.parametrize("text", ["2.output:resample", "2.output:mean"])
def test_vectors_are_of_the_corpus_and_not_of_what_an_intervention_reads(tagger, toy, text):
    corpus = toy("test")
    vectors = represent(intervene(tagger, text).encoder, corpus).vectors
    plain = represent(tagger.encoder, corpus).vectors
    assert (vectors[:2] == plain[:2]).all()
    assert not (vectors[2] == plain[2]).all(-1).any()


def test_scores_of_one_model_with_and_without_an_intervention_are_compared_sentence_by_sentence(tagger, toy):
    plain, ablated = (evaluate(model, toy("test")) for model in (tagger, intervene(tagger, "4.output:zero")))
    both = plain + ablated
    assert len(both.counts) == len(both)
    difference = paired_test(plain, ablated).iloc[0]
    assert abs(difference["difference"]) == pytest.approx(abs(plain[0].value - ablated[0].value))


def test_layers_of_another_model(tagger, encoder, toy, tmp_path):
    other = finetune(encoder, "pos", train=toy(), recipe=FAST, seed=2)
    save_model(other, tmp_path / "other")
    swapped = intervene(tagger, f"0,all:swap={tmp_path / 'other'}")
    save_model(swapped, tmp_path / "swapped")
    again = load_model(tmp_path / "swapped")
    assert again.encoder.digest == other.encoder.digest
    assert again.encoder.condition == swapped.encoder.condition
    assert other.encoder.digest[:12] in swapped.encoder.condition.text


def test_the_change_of_another_training_makes_the_pretrained_encoder_the_other_model(tagger, encoder, toy, tmp_path):
    """The tagger's own change undone, and the other's added, in one call: an unequal way to the same weights."""
    other = finetune(encoder, "pos", train=toy(), recipe=FAST, seed=2)
    save_model(other, tmp_path / "other")
    both = ("0,all:revert", f"0,all:add={tmp_path / 'other'}")
    added = intervene(tagger, *both, pretrained=encoder.name)
    wanted = other.encoder.model.state_dict()
    assert wanted
    for name, tensor in added.encoder.model.state_dict().items():
        torch.testing.assert_close(tensor, wanted[name], atol=1e-6, rtol=0, msg=name)
    save_model(added, tmp_path / "added")
    assert load_model(tmp_path / "added").encoder.condition == added.encoder.condition


def test_edited_models_are_neither_saved_nor_trained(tagger, toy, tmp_path):
    model = intervene(tagger, "1:mean")
    with pytest.raises(RequestError, match="cannot save an encoder whose states are replaced"):
        save_model(model, tmp_path / "model")
    assert not (tmp_path / "model").exists()
    with pytest.raises(RequestError, match="acts on a trained model"):
        finetune(model.encoder, "pos", train=toy(), recipe=FAST)


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("1-2:mean", {"mean": "1-2"}),
        (" 5.output:noise=0.5", {"noise": "5.output", "noise_dose": 0.5}),
        ("0,all:swap=other;digest=0123", {"swap": "0,all", "swap_from": "other", "swap_digest": "0123"}),
        ("1-2:add=other;scale=0.5", {"add": "1-2", "add_from": "other", "add_scale": 0.5}),
        ("2.output:erase=ud/en_pud:test", {"erase": "2.output", "erase_to": "ud/en_pud:test"}),
        (
            "2.output:patch=ud/en_pud;by=words;links=a=b.links",
            {"patch": "2.output", "patch_from": "ud/en_pud", "patch_by": "words", "patch_links": "a=b.links"},
        ),
        (
            "2:patch=ud/en_pud;by=sentences;digest=0123",
            {"patch": "2", "patch_from": "ud/en_pud", "patch_by": "sentences", "patch_digest": "0123"},
        ),
    ],
)
def test_a_text_sets_every_key_that_it_names(text, keys):
    assert parse_intervention(text) == Condition.read(keys)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1-2", "invalid intervention"),
        ("1-2:", "invalid intervention"),
        (":zero", "invalid intervention"),
        ("1:zeroed", "unknown kind.*zeroed"),
        ("1:zero=3", r"zero takes no value: '1:zero=3' \(write 1:zero\)"),
        ("1:noise", r"noise takes a value: '1:noise' \(write 1:noise=0.5\)"),
        ("1:noise=much", r"is not a number \(write 1:noise=0.5\)"),
        ("2:rotate", r"rotate takes a value: '2:rotate' \(write 2:rotate=30\)"),
        ("2:rotate=far", r"is not a number \(write 2:rotate=30\)"),
        ("1:noise=nan", "invalid"),
        ("1:rotate=inf", "invalid"),
        ("1:noise=1;dose=2", "'1:noise=1;dose=2' sets noise_dose twice"),
        ("1:noise=1;seed=2;seed=3", "sets noise_seed twice"),
        ("1.norms:zero", "invalid address"),
        ("1:swap", "swap takes a value"),
    ],
)
def test_invalid_interventions_are_refused(text, message):
    with pytest.raises(RequestError, match=message):
        parse_intervention(text)


def test_what_does_not_fit_the_model_is_refused(tagger):
    with pytest.raises(EncoderError, match="layer 9"):
        intervene(tagger, "9:zero")
    with pytest.raises(RequestError, match="acts before training"):
        intervene(tagger, {"layers": "1"})
    with pytest.raises(EncoderError):
        intervene(tagger, "1:swap=nowhere")


def test_windows_are_needed_only_where_states_are_replaced(encoder, toy):
    assert encoder.prepared(read_windows(encoder, toy("test")).windows) is encoder
