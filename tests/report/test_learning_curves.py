"""Scores by amount of training data, as a table and a figure."""

from dataclasses import replace

import pytest

from crosslens.encoders.condition import Condition
from crosslens.errors import RequestError
from crosslens.report.charts.printed import printed, svg_width
from crosslens.report.learning_curves import amounts, learning_curve_figure, learning_curves
from crosslens.results.record import Results
from made_results import SCORES, score


def wolof(value, train, start=None, sentences=None, settings=None):
    tags = {"training_train_sentences": sentences} if sentences else {}
    condition = Condition(start=start).columns if start else {}
    return score("wo", value, train=train, tags=tags, settings=settings, **condition)


WHOLE = "ud/wo_wtb:train"
RECORDS = [
    wolof(92.0, WHOLE, sentences=1188),
    wolof(77.0, f"{WHOLE}[:100]"),  # its name says how many
    wolof(90.0, f"{WHOLE}[:500]", sentences=500),
    wolof(93.0, WHOLE, "bilstm", sentences=1188),
    wolof(72.0, f"{WHOLE}[:100]", "bilstm", sentences=100),
    wolof(78.0, f"{WHOLE}[:100]", "adapted", sentences=100),
]


def test_amounts_are_rows_and_models_are_columns():
    (table,) = amounts(Results.of(RECORDS))
    assert table.head == ("encoder", "BiLSTM", "adapted")
    assert "joined" not in table.caption
    ((title, rows),) = table.groups.items()
    assert "Wolof" in title
    assert {row.label: [cell.value for cell in row.cells] for row in rows} == {
        "100": [77.0, 72.0, 78.0],
        "500": [90.0, None, None],
        "1,188": [92.0, 93.0, None],
    }


@pytest.mark.parametrize(("cut", "sentences"), [("[:100]", 100), ("[100:300]", 200), ("[7~100:500]", 400)])
def test_a_slice_says_how_many_sentences_it_has(cut, sentences):
    (curve,) = learning_curves(Results.of([RECORDS[0], wolof(80.0, WHOLE + cut)]))
    assert {amount: cell.mean for amount, cell in curve.by_amount.items()} == {1188: 92.0, sentences: 80.0}


def test_a_limit_in_the_settings_is_an_amount_and_other_settings_are_not():
    records = [
        wolof(70.0, WHOLE, settings="epochs=8 limit=100", sentences=100),
        wolof(80.0, WHOLE, settings="epochs=8 limit=300"),
        wolof(85.0, f"{WHOLE}[1~:500]", settings="epochs=8"),
        wolof(90.0, WHOLE, settings="epochs=8 limit=5000", sentences=1188),
        wolof(60.0, WHOLE, settings="epochs=2 limit=300"),
        wolof(50.0, f"{WHOLE}[:150]", settings="epochs=2 limit=200"),
    ]
    eight, two = learning_curves(Results.of(records))
    points = [{amount: cell.mean for amount, cell in curve.by_amount.items()} for curve in (eight, two)]
    assert points == [{100: 70.0, 300: 80.0, 500: 85.0, 1188: 90.0}, {300: 60.0, 150: 50.0}]
    assert (eight.model, two.model) == ("encoder, epochs=8", "encoder, epochs=2")
    encoded = learning_curves(Results.of([*records, *RECORDS]).encoded())
    assert [curve.by_amount.keys() for curve in encoded[:2]] == [curve.by_amount.keys() for curve in (eight, two)]
    assert {eight.train, two.train} == {WHOLE}


def test_a_limit_is_left_in_the_settings_of_models_whose_training_data_are_unknown():
    records = [
        replace(wolof(value, WHOLE, settings=f"limit={n}"), train=None) for n, value in ((100, 70.0), (300, 80.0))
    ]
    assert amounts(Results.of(records)) == []


def test_one_amount_makes_no_curve():
    assert learning_curves(Results.of(RECORDS[:1])) == []
    assert amounts(Results.of(SCORES)) == []
    with pytest.raises(RequestError, match="several amounts"):
        learning_curve_figure(Results.of(SCORES))


def test_every_score_is_a_point_over_its_amount():
    (drawn,) = learning_curve_figure(Results.of(RECORDS)).to_dict()["datasets"].values()
    points = {(row["model"], row["sentences"], row["score"]) for row in drawn}
    assert len(points) == len(RECORDS)
    assert ("BiLSTM", 1188, 93.0) in points


