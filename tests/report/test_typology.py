"""The typology of languages as a table and as bars."""

import math

import pandas as pd

from crosslens.report.typology import in_order, read_typologies, typology_bars, typology_table
from crosslens.results.order import ORDERS
from crosslens.results.record import Results
from made_typology import languages

NONE = float("nan")


def row(language, name, kind, scores, *, task="pos", published="", train=None):
    encoder, adapted, baseline = scores
    return {
        "task": task,
        "language": language,
        "name": name,
        "script": "Latin",
        "family": "",
        "train": train or f"ud/{language}:train",
        "corpus": f"ud/{language}:test",
        "encoder": encoder,
        "adapted": adapted,
        "from scratch": None,
        "BiLSTM": baseline,
        "encoder - BiLSTM": encoder - baseline,
        "adapted - BiLSTM": adapted - baseline,
        "q adapted": NONE,
        "adapted encoders": None,
        "other seeds": "",
        "class": kind,
        "published text": "10K" if published else "",
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
    differences = ("encoder − BiLSTM", "adapted − BiLSTM")
    assert table.head == ("encoder", "adapted", "BiLSTM", *differences)  # nothing was made from scratch
    assert list(table.groups) == ["pos: easy", "pos: intermediate", "pos: not tested", "ner: hard"]
    (wolof,) = table.groups["pos: intermediate"]
    assert wolof.label == "Wolof, Latin, ud/wo:train"
    assert [cell.value for cell in wolof.cells] == [80.0, 90.0, 85.0, -5.0, 5.0]
    assert [cell.kind for cell in wolof.cells] == ["score"] * 3 + ["difference"] * 2
    assert table.notes == ("Muller 2022: 10K sentences of raw text, easy",)
    assert [cell.note for cell in wolof.cells] == [1, None, None, None, None]
    assert "Not tested: there is one seed" in table.caption
    (uyghur,) = table.groups["pos: not tested"]
    assert [cell.value for cell in uyghur.cells] == [60.0, None, 85.0, -25.0, None]


def test_the_caption_says_where_seeds_share_one_adapted_encoder():
    """As the command does; not where nothing is tested."""
    shared = FRAME.assign(**{"adapted encoders": [1, 3, 1, None], "q adapted": [0.2, 0.1, NONE, 0.3]})
    said = "In 1 of 4 rows all seeds share one adapted encoder, so the tests do not include variation between adapted"
    assert said in typology_table(shared).caption
    assert "share one" not in typology_table(FRAME).caption


def test_means_over_other_seeds_than_those_of_the_encoder_have_a_note():
    lacking = [each for each in languages() if (each.target, each.start, each.seed) != ("wo", "adapted", 3)]
    table = typology_table(read_typologies([], Results.of(lacking)))
    notes = {row.language: row.cells[0].note for rows in table.groups.values() for row in rows}
    assert table.notes[notes["wo"] - 1].startswith("other seeds than those of the encoder: adapted 2; Muller 2022: ")
    assert table.notes[notes["gsw"] - 1].startswith("Muller 2022: ")


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


def test_a_report_reads_the_typology_of_records(tmp_path):
    Results.of([]).write(tmp_path / "empty.csv")
    assert read_typologies([tmp_path / "empty.csv"], Results.of([])) is None
    reasons = []
    assert (
        read_typologies([tmp_path], Results.of([*languages(), *languages(study="b")]), skipped=reasons.append) is None
    )
    assert len(reasons) == 1
    assert reasons[0].startswith("no typology: ud/gsw:train was trained on in several ways")
    frame = read_typologies([tmp_path], Results.of(languages()))
    assert list(typology_table(frame).groups) == ["pos: easy", "pos: intermediate", "pos: hard"]


def test_records_beside_a_store_are_read_on_their_own(tmp_path):
    for folder in ("runs", "studies"):
        (tmp_path / "store" / folder).mkdir(parents=True)
    Results.of(languages()).write(tmp_path / "results.csv")
    frame = read_typologies([tmp_path / "store", tmp_path / "results.csv"], Results.of(languages()))
    assert sorted(frame["class"]) == ["easy", "hard", "intermediate"]


def test_the_languages_of_a_task_are_sorted_by_the_score_of_the_encoder_or_as_asked():
    scores = {"wo": 70.0, "fo": 90.0, "ug": 80.0, "ab": 90.0}
    frame = pd.DataFrame([row(language, language, "easy", (score, NONE, 60.0)) for language, score in scores.items()])
    frame = frame.assign(family=["Niger-Congo", "Germanic", "", "Caucasian"], script=["Latin", "Latin", "Arabic", ""])
    order = {sort: in_order(frame, sort)["language"].tolist() for sort in ORDERS}
    assert order["score"] == ["ab", "fo", "ug", "wo"]
    assert order["family"] == ["ab", "fo", "wo", "ug"]  # an unknown family comes last
    assert order["script"] == ["ug", "fo", "wo", "ab"]
    assert order["name"] == ["ab", "fo", "ug", "wo"]
