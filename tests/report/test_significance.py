"""Intervals and marks of the tables come from the study that a number belongs to."""

import csv

import pytest

from crosslens.encoders.condition import Condition
from crosslens.errors import RequestError
from crosslens.report.charts.figures import layer_profiles
from crosslens.report.render import number, to_latex, to_markdown
from crosslens.report.significance import Interval, read_significance, significance_of
from crosslens.report.tables import by_target, layer_deltas
from crosslens.results.record import Record, Results

HEAD = (
    "study",
    "encoder",
    "task",
    "source",
    "train",
    "corpus",
    "partner",
    "metric",
    "condition",
    "label",
    "selection",
    "recipe",
    "settings",
    "seeds",
    "interval",
    "mean",
    "std",
    "low",
    "high",
    "delta",
    "delta_low",
    "delta_high",
    "p",
    "q",
)
REINIT = Condition(layers="1-2")
OVER = "seeds and sentences"


def score(target, value, *, study="one", encoder="e", seed=1, condition=Condition(), **more):  # noqa: B008
    return Record(
        study=study,
        task="pos",
        encoder=encoder,
        source="en",
        target=target,
        seed=seed,
        metric="accuracy",
        value=value,
        corpus=f"ud/{target}_pud:test",
        split="test",
        train="ud/en_ewt:train",
        selection="last",
        state="fine-tuned",
        **condition.columns,
        **more,
    )


def row(*, study="one", encoder="e", condition=Condition(), **more):  # noqa: B008
    usual = {
        "study": study,
        "encoder": encoder,
        "task": "pos",
        "source": "en",
        "train": "ud/en_ewt:train",
        "corpus": "ud/fr_pud:test",
        "metric": "accuracy",
        "condition": condition.text,
        "label": condition.label,
        "selection": "last",
        "interval": "seeds and sentences",
    }
    return {**usual, **more}


REFERENCE = row(mean=86.0, low=84.5, high=87.5)
DIFFERENCE = row(
    condition=REINIT, mean=76.0, low=1, high=2, delta=-10.0, delta_low=-12.0, delta_high=-8.0, p=0.001, q=0.01
)


@pytest.fixture
def store(tmp_path):
    """A store with the summaries of studies: rows by study."""

    def make(**studies):
        (tmp_path / "runs").mkdir(exist_ok=True)
        for study, rows in studies.items():
            folder = tmp_path / "studies" / study
            folder.mkdir(parents=True)
            with (folder / "summary.csv").open("w", encoding="utf-8", newline="") as stream:
                writer = csv.DictWriter(stream, HEAD)
                writer.writeheader()
                writer.writerows(rows)
        return read_significance([tmp_path])

    return make


def scores(study="one", encoder="e", loss=10.0):
    return [
        score(target, value - change, study=study, encoder=encoder, condition=condition)
        for target, value in (("en", 95.0), ("fr", 86.0))
        for condition, change in ((Condition(), 0.0), (REINIT, loss))
    ]


def french(results, significance, group="pos, accuracy"):
    (table,) = by_target(Results.of(results), significance=significance)
    return next(row.cells for row in table.groups[group] if row.label == "en – fr")


def test_a_source_may_have_another_name_in_the_study_than_its_language(store):
    reference, difference = french(
        scores(), store(one=[{**each, "source": "en-to-fr"} for each in (REFERENCE, DIFFERENCE)])
    )
    assert reference.interval == Interval(84.5, 87.5, marked=False, over=OVER)
    assert difference.interval == Interval(-12.0, -8.0, marked=True, over=OVER)


def test_a_cell_has_the_interval_and_mark_of_its_study(store):
    significance = store(one=[REFERENCE, DIFFERENCE])
    reference, difference = french(scores(), significance)
    assert reference.interval == Interval(84.5, 87.5, marked=False, over=OVER)
    assert difference.interval == Interval(-12.0, -8.0, marked=True, over=OVER)
    assert number(difference, spread="interval") == "−10.00* [−12.00, −8.00]"
    (table,) = by_target(Results.of(scores()), significance=significance)
    assert table.groups["pos, accuracy"][-1].cells[1].interval == difference.interval  # the mean of one language
    assert r"Confidence intervals (95 \%)" in to_latex(table, spread="interval")
    assert "Confidence intervals" not in to_latex(table)
    assert r"\*" in to_markdown(table, spread="interval")
    (means,) = layer_deltas(Results.of(scores()))
    assert all(cell.interval is None for line in means.groups["pos, accuracy"] for cell in line.cells)


