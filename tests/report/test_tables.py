"""The papers' tables from made-up records whose numbers are known, and from the published ones."""

from statistics import fmean

import numpy as np
import pytest

from crosslens.encoders.condition import Condition
from crosslens.errors import RequestError
from crosslens.report.papers import find_paper, read_published
from crosslens.report.supervision import supervision
from crosslens.report.tables import all_tables, by_target, domains, layer_deltas, layer_sets
from crosslens.results.record import Record, Results


def score(
    target,
    value,
    *,
    seed=1,
    task="pos",
    bank=None,
    split="test",
    train="ud/en_ewt:train",
    source="en",
    partner=None,
    study=None,
    **condition,
):
    metric = {"pos": "accuracy", "parsing": "las", "ner": "f1"}[task]
    return Record(
        study=study,
        task=task,
        encoder="e",
        source=source,
        target=target,
        split=split,
        seed=seed,
        metric=metric,
        value=value,
        corpus=f"ud/{bank or target + '_pud'}:{split}",
        train=train,
        partner=partner,
        state="fine-tuned",
        **Condition(**condition).columns,
    )


@pytest.fixture
def records():
    values = {  # layers -> target -> a value a seed
        None: {"en": (96.0, 97.0), "fr": (88.0, 90.0), "sv": (80.0, 82.0)},
        "1-2": {"en": (95.0, 96.5), "fr": (80.0, 81.0), "sv": (70.0, 76.0)},
        "11-12": {"en": (96.5, 97.5), "fr": (87.0, 89.5), "sv": (81.0, 82.0)},
    }
    return Results.of(
        score(target, value, seed=seed, **({"layers": layers} if layers else {}))
        for layers, by_target in values.items()
        for target, two in by_target.items()
        for seed, value in enumerate(two, start=1)
    )


def values(row):
    return [cell.value for cell in row.cells]


def test_layer_deltas_are_means_over_targets_and_seeds(records):
    (table,) = layer_deltas(records)
    assert table.head == ("Ref", "Δ 1-2", "Δ 11-12")
    same, cross = table.groups["pos, accuracy"]
    assert (same.label, cross.label, cross.kind) == ("en – en", "en – x, mean of 2 languages", "mean")
    assert values(same) == pytest.approx([96.5, -0.75, 0.5])
    by_seed = np.array([[84.0, 75.0 - 84.0, 84.0 - 84.0], [86.0, 78.5 - 86.0, 85.75 - 86.0]])
    assert values(cross) == pytest.approx(by_seed.mean(0))
    assert [cell.std for cell in cross.cells] == pytest.approx(by_seed.std(0, ddof=1))


def test_by_target_names_corpora_where_a_language_has_several(records):
    (table,) = by_target((records + Results.of([score("en", 90.0, bank="en_ewt")])).sorted("name"))
    labels = {title: [row.label for row in rows] for title, rows in table.groups.items()}
    assert labels == {
        "pos, accuracy, same-language": ["en – ud/en_ewt:test", "en – ud/en_pud:test"],
        "pos, accuracy, cross-language": ["en – fr", "en – sv", "en – x, mean of 2 languages"],
    }
    assert values(table.groups["pos, accuracy, same-language"][0]) == [90.0, None, None]
    assert [table.name for table in by_target(records + Results.of([score("fr", 50.0, task="parsing")]))] == [
        "by-target-pos",
        "by-target-parsing",
    ]


def test_layer_sets_are_scores_themselves(records):
    (table,) = layer_sets(records + Results.of([score("en", 95.0, split="dev")]))
    rows = table.groups["pos, accuracy, source en"]
    assert [row.label for row in rows] == ["en test", "fr test", "sv test", "en dev"]
    assert values(rows[1]) == [89.0, 80.5, 88.25]


def test_layer_sets_give_the_spread_of_seeds_by_task(records):
    """The caption of Table 5 has the least, median and largest standard deviation of each task."""
    parsing = [score("fr", value, seed=seed, task="parsing") for seed, value in ((1, 40.0), (2, 60.0))]
    ner = [score("fr", 70.0, task="ner")]  # one seed has no spread
    (table,) = layer_sets(records + Results.of([*parsing, *ner]))
    spread = [cell.std for row in table.groups["pos, accuracy, source en"] for cell in row.cells]
    assert len(spread) == 9
    pos = f"pos {min(spread):.2f}/{np.median(spread):.2f}/{max(spread):.2f}"
    assert table.caption.endswith(f"over seeds, min/median/max: {pos}, parsing 14.14/14.14/14.14.")


def test_published_numbers_stand_below_ours(records):
    (table,) = by_target(records, beside=find_paper("muller2021"))
    rows = table.groups["pos, accuracy"]
    french = rows[[row.label for row in rows].index("en – fr") :][:3]
    assert [row.kind for row in french] == ["plain", "beside", "beside"]
    assert values(french[1]) == [89.16, -9.68, 0.59]  # Table 7 of the paper
    assert values(french[2]) == pytest.approx([89.0 - 89.16, -8.5 + 9.68, -0.75 - 0.59])
    swedish = rows[[row.label for row in rows].index("en – sv") + 1]
    assert swedish.kind == "mean"  # the paper has no row for Swedish, so none stands below
    assert "Below ours: muller2021" in table.caption
    (table,) = by_target(records.filter(target=["sv"]), beside=find_paper("muller2021"))
    assert "Below ours" not in table.caption


