"""Counts per sentence in files."""

import numpy as np

from crosslens.runs.counts import read_counts, write_counts


def test_what_is_written_is_read_and_written_again(tmp_path):
    """With the lowest numpy too, in whose files there was an array more, so that no run could get more answers."""
    path, counts = tmp_path / "counts.npz", {"3f2a las": np.array([[1, 2], [3, 4]]), "3f2a uas": np.zeros((2, 0), int)}
    for _ in range(2):
        write_counts(path, {**counts, **read_counts(path)})
        again = read_counts(path)
        assert set(again) == set(counts)
        assert all(np.array_equal(again[name], counts[name]) for name in counts)


def test_a_run_without_scores_has_no_counts(tmp_path):
    assert read_counts(tmp_path / "counts.npz") == {}
    write_counts(tmp_path / "counts.npz", {})
    assert read_counts(tmp_path / "counts.npz") == {}
