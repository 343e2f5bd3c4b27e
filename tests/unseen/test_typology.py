"""Easy, intermediate, hard, undecided."""

import numpy as np
import pytest

from crosslens.unseen.typology import Cell, Measurements, classify, known_languages, typology


@pytest.mark.parametrize(
    ("as_it_is", "adapted", "wanted"),
    [
        ((5.0, 0.001), (-5.0, 0.001), "easy"),
        ((-5.0, 0.001), (5.0, 0.001), "intermediate"),
        ((-5.0, 0.001), (-5.0, 0.001), "hard"),
        ((5.0, 0.5), (5.0, 0.001), "undecided"),
        ((-5.0, 0.001), (5.0, 0.5), "undecided"),
        ((-5.0, 0.001), None, "undecided"),
        ((5.0, 0.001), None, "easy"),
        ((-5.0, 0.001), (5.0, np.nan), "undecided"),
        ((5.0, np.nan), (5.0, np.nan), None),
    ],
)
def test_classes(as_it_is, adapted, wanted):
    assert classify(as_it_is, adapted) == wanted


def scores(mean, spread=1.0, seeds=3, sentences=300, seed=0):
    values = mean + spread * np.random.default_rng(seed).normal(size=(seeds, sentences))
    return dict(enumerate(values, start=1))


def test_a_table_of_clear_languages():
    found = typology(
        {
            Cell("pos", "a", "a"): Measurements(scores(90), scores(92, seed=1), scores(80, seed=2)),
            Cell("pos", "b", "b"): Measurements(scores(70), scores(85, seed=1), scores(80, seed=2)),
            Cell("pos", "c", "c"): Measurements(scores(40), scores(60, seed=1), scores(80, seed=2), scores(50, seed=3)),
            Cell("pos", "d", "d"): Measurements(scores(80), scores(80, seed=1), scores(80, spread=9, seed=2)),
        }
    )
    assert list(found["class"]) == ["easy", "intermediate", "hard", "undecided"]
    assert found["by means"].iloc[3] in ("easy", "intermediate", "hard")
    assert found["encoder - BiLSTM"].iloc[0] == pytest.approx(10, abs=0.3)
    assert found["from scratch"].iloc[2] == pytest.approx(50, abs=0.3)
    assert (found["q"] <= 1).all()


def test_only_common_seeds_are_compared_and_noise_is_undecided():
    """Of languages without any difference at most about one in twenty is given a class."""
    cells = {
        Cell("pos", str(n), str(n)): Measurements(
            scores(80, 10, seeds=5, seed=3 * n), scores(80, 10, seed=3 * n + 1), scores(80, 10, seed=3 * n + 2)
        )
        for n in range(60)
    }
    found = typology(cells)
    assert (found["class"] == "undecided").mean() > 0.9
    assert (found["seeds"] == 3).all()


def test_seeds_are_paired_by_their_number():
    """Seeds 1 to 3 of the encoder and 2 to 4 of the baseline share two, which differ by 10 and by 12 points."""
    encoder = {seed: np.full(50, value) for seed, value in ((1, 0.0), (2, 90.0), (3, 92.0))}
    baseline = {seed: np.full(50, value) for seed, value in ((4, 0.0), (3, 80.0), (2, 80.0))}
    adapted = {2: np.full(50, 95.0), 5: np.full(50, 0.0)}
    (row,) = typology({Cell("pos", "a", "a"): Measurements(encoder, adapted, baseline)}).to_dict("records")
    assert row["encoder - BiLSTM"] == pytest.approx(11.0)
    assert (row["adapted"], row["adapted - BiLSTM"]) == (95.0, 15.0)
    assert (row["encoder"], row["BiLSTM"]) == (91.0, 80.0)  # the means that it is the difference of
    assert (row["seeds"], row["other seeds"]) == (2, "adapted 1")
    lonely = Measurements({1: np.full(50, 90.0)}, None, {2: np.full(50, 80.0)})
    (row,) = typology({Cell("pos", "a", "a"): lonely}).to_dict("records")
    assert (row["encoder"], row["BiLSTM"], row["seeds"]) == (90.0, 80.0, 0)
    assert row["other seeds"] == "BiLSTM 1"


def test_one_seed_has_neither_test_nor_class():
    one, none = scores(90, seeds=1), {2: scores(80, seeds=1)[1]}
    frame = typology(
        {
            Cell("pos", "a", "a"): Measurements(one, scores(95, seeds=1), scores(80, seeds=1, seed=2)),
            Cell("pos", "b", "b"): Measurements(one, None, none),
            Cell("pos", "c", "c"): Measurements(scores(90), None, scores(80, seed=2)),
        }
    )
    assert frame["encoder - BiLSTM"].tolist() == pytest.approx([10, np.nan, 10], abs=0.3, nan_ok=True)
    assert frame["seeds"].tolist() == [1, 0, 3]
    assert frame["q"].isna().tolist() == [True, True, False]
    assert frame["q adapted"].isna().all()
    assert [value if isinstance(value, str) else None for value in frame["class"]] == [None, None, "easy"]
    assert [value if isinstance(value, str) else None for value in frame["by means"]] == [None, None, "easy"]


def test_the_slides_languages():
    known = known_languages()
    assert len(known) == 15
    assert known["gsw"].published == "easy"
    assert known["wo"].published == "intermediate"
    assert known["ug"].published == "hard"
    assert known["sd"].sentences == "375K"
    assert {its.published for its in known.values()} == {"easy", "intermediate", "hard", ""}


def test_nothing_is_nothing():
    assert typology({}).empty
