"""The same settings give the same corpora in every version: encoders in caches and published results are of them."""

import pytest

from crosslens.digests import digest
from crosslens.lab.laboratory import Laboratory, LaboratorySettings
from crosslens.lab.language import Language

MADE = Laboratory(
    LaboratorySettings(
        world={"trees": 40, "longest": 12, "namesakes": 0.5},
        languages={
            "src": Language(),
            "sov": Language(order="SOV", adposition="after", accusative=True, adverb="before", suffixes=True),
            "vos": Language(order="VOS", adjective="after", genitive="before", auxiliaries=False, script="greek"),
        },
        names=0.5,
        cognates=0.3,
        homonyms=0.2,
        sentences=200,
        seed=3,
    )
)


def texts(corpus):
    return [[*text.segments, text.label] for text in corpus.texts]


GENERATED = {
    "words": lambda language: [list(pair) for pair in MADE.dictionary("src", language)],
    "raw text": MADE.text,
    "train": lambda language: MADE.corpus(language, split="train", sentences=30).digest,
    "dev": lambda language: MADE.corpus(language, split="dev", sentences=30).digest,
    "test": lambda language: MADE.corpus(language, split="test", sentences=30).digest,
    "documents": lambda language: texts(MADE.documents(language, split="dev", documents=20)),
    "pairs": lambda language: texts(MADE.pairs(language, split="dev", pairs=20)),
    "labelled": lambda language: texts(MADE.labelled(language, split="dev", sentences=20)),
}
DIGESTS = {
    "words": "b71ec55172a4",
    "raw text": "4ac33ca23c37",
    "train": "3673fb58e892",
    "dev": "81766ce47bfa",
    "test": "9505692a7cf2",
    "documents": "3fcf2b8e2975",
    "pairs": "aa20d00e4104",
    "labelled": "c234d7fb3d7f",
}


@pytest.mark.parametrize("kind", GENERATED)
def test_corpora_of_settings_are_what_they_were(kind):
    assert digest([GENERATED[kind](language) for language in MADE.languages])[:12] == DIGESTS[kind]
