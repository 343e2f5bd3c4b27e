"""What a transfer between encoders is made of: states of linked words, seeds, stages and refusals."""

import copy
import shutil
from dataclasses import replace

import numpy as np
import pytest
import torch

from crosslens.alignment import transplant as module
from crosslens.alignment.rotation import fit_rotation
from crosslens.alignment.transplant import linked_states, train_on_layer, transfer_by_layer, transplant
from crosslens.alignment.vectors import occurrences
from crosslens.corpora.catalogue import load_corpus
from crosslens.corpora.parallel import load_parallel
from crosslens.encoders.load import load_encoder
from crosslens.encoders.readouts.transformer import as_tower, mapping_digest, rotated
from crosslens.encoders.reinit import random_init
from crosslens.errors import EncoderError, RequestError
from crosslens.report.layers.by_layer import transfer_lines
from crosslens.training.checkpoint import load_model, save_model
from crosslens.training.evaluate import evaluate
from crosslens.training.finetune import finetune
from crosslens.training.recipe import Recipe

RECIPE = Recipe(batch=6, epochs=1, select="last", encoder_dropout="trained")
CROSSED = (frozenset({(0, 2), (1, 1), (2, 0), (3, 4), (3, 5)}), frozenset(), frozenset({(4, 1), (1, 3)}))
"""Words of the first and third pair of sentences are linked out of order, and one has two links."""


@pytest.fixture(scope="module")
def sides(treebanks):
    return tuple(load_corpus(f"ud/{name}", data=treebanks)[:3] for name in ("en_pud", "fr_pud"))


def test_linked_states_are_those_of_each_word_in_its_own_language(encoder, sides):
    """The second language comes first: it is what is mapped into the first."""
    other = random_init(encoder, "2", seed=1)
    pairs = [(0, 0, 2), (0, 1, 1), (0, 2, 0), (2, 1, 3), (2, 4, 1)]
    x, y = linked_states(encoder, other, sides, CROSSED)
    assert np.array_equal(y, occurrences(encoder, sides[0], [(number, i) for number, i, _ in pairs]))
    assert np.array_equal(x, occurrences(other, sides[1], [(number, j) for number, _, j in pairs]))
    for most, places in ((1, [0]), (2, [0, 4]), (3, [0, 2, 4]), (5, range(5)), (9, range(5))):
        few = linked_states(encoder, other, sides, CROSSED, most=most)
        assert np.array_equal(few[0], x[:, list(places)])
        assert np.array_equal(few[1], y[:, list(places)])


def test_encoders_of_other_shapes_are_named_with_theirs(encoder, shallow, sides):
    with pytest.raises(RequestError, match=r"same hidden size, but .* has 32, .* 16"):
        linked_states(encoder, shallow, sides, CROSSED)


@pytest.fixture
def lower(encoder):
    """The lowest two of the encoder's four layers."""
    half = replace(encoder, model=copy.deepcopy(encoder.model))
    del half.model.encoder.layer[2:]
    half.model.config.num_hidden_layers = 2
    return half


