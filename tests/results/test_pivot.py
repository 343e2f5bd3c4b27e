"""Scores as a table: differences to the reference, and means over languages."""

import dataclasses

import pytest

from crosslens.encoders.condition import Condition
from crosslens.errors import RequestError
from crosslens.results.pivot import CROSS, SAME, SHOWN, sections
from crosslens.results.record import COLUMNS, Record, Results
from made_results import SCORES, by_layer, score, similarity


def test_the_table_has_differences_to_the_reference_and_means_apart():
    table = Results.of(SCORES).table()
    assert list(table.columns) == ["reference", "Δ 1-2", "Δ 11-12"]
    assert list(table.index.get_level_values("target")) == ["en", SAME, "fr", "de", CROSS]
    assert table.loc[(CROSS, "of 2")].tolist() == [85.0, -17.0, 1.0]
    assert table.loc[(SAME, "of 1")].tolist() == [96.0, -1.0, -0.5]


def test_differences_are_taken_within_a_seed():
    uneven = [score("fr", 90.0, seed=1), score("fr", 50.0, seed=2), score("fr", 80.0, "1-2", seed=1)]
    table = Results.of(uneven).table()
    assert table.loc[(CROSS, "of 1")].tolist() == [70.0, -10.0]


def test_a_table_says_how_many_seeds_its_numbers_are_means_over():
    """A condition's second seed, which the reference lacks, is in no number of the table."""
    unpaired = [score("fr", 90.0, seed=1), score("fr", 80.0, "1-2", seed=1), score("fr", 70.0, "1-2", seed=2)]
    (section,) = sections(Results.of(unpaired))
    assert section.note == "mean of 1 seed"
    assert Results.of(unpaired).to_latex().splitlines()[-1] == "% mean of 1 seed"
    (section,) = sections(Results.of([*unpaired, score("de", 90.0, seed=1), score("de", 90.0, seed=2)]))
    words = "a difference is over the seeds of both conditions, a mean over those of all its corpora"
    assert section.note == f"means of 1 to 2 seeds; {words}"
    apart = [score(target, 90.0, seed=seed) for target, seeds in (("fr", (1, 2)), ("de", (2, 3))) for seed in seeds]
    (section,) = sections(Results.of(apart))
    assert section.note == f"means of 1 to 2 seeds; {words}"  # French and German share one


def test_a_table_without_scores_says_nothing_of_seeds():
    """A corpus in which nothing was counted, such as one without any word that the task labels."""
    (section,) = sections(Results.of([dataclasses.replace(score("fr", 90.0), value=None)]))
    assert section.note == ""


def test_a_mean_is_over_all_of_its_languages_or_absent():
    """Over fewer languages it would be another mean (today's 18 against yesterday's 17)."""
    table = Results.of([*SCORES, score("zh", 20.0)]).table()
    assert table.loc[(CROSS, "of 3"), "reference"] == pytest.approx((90 + 80 + 20) / 3)
    assert table.loc[(CROSS, "of 3"), ["Δ 1-2", "Δ 11-12"]].isna().all()
    assert table.loc[(SAME, "of 1"), "Δ 1-2"] == -1.0


def test_a_language_that_nothing_says_is_shown_and_in_no_mean():
    table = Results.of([*SCORES[:3], score(None, 10.0, corpus="mine")]).table()
    assert table.loc[(CROSS, "of 2")].tolist() == [85.0]
    assert table.index[-1] == ("?", "mine")
    nothing = [Record(**{n: getattr(r, n) for n in COLUMNS if n != "source"}) for r in SCORES[:2]]
    assert list(Results.of(nothing).table().index.get_level_values("corpus")) == ["ud/en_pud:test", "ud/fr_pud:test"]


def test_without_a_reference_there_are_values():
    table = Results.of(SCORES[3:6]).table()
    assert list(table.columns) == ["1-2"]
    assert table.loc[(CROSS, "of 2")].tolist() == [68.0]


def test_conditions_go_from_small_to_large_and_from_the_bottom_up():
    table = Results.of([score("fr", 1.0, a) for a in ("1-12", "11-12", "0", "3-4", None, "1-2", "1-2,9")]).table()
    headings = ["reference", "Δ 0", "Δ 1-2", "Δ 3-4", "Δ 11-12", "Δ 1-2,9", "Δ 1-12"]
    assert list(table.columns) == headings


def test_a_table_mixes_nothing():
    other = Record(task="ner", encoder="e", source="en", target="fr", metric="f1", value=1.0, seed=1)
    with pytest.raises(RequestError, match="several tasks: pos, ner"):
        Results.of([*SCORES, other]).table()
    with pytest.raises(RequestError, match="no scores"):
        Results.of([]).table()


