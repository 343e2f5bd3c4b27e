"""What the package offers on a second device: no tensor is left on the other one, and the numbers are the CPU's."""

import numpy as np
import pytest
import torch

import crosslens as xl
from crosslens.alignment.vectors import contextual_vectors, table_vectors
from crosslens.data.dictionary import of_words
from crosslens.encoders.load import save_encoder
from crosslens.tasks import find_task
from toys import SENTENCES


def recipe(**settings):
    return xl.Recipe(batch=6, epochs=2, learning_rate=1e-3, **{"select": "last", **settings})


@pytest.fixture
def devices(second_device):
    return "cpu", str(second_device)


@pytest.fixture
def encoders(tiny_bert, devices):
    return [xl.load_encoder(tiny_bert, device=device) for device in devices]


@pytest.fixture
def english(treebanks, monkeypatch):
    monkeypatch.setenv("CROSSLENS_DATA", str(treebanks))
    return xl.load_corpus("ud/en_toy:train")


def alike(results):
    """Assert that two results have the same values."""
    a, b = (each.records["value"].to_pylist() for each in results)
    assert a
    assert b == pytest.approx(a, abs=2e-3)


def losses(encoder, task, train, settings):
    """Mean loss after each step."""
    values = []
    xl.finetune(encoder, task, train=train, recipe=settings, stepped=lambda _, loss: values.append(loss))
    return values


@pytest.mark.parametrize("task", ["pos", "parsing", "ner", "document", "nli"])
@pytest.mark.parametrize("how", ["whole", "features", "frozen", "eight bits", "micro-batches"])
def test_finetune(encoders, toy, task, how):
    settings = {"frozen": {"encoder_dropout": "trained"}, "micro-batches": {"micro_batch": 2}}.get(how, {})
    if how == "features":
        encoders = [xl.as_features(each, seed=1) for each in encoders]
    if how == "eight bits":
        encoders = [xl.load_encoder(each.name, quantize="int8", device=each.device) for each in encoders]
    if how in ("frozen", "eight bits"):
        encoders = [xl.freeze(each, "0-2") for each in encoders]
    a, b = (losses(each, task, toy("train", task=task), recipe(**settings)) for each in encoders)
    assert a
    assert b == pytest.approx(a, abs=2e-3)


@pytest.mark.parametrize(("task", "settings"), [("document", {"pooling": "mean"}), ("parsing", {"tags": "gold"})])
def test_settings_of_tasks(encoders, toy, task, settings):
    a, b = (losses(each, find_task(task, settings), toy("train", task=task), recipe()) for each in encoders)
    assert a
    assert b == pytest.approx(a, abs=2e-3)


@pytest.mark.parametrize("task", ["pos", "parsing"])
def test_a_model_is_evaluated_saved_and_loaded(encoders, devices, english, tmp_path, task):
    french = xl.load_corpus("ud/fr_pud")
    values = []
    for encoder, device in zip(encoders, devices, strict=True):
        model = xl.finetune(encoder, task, train=english, dev=english, recipe=recipe(select="best"))
        results = xl.evaluate(model, french)
        xl.save_model(model, tmp_path / device[:3])
        again = xl.load_model(tmp_path / device[:3], device=device)
        assert xl.evaluate(again, french).records["value"].to_pylist() == results.records["value"].to_pylist()
        assert list(xl.predict(again, french)) == list(xl.predict(model, french))
        values.append(results)
    alike(values)


@pytest.mark.parametrize(
    "change",
    [
        "1-2:zero",
        "1-2:mean",
        "1-2:resample",
        "1-2:revert",
        "2.output:noise=0.5",
        "2.output:rotate=30",
        "1.attention.head.0:zero",
        "3.ffn.neuron.1-5:mean",
        "0:mean",
        "3.output:erase=ud/en_pud",
        "2.output:patch=ud/en_pud;by=sentences",
        "2.output:patch=ud/en_pud;links=links.txt",
    ],
)
def test_intervene(encoders, english, change, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "links.txt").write_text("0-0 1-1 2-2\n" * len(SENTENCES["fr"]), "utf-8")
    models = [xl.finetune(each, "pos", train=english, recipe=recipe()) for each in encoders]
    alike([xl.evaluate(xl.intervene(model, change, seed=3), "ud/fr_pud") for model in models])


def test_swap(encoders, english, tmp_path):
    models = [xl.finetune(each, "pos", train=english, recipe=recipe()) for each in encoders]
    xl.save_model(models[0], tmp_path / "other")
    alike([xl.evaluate(xl.intervene(each, f"1-2:swap={tmp_path / 'other'}"), "ud/fr_pud") for each in models])