def test_a_score_is_not_marked_by_the_test_of_its_difference(store):
    """The study had the reference, and the results that are shown do not."""
    alone = [record for record in scores() if record.condition == REINIT.text]
    (shown,) = french(alone, store(one=[{**DIFFERENCE, "low": 74.5, "high": 77.5}]))
    assert (shown.kind, shown.value) == ("score", 76.0)
    assert shown.interval == Interval(74.5, 77.5, marked=False, over=OVER)


def test_a_mean_over_languages_has_the_interval_of_its_own_test(store):
    """A mean was shown without one, although it is what a paper claims."""
    mean = {**DIFFERENCE, "corpus": "mean of 2 languages:test", "delta_low": -10.5, "delta_high": -9.5}
    results = [*scores(), *(score("de", value, condition=of) for value, of in ((80.0, Condition()), (70.0, REINIT)))]

    def last_row(*rows):
        (table,) = by_target(Results.of(results), significance=store(one=rows))
        assert table.groups["pos, accuracy"][-1].label == "en – x, mean of 2 languages"
        return table.groups["pos, accuracy"][-1].cells

    assert last_row(DIFFERENCE, mean)[1].interval == Interval(-10.5, -9.5, marked=True, over=OVER)


@pytest.mark.parametrize("of_score", ["sentences", OVER], ids=["one seed", "one seed compared of several"])
def test_intervals_of_one_seed_are_said_to_be_over_sentences(store, of_score):
    untested = {**DIFFERENCE, "interval": of_score, "p": "", "q": ""}
    significance = store(one=[{**REFERENCE, "interval": "sentences", "seeds": 1}, untested])
    reference, difference = french(scores(), significance)
    assert difference.interval == Interval(-12.0, -8.0, marked=False, over="sentences")
    assert reference.interval == Interval(84.5, 87.5, marked=False, over="sentences")
    (table,) = by_target(Results.of(scores()), significance=significance)
    caption = to_markdown(table, spread="interval")
    assert "intervals (95 %) are over sentences for single seeds, which are not tested." in caption
    assert "seeds and sentences" not in caption
    assert "marks" not in caption


def test_two_studies_of_two_encoders_do_not_lend_each_other_intervals(store):
    """The last summary that was read once gave its intervals to all."""
    other = {
        **DIFFERENCE,
        "study": "two",
        "encoder": "f",
        "delta": -1.0,
        "delta_low": -2.0,
        "delta_high": 0.9,
        "q": 0.5,
    }
    results = [*scores(), *scores("two", "f", 1.0)]
    significance = store(one=[REFERENCE, DIFFERENCE], two=[other])
    assert french(results, significance, "pos, accuracy, e")[1].interval == Interval(
        -12.0, -8.0, marked=True, over=OVER
    )
    assert french(results, significance, "pos, accuracy, f")[1].interval == Interval(-2.0, 0.9, marked=False, over=OVER)
    assert french(results, significance, "pos, accuracy, f")[0].interval is None


