"""Predictions as files, from Python."""

import pytest

from crosslens.catalogue import load_corpus
from crosslens.errors import RequestError
from crosslens.tasks import find_task
from crosslens.training.evaluate import evaluate
from crosslens.training.finetune import finetune
from crosslens.training.predict import predict
from crosslens.training.predictions import prediction_files
from crosslens.training.recipe import Recipe


@pytest.fixture
def tagger(encoder, toy):
    return finetune(encoder, "pos", train=toy(), recipe=Recipe(batch=3, epochs=1, select="last"))


@pytest.fixture
def corpora(treebanks):
    return [load_corpus(f"ud/{name}", data=treebanks) for name in ("en_pud", "fr_pud")]


def test_evaluate_writes_what_predict_gives(tagger, corpora, tmp_path):
    seen, updates = [], []
    results = evaluate(
        tagger, corpora, predictions=tmp_path / "made", progress=updates.append,
        predicted=lambda gold, predicted: seen.append(gold.name),
    )  # fmt: skip
    assert results.records.equals(evaluate(tagger, corpora).records)
    assert seen == [corpus.name for corpus in corpora]
    assert (updates[-1].stage, updates[-1].done, updates[-1].total) == ("evaluating", 2, 2)
    files = prediction_files(tagger.task, corpora)
    assert sorted(path.name for path in (tmp_path / "made").iterdir()) == sorted(files)
    for corpus, file in zip(corpora, files, strict=True):
        tagger.task.format.write(predict(tagger, corpus), tmp_path / file)
        assert (tmp_path / "made" / file).read_bytes() == (tmp_path / file).read_bytes()
    with pytest.raises(RequestError, match="exists already"):
        evaluate(tagger, corpora, predictions=tmp_path / "made")


def test_two_corpora_never_share_a_file(tagger, corpora, tmp_path):
    with pytest.raises(RequestError, match="would be one file"):
        evaluate(tagger, [corpora[0], corpora[0]], predictions=tmp_path / "made")
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(("task", "suffix"), [("pos", ".conllu"), ("ner", ".iob2"), ("nli", ".tsv")])
def test_files_are_named_after_corpora_and_formats(task, suffix, corpora):
    assert prediction_files(find_task(task), corpora) == [f"ud_en_pud-test{suffix}", f"ud_fr_pud-test{suffix}"]