@pytest.mark.parametrize(("train", "below"), [("wikiann/en:train", 2), ("conll2003/en:train", 0)])
def test_models_trained_on_a_shared_task_are_not_compared_with_those_trained_on_wikiann(train, below):
    scores = Results.of([score("en", 90.0, task="ner", train=train)]).with_columns(corpus="conll2003/en:test")
    (table,) = by_target(scores, beside=find_paper("muller2021"))
    assert [row.kind for row in table.groups["ner, f1"]] == ["plain", *["beside"] * below]


def mean_rows(table, group="pos, accuracy"):
    """The rows below the same-language score."""
    rows = table.groups[group]
    return rows[[row.kind for row in rows].index("mean") :]


def test_a_mean_stands_beside_a_papers_mean_over_the_same_languages(records):
    """Ours is over French and Swedish, of which the paper has French: no mean over its sixteen stands below ours."""
    german = Results.of(
        score("de", value, **condition)
        for value, condition in ((80.0, {}), (60.0, {"layers": "1-2"}), (81.0, {"layers": "11-12"}))
    )
    (table,) = layer_deltas(records.filter(seed=1) + german, beside=find_paper("muller2021"))
    mean, ours, theirs, difference = mean_rows(table)
    assert [row.label for row in (mean, ours, theirs, difference)] == [
        "en – x, mean of 3 languages",
        "ours, 2 languages",
        "muller2021, 2 languages",
        "ours − theirs, 2 languages",
    ]
    printed = {
        (row["target"], row["layers"]): float(row["value"])
        for row in read_published("muller2021_tables_6_7_8.csv")
        if (row["task"], row["source"]) == ("pos", "en") and row["value"]
    }
    assert values(mean)[0] == pytest.approx(fmean((88.0, 80.0, 80.0)))
    assert values(ours) == pytest.approx([84.0, fmean((-8.0, -20.0)), fmean((-1.0, 1.0))])
    assert values(theirs) == pytest.approx(
        [fmean(printed[t, layers] for t in ("fr", "de")) for layers in ("", "1-2", "11-12")]
    )
    assert values(difference) == pytest.approx([a - b for a, b in zip(values(ours), values(theirs), strict=True)])
    (table,) = layer_deltas(records.filter(target=["en", "sv"]), beside=find_paper("muller2021"))
    assert [row.label for row in mean_rows(table)] == ["en – x, mean of 1 language"]  # the paper has no Swedish
    (table,) = layer_deltas(records.filter(target=["en", "fr"]), beside=find_paper("muller2021"))
    assert [row.label for row in mean_rows(table)][1:] == ["muller2021", "ours − theirs"]


def test_a_same_language_mean_stands_beside_the_corpus_that_both_have(records):
    other = Results.of(score("en", 90.0, seed=seed, bank="en_ewt") for seed in (1, 2))
    (table,) = layer_deltas(records + other, beside=find_paper("muller2021"))
    mean, ours, theirs, _ = table.groups["pos, accuracy"][:4]
    assert mean.label == "en – en, mean of 2 corpora"
    assert values(mean) == [pytest.approx(93.25), None, None]  # the other corpus has no differences
    assert (ours.label, theirs.label) == ("ours, ud/en_pud:test", "muller2021, ud/en_pud:test")
    assert values(ours)[0] == 96.5


def test_bilingual_encoders_have_rows_of_their_own():
    pairs = {"adj": (95.0, 80.0), "gen": (93.0, 70.0)}
    scores = Results.of(
        score(target, value, source="src", partner=partner, seed=seed)
        for partner, both in pairs.items()
        for seed in (1, 2)
        for target, value in zip(("src", partner), both, strict=True)
    )
    (table,) = by_target(scores)
    assert {row.label: values(row) for row in table.groups["pos, accuracy"]} == {
        "src – src with adj": [95.0],
        "src – src with gen": [93.0],
        "src – adj with adj": [80.0],
        "src – gen with gen": [70.0],
        "src – x, mean of 2 languages": [75.0],
    }
    (table,) = layer_deltas(scores)
    assert table.groups["pos, accuracy"][0].label == "src – src, mean of 2 encoders"


def test_no_number_is_of_two_records_of_one_seed(records):
    """Two studies that share a run show it once; two that contradict one another are not averaged."""
    again = records.with_columns(study="other")
    assert layer_deltas(records + again) == layer_deltas(records)
    contradicting = Results.of([score("fr", 1.0), score("fr", 50.0, task="parsing"), score("en", 60.0, task="parsing")])
    with pytest.raises(RequestError, match=r"two records contradict one another.*88 in .*and 1 in"):
        layer_deltas(records + contradicting)
    reasons = []
    tables = all_tables(records + contradicting, skipped=reasons.append)
    assert [table.name for table in tables] == ["layer-deltas", "by-target-parsing", "layer-sets"]
    assert len(reasons) == 1
    assert "contradict" in reasons[0]


