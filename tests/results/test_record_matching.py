"""Rows selected by texts ``column=value``, as on the command line."""

from dataclasses import replace

import pytest

from crosslens.errors import RequestError
from crosslens.results.cells import corpora_apart
from crosslens.results.record import Record, Results
from made_results import score


def test_a_value_may_hold_equals_signs():
    settings = ("batch_size=16 lr=1e-05", "batch_size=16")
    results = Results.of(Record(settings=text, value=1.0) for text in settings)
    for text in settings:
        assert [record.settings for record in results.matching(f"settings={text}")] == [text]


@pytest.mark.parametrize("name", ["min", "mine (", "mine (aaaa"])
def test_the_beginning_of_a_name_selects_nothing(name):
    versions = [replace(score("fr", 80.0), corpus="mine", corpus_digest=letter * 64) for letter in "ab"]
    with pytest.raises(RequestError, match="no result has corpus=min"):
        Results.of(versions).matching(f"corpus={name}")


def test_each_of_two_corpora_of_one_name_is_selected_by_its_name_in_tables():
    versions = [replace(score("fr", 80.0), corpus="mine", corpus_digest=letter * 64) for letter in "ab"]
    results = Results.of(versions)
    assert len(results.matching("corpus=mine")) == 2
    names = [name for (name,), _ in corpora_apart(results).groups("corpus")]
    assert names == ["mine (aaaaaaaa)", "mine (bbbbbbbb)"]
    assert [list(results.matching(f"corpus={name}")) for name in names] == [[version] for version in versions]


def test_a_text_needs_a_column_and_a_value():
    for text in ("=pos", "task=", "task"):
        with pytest.raises(RequestError, match=f"{text}: is not column=value"):
            Results.of([score("fr", 80.0)]).matching(text)
