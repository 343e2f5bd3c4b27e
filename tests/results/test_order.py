"""The order of languages is one rule, which tables, figures, the page and the terminal follow."""

import json
import re
from dataclasses import replace

import pytest

from crosslens import Results
from crosslens.cli._display import show_tables
from crosslens.errors import RequestError
from crosslens.report.charts.figures import all_figures
from crosslens.report.layers.by_layer import retrieval
from crosslens.report.page import make_page
from crosslens.report.tables import all_tables
from crosslens.results.order import ORDERS
from made_results import score, similarity

LANGUAGES = {"zh": 60.0, "cs": 85.0, "hi": 70.0, "en": 95.0, "fr": 88.0, "xx": 40.0, "ru": 86.0}
"""Target -> accuracy of the reference. Four branches of Indo-European, Sino-Tibetan, and a language of no family."""

EXPECTED = {
    "score": ["fr", "ru", "cs", "hi", "zh", "xx"],
    "family": ["hi", "fr", "cs", "ru", "zh", "xx"],  # Indo-Aryan, Romance, Slavic; Sino-Tibetan; unknown
    "script": ["ru", "hi", "zh", "cs", "fr", "xx"],  # Cyrillic, Devanagari, Han, Latin; unknown
    "name": ["cs", "fr", "hi", "ru", "xx", "zh"],
}


def scores():
    return [
        score(target, value - loss, layers)
        for layers, loss in ((None, 0.0), ("1-2", 3.0))
        for target, value in LANGUAGES.items()
    ]


def similarities():
    return [similarity(f"en-{target}", layer, 0.5) for target in LANGUAGES if target != "en" for layer in (0, 1)]


@pytest.mark.parametrize("order", ORDERS)
def test_tables_figures_page_and_terminal_have_the_same_order(order, capsys):
    results, expected = Results.of([*scores(), *similarities()]), EXPECTED[order]
    tables = {table.name: table for table in all_tables(results, sort=order)}
    labels = [row.label for rows in tables["by-target-pos"].groups.values() for row in rows]
    assert [label.split(" – ")[1] for label in labels[1:-1]] == expected
    assert list(tables["similarity-cka"].groups)[1:] == [f"en–{language}" for language in expected]
    index = results.filter(measure=None).table(sort=order).index.get_level_values("target")
    assert list(index)[2:-1] == expected
    figures = all_figures(results, sort=order)
    (heat,) = (panel["layer"][0]["encoding"]["y"]["sort"] for panel in figures["layers-by-target"].to_dict()["concat"])
    assert heat[1:-1] == expected
    panels = figures["similarity-by-language"].to_dict()["concat"]
    assert [panel["layer"][0]["title"] for panel in panels] == [[language] for language in expected]
    data = json.loads(re.search(r'id="records">(.*?)</script>', make_page(results, title="t", sort=order))[1])
    rows = [row for row in data["tables"][0]["rows"] if not row.get("over")][1:]
    assert (data["sort"], [row["language"] for row in rows]) == (order, expected)
    for other in ORDERS:  # those that a reader of the page can choose
        chosen = sorted(rows, key=lambda row: row["places"][other])
        assert [row["language"] for row in chosen] == EXPECTED[other], other
    show_tables(results, sort=order)
    printed = re.findall(r"^ (?:en-)?(\w\w) (?:ud/|cka)", capsys.readouterr().out, re.MULTILINE)
    assert printed == ["en", *expected, *expected]


def test_equal_scores_are_sorted_by_name_and_what_has_no_score_keeps_its_place():
    equal = Results.of([score("zh", 50.0), score("cs", 50.0), score("fr", 60.0)])
    assert [record.target for record in equal.sorted()] == ["fr", "cs", "zh"]
    assert Results.of(similarities()).sorted() == Results.of(similarities())
    pairs = [similarity(f"en-{target}", 0, 0.5) for target in ("zh", "hi", "cs")]
    assert [record.target for record in Results.of([*pairs, score("cs", 70.0)]).sorted()] == ["cs", "zh", "hi", "cs"]


def test_everything_but_the_order_of_languages_stays():
    results = Results.of([*scores(), *similarities()])
    ordered = results.sorted("family")
    assert sorted(map(str, ordered)) == sorted(map(str, results))
    for name in ("condition", "measure", "layer"):
        assert ordered.columns.coded(name).values == results.columns.coded(name).values
    assert ordered.sorted("family") is ordered
    with pytest.raises(RequestError, match=r"no order of languages 'scores'.*did you mean 'score'"):
        results.table(sort="scores")


def test_a_record_that_two_studies_share_counts_once():
    """Of seeds 90 and 70 the mean is 80, however often the first one is given; Czech has 81."""
    records = [score("fr", 90.0), score("fr", 70.0, seed=2), score("cs", 81.0), score("cs", 81.0, seed=2)]
    shared = replace(records[0], study="another")
    for given in (records, [*records, shared], [*records, shared, shared]):
        assert [record.target for record in Results.of(given).sorted()][:2] == ["cs", "cs"]


