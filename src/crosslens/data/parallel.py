"""Parallel corpora: the same sentences in several languages, aligned by id."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from crosslens.data.corpus import Corpus, item_error
from crosslens.data.sentence import Sentence, Text
from crosslens.errors import DataError, RequestError, require_known, suggest

_PUD = re.compile(r"[nw](\d\d)\d{6}$")
_ORIGINALS = {"01": "en", "02": "de", "03": "fr", "04": "it", "05": "es"}
"""Code of the original language -> language; it follows n (news) or w (Wikipedia) in PUD ids (see PUD's README)."""


@dataclass(frozen=True)
class Parallel:
    """Corpora whose n-th items are translations of one another.

    Attributes:
        corpora: language -> corpus; all in the same order.
        name: corpus name, such as ``ud/pud``.
    """

    corpora: Mapping[str, Corpus]
    name: str

    def __repr__(self) -> str:
        """Describe the corpora in one line."""
        return f"Parallel {self.name}: {len(self):,} items in {', '.join(self.languages)}"

    def __len__(self) -> int:
        """Number of aligned items."""
        return len(next(iter(self.corpora.values())))

    def __getitem__(self, language: str) -> Corpus:
        require_known(language, self.corpora, f"{self.name} does not contain language", error=DataError)
        return self.corpora[language]

    @cached_property
    def originals(self) -> tuple[str | None, ...]:
        """Original language of each item, encoded in its id in PUD; None if unknown."""
        ids = (item.id or "" for item in next(iter(self.corpora.values())))
        return tuple(_ORIGINALS.get(match[1]) if (match := _PUD.match(i)) else None for i in ids)

    def originally(self, language: str) -> "Parallel":
        """Select the items originally written in a language, with their translations.

        Raises:
            DataError: if there are none.
        """
        indices = [index for index, original in enumerate(self.originals) if original == language]
        if not indices:
            known = sorted({original for original in self.originals if original})
            raise DataError(
                f"{self.name} contains no item originally written in {language!r}", hint=suggest(language, known)
            )
        return self.select(indices)

    def select(self, indices: Sequence[int]) -> "Parallel":
        """Select items of every language by their indices."""
        corpora = {
            key: replace(corpus, items=tuple(corpus.items[i] for i in indices)) for key, corpus in self.corpora.items()
        }
        return Parallel(corpora, self.name)

    @cached_property
    def languages(self) -> tuple[str, ...]:
        """Sorted languages."""
        return tuple(sorted(self.corpora))

    def head(self, count: int) -> "Parallel":
        """Select the first ``count`` items of every language.

        Raises:
            RequestError: for a negative number.
        """
        if count < 0:
            raise RequestError(f"there are no first {count} items of {self.name}", hint="give a positive number")
        return Parallel({language: corpus[:count] for language, corpus in self.corpora.items()}, self.name)


def join(corpora: Iterable[Corpus], *, name: str) -> Parallel:
    """Align corpora with the same ids, in the order of the first corpus.

    Raises:
        DataError: for a corpus without a language, two corpora in one language, an item without an id, a duplicate
            id, or ids or labels that differ, naming the first.
    """
    joined: dict[str, Corpus] = {}
    for corpus in corpora:
        language = corpus.language
        if language is None:
            raise DataError(f"cannot align {corpus.name} in {name}: its language is unknown")
        if language in joined:
            raise DataError(f"{name} contains two corpora in {language!r}; the second is {corpus.name}")
        joined[language] = _reordered(corpus, next(iter(joined.values()), corpus))
    if not joined:
        raise DataError(f"{name} contains no corpora")
    return Parallel(joined, name)


def places_by_id(corpus: Corpus) -> dict[str | None, int]:
    """Place of each item by its id.

    Raises:
        DataError: for a duplicate id.
    """
    places: dict[str | None, int] = {}
    for place, item in enumerate(corpus):
        if item.id is not None and item.id in places:
            raise item_error(corpus, item, f"cannot align duplicate id {item.id!r}")
        places[item.id] = place
    return places


def _by_id(corpus: Corpus) -> dict[str, Sentence | Text]:
    items: dict[str, Sentence | Text] = {}
    for id, place in places_by_id(corpus).items():
        item = corpus[place]
        if id is None:
            raise item_error(corpus, item, "cannot align an item without an id")
        items[id] = item
    return items


def _reordered(corpus: Corpus, first: Corpus) -> Corpus:
    """Sort the items of a corpus by the ids of the first one."""
    items, wanted = _by_id(corpus), [item.id for item in first]
    for side, ids, required in ((corpus, set(items), wanted), (first, set(wanted), list(items))):
        missing = next((i for i in required if i not in ids), None)
        if missing is not None:
            hint = "join what has the same ids; a slice such as NAME[:100] takes the first ones of every language"
            raise DataError(f"not parallel: {side.name} has no item {missing!r}", hint=hint)
    for item in first:
        first_label, label = (getattr(aligned, "label", None) for aligned in (item, items[item.id or ""]))
        if first_label != label:
            raise DataError(
                f"not parallel: {item.id!r} is labelled {first_label} in {first.name} but {label} in {corpus.name}",
                hint="translations must share their label",
            )
    return replace(corpus, items=tuple(items[i] for i in wanted if i is not None))
