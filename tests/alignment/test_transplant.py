"""Heads on one fixed layer, and what reads them in the source's place."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from crosslens.alignment.baselines import baseline_of
from crosslens.alignment.measure import sentence_retrieval
from crosslens.alignment.rotation import Normalisation, Rotation, fit_rotation
from crosslens.alignment.transplant import linked_states, train_on_layer, transfer_by_layer, transplant
from crosslens.corpora.catalogue import load_corpus
from crosslens.corpora.parallel import load_parallel
from crosslens.encoders.load import load_encoder
from crosslens.encoders.readouts.transformer import as_tower
from crosslens.encoders.reinit import random_init, untrained_pair
from crosslens.errors import EncoderError, RequestError
from crosslens.training.checkpoint import load_model, save_model
from crosslens.training.evaluate import evaluate
from crosslens.training.finetune import finetune
from crosslens.training.predict import predict
from crosslens.training.recipe import Recipe

RECIPE = Recipe(batch=3, epochs=40, learning_rate=3e-3, select="last", encoder_dropout="trained")


@pytest.fixture(scope="module")
def encoder(tiny_bert):
    return load_encoder(tiny_bert, device="cpu")


@pytest.fixture(scope="module")
def data(treebanks):
    return {name: load_corpus(f"ud/{name}", data=treebanks) for name in ("en_toy:train", "fr_pud", "en_pud")}


@pytest.fixture(scope="module")
def tests(data):
    """The sentences that a mapping learnt from the others is tested on."""
    return [data[name][:3] for name in ("en_pud", "fr_pud")]


def aligned(data):
    return tuple(
        frozenset((i, i) for i in range(min(len(a), len(b))))
        for a, b in zip(data["en_pud"].sentences, data["fr_pud"].sentences, strict=True)
    )


def learnt(data):
    """The sentences that are not tested, and their links."""
    return tuple(data[name][3:] for name in ("en_pud", "fr_pud")), aligned(data)[3:]


def rotations_of(encoder, other, sentences, links):
    return [fit_rotation(x, y) for x, y in zip(*linked_states(encoder, other, sentences, links), strict=True)]


def tags(corpus):
    return [sentence.upos for sentence in corpus.sentences]


def test_only_the_fresh_layers_learn_and_only_one_layer_is_read(encoder, data):
    model = train_on_layer(encoder, 1, "pos", train=data["en_toy:train"], recipe=RECIPE)
    before, after = dict(encoder.model.named_parameters()), dict(model.encoder.model.named_parameters())
    assert all(torch.equal(before[name], after[name]) for name in before)
    assert [s.upos for s in predict(model, data["en_pud"]).sentences] == tags(data["en_pud"])
    other = random_init(encoder, "2", seed=1)  # a layer above the one that is read
    same = transplant_plain(model, other)
    assert tags(predict(same, data["fr_pud"])) == tags(predict(model, data["fr_pud"]))


def transplant_plain(model, encoder):
    return replace(model, encoder=replace(model.encoder, model=encoder.model))


def test_a_turned_encoder_is_turned_back(encoder, data):
    """The target is the source's own encoder: its words are linked with themselves, so the rotation is none."""
    both = (data["en_pud"], data["en_pud"])
    links = tuple(frozenset((i, i) for i in range(len(s))) for s in data["en_pud"].sentences)
    rotations = rotations_of(encoder, encoder, both, links)
    assert len(rotations) == encoder.depth + 1
    model = train_on_layer(encoder, 2, "pos", train=data["en_toy:train"], rotation=rotations[2], recipe=RECIPE)
    moved = transplant(model, encoder, rotations[2])
    assert tags(predict(moved, data["en_pud"])) == tags(predict(model, data["en_pud"]))
    turn = torch.linalg.qr(torch.randn(encoder.width, encoder.width, generator=torch.Generator().manual_seed(1)))[0]
    turned = Rotation(rotations[2].source, rotations[2].target, rotations[2].matrix @ turn.numpy())
    assert tags(predict(transplant(model, encoder, turned), data["en_pud"])) != tags(predict(model, data["en_pud"]))


