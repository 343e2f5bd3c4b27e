"""Find the translations of a corpus in another one by sentence id, and the links between their words."""

from collections.abc import Iterable
from dataclasses import dataclass

from crosslens.corpora.catalogue import LAB, find_lab
from crosslens.data.corpus import Corpus
from crosslens.data.formats.lines import BYTE_ORDER_MARK, read_text
from crosslens.data.links import Links, align_words, one_to_one, read_line
from crosslens.data.parallel import places_by_id
from crosslens.digests import digest
from crosslens.errors import DataError, RequestError
from crosslens.lab.laboratory import Laboratory

PLACE = "{language}"
"""Place of the language in names of files of links."""


@dataclass(frozen=True, slots=True)
class Translations:
    """The translation of each item of a corpus.

    Attributes:
        items: index of the translation in the source corpus, for each item.
        links: for each item, word -> word of the translation, one to one; None: words have no links.
    """

    items: tuple[int, ...]
    links: tuple[dict[int, int], ...] | None

    @property
    def digest(self) -> str:
        """Digest of the pairs and links."""
        links = self.links and [sorted(pairs.items()) for pairs in self.links]
        return digest([list(self.items), links])


def are_parallel(source: Corpus, target: Corpus) -> bool:
    """Whether every item of ``target`` has an id, and ``source`` has an item with it."""
    ids = {item.id for item in source} - {None}
    return len(target) > 0 and all(item.id in ids for item in target)


def find_translations(source: Corpus, target: Corpus, *, words: bool, links: str | None = None) -> Translations:
    """Find the translation of each item of a corpus.

    Args:
        source: corpus that has the translations; ids are those of ``target``.
        words: whether to find which words are translations of one another, too.
        links: file of word alignments in Pharaoh format, a line for each item of ``source``, source word first;
            ``{language}`` stands for the language of ``target``. None: computed with eflomal. Not needed for artificial
            languages, whose links are known.

    Raises:
        DataError: for an item without translation, a duplicate id in ``source``, or links that do not fit.
        RequestError: if words must be aligned and eflomal is not installed.
    """
    places = places_by_id(source)
    if not are_parallel(source, target):
        missing = next((item.id for item in target if item.id is None or item.id not in places), None)
        raise DataError(
            f"{target.name} is not parallel to {source.name}, which has no item {missing!r}",
            hint="patch needs translations with the same ids, such as ud/en_pud and ud/fr_pud",
        )
    items = tuple(places[item.id] for item in target)
    if not words:
        return Translations(items, None)
    pairs: list[dict[int, int]] = [{} for _ in items]
    for number, i, j in one_to_one(_links(source, target, items, links)):
        pairs[number][j] = i
    return Translations(items, tuple(pairs))


def _links(source: Corpus, target: Corpus, items: tuple[int, ...], file: str | None) -> Links:
    translated = Corpus(tuple(source[i] for i in items), source.name, source.language)
    same = [a.words == b.words for a, b in zip(translated.sentences, target.sentences, strict=True)]
    if all(same):
        return tuple(frozenset((i, i) for i in range(len(sentence))) for sentence in target.sentences)
    if has_known_links(source, target):
        (a, laboratory), (b, _) = map(_laboratory, (source, target))
        return laboratory.links(a, b, [item.id or "" for item in target])
    if file is not None:
        name = file.replace(PLACE, target.language or "")
        lines = read_text(name).removeprefix(BYTE_ORDER_MARK).splitlines()
        if len(lines) != len(source):
            raise DataError(f"has {len(lines)} lines, but {source.name} has {len(source)} sentences", file=name)
        sentences = zip(items, translated.sentences, target.sentences, strict=True)
        return tuple(read_line(lines[i], a, b, file=name, line=i + 1) for i, a, b in sentences)
    return align_words(translated, target)


def link_words(source: Corpus, target: Corpus, *, sentences: int | None = None) -> Links:
    """Align the words of parallel corpora with eflomal, for `find_translations`.

    Args:
        source: corpus whose sentences the lines of a file of links belong to.
        target: their translations: those with the same ids, or, where sentences have no ids, in the same order.
        sentences: number of sentences, from the first, whose links are returned; all are aligned, because more text
            aligns better. None: all.

    Returns:
        Links of each sentence of ``source``, source word first.

    Raises:
        DataError: for a sentence without translation, or a duplicate id in ``target``.
        RequestError: if eflomal is not installed, or the numbers of sentences without ids differ.
    """
    if all(item.id is None for item in (*source, *target)):
        translated = target
    elif are_parallel(target, source):
        places = places_by_id(target)
        translated = Corpus(tuple(target[places[item.id]] for item in source), target.name, target.language)
    else:
        ids = {item.id for item in target}
        missing = next(item.id for item in source if item.id is None or item.id not in ids)
        reason = f"{target.name} has no translation of item {missing!r} of {source.name}"
        raise DataError(
            reason if missing is not None else f"{source.name} has no ids of sentences, which {target.name} has",
            hint="links need translations with the same ids, such as ud/en_pud and ud/fr_pud",
        )
    return align_words(source, translated)[:sentences]


def has_known_links(source: Corpus, target: Corpus) -> bool:
    """Whether the links of two corpora are known without aligning words: those of one laboratory's test sets."""
    corpora = (source, target)
    if not all(corpus.name.startswith(f"{LAB}/") and corpus.split == "test" for corpus in corpora):
        return False
    return len({_laboratory(corpus)[1].preset for corpus in corpora}) == 1


def _laboratory(corpus: Corpus) -> tuple[str, Laboratory]:
    """The artificial language of a corpus, and its laboratory."""
    return find_lab(corpus.name.partition(":")[0].removeprefix(f"{LAB}/"))


def require_links(source: Corpus, targets: Iterable[Corpus]) -> None:
    """Check that links are known, so that the same study has the same answer.

    Raises:
        RequestError: if eflomal would have to align words, which it samples without a seed.
    """
    for target in targets:
        if source.digest != target.digest and not has_known_links(source, target):
            raise RequestError(
                f"patch needs links between the words of {source.name} and {target.name}",
                hint="name files as in patch_links: links/{language}.txt, or write patch_by: sentences",
            )
