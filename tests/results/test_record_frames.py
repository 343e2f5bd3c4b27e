"""Results as data frames of pandas, and back."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crosslens.errors import RequestError
from crosslens.results.pivot import SHOWN
from crosslens.results.record import COLUMNS, Record, Results
from made_results import SCORES, score, similarity

text = st.none() | st.text()
value = st.none() | st.floats(allow_nan=False, allow_infinity=False)
count = st.none() | st.integers(0, 2**53)  # of a column with gaps, pandas makes floats
tags = st.dictionaries(st.text(), st.text() | st.integers(0, 99), max_size=2)
records = st.builds(Record, task=text, target=text, layer=count, seed=count, value=value, low=value, tags=tags)


@given(st.lists(records, max_size=4))
def test_a_frame_makes_the_results_that_made_it(several):
    results = Results.of(several)
    again = Results.from_pandas(results.to_pandas())
    assert again.records.equals(results.records)
    assert list(again) == list(results)


def test_rows_may_be_selected_columns_sorted_and_text_be_categories():
    results = Results.of([*SCORES, score("zh", None), similarity("en-fr", 0, 0.5)])
    frame = results.to_pandas().astype({"target": "category"})[sorted(COLUMNS)]
    assert list(Results.from_pandas(frame.query("target == 'zh'"))) == list(results.filter(target="zh"))
    assert list(Results.from_pandas(frame.iloc[::-1])) == list(results)[::-1]


def test_missing_and_added_columns_are_named():
    frame = Results.of(SCORES).to_pandas()
    with pytest.raises(
        RequestError, match=r"it lacks 'seed', 'value' and it has 'extra' \(give the columns that Results"
    ):
        Results.from_pandas(frame.drop(columns=["seed", "value"]).assign(extra=1))
    with pytest.raises(RequestError, match="a data frame of pandas, not from a list"):
        Results.from_pandas(SCORES)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("column", "value", "reason"),
    [
        ("seed", 1.5, r"the column seed of the data frame cannot be one of results: .*1\.5"),
        ("seed", "one", "the column seed of the data frame cannot be one of results: [^(]"),
        ("value", "high", "the column value of the data frame cannot be one of results: [^(]"),
        ("value", float("inf"), "record 1: value is inf"),
        ("tags", "[]", r"the tags '\[\]'"),
    ],
)
def test_a_value_that_the_column_cannot_hold_is_refused_with_the_column(column, value, reason):
    frame = Results.of(SCORES).to_pandas().astype({column: object})
    frame.loc[0, column] = value
    with pytest.raises(RequestError, match=reason):
        Results.from_pandas(frame)
    assert len(Results.from_pandas(pd.DataFrame(frame.iloc[1:]))) == len(SCORES) - 1


@pytest.mark.parametrize(
    ("tables", "ends"), [(SHOWN, ""), (SHOWN + 1, "and 1 more table; "), (SHOWN + 2, "and 2 more tables; ")]
)
def test_the_text_of_results_counts_the_tables_that_it_does_not_show(tables, ends):
    shown = repr(Results.of([Record(task="pos", metric=f"m{number}", value=1.0) for number in range(tables)]))
    assert shown.splitlines()[-1].startswith(ends)
    assert ("more table" in shown) == bool(ends)