def test_add_the_change_of_an_adapted_encoder(encoders, english, tmp_path):
    models = [xl.finetune(each, "pos", train=english, recipe=recipe()) for each in encoders]
    save_encoder(xl.random_init(encoders[0], "1-2", seed=2), tmp_path / "adapted")
    alike([xl.evaluate(xl.intervene(each, f"1-2:add={tmp_path / 'adapted'}"), "ud/fr_pud") for each in models])


@pytest.mark.parametrize("reading", [{"repeat": 2}, {"subword": "last"}])
def test_read_as(encoders, english, reading):
    alike([xl.compare(xl.read_as(each, **reading), "ud/pud", pairs=["en-fr"]) for each in encoders])


def test_compare(encoders, english):
    measures = ["cka", "cka_debiased", "cka_shuffled", "retrieval", "mexa", "anc"]
    alike([xl.compare(each, "ud/pud", pairs=["en-fr"], measures=measures) for each in encoders])
    alike(
        [xl.compare(each, "ud/pud", pairs=["en-fr"], against=xl.random_init(each, "all", seed=2)) for each in encoders]
    )


def test_probe(encoders, english):
    probed = [xl.probe(each, "upos", train=english[:3], test=english[3:]) for each in encoders]
    assert np.array_equal(probed[0].confusion, probed[1].confusion)


def test_align(encoders, english, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "links.txt").write_text("0-0 1-1 2-2\n" * 3, "utf-8")
    texts = xl.load_corpus("ud/en_pud"), xl.load_corpus("ud/fr_pud")
    words_known = [("the", "le"), ("dog", "chien"), ("cat", "chat")], [("in", "dans"), ("old", "vieil")]
    dictionaries = [of_words(pairs, name="toy") for pairs in words_known]
    halves = [
        xl.Parallel({each.language: each[part] for each in texts}, name="toy") for part in (slice(3), slice(3, None))
    ]
    sentences, words, transferred = [], [], []
    for encoder in encoders:
        other = xl.random_init(encoder, "2", seed=1)
        sentences.append(
            xl.sentence_retrieval(
                *(encoder, other), train=halves[0], test=halves[1], pair=("en", "fr"), mapping="identity"
            )
        )
        vectors = [contextual_vectors(each, text) for each, text in zip((encoder, other), texts, strict=True)]
        words.append(xl.word_translation(*vectors, train=dictionaries[0], test=dictionaries[1], mapping="identity"))
        transferred.append(
            xl.transfer_by_layer(
                *(encoder, "pos"),
                **{"pair": ("en", "fr"), "parallel": halves[0], "links": "links.txt", "against": other},
                **{"train": english, "tests": [*halves[1].corpora.values()], "recipe": recipe()},
            )
        )
    alike(sentences)
    alike(words)
    assert len(transferred[0]) == len(transferred[1]) > 0  # a rotation learnt from so few words depends on rounding


def test_vectors_of_the_embeddings(encoders):
    a, b = (table_vectors(each) for each in encoders)
    assert a.words == b.words
    assert np.array_equal(a.vectors, b.vectors)


def test_pretrain_and_adapt(devices, tmp_path, english):
    for language in ("en", "fr"):
        (tmp_path / f"{language}.txt").write_text("\n".join(SENTENCES[language] * 40) + "\n", "utf-8")
    settings = xl.Pretraining(
        corpora={"en": "en.txt", "fr": "fr.txt"},
        vocabulary={"kind": "words", "size": 200},
        shape={"layers": 2, "width": 16, "heads": 2, "feedforward": 32, "positions": 32},
        steps=3,
        batch=2,
        reading="lines",
    )
    loss = []
    for device in devices:
        folder = tmp_path / device[:3]
        facts = xl.pretrain(settings, folder, base=tmp_path, device=device)
        adapted = xl.adapt(
            *(folder, {"fr": str(tmp_path / "fr.txt")}, tmp_path / f"{device[:3]}-fr"),
            **{"settings": xl.Adaptation(epochs=1), "device": device},
        )
        loss.append([facts["loss"], adapted["perplexity fr"]])
    assert loss[1] == pytest.approx(loss[0], rel=1e-3)


def test_the_device_refuses_what_a_gpu_refuses(second_device):
    here, there = torch.ones(2, 3), torch.ones(2, 3, device=second_device)
    for work in (lambda: here + there, lambda: torch.cat([here, there]), lambda: there @ here.T, lambda: there * here):
        with pytest.raises(RuntimeError, match="expected all tensors on one device, but found second and cpu"):
            work()
    with pytest.raises((RuntimeError, TypeError)):
        np.asarray(there)
    assert torch.equal((there + here.to(second_device) * torch.tensor(2.0)).cpu(), here * 3)
