"""A cache of the corpora that runs use."""

from collections.abc import Sequence
from dataclasses import replace

from crosslens.corpora.catalogue import load_corpus, load_text, match_corpora, require_one_language
from crosslens.corpora.parallel import load_parallel
from crosslens.data.corpus import Corpus
from crosslens.data.formats import Format
from crosslens.data.parallel import Parallel
from crosslens.errors import StoreError
from crosslens.runs.question import CorpusRef


class Corpora:
    """Load corpora by name, and keep them in memory.

    Args:
        data: folder that is searched first.
        format: file format of a task, in addition to the default formats.
    """

    def __init__(self, data: str | None = None, *, format: Format | None = None) -> None:
        self.data, self.format = data, format
        self._texts: dict[str, Corpus] = {}
        self._corpora: dict[tuple[str, str], Corpus] = {}
        self._parallel: dict[str, Parallel] = {}

    def corpus(self, name: str, *, split: str = "test") -> Corpus:
        """Load a corpus; see `crosslens.corpora.catalogue.load_corpus`."""
        key = (name, split)
        if key not in self._corpora:
            self._corpora[key] = load_corpus(name, split=split, data=self.data, format=self.format)
        return self._corpora[key]

    def text(self, name: str, *, language: str | None = None) -> Corpus:
        """Load raw text; see `crosslens.corpora.catalogue.load_text`."""
        if name not in self._texts:
            self._texts[name] = load_text(name, language=language, data=self.data)
        return self._texts[name]

    def parallel(self, name: str) -> Parallel:
        """Load a parallel corpus in all its languages."""
        if name not in self._parallel:
            self._parallel[name] = load_parallel(name, data=self.data)
        return self._parallel[name]

    def head(self, name: str, sentences: int | None) -> Parallel:
        """Load a parallel corpus, or only its first sentences."""
        parallel = self.parallel(name)
        return parallel.head(sentences) if sentences else parallel

    def planned(self, ref: CorpusRef, *, split: str = "test") -> Corpus:
        """Load a corpus that must be the same as when the run was planned.

        Raises:
            StoreError: when the corpus has changed.
        """
        corpus = self.corpus(ref.name, split=split)
        refuse_changed(ref.name, corpus.digest, ref.digest)
        return corpus if ref.language in (None, corpus.language) else replace(corpus, language=ref.language)

    def matching(self, patterns: Sequence[str]) -> list[str]:
        """Return the corpus names that match the patterns; a corpus that has several names is there once.

        Raises:
            RequestError: for a corpus that is joined from several languages.
        """
        names: dict[tuple[str, str | None], str] = {}
        for pattern in patterns:
            for name in match_corpora(pattern, data=self.data):
                corpus = self.corpus(name)
                require_one_language(corpus)
                names.setdefault((corpus.name, corpus.language), name)
        return list(names.values())


def refuse_changed(name: str, digest: str, planned: str) -> None:
    """Check that data or an encoder are the same as when a run was planned.

    Raises:
        StoreError: when the digests differ.
    """
    if digest != planned:
        raise StoreError(f"{name} has changed since the study was planned", hint="plan the study again")
