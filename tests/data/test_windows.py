import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crosslens.data.subwords import Subwords
from crosslens.data.windows import cut_windows, room_for
from crosslens.errors import EncoderError

SPECIALS = (np.asarray([1]), np.asarray([2]))


def pieces(counts):
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return Subwords(np.arange(100, 100 + starts[-1]), starts, starts[:-1], 0, 0)


@given(
    st.lists(st.integers(1, 4), min_size=1, max_size=80), st.integers(8, 40), st.one_of(st.none(), st.integers(0, 5))
)
def test_every_word_is_answered_for_exactly_once_and_windows_fit(counts, capacity, context):
    subwords = pieces(counts)
    windows = cut_windows([subwords], SPECIALS, capacity=capacity, context=context)
    answered = [word for window in windows for word in range(window.first, window.last)]
    assert sorted(answered) == list(range(len(counts)))
    for window in windows:
        assert len(window) <= capacity
        assert window.ids[0] == 1
        assert window.ids[-1] == 2
        # The labelled piece and the span point at the pieces of just these words.
        assert window.ids[window.labelled].tolist() == [
            100 + subwords.starts[w] for w in range(window.first, window.last)
        ]
        begin, end = subwords.starts[window.first], subwords.starts[window.last]
        assert window.ids[slice(*window.span)].tolist() == list(range(100 + begin, 100 + end))


def test_a_sentence_that_fits_is_one_window():
    (window,) = cut_windows([pieces([2, 1, 3])], SPECIALS, capacity=8)
    assert window.ids.tolist() == [1, *range(100, 106), 2]
    assert window.labelled.tolist() == [1, 3, 4]


def test_a_word_is_answered_for_where_it_has_most_context():
    subwords = pieces([1] * 30)
    windows = cut_windows([subwords], SPECIALS, capacity=12, context=6)
    held = [set(window.ids.tolist()) for window in windows]

    def context_of(word, number):
        inside = sorted(i - 100 for i in held[number] if i >= 100)
        left = np.inf if inside[0] == 0 else word - inside[0]
        right = np.inf if inside[-1] == 29 else inside[-1] - word
        return min(left, right)

    for number, window in enumerate(windows):
        for word in range(window.first, window.last):
            others = [context_of(word, n) for n in range(len(windows)) if 100 + word in held[n]]
            assert context_of(word, number) == max(others)


def test_an_end_of_the_sentence_hides_nothing():
    """Ten words in windows of six that share four: a word at the end has all its context in the last window."""
    windows = cut_windows([pieces([1] * 10)], SPECIALS, capacity=8, context=4)
    held = [[int(i) - 100 for i in window.ids[1:-1]] for window in windows]
    assert held == [[0, 1, 2, 3, 4, 5], [2, 3, 4, 5, 6, 7], [4, 5, 6, 7, 8, 9]]
    assert [(window.first, window.last) for window in windows] == [(0, 4), (4, 6), (6, 10)]
    # A last window with one new word reaches back for context, and answers for all that it knows better.
    windows = cut_windows([pieces([1] * 9)], SPECIALS, capacity=8, context=4)
    assert [int(window.ids[1]) - 100 for window in windows] == [0, 2, 3]
    assert [(window.first, window.last) for window in windows][-1][1] == 9
    assert windows[-1].first == 6


def test_windows_share_at_least_the_context_asked_for():
    windows = cut_windows([pieces([1] * 60)], SPECIALS, capacity=22, context=8)
    for one, two in itertools.pairwise(windows):
        assert len(set(one.ids[1:-1].tolist()) & set(two.ids[1:-1].tolist())) >= 8


def test_the_published_windows_of_128_that_share_64():
    windows = cut_windows([pieces([1] * 300)], SPECIALS, capacity=128, context=64)
    assert max(len(window) for window in windows) == 128
    assert len(windows) == 4  # 126, then 62 new words each


@pytest.mark.parametrize(("capacity", "context"), [(2, None), (1, 0), (10, 8), (10, -1)])
def test_no_room_is_refused(capacity, context):
    with pytest.raises(EncoderError, match="leave no room"):
        cut_windows([pieces([1, 1])], SPECIALS, capacity=capacity, context=context)


def test_a_word_longer_than_a_window_is_refused():
    with pytest.raises(EncoderError, match="a word of 9 subwords"):
        cut_windows([pieces([1, 9, 1])], SPECIALS, capacity=8)


@pytest.mark.parametrize("repeat", [1, 2, 3])
@pytest.mark.parametrize("capacity", [10, 11, 12])
def test_a_window_has_room_for_as_many_subwords_as_fit_with_the_special_tokens_once(capacity, repeat):
    room = room_for(SPECIALS, capacity=capacity, repeat=repeat)
    assert 2 + repeat * room <= capacity < 2 + repeat * (room + 1)
