"""What is wrong with a request for fine-tuning is found before work begins."""

import sys
from contextlib import nullcontext

import pytest

import crosslens.runs.finetuning as finetuning
from crosslens.errors import DataError, EncoderError, RequestError
from crosslens.runs.finetuning import check_finetuning, finetune_and_evaluate
from fake_wandb import FakeWandb
from toy_architectures import fresh
from toys import word_piece

ROLES = ("train", "dev", "test")


def names(folder, unannotated):
    """Names of corpora by role; one of them is a file without annotation."""
    plain = folder / "plain.txt"
    plain.write_text("the cat sees a small dog .\n", "utf-8")
    corpora = {"train": "ud/en_toy", "dev": "ud/en_toy", "test": "ud/fr_pud"} | {unannotated: str(plain)}
    return {"train": corpora["train"], "dev": corpora["dev"], "tests": [corpora["test"]]}


@pytest.mark.parametrize("unannotated", ROLES)
def test_data_without_annotation_are_refused_before_an_encoder_is_loaded(treebanks, tmp_path, monkeypatch, unannotated):
    monkeypatch.setattr(finetuning, "check_encoder", lambda _: None)
    monkeypatch.setattr(finetuning, "describe_encoder", lambda *_: pytest.fail("an encoder was loaded"))
    monkeypatch.setattr(finetuning, "train_model", lambda *_, **__: pytest.fail("training began"))
    with pytest.raises(DataError, match=r"plain\.txt.*has no UPOS tags"):
        finetune_and_evaluate("nowhere", "pos", **names(tmp_path, unannotated), data=str(treebanks))


def test_an_encoder_is_named_and_one_test_corpus_needs_no_list(encoder, tiny_bert, treebanks):
    request = {"train": "ud/en_toy", "recipe": "small", "data": str(treebanks)}
    records = finetune_and_evaluate(tiny_bert, "pos", tests="ud/fr_pud", **request)
    assert [record.corpus for record in records] == ["ud/fr_pud:test"]
    with pytest.raises(RequestError, match="an encoder has a name or a folder, not the type Encoder"):
        finetune_and_evaluate(encoder, "pos", tests="ud/fr_pud", **request)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"encoder": "./nowhere"}, "folder ./nowhere not found"),
        ({"train": "nowhere.conllu"}, "corpus file 'nowhere.conllu' not found"),
        ({"tests": ["nowhere.conllu"]}, "corpus file 'nowhere.conllu' not found"),
        ({}, "so its dev data must be given too"),
    ],
)
def test_a_wrong_name_is_reported_before_a_missing_one(tiny_bert, treebanks, wrong, message):
    (path,) = treebanks.glob("ud/*/en_toy-ud-train.conllu")
    request = {"encoder": tiny_bert, "task": "pos", "train": str(path), "tests": ["ud/fr_pud"]} | wrong
    with pytest.raises((DataError, EncoderError), match=message):
        finetune_and_evaluate(**request, data=str(treebanks))


def test_the_dev_data_are_those_of_the_training_data_where_they_are_needed(treebanks):
    def dev_of(**settings):
        tests = ["ud/en_pud", "ud/en_pud:test", "ud/*_pud"]  # each is evaluated once
        request = check_finetuning(
            "pos", train="ud/en_toy", tests=tests, recipe="small", settings=settings, data=str(treebanks)
        )
        assert (request.train, request.tests) == ("ud/en_toy", ("ud/en_pud", "ud/fr_pud"))
        return request.dev

    assert dev_of(select="best") == "ud/en_toy:dev"
    assert dev_of(select="last", schedule="plateau") == "ud/en_toy:dev"
    assert dev_of(select="last", schedule="linear") is None
    with pytest.raises(RequestError, match="name of the training data is empty"):
        check_finetuning("pos", train="", tests=["ud/fr_pud"], data=str(treebanks))


