"""Split sentences into overlapping windows; each word is labelled in the window that gives it most context."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from crosslens.data.subwords import Subwords
from crosslens.errors import EncoderError


@dataclass(frozen=True, slots=True, eq=False)
class Window:
    """A stretch of one sentence, as the encoder reads it.

    Attributes:
        sentence: the sentence's number in its corpus.
        first: the first word that this window answers for.
        last: one past the last.
        ids: ``(length,)`` piece ids, special tokens and context words included.
        labelled: ``(last - first,)``: where in ``ids`` the labelled piece of each of those words is.
        span: where in ``ids`` the pieces of those words begin and end.
        segments: ``(length,)``: which of a pair's two segments each piece belongs to; None: there is only one.
    """

    sentence: int
    first: int
    last: int
    ids: np.ndarray
    labelled: np.ndarray
    span: tuple[int, int]
    segments: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.ids)


def cut_windows(
    sentences: Iterable[Subwords], specials: tuple[np.ndarray, np.ndarray], *, capacity: int, context: int | None = None
) -> list[Window]:
    """Windows over sentences, in their order.

    Args:
        sentences: the pieces of each sentence.
        specials: the ids before and after a sentence (`special_tokens`).
        capacity: most pieces of a window, special tokens included.
        context: pieces that neighbouring windows share; half a window by default. Wu & Dredze (2019, section 4)
            use windows of 128 that share 64.

    Raises:
        EncoderError: when not even the longest word fits a window beside its context.
    """
    before, after = specials
    room = capacity - len(before) - len(after)
    context = room // 2 if context is None else context
    if room < 1 or not 0 <= context < room:
        raise EncoderError(
            f"windows of {capacity} subwords that overlap by {context} leave no room for new words",
            hint="use a larger window or a smaller overlap",
        )
    windows = []
    for number, subwords in enumerate(sentences):
        for begin, end, first, last in _cut(subwords.starts, room, context):
            start = subwords.starts[begin]
            shift = len(before) - start
            ids = np.concatenate([before, subwords.ids[start : subwords.starts[end]], after])
            span = (int(subwords.starts[first] + shift), int(subwords.starts[last] + shift))
            windows.append(Window(number, first, last, ids, subwords.labelled[first:last] + shift, span))
    return windows


def by_sentence(windows: Iterable[Window]) -> list[tuple[Window, ...]]:
    """Windows in order, those of one sentence together; a sentence without words has none and is left out."""
    return [tuple(group) for _, group in groupby(windows, lambda window: window.sentence)]


def _cut(starts: np.ndarray, room: int, context: int) -> list[tuple[int, int, int, int]]:
    """Per window the words it holds, ``begin`` to ``end``, and those it answers for, ``first`` to ``last``."""
    words = len(starts) - 1
    if words == 0:
        return []
    if starts[-1] <= room:
        return [(0, words, 0, words)]
    held = []
    begin = 0
    while True:
        end = int(np.searchsorted(starts, starts[begin] + room, side="right")) - 1
        if end <= begin:
            pieces = int(starts[begin + 1] - starts[begin])
            raise EncoderError(
                f"a word of {pieces} subwords does not fit into a window with room for {room}",
                hint="use a larger window",
            )
        if end == words:  # the last window reaches back as far as it can: context costs nothing here
            begin = int(np.searchsorted(starts, starts[words] - room, side="left"))
            held.append((begin, words))
            break
        held.append((begin, end))
        begin = max(begin + 1, int(np.searchsorted(starts, starts[end] - context, side="left")))
    # How much a window knows of a word: the shorter of its two sides; an end of the sentence hides nothing.
    known = np.full((len(held), words), -1.0)
    for row, (begin, end) in enumerate(held):
        left = np.inf if begin == 0 else starts[begin:end] - starts[begin]
        right = np.inf if end == words else starts[end] - starts[begin + 1 : end + 1]
        known[row, begin:end] = np.minimum(left, right)
    owner = known.argmax(axis=0)
    cut = []
    for row, (begin, end) in enumerate(held):
        owned = np.flatnonzero(owner == row)
        if len(owned):
            cut.append((begin, end, int(owned[0]), int(owned[-1]) + 1))
    return cut
