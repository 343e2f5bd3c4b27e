"""What results show of themselves, as text, HTML, LaTeX, tables and charts."""

from dataclasses import replace

import pandas as pd
import pytest

from crosslens.results.pivot import ROWS, SHOWN
from crosslens.results.record import Record, Results
from made_results import SCORES, score


def test_languages_stand_in_the_order_of_their_scores():
    """As in `Results.table`, whatever the order of the records."""
    results = Results.of([score("cs", 71.0), score("fr", 80.0)])
    for shown in (repr(results), results._repr_html_(), results.to_latex()):
        assert 0 < shown.index("ud/fr") < shown.index("ud/cs")


def test_of_many_records_that_no_table_can_hold_the_first_are_shown_and_the_others_counted():
    rows = [score("fr", 50.0 + place) for place in range(12)]
    for shown in (repr(Results.of(rows)), Results.of(rows)._repr_html_()):
        assert "59.00" in shown
        assert "60.00" not in shown.partition("contradict")[0]
        assert "two records contradict one another" in shown
        assert "of these records, 2 more are not shown" in shown
    assert "not shown" not in repr(Results.of(rows[:10]))


def test_scores_of_one_split_have_a_table_and_a_chart_beside_an_overlap_of_another():
    pytest.importorskip("altair")
    scores = Results.of(replace(each, split="dev") for each in SCORES)
    overlap = Record(encoder="e", source="en", target="fr", split="test", measure="overlap_types", value=40.0)
    overlap = replace(overlap, metric="overlap")
    both = Results.of([replace(overlap, source="de"), *scores, overlap])
    pd.testing.assert_frame_equal(both.table(), scores.table())
    assert both.plot().to_dict() == scores.plot().to_dict()


def test_a_caption_and_its_label_stand_above_the_table():
    text = Results.of(SCORES).to_latex(caption="c", label="tab:pos")
    parts = (r"\begin{table}", r"\caption{c}", r"\label{tab:pos}", r"\begin{tabular}", r"\end{tabular}", r"\end{table}")
    places = [text.index(part) for part in parts]
    assert places == sorted(places)


def test_html_counts_the_tables_that_it_does_not_show_and_has_no_markup_of_names():
    rows = [replace(SCORES[0], metric=f"m{place}", encoder="<img src=x>") for place in range(SHOWN + 2)]
    shown = Results.of(rows)._repr_html_()
    assert shown.endswith("<p>and 2 more tables; filter(…) selects records</p>")
    assert "<img" not in shown
    assert shown.count("&lt;img src=x&gt;") == SHOWN
    assert Results.of(rows[:-1])._repr_html_().endswith("<p>and 1 more table; filter(…) selects records</p>")
    assert " more table" not in Results.of(rows[:-2])._repr_html_()


def test_a_note_stays_one_line_whatever_names_it_has():
    """A file name may have a line break."""
    tags = {"subwords": 10, "unknown_subwords": 9}
    shown = str(Results.of([replace(SCORES[0], corpus="my\nfile.conllu", tags=tags)]))
    assert shown.splitlines()[-1].endswith("subwords that the encoder does not know: my file.conllu (90 %)")


def test_of_a_long_table_the_first_and_the_last_rows_are_shown():
    results = Results.of(score(f"x{place:03}", float(place)) for place in range(ROWS + 40))
    for shown in (repr(results), results._repr_html_()):
        assert f"ud/x{ROWS + 39:03}" in shown
        assert "ud/x000" in shown
        assert 0 < sum(f"ud/x{place:03}" in shown for place in range(ROWS + 40)) <= ROWS
