"""Perplexity by pretraining condition, and the transfer of the same encoders."""

from dataclasses import replace

import pytest

from crosslens.encoders.condition import Condition
from crosslens.report.conditions.perplexities import perplexities
from crosslens.results.record import Record, Results

NO_ANCHORS = Condition(factor="no-anchors")


def perplexity(language, value, *, partner, seed=1, condition=Condition(), encoder="pretrain:lab"):  # noqa: B008
    columns = {"measure": "perplexity", "metric": "perplexity", "encoder": encoder, "state": "pretrained"}
    return Record(target=language, value=value, partner=partner, seed=seed, **columns, **condition.columns)


def score(value, *, target, partner, seed=1, task="pos", condition=Condition()):  # noqa: B008
    metric = {"pos": "accuracy", "parsing": "las"}[task]
    columns = {"encoder": "pretrain:lab", "source": "src", "state": "fine-tuned", "corpus": f"lab/{target}:test"}
    return Record(
        task=task, metric=metric, value=value, target=target, partner=partner, seed=seed, **columns, **condition.columns
    )


MEASURED = [
    perplexity("src", 12.0, partner="adj"),
    perplexity("adj", 11.0, partner="adj"),
    perplexity("src", 13.0, partner="gen"),
    perplexity("gen", 10.0, partner="gen"),
    perplexity("src", 14.0, partner="adj", condition=NO_ANCHORS),
    perplexity("adj", 24.0, partner="adj", condition=NO_ANCHORS),
    perplexity("adj", 16.0, partner="adj", condition=NO_ANCHORS, seed=2),
]
SCORES = [
    score(57.0, target="adj", partner="adj"),
    score(95.0, target="src", partner="adj"),
    score(40.0, target="gen", partner="adj"),
    score(28.0, target="adj", partner="adj", condition=NO_ANCHORS),
    score(75.0, target="adj", partner="adj", condition=NO_ANCHORS, seed=2),
    score(31.0, target="adj", partner="adj", condition=NO_ANCHORS, task="parsing"),
]


def values(rows):
    return {row.label: [cell.value for cell in row.cells] for row in rows}


def test_lowest_and_highest_over_encoders_and_seeds():
    ranges, *_ = perplexities(Results.of(MEASURED))
    assert ranges.name == "perplexity"
    assert ranges.head == ("reference", "no-anchors")
    assert values(ranges.groups["pretrain:lab"]) == {
        "src, lowest": [12.0, 14.0],
        "src, highest": [13.0, 14.0],
        "adj, lowest": [11.0, 16.0],
        "adj, highest": [11.0, 24.0],
        "gen, lowest": [10.0, None],
        "gen, highest": [10.0, None],
    }


def test_lowest_and_highest_are_of_one_text():
    """Perplexities of two texts of a language differ by the text."""
    web, news = ([replace(each, corpus=f"raw/{name}") for each in MEASURED[-2:]] for name in ("web", "news"))
    ranges, *_ = perplexities(Results.of([*web, *(replace(each, value=100.0) for each in news)]))
    assert values(ranges.groups["pretrain:lab"]) == {
        "adj, raw/web, lowest": [16.0],
        "adj, raw/web, highest": [24.0],
        "adj, raw/news, lowest": [100.0],
        "adj, raw/news, highest": [100.0],
    }


def test_each_encoder_beside_the_reference_of_its_language_and_seed():
    """Scores are those in the bilingual language, not in the source or in a third language."""
    _, table = perplexities(Results.of([*MEASURED, *SCORES]))
    assert table.name == "perplexity-and-transfer"
    assert table.head == ("perplexity", "Ref perplexity", "pos", "Ref pos", "parsing", "Ref parsing")
    assert list(table.groups) == ["no-anchors"]
    assert values(table.groups["no-anchors"]) == {
        "adj, seed 1": [24.0, 11.0, 28.0, 57.0, 31.0, None],
        "adj, seed 2": [16.0, None, 75.0, None, None, None],
    }


def test_several_encoders_have_groups_of_their_own():
    other = [perplexity("adj", 600.0, partner="adj", condition=NO_ANCHORS, encoder="pretrain:small")]
    ranges, table = perplexities(Results.of([*MEASURED, *SCORES, *other]))
    assert list(ranges.groups) == ["pretrain:lab", "pretrain:small"]
    assert list(table.groups) == ["pretrain:lab, no-anchors"]


@pytest.mark.parametrize(
    ("others", "titles"),
    [
        ({"recipe": "short"}, ["no-anchors, long", "no-anchors, short"]),
        ({"source": "other"}, ["no-anchors, source src", "no-anchors, source other"]),
        ({"split": "dev"}, ["no-anchors, test", "no-anchors, dev"]),
    ],
)
def test_each_kind_of_model_has_a_group(others, titles):
    first = [replace(each, recipe="long", split="test") for each in SCORES if each.task == "pos"]
    second = [replace(each, value=each.value - 9.0, **others) for each in first]
    _, table = perplexities(Results.of([*MEASURED, *first, *second]))
    assert list(table.groups) == titles
    for rows, lower in zip(table.groups.values(), (0.0, 9.0), strict=True):
        assert values(rows) == {
            "adj, seed 1": [24.0, 11.0, 28.0 - lower, 57.0 - lower],
            "adj, seed 2": [16.0, None, 75.0 - lower, None],
        }


def test_two_encoders_of_one_name_have_groups_of_their_own():
    twice = [
        replace(each, value=each.value - lower, encoder_digest=digest * 64)
        for digest, lower in (("a", 0.0), ("b", 5.0))
        for each in (*MEASURED, *SCORES)
    ]
    _, table = perplexities(Results.of(twice))
    first, second = table.groups.values()
    assert values(first)["adj, seed 1"] == [24.0, 11.0, 28.0, 57.0, 31.0, None]
    assert values(second)["adj, seed 1"] == [19.0, 6.0, 23.0, 52.0, 26.0, None]


def test_no_table_where_pretraining_was_not_varied():
    assert perplexities(Results.of(SCORES)) == []
    assert perplexities(Results.of(MEASURED[:4])) == []
    (only,) = perplexities(Results.of(MEASURED))
    assert only.name == "perplexity"


@pytest.mark.parametrize(("value", "shown"), [(24.0, 24.0), (30.0, None)])
def test_an_encoder_with_several_perplexities_of_its_language_has_a_note_and_no_value(value, shown):
    """One of them would be picked by chance; records that say the same are one."""
    again = replace(MEASURED[5], value=value, corpus="lab/adj:dev")
    _, table = perplexities(Results.of([*MEASURED, again, *SCORES]))
    assert values(table.groups["no-anchors"])["adj, seed 1"] == [shown, 11.0, 28.0, 57.0, 31.0, None]
    assert table.notes == (() if shown else ("several values: 24.00, 30.00",))


def test_encoders_of_a_language_stand_in_the_order_of_their_seeds():
    records = [
        record
        for seed in (10, 9, 2)
        for condition in (Condition(), NO_ANCHORS)
        for record in (
            perplexity("adj", 11.0, partner="adj", seed=seed, condition=condition),
            score(50.0, target="adj", partner="adj", seed=seed, condition=condition),
        )
    ]
    _, table = perplexities(Results.of(records))
    ((*rows,),) = table.groups.values()
    assert [row.label for row in rows] == ["adj, seed 2", "adj, seed 9", "adj, seed 10"]