def test_a_head_is_moved_to_an_encoder_of_another_depth_at_the_same_relative_depth(
    encoder, lower, toy, sides, treebanks, tmp_path
):
    (tmp_path / "links").write_text("0-0 1-1 2-2\n" * 6)
    asked = {
        "pair": ("en", "fr"),
        "train": toy(),
        "tests": sides,
        "parallel": load_parallel("ud/pud", data=treebanks),
        "links": tmp_path / "links",
        "recipe": RECIPE,
        "baselines": ("identity",),
    }
    with pytest.raises(RequestError, match=r"same number of layers, but .* has 4, .* 2"):
        transfer_by_layer(encoder, "pos", **asked, against=lower)
    with pytest.raises(RequestError, match=r"layer 1 of .* has no layer of .* at the same relative depth"):
        transfer_by_layer(encoder, "pos", **asked, against=lower, against_layers="relative", layers="1")
    deeper = transfer_by_layer(encoder, "pos", **asked, against=lower, against_layers="relative", layers="0,2")
    rows = deeper.filter(metric="accuracy").records.to_pylist()
    assert [(row["target"], row["layer"], row["target_layer"]) for row in rows] == [
        (target, layer, place)
        for layer, of in ((0, 0), (2, 1))
        for target, place in (("en", None), ("fr", of), ("fr", of))
    ]

    links = (frozenset({(0, 0), (1, 1), (2, 2)}),) * 3
    untested = tuple(load_corpus(f"ud/{name}", data=treebanks)[3:] for name in ("en_pud", "fr_pud"))
    x, y = linked_states(encoder, lower, untested, links)
    assert (len(x), len(y)) == (3, 5)
    rotation = fit_rotation(x[1], y[2])
    model = train_on_layer(encoder, 2, "pos", train=toy(), recipe=RECIPE, rotation=rotation)
    moved = transplant(model, lower, rotation, layer=1)
    assert moved.encoder.readout.layers == (1,)
    score = evaluate(moved, [sides[1]]).filter(metric="accuracy").records["value"][0].as_py()
    row = next(row for row in rows if (row["layer"], row["target"]) == (2, "fr"))
    assert row["value"] == score
    assert row["condition"] == moved.encoder.columns["condition"]  # which has the layer and a digest of the mapping
    save_model(moved, tmp_path / "moved")
    again = load_model(tmp_path / "moved", device="cpu")
    assert evaluate(again, [sides[1]]).records["value"][0].as_py() == score
    (line, *_) = [line for lines in transfer_lines(deeper).values() for line in lines if line.group == "en → fr"]
    assert list(line.by_layer) == [0, 2]
    assert transplant(model, lower, rotation, layer=0).encoder.readout.layers == (0,)
    assert transplant(model, lower, rotation).encoder.readout.layers == model.encoder.readout.layers == (2,)
    with pytest.raises(EncoderError, match="layer 4 does not exist"):
        transplant(model, lower, rotation, layer=4)


def test_a_model_on_a_layer_is_a_tower_that_is_fine_tuned_with_one_seed(encoder, toy):
    def digest(seed, **more):
        return train_on_layer(encoder, 2, "pos", train=toy(), recipe=RECIPE, seed=seed, **more).facts["weights"]

    assert (
        digest(1) == finetune(as_tower(encoder, 2, seed=1), "pos", train=toy(), recipe=RECIPE, seed=1).facts["weights"]
    )
    assert (
        digest(2) == finetune(as_tower(encoder, 2, seed=2), "pos", train=toy(), recipe=RECIPE, seed=2).facts["weights"]
    )
    best = RECIPE.model_copy(update={"select": "best"})
    chosen = train_on_layer(encoder, 2, "pos", train=toy(), dev=toy("dev"), recipe=best, seed=1)
    assert chosen.facts["dev_digest"] == toy("dev").digest


def test_a_mapped_model_says_what_was_done(encoder, toy, sides):
    other = random_init(encoder, "2", seed=1)
    rotation = module.fit_rotations(*(states[1] for states in linked_states(encoder, other, sides, CROSSED)))[
        0
    ].rotation
    model = train_on_layer(encoder, 1, "pos", train=toy(), rotation=rotation, recipe=RECIPE, seed=3)
    trained = model.encoder.changes[-1]
    assert (trained.seed, trained.intervention.layer, trained.intervention.height) == (3, 1, 4)
    assert trained.intervention.mapping == mapping_digest(model.encoder.readout)
    assert trained.intervention.mapped_from is None
    moved = transplant(model, other, rotation, baseline="identity")
    assert [change.intervention.kind for change in moved.encoder.changes] == ["reinit", "tower"]
    mapped = moved.encoder.changes[-1].intervention
    assert (mapped.layer, mapped.height, mapped.mapped_from, mapped.mapped_by) == (1, 4, other.name, "identity")
    assert mapped.mapping == mapping_digest(moved.encoder.readout) != trained.intervention.mapping
    assert transplant(model, other, rotation).encoder.changes[-1].intervention.mapped_by is None
    assert not moved.encoder.readout.training