def test_each_encoder_is_normalised_by_its_own_means(encoder, data):
    other = random_init(encoder, "1", seed=7)
    rotation = rotations_of(encoder, other, (data["en_pud"], data["fr_pud"]), aligned(data))[1]
    assert not np.allclose(rotation.source.means, rotation.target.means, atol=1e-2)
    recipe = RECIPE.model_copy(update={"epochs": 1})
    model = train_on_layer(encoder, 1, "pos", train=data["en_toy:train"], rotation=rotation, recipe=recipe)
    moved = transplant(model, other, rotation)
    # The rotation's target is the space that the head was trained in; its source is the other encoder's.
    for top, means, matrix in (
        (model.encoder.readout, rotation.target.means, np.eye(encoder.width)),
        (moved.encoder.readout, rotation.source.means, rotation.matrix),
    ):
        assert np.allclose(top.means.numpy(), means, atol=1e-6)
        assert np.allclose(top.matrix.numpy(), matrix, atol=1e-6)


def test_it_is_saved_and_loaded(encoder, data, tmp_path):
    rotations = rotations_of(encoder, encoder, (data["en_pud"], data["fr_pud"]), aligned(data))
    model = train_on_layer(encoder, 1, "pos", train=data["en_toy:train"], rotation=rotations[1], recipe=RECIPE)
    for name, its in (("plain", model), ("moved", transplant(model, encoder, rotations[1]))):
        save_model(its, tmp_path / name)
        again = load_model(tmp_path / name, device="cpu")
        assert tags(predict(again, data["fr_pud"])) == tags(predict(its, data["fr_pud"]))
        assert again.encoder.condition == its.encoder.condition


def test_all_layers_in_one_call(encoder, data, tests, treebanks, tmp_path):
    """Each language is read by its own encoder, and every score is that of the same steps one by one."""
    (tmp_path / "links").write_text("".join(" ".join(f"{i}-{j}" for i, j in links) + "\n" for links in aligned(data)))
    recipe = RECIPE.model_copy(update={"epochs": 2})
    other = random_init(encoder, "2", seed=1)
    updates = []
    results = transfer_by_layer(
        encoder,
        "pos",
        pair=("en", "fr"),
        train=data["en_toy:train"],
        tests=tests,
        against=other,
        parallel=load_parallel("ud/pud", data=treebanks),
        links=tmp_path / "links",
        layers="0,3",
        recipe=recipe,
        baselines=(),
        progress=updates.append,
    )
    rotations = rotations_of(encoder, other, *learnt(data))
    expected = {}
    for layer in (0, 3):
        model = train_on_layer(
            encoder, layer, "pos", train=data["en_toy:train"], rotation=rotations[layer], recipe=recipe
        )
        expected[layer, "en"] = evaluate(model, tests[:1]).records["value"][0].as_py()
        moved = transplant(model, other, rotations[layer])
        expected[layer, "fr"] = evaluate(moved, tests[1:]).records["value"][0].as_py()
    rows = results.records.to_pylist()
    assert {(row["layer"], row["target"]): row["value"] for row in rows} == expected
    assert [tags["shared_pairs"] for tags in results.tags()] == [3] * len(rows)
    assert {row["encoder"] for row in rows} == {encoder.name}
    assert (updates[-1].done, updates[-1].total, updates[-1].unit) == (2, 2, "layers")
    with pytest.raises(RequestError, match="learnt from parallel sentences"):
        transfer_by_layer(encoder, "pos", pair=("en", "fr"), train=data["en_toy:train"], tests=[], against=other)


def test_transfer_has_its_baselines(encoder, data, tests, treebanks, tmp_path):
    """Each is what the same steps give one by one, and says what it is."""
    (tmp_path / "links").write_text("".join(" ".join(f"{i}-{j}" for i, j in links) + "\n" for links in aligned(data)))
    recipe = RECIPE.model_copy(update={"epochs": 2})
    other = random_init(encoder, "2", seed=1)
    asked = {
        "pair": ("en", "fr"),
        "train": data["en_toy:train"],
        "tests": tests,
        "parallel": load_parallel("ud/pud", data=treebanks),
        "links": tmp_path / "links",
        "layers": "1",
        "recipe": recipe,
    }
    results = transfer_by_layer(encoder, "pos", **asked, against=other, baseline_seeds=(7,))
    rows = results.filter(metric="accuracy").records.to_pylist()
    assert [(baseline_of(row), row["target"], row["seed"]) for row in rows] == [
        (None, "en", 1),
        (None, "fr", 1),
        ("shuffled", "fr", 7),
        ("identity", "fr", 1),
        ("untrained", "en", 7),
        ("untrained", "fr", 7),
    ]
    x, y = linked_states(encoder, other, *learnt(data))
    rotation = fit_rotation(x[1], y[1])
    model = train_on_layer(encoder, 1, "pos", train=data["en_toy:train"], rotation=rotation, recipe=recipe)
    unrotated = replace(rotation, matrix=np.eye(encoder.width))
    score = evaluate(transplant(model, other, unrotated), tests[1:]).records["value"][0].as_py()
    assert score == rows[3]["value"]
    fresh = untrained_pair(encoder, other, seed=7)
    alone = transfer_by_layer(fresh[0], "pos", **asked, against=fresh[1], seed=7, baselines=())
    assert alone.filter(metric="accuracy").records["value"].to_pylist() == [row["value"] for row in rows[-2:]]
    single = transfer_by_layer(encoder, "pos", **asked, baseline_seeds=(7, 8))
    assert [baseline_of(row) for row in single.filter(target="fr", metric="accuracy").records.to_pylist()] == [
        None,
        "untrained",
        "untrained",
    ]


