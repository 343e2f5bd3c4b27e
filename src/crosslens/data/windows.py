"""Split sentences into overlapping windows; each word is labelled in the window where it has the most context."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from crosslens.data.subwords import Subwords
from crosslens.errors import EncoderError


@dataclass(frozen=True, slots=True, eq=False)
class Window:
    """Part of a sentence, as input of the encoder.

    Attributes:
        sentence: index of the sentence in its corpus.
        first: first word that is labelled in this window.
        last: last such word, exclusive.
        ids: subword ids, including special tokens and context words, ``(length,)``.
        labelled: position in ``ids`` of the labelled subword of each such word, ``(last - first,)``.
        starts: position in ``ids`` of the first subword of each such word, and the end of the last one,
            ``(last - first + 1,)``.
        before: number of special tokens before the first subword.
        segments: segment of each subword of a pair of texts, ``(length,)``; None for a single text.
    """

    sentence: int
    first: int
    last: int
    ids: np.ndarray
    labelled: np.ndarray
    starts: np.ndarray
    before: int
    segments: np.ndarray | None = None

    @property
    def span(self) -> tuple[int, int]:
        """Start and end in ``ids`` of the subwords of those words."""
        return int(self.starts[0]), int(self.starts[-1])

    def __len__(self) -> int:
        return len(self.ids)


def cut_windows(
    sentences: Iterable[Subwords],
    specials: tuple[np.ndarray, np.ndarray],
    *,
    capacity: int,
    context: int | None = None,
    repeat: int = 1,
) -> list[Window]:
    """Split sentences into windows, in order.

    Args:
        specials: special tokens before and after a sentence (`special_tokens`).
        capacity: maximum number of subwords per window, including special tokens.
        context: overlap of neighbouring windows in subwords; half a window by default. Wu & Dredze (2019, section 4)
            use windows of 128 subwords that overlap by 64.
        repeat: number of copies of the subwords in a window, between the special tokens; words are labelled in the
            last copy.

    Raises:
        EncoderError: if the longest word or the overlap does not fit into a window.
    """
    before, after = specials
    room = room_for(specials, capacity=capacity, repeat=repeat)
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
            inner = subwords.ids[start : subwords.starts[end]]
            shift = len(before) + (repeat - 1) * len(inner) - start
            ids = np.concatenate([before, *[inner] * repeat, after])
            labelled, starts = subwords.labelled[first:last] + shift, subwords.starts[first : last + 1] + shift
            windows.append(Window(number, first, last, ids, labelled, starts, len(before)))
    return windows


def room_for(specials: tuple[np.ndarray, np.ndarray], *, capacity: int, repeat: int = 1) -> int:
    """Maximum number of subwords of a window that are not special tokens, in each copy of a repeated input."""
    before, after = specials
    return (capacity - len(before) - len(after)) // repeat


def by_sentence(windows: Iterable[Window]) -> list[tuple[Window, ...]]:
    """Group windows by sentence, in order; sentences without words have no windows and are left out."""
    return [tuple(group) for _, group in groupby(windows, lambda window: window.sentence)]


def _cut(starts: np.ndarray, room: int, context: int) -> list[tuple[int, int, int, int]]:
    """Words of each window, ``begin`` to ``end``, and those labelled in it, ``first`` to ``last``."""
    words = len(starts) - 1
    if words == 0:
        return []
    if starts[-1] <= room:
        return [(0, words, 0, words)]
    spans = []
    begin = 0
    while True:
        end = int(np.searchsorted(starts, starts[begin] + room, side="right")) - 1
        if end <= begin:
            length = int(starts[begin + 1] - starts[begin])
            raise EncoderError(
                f"a word of {length} subwords does not fit into a window with room for {room}",
                hint="use a larger window",
            )
        if end == words:  # the last window takes as much context as fits
            begin = int(np.searchsorted(starts, starts[words] - room, side="left"))
            spans.append((begin, words))
            break
        spans.append((begin, end))
        begin = max(begin + 1, int(np.searchsorted(starts, starts[end] - context, side="left")))
    # Context of a word in a window: the shorter of its two sides; the ends of the sentence limit nothing.
    context_sizes = np.full((len(spans), words), -1.0)
    for row, (begin, end) in enumerate(spans):
        left = np.inf if begin == 0 else starts[begin:end] - starts[begin]
        right = np.inf if end == words else starts[end] - starts[begin + 1 : end + 1]
        context_sizes[row, begin:end] = np.minimum(left, right)
    best = context_sizes.argmax(axis=0)
    windows = []
    for row, (begin, end) in enumerate(spans):
        labelled = np.flatnonzero(best == row)
        if len(labelled):
            windows.append((begin, end, int(labelled[0]), int(labelled[-1]) + 1))
    return windows