def test_the_best_layer_has_the_highest_mean_over_pairs_and_seeds():
    results = Results.of([*by_layer("en-fr", (0.1, 0.9, 0.5, 0.5)), *by_layer("en-de", (0.1, 0.2, 0.7, 0.7))])
    assert results.best_layer() == 2  # 0.6, as layer 3, against 0.55 of layer 1
    assert results.best_layer(target="fr") == 1
    seeds = [*by_layer("en-fr", (0.6, 0.5), seed=1), *by_layer("en-fr", (0.1, 0.5), seed=2)]
    assert Results.of(seeds).best_layer() == 1


def test_a_layer_that_lacks_a_pair_is_not_the_best():
    decoder = [*by_layer("en-fr", (None, 0.5, 0.4)), *by_layer("en-de", (0.9, 0.1, 0.4))]
    assert Results.of(decoder).best_layer() == 2
    with pytest.raises(RequestError, match="no layer has a value for every pair"):
        Results.of([*by_layer("en-fr", (0.1, None)), *by_layer("en-de", (None, 0.1))]).best_layer()


def test_comparisons_of_different_layers_do_not_count_for_the_best_one():
    across = [dataclasses.replace(similarity("en-fr", layer, 0.9), target_layer=1) for layer in (0, 2)]
    assert Results.of([*by_layer("en-fr", (0.1, 0.7, 0.5)), *across]).best_layer() == 1


def test_untrained_encoders_in_a_table_of_their_own_are_called_so():
    tuned = [dataclasses.replace(row, task="pos", state="fine-tuned") for row in by_layer("en-fr", (0.5, 0.6))]
    columns = {**Condition.read({"layers": "0-12"}).columns, "state": "untrained"}
    _, untrained = sections(Results.of([*tuned, *by_layer("en-fr", (0.1, 0.2), **columns)]))
    assert untrained.records.table().index.tolist() == [("untrained", "en-fr", "cka")]


def test_the_best_layer_of_what_has_none_or_several_measures():
    with pytest.raises(RequestError, match="these results have no layers"):
        Results.of(SCORES).best_layer()
    both = Results.of([*by_layer("en-fr", (0.1,)), *by_layer("en-fr", (0.2,), measure="rsa")])
    with pytest.raises(RequestError, match="several measures: cka, rsa"):
        both.best_layer()


def test_scores_by_layer_are_a_table_of_layers():
    scores = [dataclasses.replace(score("fr", 50.0 + layer), layer=layer) for layer in range(3)]
    table = Results.of(scores).table()
    assert list(table.columns) == [0, 1, 2]
    assert table.to_numpy().tolist() == [[50.0, 51.0, 52.0]]
    assert Results.of(scores).best_layer(metric="accuracy") == 2


def test_what_belongs_to_no_layer_is_not_shown_by_layer():
    far = Record(source="en", target="fr", measure="word_order", metric="distance", value=0.1)
    (section,) = sections(Results.of([far]))
    assert section.title == "distance"
    table = section.records.table()
    assert (list(table.columns), table.iloc[0, 0]) == (["value"], 0.1)


def test_comparisons_of_equal_layers_keep_one_row_beside_comparisons_of_different_layers():
    same = [similarity("en-fr", layer, 0.1 * layer) for layer in (0, 1, 2)]
    pairs = {(0, 0): 0.5, (1, 2): 0.6, (1, None): 0.7}
    relative = [
        dataclasses.replace(similarity("en-fr", layer, value), settings="against=other", target_layer=target)
        for (layer, target), value in pairs.items()
    ]
    table = Results.of([*relative, *same]).table()
    assert table.loc[("", "en-fr", "cka", "same")].tolist() == pytest.approx([0.0, 0.1, 0.2])
    across = table.loc[("against=other", "en-fr", "cka")]
    assert across.loc[0, 0] == 0.5
    assert across.loc[2, 1] == 0.6
    assert across.loc[1, 1] == 0.7
    assert len(table) == 4


def test_everything_is_in_one_section_and_is_shown():
    others = [dataclasses.replace(record, metric="las", task="parsing") for record in SCORES]
    results = Results.of([*SCORES, *others, *by_layer("en-fr", (0.25, 0.75))])
    assert [record for section in sections(results) for record in section.records] == list(results)
    text = repr(results)
    assert text.splitlines()[0] == "20 records"
    for shown in ("pos accuracy, source en, e", "parsing las", "similarity by layer", "−20.00", "0.750"):
        assert shown in text
    html = results._repr_html_()
    assert html.count("<table") == 3
    assert "−20.00" in html


def test_development_and_test_sets_have_tables_and_means_of_their_own():
    dev = [score(t, value, corpus=f"ud/{t}_gsd:dev", split="dev") for t, value in (("en", 90.0), ("fr", 50.0))]
    own = score("de", 60.0, corpus="mine.conllu", split=None)
    test = dataclasses.replace(SCORES[1], split="test")
    by_title = {section.title: section.records.table() for section in sections(Results.of([test, *dev]))}
    assert [title.rpartition(", ")[2] for title in by_title] == ["test", "dev"]
    assert [table.loc[(CROSS, "of 1"), "reference"] for table in by_title.values()] == [test.value, 50.0]
    (section,) = sections(Results.of([test, own]))  # a file that belongs to no split
    assert section.records.table().loc[(CROSS, "of 2"), "reference"] == (test.value + 60.0) / 2


