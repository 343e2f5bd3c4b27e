"""The typology of languages as a table and as bars."""

import math

import pandas as pd
import pytest

from crosslens.report.typology import read_typologies, typology_bars, typology_table

NONE = float("nan")


def row(language, name, kind, scores, *, task="pos", published="", train=None):
    encoder, adapted, baseline = scores
    return {
        "task": task,
        "language": language,
        "name": name,
        "script": "Latin",
        "train": train or f"ud/{language}:train",
        "corpus": f"ud/{language}:test",
        "encoder": encoder,
        "adapted": adapted,
        "from scratch": None,
        "BiLSTM": baseline,
        "class": kind,
        "published class": published,
    }


FRAME = pd.DataFrame(
    [
        row("wo", "Wolof", "intermediate", (80.0, 90.0, 85.0), published="easy"),
        row("fo", "Faroese", "easy", (95.0, 96.0, 90.0)),
        row("ug", "Uyghur", None, (60.0, NONE, 85.0)),
        row("wo", "Wolof", "hard", (10.0, 11.0, 30.0), task="ner"),
    ]
)


def test_languages_are_grouped_by_task_and_class_in_the_order_of_the_classes():
    table = typology_table(FRAME)
    assert table.head == ("encoder", "adapted", "BiLSTM")  # nothing was made from scratch
    assert list(table.groups) == ["pos: easy", "pos: intermediate", "pos: not tested", "ner: hard"]
    (wolof,) = table.groups["pos: intermediate"]
    assert wolof.label == "Wolof, Latin, ud/wo:train"
    assert [cell.value for cell in wolof.cells] == [80.0, 90.0, 85.0]
    assert table.notes == ("published as easy (Muller 2022)",)
    assert [cell.note for cell in wolof.cells] == [1, None, None]
    (uyghur,) = table.groups["pos: not tested"]
    assert [cell.value for cell in uyghur.cells] == [60.0, None, 85.0]


def bars(chart):
    described = chart.to_dict()
    (rows,) = described["datasets"].values() if "datasets" in described else [described["data"]["values"]]
    return [tuple(each.values()) for each in rows]


def test_every_score_is_a_bar_and_none_is_missing():
    drawn = bars(typology_bars(FRAME))
    assert len(drawn) == sum(not math.isnan(v) for v in FRAME[["encoder", "adapted", "BiLSTM"]].to_numpy().ravel())
    assert ("POS tagging: intermediate", "Wolof, published: easy", "adapted", 90.0) in drawn
    assert ("NER: hard", "Wolof", "BiLSTM", 30.0) in drawn


def test_two_training_sets_of_a_language_are_told_apart():
    frame = pd.concat(
        [FRAME, pd.DataFrame([row("fo", "Faroese", "easy", (70.0, 71.0, 60.0), train="ud/fo:train[:9]")])]
    )
    names = {name for _, name, _, _ in bars(typology_bars(frame.reset_index(drop=True)))}
    assert {"Faroese (ud/fo:train)", "Faroese (ud/fo:train[:9])", "Wolof"} <= names


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_what_is_no_store_has_no_typology(tmp_path, kind):
    path = tmp_path / "results.csv" if kind == "file" else tmp_path
    if kind == "file":
        path.write_text("")
    assert read_typologies([path]) is None