def test_points_over_fewer_seeds_than_others_say_so():
    more = [replace(RECORDS[place], seed=seed, value=80.0) for place in (0, 2, 3) for seed in (2, 3)]
    (table,) = amounts(Results.of([*RECORDS, *more[:-1]]))
    ((_, rows),) = table.groups.items()
    said = {row.label: [cell.note and table.notes[cell.note - 1] for cell in row.cells] for row in rows}
    assert said == {
        "100": ["over fewer seeds: 1 of 3"] * 3,
        "500": [None, None, None],  # 3 seeds, or no score
        "1,188": [None, "over fewer seeds: 2 of 3", None],
    }
    assert amounts(Results.of(RECORDS))[0].notes == ()
    titles = [
        learning_curve_figure(Results.of(records)).to_dict()["concat"][0]["layer"][0]["title"]["text"]
        for records in (RECORDS, [*RECORDS, *more])
    ]
    assert titles[1] == [*titles[0], "means over 1 to 3 seeds"]


def test_amounts_within_a_fifth_of_the_axis_of_one_that_is_labelled_have_no_label():
    """From 100 to 10,000 that is a factor of 10 ** 0.4, about 2.5; the largest amount is labelled."""
    sizes = (100, 200, 1000, 8000, 10_000)
    drawn = learning_curve_figure(Results.of(wolof(50.0, f"{WHOLE}[:{size}]") for size in sizes)).to_dict()
    axis = drawn["concat"][0]["layer"][0]["encoding"]["x"]["axis"]
    assert sorted(axis["values"]) == [200, 1000, 10_000]


def test_parts_of_one_size_are_two_models():
    records = [wolof(80.0, f"{WHOLE}[:300]"), wolof(60.0, f"{WHOLE}[300:600]"), wolof(85.0, f"{WHOLE}[:600]")]
    (table,) = amounts(Results.of(records))
    assert table.head == ("encoder", f"encoder, {WHOLE}[300:600]")
    ((_, rows),) = table.groups.items()
    shown = {row.label: [cell.value for cell in row.cells] for row in rows}
    assert shown == {"300": [80.0, 60.0], "600": [85.0, None]}


def test_two_versions_of_a_corpus_are_two_models():
    """Their digests differ; a limit is of the version that it cuts."""

    def version(digest, amounts, settings="limit={}"):
        scores = [(value, size, settings.format(size)) for size, value in amounts.items()]
        return [
            replace(wolof(value, WHOLE, settings=limit, sentences=size), train_digest=digest * 8)
            for value, size, limit in scores
        ]

    old, new = version("a", {100: 70.0, 300: 80.0}), version("b", {100: 75.0, 300: 85.0})
    (table,) = amounts(Results.of([*old, *new]))
    assert table.head == (f"encoder, {WHOLE} (aaaaaaaa)", f"encoder, {WHOLE} (bbbbbbbb)")
    ((_, rows),) = table.groups.items()
    assert {row.label: [cell.value for cell in row.cells] for row in rows} == {"100": [70.0, 75.0], "300": [80.0, 85.0]}
    (apart,) = amounts(Results.of([old[0], new[1]]))
    assert apart.head == table.head  # no line joins the versions
    sliced = [replace(wolof(60.0, f"{WHOLE}[:50]"), train_digest=digest * 8) for digest in "cd"]
    (of_slices,) = amounts(Results.of([*old, *sliced]))
    assert of_slices.head == ("encoder", *(f"encoder, {WHOLE}[:50] ({digest * 8})" for digest in "cd"))


def test_two_versions_of_a_test_corpus_have_panels_of_their_own():
    """The encoder was tested on one version, the BiLSTM on another."""
    records = [replace(each, corpus_digest="ab"[each.start == "bilstm"] * 64) for each in RECORDS]
    (table,) = amounts(Results.of(records))
    shown = {title.rpartition(" on ")[2]: [row.cells[1].value for row in rows] for title, rows in table.groups.items()}
    assert shown == {"ud/wo_pud:test (aaaaaaaa)": [None] * 3, "ud/wo_pud:test (bbbbbbbb)": [72.0, 93.0]}


ENGLISH = "ud/en_ewt:train[:500]"


