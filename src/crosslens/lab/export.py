"""A laboratory as files that other tools read, and the settings that pretrain an encoder on them."""

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
"""Settings of `crosslens pretrain` that were measured on laboratories: some 1.5 million words, a minute on one core."""

STEPS_A_SENTENCE = 0.065
"""Steps for each raw sentence of a language: every text is read about as often, so that a short one is learnt less."""


def pretraining_settings(laboratory: Laboratory) -> dict[str, Any]:
    """What `pretrain.yaml` of an exported laboratory says."""
    corpora = {language: f"text/{language}.txt" for language in laboratory.languages}
    steps = max(1, round(STEPS_A_SENTENCE * laboratory.settings.sentences))
    return {"corpora": corpora, **PRETRAINING, "steps": steps, "seed": laboratory.settings.seed}


def export(laboratory: Laboratory, folder: str | Path) -> None:
    """Write a laboratory to a new folder, whole or not at all.

    ``LANGUAGE/SPLIT.conllu`` and ``.iob2``, ``text/LANGUAGE.txt``, ``dictionaries/SOURCE-TARGET.txt`` (MUSE's layout)
    from the source into every other language, and ``pretrain.yaml``, for `crosslens pretrain`.

    Raises:
        RequestError: when the folder exists already.
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
