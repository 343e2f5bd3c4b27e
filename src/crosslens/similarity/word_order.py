"""Word-order distance of treebanks: how often dependents precede their heads (Ahmad et al. 2019, section 2)."""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from crosslens import __version__
from crosslens.corpora.catalogue import CorpusLike, load_corpora, load_corpus
from crosslens.data.corpus import Corpus
from crosslens.errors import DataError, RequestError
from crosslens.results.record import Record, Results

WORD_ORDER = "word_order"
"""Name of the measure in results."""

LEAST_SHARE = 0.001
"""Share of a treebank's dependencies that a type needs in both treebanks to be compared."""

Dependency = tuple[str, str, str]
"""Relation without its subtype, part of speech of the head, part of speech of the dependent."""


@dataclass(frozen=True, slots=True)
class Directions:
    """Dependencies of a treebank by type, without punctuation and roots.

    Attributes:
        counts: type -> number of dependencies.
        before: type -> number whose dependent precedes its head.
    """

    counts: Counter[Dependency]
    before: Counter[Dependency]

    @property
    def frequent(self) -> set[Dependency]:
        """Types with at least `LEAST_SHARE` of all dependencies."""
        least = LEAST_SHARE * self.counts.total()
        return {kind for kind, count in self.counts.items() if count >= least}

    def share_before(self, kind: Dependency) -> float:
        """Share of the dependencies of a type whose dependent precedes its head."""
        return self.before[kind] / self.counts[kind]


def word_order_distance(source: CorpusLike, targets: CorpusLike) -> Results:
    """Compare the word order of treebanks: the mean difference in how often dependents precede their heads.

    Dependencies are grouped by relation, part of speech of the head and part of speech of the dependent. For each type
    that makes up a thousandth or more of the dependencies in both treebanks, without punctuation and roots, the share
    of dependents before their heads is compared; the distance is the mean absolute difference over types: 0 for equal
    order, 1 for always the reverse. Ahmad et al. (2019) compare 52 types chosen over 31 languages; here the types
    depend on the two treebanks only.

    Args:
        source: treebank of the source language, as `load_corpus` takes it.
        targets: one or several treebanks of any languages. One of the source language shows how much treebanks of one
            language differ.

    Returns:
        One record per target, without encoder; ``n`` is the number of types compared.

    Raises:
        RequestError: if there is no target.
        DataError: if a corpus cannot be read or lacks parts of speech or trees, or if two treebanks share no frequent
            type.

    Examples:
        >>> source, target = (xl.load_corpus(f"ud/{tag}_pud", data=sample) for tag in ("en", "hi"))
        >>> word_order = xl.word_order_distance(source, [target]).to_pandas()
        >>> word_order[["source", "target", "value"]].round(1).values.tolist()
        [['en', 'hi', 0.4]]
    """
    source, targets = load_corpus(source, split="train"), load_corpora(targets)
    if not targets:
        raise RequestError("word-order distance needs at least one target treebank")
    ours = _directions(source)
    records = []
    for target in targets:
        theirs = _directions(target)
        kinds = sorted(ours.frequent & theirs.frequent)
        if not kinds:
            raise DataError(f"{source.name} and {target.name} share no frequent type of dependency")
        records.append(
            Record(
                source=source.language,
                target=target.language,
                split=target.split,
                measure=WORD_ORDER,
                metric="distance",
                value=float(np.mean([abs(ours.share_before(kind) - theirs.share_before(kind)) for kind in kinds])),
                n=len(kinds),
                corpus=target.name,
                corpus_digest=target.digest,
                train=source.name,
                train_digest=source.digest,
                tags={"crosslens": __version__},
            )
        )
    return Results.of(records)


def _directions(corpus: Corpus) -> Directions:
    counts: Counter[Dependency] = Counter()
    before: Counter[Dependency] = Counter()
    for sentence in corpus.sentences:
        heads, relations, upos = sentence.heads, sentence.relations, sentence.upos
        if heads is None or relations is None or upos is None:
            raise DataError(
                f"{corpus.name} lacks parts of speech or trees", hint="word order is compared in treebanks, such as ud/"
            )
        for place, (head, relation, part) in enumerate(zip(heads, relations, upos, strict=True), start=1):
            if head and part != "PUNCT":
                kind = (relation.partition(":")[0], upos[head - 1], part)
                counts[kind] += 1
                before[kind] += place < head
    return Directions(counts, before)