@pytest.mark.parametrize("out", ["out", "out/"])
def test_the_training_state_stays_until_the_results_are_written(tiny_bert, treebanks, tmp_path, monkeypatch, out):
    """After a failure to write them, the same call resumes from it."""

    def finetuned():
        finetune_and_evaluate(
            tiny_bert,
            "pos",
            train="ud/en_toy",
            tests=["ud/fr_pud"],
            recipe="small",
            settings={"epochs": 1, "batch": 6},
            data=str(treebanks),
            device="cpu",
            out=f"{tmp_path}/{out}",
            predictions=tmp_path / "predictions",
            save_every=1,
        )

    state = tmp_path / "out.state"
    with monkeypatch.context() as patch:
        patch.setattr(finetuning, "write_recorded", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            finetuned()
    assert [path.name for path in tmp_path.iterdir()] == ["out.state"]
    finetuned()
    assert (tmp_path / "predictions").is_dir()
    assert (state.exists(), (tmp_path / "out" / "results.csv").exists()) == (False, True)


def test_automatic_precision_is_one_that_the_encoder_can_be_computed_in(treebanks, tmp_path, monkeypatch):
    monkeypatch.setattr("crosslens.encoders.matmul._processor_features", lambda: frozenset({"avx512_bf16"}))
    tokenizer = word_piece()
    for kind, expected in (("deberta", "none"), ("bert", '{"precision": "bfloat16"}')):
        fresh(kind, 0, tokenizer).save_pretrained(tmp_path / kind)
        tokenizer.save_pretrained(tmp_path / kind)
        results = finetune_and_evaluate(
            tmp_path / kind,
            "pos",
            train="ud/en_toy",
            tests=["ud/fr_pud"],
            condition={"precision": "auto"},
            recipe="small",
            settings={"epochs": 1},
            data=str(treebanks),
            device="cpu",
        )
        assert {record.condition for record in results} == {expected}


@pytest.mark.parametrize("name", ["fp16", 16])
def test_an_unknown_precision_is_refused_with_all_that_there_are(name):
    with pytest.raises(RequestError, match=f"unknown precision {name!r}") as refused:
        finetune_and_evaluate("bilstm", "pos", train="lab/src", tests="lab/src", condition={"precision": name})
    assert all(known in str(refused.value.hint) for known in ("auto", "bfloat16", "float32"))


def test_predictions_are_not_written_into_the_folder_of_the_results(tiny_bert, treebanks, tmp_path):
    folders = {"out": tmp_path / "results", "predictions": tmp_path / "results" / "predictions"}
    with pytest.raises(RequestError, match="--predictions"):
        finetune_and_evaluate(tiny_bert, "pos", train="ud/en_toy", tests="ud/fr_pud", data=treebanks, **folders)
    assert not any(folder.exists() for folder in folders.values())


@pytest.mark.parametrize(("asked", "set_to"), [("float32", "bfloat16"), ("bfloat16", "float32")])
def test_a_precision_that_is_given_twice_is_refused(asked, set_to):
    condition, settings = {"precision": asked}, {"precision": set_to}
    with pytest.raises(RequestError, match="precision is given twice"):
        finetune_and_evaluate("bilstm", "pos", train="lab/src", tests="lab/src", condition=condition, settings=settings)


def test_predictions_are_removed_where_the_tracker_refuses_the_scores(tiny_bert, treebanks, tmp_path, monkeypatch):
    """So that the same call can write them."""

    class Refusing(FakeWandb):
        def log(self, values, step):
            if any(name.startswith("test/") for name in values):
                raise ConnectionError

    def finetuned():
        finetune_and_evaluate(
            tiny_bert,
            "pos",
            train="ud/en_toy",
            tests="ud/fr_pud",
            recipe="small",
            settings={"epochs": 1, "select": "last"},
            data=str(treebanks),
            device="cpu",
            predictions=tmp_path / "predictions",
            track="wandb",
        )

    for module, refused in ((Refusing(), True), (FakeWandb(), False)):
        monkeypatch.setitem(sys.modules, "wandb", module)
        with pytest.raises(ConnectionError) if refused else nullcontext():
            finetuned()
        assert (tmp_path / "predictions").exists() == (not refused)


def test_the_encoder_of_a_laboratory_is_no_folder_whose_precision_could_be_looked_up(treebanks):
    """It is pretrained last, after all else has been checked."""
    asked = {"train": "nowhere.conllu", "tests": "ud/fr_pud", "data": str(treebanks), "device": "cpu"}
    with pytest.raises(DataError, match=r"corpus file 'nowhere.conllu' not found"):
        finetune_and_evaluate("lab:good", "pos", condition={"precision": "auto"}, **asked)