def test_a_seed_that_lacks_its_reference_is_left_out_and_named(records):
    (table,) = by_target(records + Results.of([score("fr", 10.0, seed=3, layers="1-2")]))
    french = next(row for row in table.groups["pos, accuracy"] if row.label == "en – fr")
    assert values(french)[1] == -8.5
    assert table.notes[french.cells[1].note - 1].endswith("average: 1")


def test_a_corpus_that_a_paper_trains_on_is_not_taken_for_its_language(records):
    partut = Results.of(
        score("en", 90.0, bank=bank, train="ud/en_partut:train", task="parsing") for bank in ("en_partut", "en_lines")
    )
    (table,) = by_target(partut.sorted("name"), beside=find_paper("muller2021"))
    (mine, printed, _, other, below, _) = table.groups["parsing, las, same-language"]
    assert (mine.label, other.label) == ("en – ud/en_lines:test", "en – ud/en_partut:test")
    assert values(below) == [90.40]  # Table 2, and not the 88.98 of Table 6
    assert values(printed) == [find_paper("muller2021").find("parsing", ["en_partut"], ["en_lines"], Condition()).value]
    other_test = Results.of([score("en", 90.0, bank="en_gum", task="parsing")])
    (table,) = by_target(other_test, beside=find_paper("muller2021"))
    assert len(table.groups["parsing, las"]) == 1  # another test set than the paper's


def test_domains_and_languages_are_groups_as_in_table_2():
    """In the paper, the rows "domain analyses" stand before the rows "cross-language"."""
    targets = {"en_partut": "en", "en_lines": "en", "fr_partut": "fr", "fr_gsd": "fr"}
    ours = Results.of(
        score(language, 80.0, bank=bank, train="ud/en_partut:train", **layers)
        for bank, language in targets.items()
        for layers in ({}, {"layers": "1-2"})
    )
    russian = Results.of(score(target, 70.0, source="ru", train="ud/ru_gsd:train") for target in ("ru", "fr"))
    (table,) = by_target((ours + russian).sorted("name"), beside=find_paper("muller2021"))
    plain = {title: [row.label for row in rows if row.kind == "plain"] for title, rows in table.groups.items()}
    assert plain == {
        "pos, accuracy, same-language": ["en – ud/en_lines:test", "en – ud/en_partut:test", "ru – ru"],
        "pos, accuracy, cross-language": ["en – ud/fr_gsd:test", "en – ud/fr_partut:test", "ru – ud/fr_pud:test"],
    }
    published = table.groups["pos, accuracy, same-language"][1]
    assert (published.label, values(published)) == ("muller2021", [93.09, -0.58])


def test_the_tasks_of_domains_are_panels_as_in_table_2():
    ours = Results.of(
        score(bank[:2], 80.0, task=task, bank=bank, train="ud/en_partut:train", **layers)
        for task in ("parsing", "pos")
        for bank in ("en_partut", "en_lines", "fr_partut")
        for layers in ({}, {"layers": "1-2"})
    )
    (table,) = domains(ours, beside=find_paper("muller2021"))
    assert list(table.groups) == [
        "parsing, las, same-language",
        "parsing, las, cross-language",
        "pos, accuracy, same-language",
        "pos, accuracy, cross-language",
    ]
    rows = table.groups["parsing, las, same-language"]
    assert [(row.label, values(row)) for row in rows if row.label == "muller2021"] == [
        ("muller2021", [90.40, -1.41]),
        ("muller2021", [77.91, -0.91]),
    ]
    assert domains(ours.filter(task="pos")) == []  # by-target-pos is in this form


def test_all_tables(records):
    assert [table.name for table in all_tables(records)] == ["layer-deltas", "by-target-pos", "layer-sets"]
    assert all_tables(records.filter(task="parsing")) == []


def test_scores_by_layers_stand_beside_table_5(records):
    ours = Results.of([score("fr", 90.0), score("fr", 80.0, layers="1-2"), score("sv", 70.0), score("en", 96.0)])
    (table,) = layer_sets(ours, beside=find_paper("muller2021"))
    rows = {row.label: values(row) for row in table.groups["pos, accuracy, source en"]}
    assert rows["fr"] == [90.0, 80.0]
    french = [row for row in table.groups["pos, accuracy, source en"]][2:5]
    assert [row.kind for row in french] != ["plain"] * 3
    printed = next(
        values(row)
        for row, before in zip(
            table.groups["pos, accuracy, source en"][1:], table.groups["pos, accuracy, source en"], strict=False
        )
        if before.label == "fr"
    )
    assert printed == [88.25, 79.84]
    assert "sv" in rows  # Table 5 has no Swedish, and says nothing of it


def test_one_source_and_no_paper_need_no_such_table(records):
    assert supervision(records) == []
