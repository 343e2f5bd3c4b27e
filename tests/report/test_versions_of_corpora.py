"""Test corpora that are not the same, whatever their name, stand in no common row and have no common label."""

from dataclasses import replace

import pytest

from crosslens.errors import RequestError
from crosslens.report.supervision import supervision
from crosslens.report.tables import by_target, layer_sets
from crosslens.results.record import Results
from made_records import score

CORPORA = [
    ({"corpus": "mine", "corpus_digest": "a" * 64}, {"corpus": "mine", "corpus_digest": "b" * 64}),
    ({"corpus": "mine (aaaaaaaa)"}, {"corpus": "mine (bbbbbbbb)"}),
]
"""Two versions of one name, and two names."""


@pytest.mark.parametrize(("one", "other"), CORPORA)
@pytest.mark.parametrize("make", [by_target, layer_sets])
def test_encoders_tested_on_different_corpora_of_a_language_name_them(make, one, other):
    records = [
        score("fr", 80.0, condition=condition, encoder=encoder, **corpus)
        for encoder, corpus in (("e", one), ("f", other))
        for condition in ("none", "1-2")
    ]
    (table,) = make(Results.of(records))
    labels = [rows[0].label.removeprefix("en – ") for rows in table.groups.values()]
    assert labels == ["mine (aaaaaaaa)", "mine (bbbbbbbb)"]
    (table,) = make(Results.of(replace(each, **one) for each in records))
    assert [rows[0].label.removeprefix("en – ") for rows in table.groups.values()] == ["fr", "fr"]


@pytest.mark.parametrize(("one", "other"), CORPORA)
def test_training_data_are_compared_on_one_corpus(one, other):
    """The zero-shot model was tested on another French corpus than the one that was trained in French."""
    records = [score("en", 95.0), score("fr", 80.0, **one), replace(score("fr", 90.0, **other), source="fr")]
    table, *_ = supervision(Results.of(records))
    (rows,) = table.groups.values()
    assert table.head == ("in-language", "zero-shot from en")
    assert {row.label: [cell.value for cell in row.cells] for row in rows if row.label.startswith("mine")} == {
        "mine (aaaaaaaa)": [None, 80.0],
        "mine (bbbbbbbb)": [90.0, None],
    }


@pytest.mark.parametrize("column", ["corpus", "train", "encoder"])
def test_each_of_several_things_of_one_name_is_chosen_by_the_name_in_tables(column):
    versions = [
        score("fr", value, **{column: "some/mine", f"{column}_digest": digest * 64})
        for digest, value in (("a", 80.0), ("b", 70.0))
    ]
    results = Results.of([*versions, score("de", 60.0, **{column: "other"}), score("en", 95.0, **{column: None})])
    of_versions = [results.matching(f"{column}=some/mine ({digest * 8})") for digest in "ab"]
    assert [[each.value for each in chosen] for chosen in of_versions] == [[80.0, 95.0], [70.0, 95.0]]
    assert len(results.matching(f"{column}=some/mine")) == 3
    assert len(results.matching(f"{column}=some/mine (aaaaaaaa)", f"{column}=other")) == 3
    with pytest.raises(RequestError, match="no result has"):
        results.matching(f"{column}=some/mine (cccccccc)")
