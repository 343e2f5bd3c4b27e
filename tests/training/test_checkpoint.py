import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest
import torch
from transformers import AutoModelForTokenClassification, AutoTokenizer

from crosslens.data.corpus import Corpus
from crosslens.encoders.freeze import freeze
from crosslens.encoders.load import DESCRIPTION, load_encoder, save_encoder
from crosslens.encoders.reinit import random_init
from crosslens.errors import EncoderError, RequestError
from crosslens.tasks import find_task
from crosslens.training.checkpoint import load_model, save_model
from crosslens.training.evaluate import evaluate
from crosslens.training.finetune import finetune
from crosslens.training.intervene import intervene
from crosslens.training.model import in_precision
from crosslens.training.predict import predict
from crosslens.training.recipe import Recipe

FAST = Recipe(batch=2, learning_rate=3e-3, epochs=4, select="last", encoder_dropout="off")


@pytest.fixture(scope="module")
def tagger(encoder, toy):
    return finetune(encoder, "pos", train=toy(), recipe=FAST, seed=1)


def weights(model):
    return {**model.encoder.model.state_dict(), **{f"head.{n}": t for n, t in model.head.state_dict().items()}}


def equal(a, b):
    return all(torch.equal(x, y) for x, y in zip(weights(a).values(), weights(b).values(), strict=True))


def test_seeds_and_layers_may_be_integers_of_numpy(encoder, toy, tmp_path):
    def model(number):
        ablated = random_init(encoder, number(1), seed=number(3))
        tagger = finetune(ablated, "pos", train=toy(), recipe=FAST, seed=number(2))
        return intervene(tagger, {"noise": number(2), "noise_dose": 0.5}, seed=number(5)), tagger

    (edited, tagger), expected = model(np.int64), model(int)
    assert equal(tagger, expected[1])
    assert evaluate(edited, toy("test")) == evaluate(expected[0], toy("test"))
    save_model(tagger, tmp_path / "model")
    assert load_model(tmp_path / "model").seed == 2


def test_saved_it_predicts_the_same_and_plain_transformers_loads_it(tagger, toy, tmp_path):
    torch.manual_seed(5)
    before = torch.get_rng_state()
    save_model(tagger, tmp_path / "model")
    again = load_model(tmp_path / "model", device="cpu")
    assert torch.equal(torch.get_rng_state(), before)
    assert equal(again, tagger)
    assert not any(part.training for part in (*again.encoder.trained.modules(), *again.head.modules()))
    assert [s.upos for s in predict(again, toy("test")).sentences] == [
        s.upos for s in predict(tagger, toy("test")).sentences
    ]
    assert (again.labels, again.recipe, again.source, again.seed) == (tagger.labels, FAST, "en", 1)
    assert evaluate(again, [toy("test")]).records.equals(evaluate(tagger, [toy("test")]).records)
    assert equal(pickle.loads(pickle.dumps(again)), tagger)
    assert copy.deepcopy(again).facts == again.facts == tagger.facts

    plain = AutoModelForTokenClassification.from_pretrained(tmp_path / "model").eval()
    assert plain.config.label2id == {label: number for number, label in enumerate(tagger.labels)}
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "model")
    for sentence in toy("test").sentences:
        read = tokenizer(list(sentence.words), is_split_into_words=True, return_tensors="pt")
        best = plain(read["input_ids"], read["attention_mask"]).logits[0].argmax(-1).tolist()
        firsts = [read.word_ids().index(w) for w in range(len(sentence))]
        assert (
            tuple(plain.config.id2label[best[i]] for i in firsts)
            == predict(tagger, Corpus((sentence,), "one", "en"))[0].upos
        )


def test_a_head_in_plain_transformers_has_the_dropout_of_the_recipe(encoder, toy, tmp_path):
    recipe = FAST.model_copy(update={"head_dropout": 0.3, "epochs": 1})
    save_model(finetune(encoder, "pos", train=toy(), recipe=recipe), tmp_path / "model")
    assert AutoModelForTokenClassification.from_pretrained(tmp_path / "model").dropout.p == 0.3


def test_settings_of_a_task_that_is_passed_are_those_of_the_saved_model(encoder, toy, tmp_path):
    greedy = find_task("parsing", {"decode": "greedy"})
    save_model(finetune(encoder, greedy, train=toy(), recipe=FAST), tmp_path / "model")
    assert load_model(tmp_path / "model", task=find_task("parsing")).task == greedy


