"""The option ``--quantize`` of the commands that take an encoder."""

import pytest

from crosslens.encoders.condition import Condition
from crosslens.encoders.load import load_encoder, save_encoder
from crosslens.runs.recorded import read_results
from crosslens.similarity.compare import compare
from crosslens.training.checkpoint import load_model
from toy_commands import rows_of

TRAINED = ("--train", "ud/en_toy", "--test", "ud/fr_pud", "--set", "epochs=1", "--device", "cpu")


@pytest.fixture
def rounded(tiny_bert, tmp_path):
    """The same encoder with rounded weights, in float32."""
    save_encoder(load_encoder(tiny_bert, quantize="int8", device="cpu"), tmp_path / "rounded")
    return tmp_path / "rounded"


def values(file):
    return [(row["layer"], row["measure"], row["metric"], row["value"]) for row in rows_of(file)]


def test_similarities_are_those_of_the_rounded_weights(run, tiny_bert, rounded):
    asked = ("--pairs", "en-fr", "--measures", "cka", "--device", "cpu", "--out")
    assert run("compare", tiny_bert, "--quantize", "int8", *asked, "held")[0] == 0
    assert run("compare", rounded, *asked, "dense")[0] == 0
    assert values("held/results.csv") == values("dense/results.csv")
    assert {row["condition"] for row in rows_of("held/results.csv")} == {'{"quantize": "int8"}'}


def test_two_encoders_are_compared_in_one_format(run, tiny_bert, rounded):
    asked = ("--pairs", "en-fr", "--measures", "cka", "--device", "cpu", "--out")
    assert run("compare", tiny_bert, "--against", tiny_bert, "--quantize", "int8", *asked, "held")[0] == 0
    assert run("compare", rounded, "--against", rounded, *asked, "dense")[0] == 0
    assert values("held/results.csv") == values("dense/results.csv")


def test_layers_of_a_fine_tuned_model_are_re_initialised_after_rounding_as_in_studies(run, tiny_bert, treebanks):
    assert run("finetune", "pos", tiny_bert, *TRAINED, "--keep-model", "--out", "tagger")[0] == 0
    asked = ("--pairs", "en-fr", "--measures", "cka", "--device", "cpu", "--quantize", "int8", "--random-init", "1-2")
    assert run("compare", "tagger/model", *asked, "--out", "similarity")[0] == 0
    encoder = load_model("tagger/model", device="cpu").encoder
    for part in Condition.read({"quantize": "int8", "layers": "1-2"}).interventions:
        encoder = part.apply(encoder, seed=1)
    expected = compare(encoder, "ud/pud", pairs=["en-fr"], measures=["cka"], data=treebanks)
    similarities = read_results("similarity").records
    assert similarities["value"].to_pylist() == expected.records["value"].to_pylist()
    assert set(similarities["condition"].to_pylist()) == set(expected.records["condition"].to_pylist())


def test_a_low_rank_update_trains_over_them(run, tiny_bert, treebanks):
    pytest.importorskip("peft", reason="needs PEFT: pip install 'crosslens[lora]'")
    over = ("--lora", "2", "--quantize", "int8", "--out", "held")
    status, shown, said = run("finetune", "pos", tiny_bert, *TRAINED, *over)
    assert (status, "quantize=int8 lora 2" in " ".join(shown.split())) == (0, True), said
    (condition,) = {Condition.parse(row["condition"]) for row in rows_of("held/results.csv")}
    assert {part.kind for part in condition.interventions} == {"quantize", "lora"}


def test_training_all_weights_and_other_formats_are_refused(run, tiny_bert, treebanks):
    status, _, said = run("finetune", "pos", tiny_bert, *TRAINED, "--quantize", "int8", "--out", "all")
    assert (status, "all weights in eight bits would be trained" in said, "--lora" in said) == (2, True, True), said
    for command in (("finetune", "pos", tiny_bert, *TRAINED), ("compare", tiny_bert, "--pairs", "en-fr")):
        status, _, said = run(*command, "--quantize", "int4", "--out", "other")
        assert (status, "quantize: input should be 'int8'" in said) == (2, True), said
