"""Counts per sentence in files."""

import numpy as np
import pytest

from crosslens.runs.counts import mean_counts, read_counts, write_counts
from crosslens.scores.intervals import linearised


def test_what_is_written_is_read_and_written_again(tmp_path):
    """With the lowest numpy too, in whose files there was an array more, so that no run could get more answers."""
    path, counts = tmp_path / "counts.npz", {"3f2a las": np.array([[1, 2], [3, 4]]), "3f2a uas": np.zeros((2, 0), int)}
    for _ in range(2):
        write_counts(path, {**counts, **read_counts(path)})
        again = read_counts(path)
        assert set(again) == set(counts)
        assert all(np.array_equal(again[name], counts[name]) for name in counts)


def test_the_bytes_do_not_depend_on_the_order_in_which_scores_were_added(tmp_path):
    """Two processes that do the same run, where locks exclude nobody, add their answers in turns."""
    first, second = {"3f2a las": np.array([[1, 2], [3, 4]])}, {"0b1c uas": np.array([[0, 1], [1, 4]])}
    for name, counts in (("a", first | second), ("b", second | first)):
        write_counts(tmp_path / name, counts)
    assert list(read_counts(tmp_path / "a")) == ["0b1c uas", "3f2a las"]
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_run_without_scores_has_no_counts(tmp_path):
    assert read_counts(tmp_path / "counts.npz") == {}
    write_counts(tmp_path / "counts.npz", {})
    assert read_counts(tmp_path / "counts.npz") == {}


def test_the_counts_of_averaged_scores_give_the_mean_score_and_the_mean_of_each_sentence():
    runs = [{"q f1": np.array([[1, 3, 0], [2, 4, 1]]), "q las": np.zeros((2, 3), int)}]
    runs += [{"q f1": np.array([[2, 3, 1], [3, 4, 2]]), "q las": np.zeros((2, 3), int), "other f1": np.ones((2, 3))}]
    averaged = mean_counts(runs)
    assert averaged.keys() == {"q f1"}  # nothing is known of the others
    values = [linearised(counts["q f1"][:1], counts["q f1"][1:])[0] for counts in (*runs, averaged)]
    assert values[2] == pytest.approx((values[0] + values[1]) / 2)
    assert 100 * averaged["q f1"][0].sum() / averaged["q f1"][1].sum() == pytest.approx((100 * 4 / 7 + 100 * 6 / 9) / 2)
