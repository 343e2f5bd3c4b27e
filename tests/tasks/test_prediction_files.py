"""Predictions as files, from Python."""

from dataclasses import replace

import pytest

from crosslens.corpora.catalogue import load_corpus
from crosslens.data.formats import iob
from crosslens.errors import RequestError
from crosslens.tasks import find_task
from crosslens.tasks.prediction_files import MOST_BYTES, prediction_files
from crosslens.training.evaluate import evaluate
from crosslens.training.finetune import finetune
from crosslens.training.predict import predict
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
        tagger,
        corpora,
        predictions=tmp_path / "made",
        progress=updates.append,
        predicted=lambda gold, predicted: seen.append(gold.name),
    )
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
    slash, underscore = (replace(corpora[0], name=name) for name in ("a/b", "a_b"))
    with pytest.raises(RequestError, match="the predictions for a/b and a_b would be one file"):
        prediction_files(tagger.task, [slash, underscore])


@pytest.mark.parametrize(("task", "suffix"), [("pos", ".conllu"), ("ner", ".iob2"), ("nli", ".tsv")])
def test_files_are_named_after_corpora_and_formats(task, suffix, corpora):
    assert prediction_files(find_task(task), corpora) == [f"ud_en_pud-test{suffix}", f"ud_fr_pud-test{suffix}"]


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("./fr.conllu", "fr.conllu"),
        ("../data/fr.conllu", "data_fr.conllu"),
        ("/data/fr.conllu", "data_fr.conllu"),
        ("a.b/fr_x.conllu", "a.b_fr_x.conllu"),
        ("fr.iob2", "fr.conllu"),
        ("fr.tsv", "fr.conllu"),
        ("x" * 200, "x" * 200 + ".conllu"),
    ],
)
def test_files_of_corpora_are_neither_hidden_nor_elsewhere(name, file, corpora):
    assert prediction_files(find_task("pos"), [replace(corpora[0], name=name)]) == [file]


def test_long_names_are_cut_and_stay_apart(corpora, tmp_path):
    """File systems count bytes."""
    names = [f"/data/{'日本' * times}/{number}.conllu" for times in (34, 99) for number in (1, 2)]
    files = prediction_files(find_task("pos"), [replace(corpora[0], name=name) for name in names])
    assert len(set(files)) == 4
    for file in files:
        assert file.endswith(("日本_1.conllu", "日本_2.conllu"))
        assert len(file.encode()) <= MOST_BYTES + len(".conllu")
        (tmp_path / f".{file}.partial-12345678").touch()  # as it is named until it is complete


LAYOUTS = {
    "uner.iob2": "# sent_id = 1\n1\tthe\tO\t-\tann\n2\tcat\tB-ANIMAL\tOBJ\tbob\n3\tsleeps\tO\t-\tann\n\n",
    "conll.txt": "-DOCSTART- -X- O O\n\nthe DT B-NP O\ncat NN I-NP B-ANIMAL\nsleeps VB B-VP O\n\n",
    "wikiann": "en:the\tO\nen:cat\tB-ANIMAL\nen:sleeps\tO\n\n",
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_predicted_entities_keep_the_columns_of_the_gold_file(name, encoder, toy, tmp_path):
    """Only tags differ, in the column in which they stood; what is written is read again as what was predicted."""
    model = finetune(encoder, "ner", train=toy(task="ner"), recipe=Recipe(batch=3, epochs=1, select="last"))
    (tmp_path / name).write_text(LAYOUTS[name], "utf-8")
    gold = iob.read(tmp_path / name)
    column = 2 if name == "uner.iob2" else -1
    tags = ("B-PLACE", "I-PLACE", "O")  # other than gold ones, whatever the model says
    for annotated in (predict(model, gold), replace(gold, items=(replace(gold[0], entities=tags),))):
        iob.write(annotated, tmp_path / "out.iob2")
        assert iob.read(tmp_path / "out.iob2").sentences[0].entities == annotated.sentences[0].entities
        lines = LAYOUTS[name].split("\n"), (tmp_path / "out.iob2").read_text("utf-8").split("\n")
        rows = [[line.split() for line in of if line and line[0] not in "#-"] for of in lines]
        assert len(rows[0]) == len(rows[1]) == 3
        for before, after in zip(*rows, strict=True):
            del before[column], after[column]
            assert before == after
        assert [line for line in lines[0] if line[:1] in "#-"] == [line for line in lines[1] if line[:1] in "#-"]