def test_sentences_of_the_language_are_counted_alone_and_beside_another_corpus():
    """Beside English, English alone is the point at 0; the order of the records does not matter."""
    records = [
        wolof(52.0, ENGLISH, sentences=500),
        wolof(60.0, f"{WHOLE}[:25]", sentences=25),
        wolof(79.0, f"{ENGLISH}+{WHOLE}[:25]", sentences=525),
        wolof(86.0, f"{ENGLISH}+{WHOLE}[20:120]"),  # its slices say how many
        wolof(90.0, f"{ENGLISH}+{WHOLE}", sentences=1688),
        wolof(40.0, ENGLISH, "bilstm", sentences=500),
        wolof(70.0, f"{ENGLISH}+{WHOLE}[:25]", "bilstm", sentences=525),
    ]
    expected = {
        "0": {f"encoder, beside {ENGLISH}": 52.0, f"BiLSTM, beside {ENGLISH}": 40.0},
        "25": {"encoder": 60.0, f"encoder, beside {ENGLISH}": 79.0, f"BiLSTM, beside {ENGLISH}": 70.0},
        "100": {f"encoder, beside {ENGLISH}": 86.0},
        "1,188": {f"encoder, beside {ENGLISH}": 90.0},
    }
    for ordered in (records, records[::-1]):
        (table,) = amounts(Results.of(ordered))
        ((title, rows),) = table.groups.items()
        assert title == f"pos, accuracy, Wolof; {WHOLE}, on {records[0].corpus}"
        named = [(row.label, zip(table.head, row.cells, strict=True)) for row in rows]
        assert {label: {head: cell.value for head, cell in cells if cell.value} for label, cells in named} == expected
        assert "0: the others alone" in table.caption
    drawn = learning_curve_figure(Results.of(records)).to_dict()
    x = drawn["concat"][0]["layer"][0]["encoding"]["x"]
    assert x["scale"] == {"type": "symlog", "constant": 25}  # a logarithm has no 0
    assert 0 in x["axis"]["values"]


def test_the_part_that_varies_is_counted_wherever_it_stands():
    records = [wolof(60.0 + few, f"{WHOLE}[:{few}]+{ENGLISH}", sentences=500 + few) for few in (5, 20)]
    (curve,) = learning_curves(Results.of(records))
    assert (curve.train, curve.label) == (WHOLE, f"encoder, beside {ENGLISH}")
    assert {amount: cell.mean for amount, cell in curve.by_amount.items()} == {5: 65.0, 20: 80.0}


def test_joined_corpora_of_unknown_parts_vary_as_a_whole():
    """A slice is longer than its corpus, or all parts were limited together."""
    records = [
        wolof(80.0, f"ud/en_ewt:train+{WHOLE}[:900]", sentences=800),
        wolof(70.0, f"ud/en_ewt:train+{WHOLE}", sentences=300, settings="limit=300"),
        wolof(90.0, f"ud/en_ewt:train+{WHOLE}[:20]"),  # whose number is unknown
    ]
    (curve,) = learning_curves(Results.of(records))
    assert curve.train == f"ud/en_ewt:train+{WHOLE}"
    assert {amount: cell.mean for amount, cell in curve.by_amount.items()} == {300: 70.0, 800: 80.0}


def test_a_slice_longer_than_its_corpus_has_what_the_other_corpus_leaves():
    records = [
        wolof(52.0, ENGLISH, sentences=480),
        wolof(70.0, f"{ENGLISH}+{WHOLE}[:20]", sentences=500),
        wolof(80.0, f"{ENGLISH}+{WHOLE}[:90]", sentences=540),
    ]
    (curve,) = learning_curves(Results.of(records))
    assert {amount: cell.mean for amount, cell in curve.by_amount.items()} == {0: 52.0, 20: 70.0, 60: 80.0}


def test_a_fourth_panel_stands_below_the_others():
    def width(*languages):
        """Width of the figure of Wolof and these languages, in pixels."""
        others = [replace(each, target=each_of, corpus=each_of) for each_of in languages for each in RECORDS]
        return svg_width(printed(learning_curve_figure(Results.of([*RECORDS, *others])), inches=99))

    pytest.importorskip("vl_convert")
    assert width("fo") < width("fo", "ga") == pytest.approx(width("fo", "ga", "mt"), rel=0.01)