def test_all_layers_are_trained_on_and_every_stage_is_shown(encoder, toy, treebanks, tmp_path, monkeypatch):
    """With trainings that only note what they are given."""
    links = tmp_path / "links"
    links.write_text("0-0 1-1\n" * 6)
    given, updates = [], []
    french = load_corpus("ud/fr_pud", data=treebanks)[:3]
    train_one = module.train_on_layer
    model = train_one(encoder, 1, "pos", train=toy(), recipe=RECIPE)

    def note(source, layer, task, **more):
        given.append((source.condition.label, layer, task, more["seed"], more["dev"], more["rotation"] is None))
        return model

    monkeypatch.setattr(module, "train_on_layer", note)
    asked = {"pair": ("en", "fr"), "train": toy(), "tests": [french], "dev": toy("dev"), "recipe": RECIPE}
    results = transfer_by_layer(encoder, "pos", **asked, baseline_seeds=(7,), seed=2, progress=updates.append)
    assert given == [
        *(("reference", layer, "pos", 2, asked["dev"], True) for layer in range(5)),
        *(("0-4", layer, "pos", 7, asked["dev"], True) for layer in range(5)),
    ]
    assert results.records["layer"].to_pylist() == [*range(5)] * 2
    assert set(results.records["encoder_digest"].to_pylist()) == {encoder.loaded_digest}
    stage = "training a head on each layer"
    assert [(update.stage, update.done, update.note) for update in updates] == [
        (name, done, f"layer {done}" if done < 5 else "")
        for name in (stage, f"{stage}, untrained")
        for done in range(6)
    ]
    updates.clear()
    parallel = load_parallel("ud/pud", data=treebanks)
    transfer_by_layer(
        encoder,
        "pos",
        **asked,
        against=encoder,
        parallel=parallel,
        links=links,
        layers="1",
        baselines=(),
        progress=updates.append,
    )
    assert list(dict.fromkeys(update.stage for update in updates)) == ["aligning words", "learning rotations", stage]
    assert not given[-1][-1]
    with pytest.raises(RequestError, match="learnt from parallel sentences") as refused:
        transfer_by_layer(encoder, "pos", **asked, against=encoder)
    assert "such as ud/pud" in refused.value.hint


def test_links_are_made_by_the_aligner_where_no_file_is_given(encoder, toy, treebanks, monkeypatch):
    calls = []

    def align(source, target):
        calls.append((source, target))
        return tuple(frozenset({(0, 0), (1, 1)}) for _ in source)

    monkeypatch.setattr(module, "align_words", align)
    parallel = load_parallel("ud/pud", data=treebanks)
    asked = {"pair": ("en", "fr"), "train": toy(), "recipe": RECIPE, "layers": "1", "against": encoder}
    tested = replace(parallel["en"][:1], language="fr")  # in French, nothing of it is in the parallel sentences
    results = transfer_by_layer(encoder, "pos", **asked, parallel=parallel, tests=[tested], baselines=())
    assert calls == [(parallel["en"], parallel["fr"])]
    assert results.records["target"].to_pylist() == ["fr"]
    assert "mapped_from" in results.records["condition"][0].as_py()
    assert "shared_pairs" not in results.tags()[0]


def test_no_mapping_is_learnt_from_tested_sentences(encoder, toy, treebanks, monkeypatch):
    """Words are aligned in the other sentences only; those that are tested may lack the comment with their text."""
    calls = []

    def align(source, target):
        calls.append((source, target))
        return (frozenset({(0, 0), (1, 1)}),) * len(source)

    monkeypatch.setattr(module, "align_words", align)
    read = load_parallel("ud/pud", data=treebanks)
    spaced = [replace(s, lines=tuple(line.replace(" .\n", ".\n") for line in s.lines)) for s in read["fr"]]
    parallel = replace(read, corpora={**read.corpora, "fr": replace(read["fr"], items=tuple(spaced))})
    bare = [replace(sentence, lines=None) for sentence in parallel["fr"][4:]]
    asked = {"pair": ("en", "fr"), "train": toy(), "recipe": RECIPE, "layers": "1", "against": encoder}
    tests = [replace(parallel["fr"], items=tuple(bare), name="fr-half"), parallel["en"]]
    results = transfer_by_layer(encoder, "pos", **asked, parallel=parallel, tests=tests, baselines=())
    ((source, target),) = calls
    assert (source.items, target.items) == (parallel["en"].items[:4], parallel["fr"].items[:4])
    assert [tags["shared_pairs"] for tags in results.tags()] == [2, 2]
    assert [tags["sentences"] for tags in results.tags()] == [2, 6]  # beside what every evaluation tells
    with pytest.raises(RequestError, match="all 6 sentences of ud/pud are tested in fr") as refused:
        transfer_by_layer(encoder, "pos", **asked, parallel=parallel, tests=[parallel["fr"]])
    assert "other sentences" in refused.value.hint


