"""Results refuse what no file of results can hold, with errors of crosslens."""

import math
from typing import Any

import pytest

from crosslens.errors import RequestError
from crosslens.results.record import Record, Results, read_results

RESULTS = Results.of([Record(task="pos", target="fr", metric="accuracy", value=80.0, seed=1)])
ANY: Any = RESULTS


@pytest.mark.parametrize(
    "record", [Record(value=math.nan), Record(fertility=math.inf), Record(tags={"loss": math.nan})], ids=repr
)
def test_a_number_that_no_file_of_results_can_hold_is_refused(record):
    with pytest.raises(RequestError, match="has a number that is not finite"):
        Results.of([record])


def test_a_record_needs_values_of_the_types_of_the_columns():
    with pytest.raises(RequestError, match=r"another type than its column's.*'first'"):
        Results.of([Record(seed="first")])  # pyright: ignore[reportArgumentType]
    with pytest.raises(RequestError, match=r"made of records, not of a dict .*xl\.Record"):
        Results.of([{"task": "pos"}])  # pyright: ignore[reportArgumentType]


def test_a_column_is_set_to_a_value_of_its_type():
    with pytest.raises(RequestError, match=r"seed: the column cannot hold 'first'"):
        RESULTS.with_columns(seed="first")
    with pytest.raises(RequestError, match=r"value: nan is not finite .*undefined is None"):
        RESULTS.with_columns(value=math.nan)


@pytest.mark.parametrize(
    "select", [lambda: RESULTS.groups("langauge"), lambda: RESULTS.with_columns(langauge="fr")], ids=["groups", "set"]
)
def test_a_column_that_there_is_not_is_refused(select):
    with pytest.raises(RequestError, match="results have no column 'langauge'"):
        select()


def test_the_folder_of_a_file_is_made(tmp_path):
    RESULTS.write(tmp_path / "new" / "folder" / "results.csv")
    assert read_results(tmp_path / "new" / "folder" / "results.csv") == RESULTS


@pytest.mark.parametrize(
    ("select", "reason"),
    [
        (lambda: ANY["task"], r"not by the type str .filter\(task=…\) selects rows"),
        (lambda: ANY[[0]], "not by the type list"),
        (lambda: ANY.matching(["task=pos"]), r"not the type list .matching\(\"task=pos\", \"seed=1\"\)"),
    ],
    ids=["column", "list of rows", "list of texts"],
)
def test_what_a_data_frame_would_take_is_refused_with_what_results_take(select, reason):
    with pytest.raises(RequestError, match=reason):
        select()
