"""A collection: ``reviews/en`` is ``reviews/en-train.sent`` of a data folder; ``reviews/test`` is parallel."""

from functools import partial
from pathlib import Path

from crosslens.corpora.collection import Collection, Files, Sides
from foreign.sentiment import read


def files(folder: Path) -> Files:
    found = {}
    for file in sorted((folder / "reviews").glob("*.sent")):
        language, _, split = file.stem.partition("-")
        found[language, split] = file
    return found


def sides(folder: Path, part: str) -> Sides:
    return {
        language: partial(read, file, name=f"reviews/{language}:{split}", language=language)
        for (language, split), file in files(folder).items()
        if split == part
    }


REVIEWS = Collection(files, read, lambda corpus: corpus, sides)
