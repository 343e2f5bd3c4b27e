"""The corpora that runs name, read once each."""

from crosslens.corpora.catalogue import load_corpus, load_text, match_corpora
from crosslens.corpora.parallel import load_parallel
from crosslens.data.corpus import Corpus
from crosslens.data.formats import Format
from crosslens.data.parallel import Parallel
from crosslens.errors import StoreError
from crosslens.runs.question import CorpusRef


class Corpora:
    """Corpora by name; what was read once is kept.

    Args:
        data: a folder that is looked through first.
        format: of files of a task, in addition to the default ones.
    """

    def __init__(self, data: str | None = None, *, format: Format | None = None) -> None:
        self.data, self.format = data, format
        self._texts: dict[str, Corpus] = {}
        self._corpora: dict[tuple[str, str], Corpus] = {}
        self._parallel: dict[str, Parallel] = {}

    def corpus(self, name: str, *, split: str = "test") -> Corpus:
        """A corpus; see `crosslens.corpora.catalogue.load_corpus`."""
        key = (name, split)
        if key not in self._corpora:
            self._corpora[key] = load_corpus(name, split=split, data=self.data, format=self.format)
        return self._corpora[key]

    def text(self, name: str, *, language: str | None = None) -> Corpus:
        """Raw text; see `crosslens.corpora.catalogue.load_text`."""
        if name not in self._texts:
            self._texts[name] = load_text(name, language=language, data=self.data)
        return self._texts[name]

    def parallel(self, name: str) -> Parallel:
        """Parallel corpora in all their languages."""
        if name not in self._parallel:
            self._parallel[name] = load_parallel(name, data=self.data)
        return self._parallel[name]

    def head(self, name: str, sentences: int | None) -> Parallel:
        """Parallel corpora, or the first sentences of them."""
        parallel = self.parallel(name)
        return parallel.head(sentences) if sentences else parallel

    def planned(self, wanted: CorpusRef, *, split: str = "test") -> Corpus:
        """A corpus as it was when a run was planned.

        Raises:
            StoreError: when it has changed since.
        """
        corpus = self.corpus(wanted.name, split=split)
        refuse_changed(wanted.name, corpus.digest, wanted.digest)
        return corpus

    def matching(self, patterns: tuple[str, ...]) -> list[str]:
        """The names that patterns stand for, each once."""
        names = [name for pattern in patterns for name in match_corpora(pattern, data=self.data)]
        return list(dict.fromkeys(names))


def refuse_changed(name: str, digest: str, wanted: str) -> None:
    """Refuse data, or an encoder, that is not what a run was planned with.

    Raises:
        StoreError: naming it.
    """
    if digest != wanted:
        raise StoreError(f"{name} has changed since the study was planned", hint="plan the study again")
