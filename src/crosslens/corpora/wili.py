"""WiLI-2018 (Thoma 2018): paragraphs in 235 languages, and those in languages of multilingual BERT."""

from dataclasses import replace
from pathlib import Path

import langcodes
from langcodes.tag_parser import LanguageTagError

from crosslens.data.corpus import Corpus
from crosslens.data.formats import text

ALL = "all"
OF_MBERT = "mbert"
"""Part of WiLI in the pretraining languages of multilingual BERT, as in Wu & Dredze (2019, section 5.3)."""

_WIKIPEDIAS = (
    "af an ar ast az azb ba bar be bg bn bpy br bs ca ce ceb cs cv cy da de el en es et eu fa fi fr fy ga gl "
    "gu he hi hr ht hu hy id io is it ja jv ka kk kn ko ky la lb lmo lt lv mg min mk ml mn mr ms my nb nds ne "
    "new nl nn oc pa pl pms pnb pt ro ru scn sco sh sk sl sq sr su sv sw ta te tg th tl tr tt uk ur uz vi vo "
    "war yo zh"
)
MBERT_LANGUAGES = tuple(_WIKIPEDIAS.split())
"""Wikipedias that `bert-base-multilingual-cased` was pretrained on (google-research/bert, multilingual.md).

Simplified and traditional Chinese are one. Hungarian, Western Punjabi, Bokmål and Piedmontese are not in WiLI, which
leaves the 99 languages of Wu & Dredze (2019, footnote 5).
"""


def files(folder: Path) -> dict[tuple[str, str], Path]:
    """Find WiLI in a data folder: (part, split) -> file of texts."""
    return {
        (part, split): file
        for part in (ALL, OF_MBERT)
        for split in ("train", "test")
        if (file := folder / "wili" / f"x_{split}.txt").is_file()
    }


def read(path: Path, *, name: str, language: str | None, split: str) -> Corpus:
    """Read texts with labels from a second file in the same folder; of ``wili/mbert``, texts in its languages only."""
    corpus = text.read_labelled(path, path.with_name(f"y_{split}.txt"), name=name, split=split)
    if not name.startswith(f"wili/{OF_MBERT}"):
        return corpus
    languages = {langcodes.standardize_tag(code) for code in MBERT_LANGUAGES}
    kept = {label for label in {item.label for item in corpus.texts} if label and _tag(label) in languages}
    return replace(corpus, items=tuple(item for item in corpus.texts if item.label in kept))


def _tag(label: str) -> str | None:
    try:
        return langcodes.standardize_tag(label)
    except LanguageTagError:
        return None