@pytest.mark.parametrize(
    "change",
    [
        {"study": "two"},
        {"encoder": "f"},
        {"corpus": "ud/fr_gsd:test"},
        {"partner": "fr"},
        {"selection": "best"},
        {"train": "ud/en_gum:train"},
        {"condition": Condition(layers="1-2", init="torch").text},
        {"delta": -10.1},
        {"delta": ""},
        {"metric": "f1"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_an_interval_of_something_else_is_not_shown(store, change):
    assert french(scores(), store(one=[{**DIFFERENCE, **change}]))[1].interval is None


@pytest.mark.parametrize("change", [{"q": 0.2}, {"delta_low": -12.5}, {"delta_high": -7.5}, {"interval": "seeds"}])
def test_studies_that_disagree_give_none(store, change):
    """A run that two studies share: the correction for many tests is another in each, and so may be the means."""
    two = {**DIFFERENCE, "study": "two", **change}
    assert french([*scores(), *scores("two")], store(one=[DIFFERENCE], two=[two]))[1].interval is None


def test_studies_that_agree_give_it(store):
    both = [*scores(), *scores("two")]
    same = {**DIFFERENCE, "study": "two", "delta_low": -12.000000000000002}  # added up in another order
    assert french(both, store(one=[DIFFERENCE], two=[same]))[1].interval == Interval(
        -12.0, -8.0, marked=True, over=OVER
    )


def test_records_of_two_studies_are_in_no_study(store):
    """Seeds of one study and another make a mean that neither of them tested."""
    later = [score(r.target, r.value, study="two", seed=2, condition=Condition.parse(r.condition)) for r in scores()]
    assert french([*scores(), *later], store(one=[DIFFERENCE]))[1].interval is None


def test_without_a_finished_study_there_is_none(tmp_path):
    with pytest.raises(RequestError, match="no finished study here has intervals"):
        read_significance([tmp_path, tmp_path / "results.csv"])


def test_summaries_with_tests_of_another_kind_are_not_read(tmp_path):
    """They do not say what their intervals are over, and had p-values from one seed."""
    folder = tmp_path / "studies" / "old"
    folder.mkdir(parents=True)
    (tmp_path / "runs").mkdir()
    with (folder / "summary.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, [name for name in HEAD if name != "interval"], extrasaction="ignore")
        writer.writeheader()
        writer.writerow(DIFFERENCE)
    with pytest.raises(RequestError, match="no finished study here has intervals"):
        read_significance([tmp_path])


def test_summaries_of_version_1_are_not_read(tmp_path):
    folder = tmp_path / "studies" / "old"
    folder.mkdir(parents=True)
    (tmp_path / "runs").mkdir()
    (folder / "summary.csv").write_text("task,source,corpus,condition,q\npos,en,ud/fr_pud:test,1-2,0.01\n", "utf-8")
    with pytest.raises(RequestError, match="no finished study here has intervals"):
        read_significance([tmp_path])


@pytest.mark.parametrize("encoder", ["xlmr", "/data/models/xlmr"])
def test_figures_of_encoders_in_folders_have_intervals_too(encoder):
    results = Results.of(
        score(target, value + 0.1 * seed - loss, encoder=encoder, seed=seed, condition=condition, low=1.0, high=99.0)
        for seed in (1, 2, 3)
        for condition, loss in ((Condition(), 0.0), (REINIT, 10.0))
        for target, value in (("en", 90.0), ("fr", 70.0), ("de", 50.0))
    )
    drawn = layer_profiles(results, significance=significance_of(results)).to_json()
    assert "bars: 95 % intervals" in drawn


@pytest.mark.parametrize("setting", [{"precision": "bfloat16"}, {"repeat": 2}])
def test_intervals_of_encoders_with_a_setting_are_those_of_the_same_encoders_without(setting):
    """Scores of an encoder in bfloat16 have the intervals that the same scores in float32 have, and keep their own."""

    def scores(settings, off=0.0):
        return [
            score(target, value + seed - off, seed=seed, low=value - seed, high=value + 9, condition=condition)
            for target, value in (("en", 80.0), ("fr", 70.0), ("de", 60.0))
            for seed in (1, 2, 3)
            for condition in (Condition(**settings), Condition(layers="1-2", **settings))
        ]

    def intervals(results):
        (table,) = by_target(results, significance=significance_of(results))
        cells = [row.cells for rows in table.groups.values() for row in rows]
        return [[cell.interval for cell in row] for row in cells]

    plain, own = intervals(Results.of(scores({}))), intervals(Results.of(scores(setting)))
    assert own == plain
    assert all(all(row) for row in own)
    both = intervals(Results.of([*scores({}), *scores(setting, off=1.0)]))
    assert [row[:2] for row in both] == plain
    assert all(row[2].high < row[0].high for row in both)