def test_an_ablation_is_remembered(encoder, toy, tmp_path):
    model = finetune(random_init(encoder, "1-2", seed=4), "pos", train=toy(), recipe=FAST, seed=9)
    save_model(model, tmp_path / "model")
    again = load_model(tmp_path / "model", device="cpu")
    assert again.encoder.changes == model.encoder.changes
    assert [change.seed for change in again.encoder.changes] == [4]
    row = evaluate(again, [toy("test")]).records.to_pylist()[0]
    assert (row["ablation"], row["components"], row["seed"]) == ("1-2", "all", 9)


def test_what_was_changed_in_an_encoder_is_read_back_field_by_field(tagger, tmp_path):
    """Also which of its tensors other layers share, and which encoder it was."""
    encoder = freeze(random_init(tagger.encoder, "1-2", seed=4), "3")
    changes = tuple(replace(change, shared=change.tensors[:2]) for change in encoder.changes)
    save_model(replace(tagger, encoder=replace(encoder, changes=changes)), tmp_path / "model")
    again = load_model(tmp_path / "model", device="cpu").encoder
    assert len(again.changes) == 2
    assert again.changes == changes
    assert (again.name, again.origin, again.loaded_digest) == (encoder.name, encoder.origin, encoder.loaded_digest)


def test_a_model_read_in_bfloat16_is_so_again(tagger, tmp_path, monkeypatch):
    monkeypatch.setattr("crosslens.encoders.matmul.has_fast_bfloat16", lambda device: True)  # else there is a warning
    save_model(in_precision(tagger, "bfloat16"), tmp_path / "model")
    again = load_model(tmp_path / "model", device="cpu")
    assert again.computing_encoder.precision == again.encoder.precision == "bfloat16"


def test_damaged_models_are_refused(tagger, tmp_path):
    with pytest.raises(EncoderError, match="nowhere does not exist"):
        load_model(tmp_path / "nowhere")
    (tmp_path / "file").write_text("")
    with pytest.raises(EncoderError, match="file is a file and not a folder, so it is not a model"):
        load_model(tmp_path / "file")
    save_model(tagger, tmp_path / "model")
    with pytest.raises(RequestError, match="exists already"):
        save_model(tagger, tmp_path / "model")
    head = (tmp_path / "model" / "head.safetensors").read_bytes()
    (tmp_path / "model" / "head.safetensors").write_bytes(head[:-4])
    with pytest.raises(EncoderError, match="is damaged"):
        load_model(tmp_path / "model")
    (tmp_path / "model" / "crosslens.json").write_text("{}")
    with pytest.raises(EncoderError, match="is damaged: KeyError"):
        load_model(tmp_path / "model")
    (tmp_path / "model" / "crosslens.json").unlink()
    with pytest.raises(EncoderError, match=r"has no crosslens.json.* \(create one with `crosslens finetune "):
        load_model(tmp_path / "model")


def test_the_encoder_of_a_fine_tuned_model_says_so(encoder, tagger, tmp_path):
    save_model(tagger, tmp_path / "model")
    for loaded in (tagger.encoder, load_model(tmp_path / "model").encoder, load_encoder(tmp_path / "model")):
        assert (loaded.task, loaded.columns["state"], "fine-tuned for pos" in repr(loaded)) == (
            "pos",
            "fine-tuned",
            True,
        )
        assert random_init(loaded, "1-2", seed=1).columns["state"] == "fine-tuned"
        assert random_init(loaded, "0,all", seed=1).columns["state"] == "untrained"
    save_encoder(encoder, tmp_path / "encoder")
    assert load_encoder(tmp_path / "encoder").columns["state"] == "pretrained"
    (tmp_path / "encoder" / DESCRIPTION).write_text("[]")
    with pytest.raises(EncoderError, match="damaged"):
        load_encoder(tmp_path / "encoder")


def test_an_encoder_is_not_evaluated_as_a_model(encoder):
    for use in (lambda: evaluate(encoder, "sample/fr"), lambda: predict(encoder, [["a"]]), lambda: intervene(encoder)):
        with pytest.raises(RequestError, match="a fine-tuned model or its folder is needed, not") as refused:
            use()
        assert "xl.finetune" in refused.value.hint