def test_what_cannot_be_transplanted(encoder, data):
    usual = finetune(encoder, "pos", train=data["en_toy:train"], recipe=RECIPE.model_copy(update={"epochs": 1}))
    none = Rotation(Normalisation(np.zeros((0, 1))), Normalisation(np.zeros((0, 1))), np.eye(1))
    with pytest.raises(RequestError, match="only a model trained on one fixed layer"):
        transplant(usual, encoder, none)
    with pytest.raises(EncoderError, match="layer 9 does not exist"):
        as_tower(encoder, 9, seed=1)
    with pytest.raises(RequestError, match=r"no word of .* has exactly one link"):
        linked_states(encoder, encoder, (data["en_pud"], data["fr_pud"]), (frozenset(),) * 6)


def test_sentences_are_found_in_ones_own_language_without_a_fault(encoder, treebanks, data):
    sides = load_parallel("ud/pud", data=treebanks)
    twice = replace(sides, corpora={"en": sides["en"], "fr": replace(sides["en"], language="fr")})
    asked = {"pair": ("en", "fr"), "mapping": "identity", "baselines": ()}
    found = sentence_retrieval(encoder, encoder, train=twice, test=twice, **asked)
    values = found.records["value"].to_pylist()
    assert len(values) == 2 * (encoder.depth + 1)
    assert set(values) == {100.0}


def test_sentences_have_their_baselines(encoder, treebanks):
    """Translations by an encoder of its own each: what is shuffled, unmapped or untrained is measured beside it."""
    train, test = (load_parallel(name, data=treebanks) for name in ("ud/pud[:3]", "ud/pud[3:]"))
    other = random_init(encoder, "2", seed=1)
    asked = {"train": train, "test": test, "pair": ("en", "fr")}
    results = sentence_retrieval(encoder, other, **asked, baseline_seeds=(1, 2))
    rows = results.filter(layer=2, source="en").records.to_pylist()
    assert [(row["measure"], row["state"], row["seed"]) for row in rows] == [
        ("sentences procrustes", "pretrained", 1),
        ("sentences procrustes_shuffled", "pretrained", 1),
        ("sentences procrustes_shuffled", "pretrained", 2),
        ("sentences identity", "pretrained", 1),
        ("sentences procrustes", "untrained", 1),
        ("sentences procrustes", "untrained", 2),
    ]
    fresh = untrained_pair(encoder, other, seed=2)
    alone = sentence_retrieval(*fresh, **asked, baselines=()).records["value"].to_pylist()
    untrained = results.filter(state="untrained", seed=2).records
    assert untrained["value"].to_pylist() == alone
    assert set(untrained["encoder"].to_pylist()) == {encoder.name}
    assert all(baseline_of(row) == "untrained" for row in untrained.to_pylist())
    both = sentence_retrieval(encoder, encoder, **asked, mapping="identity")
    assert {(row["measure"], row["state"]) for row in both.records.to_pylist()} == {
        ("sentences identity", "pretrained"),
        ("sentences identity", "untrained"),
    }


def test_a_text_in_place_of_two_languages_is_refused(encoder):
    with pytest.raises(RequestError, match="a pair is two languages"):
        transfer_by_layer(encoder, "pos", pair="en-fr", train="lab/src", tests="lab/adj")  # pyright: ignore