def test_scores_on_dev_and_test_sets_have_no_common_table_or_chart_in_python():
    splits = [score(t, 50.0, corpus=f"ud/{t}:{split}", split=split) for split in ("dev", "test") for t in ("en", "fr")]
    both = Results.of(splits)
    for show in (both.table, both.plot):
        with pytest.raises(
            RequestError, match=r"several splits: dev, test \(.*--where split=…, or in Python filter\(split=…\)"
        ):
            show()
    assert len(both.filter(split="dev").table()) == 4  # two corpora and two means


def test_similarities_of_several_kinds_of_models_have_rows_of_their_own():
    models = [
        dataclasses.replace(similarity("en-fr", 0, value), task="pos", selection=rule, recipe=recipe)
        for value, rule, recipe in ((0.5, "last", "long"), (0.4, "last", "short"), (0.3, "best", "short"))
    ]
    sources = [dataclasses.replace(models[0], source=source, train=f"ud/{source}:train") for source in ("en", "de")]
    assert Results.of(sources).table().index.names == ["pair", "measure"]  # the pair says it
    table = Results.of(models).table()
    assert table.index.names == ["selection", "recipe", "pair", "measure"]
    assert [(*row[:2], *values) for row, values in zip(table.index, table.to_numpy(), strict=True)] == [
        ("last", "long", 0.5),
        ("last", "short", 0.4),
        ("best", "short", 0.3),
    ]


def test_what_no_table_can_hold_is_shown_as_records():
    text = repr(Results.of([score("fr", 90.0), score("fr", 80.0)]))
    assert "90.00" in text
    assert "two records contradict one another" in text


def test_only_the_first_tables_are_shown():
    many = Results.of([dataclasses.replace(SCORES[0], metric=f"m{number}") for number in range(SHOWN + 2)])
    assert repr(many).endswith("and 2 more tables; filter(…) selects records")
    assert many._repr_html_().count("<table") == SHOWN


def test_a_profile_is_of_the_most_frequent_number_of_re_initialised_layers():
    """One column of a single layer does not make the profile, nor do conditions without a reference."""
    rows = [score("fr", 90.0, layers) for layers in (None, "1", "1-2", "3-4", "5-6", "1-6", "7-12")]
    assert Results.of(rows).table().attrs["profile"] == ["Δ 1-2", "Δ 3-4", "Δ 5-6"]
    assert Results.of(rows[1:]).table().attrs["profile"] == []


def mapped(seed, mapping, value, *, target="fr", by="procrustes_shuffled"):
    condition = {"tower": 1, "mapping": mapping} | ({"mapped_from": "f", "mapped_by": by} if target == "fr" else {})
    return dataclasses.replace(score(target, value, seed=seed), layer=1, **Condition.read(condition).columns)


def test_mappings_of_several_seeds_are_one_row():
    """Each seed's mapping has its digest in the condition."""
    drawn = [mapped(1, "aa", 50.0), mapped(2, "bb", 40.0), mapped(1, "cc", 60.0, by=None)]
    table = Results.of([*drawn, mapped(1, "cc", 90.0, target="en")]).table()
    assert {row[0]: value for row, value in zip(table.index, table[1], strict=True)} == {
        "reference tower on 1 mapped from f mapped by procrustes_shuffled": 45.0,
        "reference tower on 1 mapped from f": 60.0,
        "reference tower on 1": 90.0,
    }


def test_different_mappings_of_one_seed_keep_rows_of_their_own():
    table = Results.of([mapped(1, "aa", 50.0), mapped(1, "bb", 40.0), mapped(2, "cc", 30.0)]).table()
    assert table[1].tolist() == [50.0, 40.0, 30.0]


def test_rows_of_a_probes_recall_are_labels_and_those_of_similarities_are_pairs():
    one = similarity("en-fr", 1, 0.5)
    recall = [
        dataclasses.replace(one, measure="probe upos", source=None, target=x, metric="recall") for x in ("ADJ", "ADV")
    ]
    assert Results.of(recall).table().index.names == ["label", "measure"]
    assert Results.of([one]).table().index.names == ["pair", "measure"]
    accuracy = Results.of([dataclasses.replace(recall[0], target=None, metric="accuracy")])
    assert accuracy.table().index.names == ["pair", "measure"]


def test_settings_that_all_rows_of_a_table_have_are_not_repeated():
    one = similarity("en-fr", 1, 0.5)
    settings = ("against=b method=cosine", 'against=b against_condition={"layers": "0-6"} method=cosine', "against=b")
    table = Results.of([dataclasses.replace(one, settings=text) for text in settings]).table()
    expected = ["method=cosine", 'against_condition={"layers": "0-6"} method=cosine', ""]
    assert table.index.get_level_values("settings").tolist() == expected
