"""Export artificial languages as corpus files, with settings to pretrain an encoder on them."""

from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from crosslens.data.formats import conllu, iob
from crosslens.files import new_folder
from crosslens.lab.laboratory import SIZES, Laboratory

PRETRAINING = {
    "vocabulary": {"kind": "words", "size": 5000},
    "shape": {"layers": 6, "width": 64, "heads": 2, "feedforward": 128, "positions": 32, "embedding_range": 0.1},
    "masking": {"share": 0.25},
    "reading": "lines",
    "batch": 24,
    "learning_rate": 3e-3,
    "embedding_learning_rate": 9e-3,
}
"""Pretraining settings tested on artificial languages: about 1.5 million words, one minute on one core."""

STEPS_A_SENTENCE = 0.065
"""Training steps per raw sentence of a language: the number of epochs is constant, so shorter text gets fewer steps."""


def pretraining_settings(laboratory: Laboratory) -> dict[str, Any]:
    """Return the pretraining settings that `export` writes to ``pretrain.yaml``."""
    corpora = {language: f"text/{language}.txt" for language in laboratory.languages}
    steps = max(1, round(STEPS_A_SENTENCE * laboratory.settings.sentences))
    return {"corpora": corpora, **PRETRAINING, "steps": steps, "seed": laboratory.settings.seed}


def export(laboratory: Laboratory, folder: str | Path) -> None:
    """Write all corpora of a laboratory to a new folder, atomically.

    The files are ``LANGUAGE/SPLIT.conllu`` and ``.iob2``, ``text/LANGUAGE.txt``, ``dictionaries/SOURCE-TARGET.txt`` (in
    MUSE's format, from the source language into every other), and ``pretrain.yaml`` for `crosslens pretrain`.

    Raises:
        RequestError: if the folder exists.
    """
    with new_folder(folder) as partial:
        for name in ("text", "dictionaries", *laboratory.languages):
            (partial / name).mkdir()
        source = laboratory.languages[0]
        for language in laboratory.languages:
            for split in SIZES:
                corpus = laboratory.corpus(language, split=split)
                conllu.write(corpus, partial / language / f"{split}.conllu")
                iob.write(corpus, partial / language / f"{split}.iob2")
            (partial / "text" / f"{language}.txt").write_text("\n".join(laboratory.text(language)) + "\n", "utf-8")
            if language != source:
                pairs = "".join(f"{a} {b}\n" for a, b in laboratory.dictionary(source, language))
                (partial / "dictionaries" / f"{source}-{language}.txt").write_text(pairs, "utf-8")
        with open(partial / "pretrain.yaml", "w", encoding="utf-8") as stream:
            YAML().dump(pretraining_settings(laboratory), stream)