def test_sorted_results_are_not_sorted_again(monkeypatch):
    by_name = Results.of(scores()).sorted("name")
    assert by_name.sorted("score").sorted("name") == by_name
    monkeypatch.setattr("crosslens.results.order.reference_scores", None)
    assert by_name.sorted("name") is by_name
    with pytest.raises(TypeError):
        by_name.sorted("score")


def test_scores_of_several_sources_are_sorted_by_the_source_first():
    """Uralic comes behind Indo-European; sources keep their order where scores decide."""
    results = Results.of(
        replace(score(target, value), source=source)
        for source in ("fi", "en")
        for target, value in (("fi", 80.0), ("et", 70.0), ("fr", 90.0))
    )
    pairs = {by: [(record.source, record.target) for record in results.sorted(by)] for by in ("score", "family")}
    assert pairs["score"] == [(source, target) for source in ("fi", "en") for target in ("fr", "fi", "et")]
    assert pairs["family"] == [(source, target) for source in ("en", "fi") for target in ("fr", "et", "fi")]


def test_pairs_retrieved_in_both_directions_follow_the_scores_and_keep_their_names():
    languages = ("cs", "zh", "fr")
    retrieved = [
        replace(similarity(pair, 0, 50.0, measure="sentences identity"), metric="precision@1")
        for target in languages
        for pair in (f"en-{target}", f"{target}-en")
    ]
    for order in ("score", "name"):
        (table,) = retrieval(Results.of([*scores(), *retrieved]).sorted(order))
        expected = [language for language in EXPECTED[order] if language in languages]
        assert list(table.groups) == [f"en–{language}: precision at 1" for language in expected]


def test_pairs_of_each_source_stay_together_whatever_the_number_of_seeds():
    pairs = ["en-zh", "en-fr", "en-cs", "fr-zh", "fr-en", "fr-cs"]
    seeds = [replace(similarity(pair, 0, 0.5), seed=seed) for seed in (1, 2) for pair in pairs]
    table = Results.of([*scores(), *seeds]).sorted().filter(task=None).table()
    assert list(table.index.get_level_values("pair")) == ["en-fr", "en-cs", "en-zh", "fr-en", "fr-cs", "fr-zh"]


def test_similarities_follow_the_best_corpus_of_each_language():
    """Of a language with two test corpora the better one decides, whichever comes first."""
    first, second = (replace(score("fr", value), corpus=f"ud/fr_{value:.0f}") for value in (90.0, 50.0))
    pairs = [similarity(f"en-{target}", 0, 0.5) for target in ("cs", "fr")]
    for corpora in ([first, second], [second, first]):
        ordered = Results.of([*corpora, score("cs", 70.0), *pairs]).sorted()
        assert [record.target for record in ordered if record.measure] == ["fr", "cs"]


def test_languages_are_in_the_order_of_the_main_metric_of_the_reference():
    """Neither another metric nor another condition, in which German is far ahead, decides."""
    values = {("las", None): (80.0, 70.0), ("uas", None): (81.0, 99.0), ("las", "1-2"): (1.0, 69.0)}
    rows = [
        replace(score(target, value, layers), task="parsing", metric=metric)
        for (metric, layers), both in values.items()
        for target, value in zip(("fr", "de"), both, strict=True)
    ]
    for records in (rows, rows[::-1]):
        ordered = Results.of(records).sorted().filter(metric="las")
        assert [record.target for record in ordered if record.condition == "none"] == ["fr", "de"]
    of_table = Results.of(rows).filter(metric="las").table()
    assert list(of_table.index.get_level_values("target"))[:2] == ["fr", "de"]
    alone = Results.of(rows[4:]).sorted()  # without a reference, all models decide
    assert [record.target for record in alone] == ["de", "fr"]


def test_a_score_is_the_mean_over_seeds_however_many_a_language_has():
    seeds = [
        score("cs", 70.0),
        score("cs", 80.0, seed=2),
        score("fr", 78.0),
        score("zh", 74.0),
        score("zh", 72.0, seed=2),
    ]
    assert list(dict.fromkeys(record.target for record in Results.of(seeds).sorted())) == ["fr", "cs", "zh"]


def test_similarities_follow_the_scores_of_the_first_task_that_has_their_language():
    tasks = {"pos": {"fr": 60.0, "cs": 70.0}, "parsing": {"fr": 90.0, "cs": 50.0, "zh": 65.0}}
    scored = [
        replace(score(target, value), task=task, metric="las" if task == "parsing" else "accuracy")
        for task, values in tasks.items()
        for target, value in values.items()
    ]
    pairs = [similarity(f"en-{target}", 0, 0.5) for target in ("fr", "zh", "cs")]
    ordered = Results.of([*scored, *pairs]).sorted()
    assert [record.target for record in ordered if record.measure] == ["cs", "zh", "fr"]


def test_scores_of_a_task_that_crosslens_does_not_know_have_an_order_too():
    rows = [replace(score(target, value), task="stance", metric="f1") for target, value in (("fr", 50.0), ("cs", 60.0))]
    assert [record.target for record in Results.of(rows).sorted()] == ["cs", "fr"]