def test_no_mapping_is_learnt_from_sentences_tested_in_pairs(encoder, toy, treebanks, monkeypatch):
    """XNLI's parallel sentences are hypotheses, and its test data pairs of a premise and a hypothesis."""
    calls = []

    def align(source, target):
        calls.append((source, target))
        return (frozenset({(0, 0), (1, 1)}),) * len(source)

    monkeypatch.setattr(module, "align_words", align)
    parallel, test = load_parallel("xnli/test", data=treebanks), load_corpus("xnli/fr:test", data=treebanks)[:2]
    asked = {"pair": ("en", "fr"), "train": toy(task="nli"), "recipe": RECIPE, "layers": "1", "against": encoder}
    results = transfer_by_layer(encoder, "nli", **asked, parallel=parallel, tests=[test], baselines=())
    tested = {segment for pair in test for segment in pair.segments}
    assert len(tested) == 3
    ((_, learnt),) = calls
    assert [item.id for item in learnt] == [item.id for item in parallel["fr"] if item.text not in tested]
    assert {tags["shared_pairs"] for tags in results.tags()} == {2}


def test_the_head_is_trained_on_the_first_language_and_tested_on_the_second(encoder, toy, sides):
    asked = {"recipe": RECIPE, "layers": "0", "baselines": ()}
    with pytest.raises(RequestError, match="trained on fr, the first language of the pair, but ud/en_toy:train is en"):
        transfer_by_layer(encoder, "pos", pair=("fr", "en"), train=toy(), tests=sides, **asked)
    with pytest.raises(RequestError, match="no test corpus is in de, the second language of the pair"):
        transfer_by_layer(encoder, "pos", pair=("en", "de"), train=toy(), tests=sides, **asked)
    unknown = replace(toy(), language=None)
    assert len(transfer_by_layer(encoder, "pos", pair=("en", "fr"), train=unknown, tests=sides, **asked)) == 2


def test_a_laboratory_encoder_is_recorded_under_its_given_name(encoder, toy, sides, tmp_path):
    """As in all other records, also where it is the second encoder."""
    shutil.copytree(encoder.name, tmp_path / "lab-good")
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab/pretrain.yaml").touch()
    laboratory = load_encoder(tmp_path / "lab-good", device="cpu")
    rotation = fit_rotation(np.eye(32), np.eye(32))
    model = train_on_layer(laboratory, 1, "pos", train=toy(), rotation=rotation, recipe=RECIPE)
    assert transplant(model, laboratory, rotation).encoder.changes[-1].intervention.mapped_from == "lab:good"
    asked = {"pair": ("en", "fr"), "train": toy(), "tests": sides[1:], "recipe": RECIPE, "layers": "1"}
    (record,) = transfer_by_layer(laboratory, "pos", **asked, baselines=())
    assert record.encoder == "lab:good"


def test_mappings_are_told_apart_by_their_means_and_their_matrix(encoder):
    readout = as_tower(encoder, 2, seed=1, height=1).readout
    ones, unit = torch.ones(1, encoder.width), torch.eye(encoder.width)
    mappings = [(ones, unit), (2 * ones, unit), (ones, unit.flip(0)), (torch.cat([ones, ones]), unit)]
    digests = [mapping_digest(rotated(readout, means, matrix)) for means, matrix in mappings]
    assert len(set(digests)) == 4
    assert mapping_digest(rotated(readout, ones.clone(), unit.clone())) == digests[0]


def test_corpora_may_be_named(encoder):
    asked = {"pair": ("en", "fr"), "layers": "1", "recipe": RECIPE, "baselines": ()}
    train, tests = load_corpus("sample/en:train[:4]"), [load_corpus("sample/fr[:2]")]
    named = transfer_by_layer(encoder, "pos", train="sample/en[:4]", tests="sample/fr[:2]", **asked)
    assert named.records.equals(transfer_by_layer(encoder, "pos", train=train, tests=tests, **asked).records)
