"""The same sentences in several languages, joined by id and checked."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from crosslens.data.corpus import Corpus
from crosslens.data.sentence import Sentence, Text
from crosslens.errors import DataError, suggest

_PUD = re.compile(r"[nw](\d\d)\d{6}$")
_ORIGINALS = {"01": "en", "02": "de", "03": "fr", "04": "it", "05": "es"}
"""PUD's ids begin with n (news) or w (Wikipedia) and the number of the original's language, as its README says."""


@dataclass(frozen=True)
class Parallel:
    """Corpora whose n-th items are translations of one another.

    Attributes:
        corpora: language -> corpus; all of one length, in one order.
        name: what the user calls it, such as ``ud/pud``.
    """

    corpora: Mapping[str, Corpus]
    name: str

    def __len__(self) -> int:
        """How many items are aligned."""
        return len(next(iter(self.corpora.values())))

    def __getitem__(self, language: str) -> Corpus:
        if language not in self.corpora:
            raise DataError(
                f"{self.name} does not contain language {language!r}", hint=suggest(language, self.languages)
            )
        return self.corpora[language]

    @cached_property
    def originals(self) -> tuple[str | None, ...]:
        """The language that each item was written in, where its id says so, as those of PUD do; None where not."""
        ids = (item.id or "" for item in next(iter(self.corpora.values())))
        return tuple(_ORIGINALS.get(match[1]) if (match := _PUD.match(i)) else None for i in ids)

    def originally(self, language: str) -> "Parallel":
        """The items that were written in a language, and their translations.

        Raises:
            DataError: when there are none.
        """
        kept = [number for number, original in enumerate(self.originals) if original == language]
        if not kept:
            known = sorted({original for original in self.originals if original})
            raise DataError(
                f"{self.name} contains no item originally written in {language!r}", hint=suggest(language, known)
            )
        chosen = {
            key: replace(corpus, items=tuple(corpus.items[i] for i in kept)) for key, corpus in self.corpora.items()
        }
        return Parallel(chosen, self.name)

    @cached_property
    def languages(self) -> tuple[str, ...]:
        """The languages, sorted."""
        return tuple(sorted(self.corpora))

    def head(self, count: int) -> "Parallel":
        """The first ``count`` items of every language."""
        return Parallel({language: corpus[:count] for language, corpus in self.corpora.items()}, self.name)


def join(corpora: Iterable[Corpus], *, name: str) -> Parallel:
    """Join corpora that hold the same ids, in any order, into the order of the first.

    Raises:
        DataError: for a corpus without a language, two of one language, an item without an id, an id that
            comes twice, or ids or labels that differ: the first that does is named.
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


def _by_id(corpus: Corpus) -> dict[str, Sentence | Text]:
    items: dict[str, Sentence | Text] = {}
    for item in corpus:
        file, line = item.where or (corpus.name, None)
        if item.id is None:
            raise DataError("cannot align an item without an id", file=file, line=line)
        if item.id in items:
            raise DataError(f"cannot align duplicate id {item.id!r}", file=file, line=line)
        items[item.id] = item
    return items


def _reordered(corpus: Corpus, first: Corpus) -> Corpus:
    """The corpus in the order of the first one's ids."""
    items, wanted = _by_id(corpus), [item.id for item in first]
    for one, ids, other in ((corpus, set(items), wanted), (first, set(wanted), list(items))):
        missing = next((i for i in other if i not in ids), None)
        if missing is not None:
            hint = "join what has the same ids; a slice such as NAME[:100] takes the first ones of every language"
            raise DataError(f"not parallel: {one.name} has no item {missing!r}", hint=hint)
    for item in first:
        first_label, label = (getattr(side, "label", None) for side in (item, items[item.id or ""]))
        if first_label != label:
            raise DataError(
                f"not parallel: {item.id!r} is labelled {first_label} in {first.name} but {label} in {corpus.name}",
                hint="translations must share their label",
            )
    return replace(corpus, items=tuple(items[i] for i in wanted if i is not None))
