"""Find corpora that the library ``datasets`` (Hugging Face) has downloaded, or saved with ``save_to_disk``.

The cache of the library is searched after all data folders. In a data folder, ``wikiann/fr`` may be a saved data set:
``load_dataset("unimelb-nlp/wikiann", "fr").save_to_disk("data/wikiann/fr")``.
"""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from crosslens.corpora.collection import Files

_SPLIT_NAMES = {"train": "train", "validation": "dev", "dev": "dev", "test": "test"}
_FIRST = re.compile(rf"(?P<stem>\w+)-(?P<split>{'|'.join(_SPLIT_NAMES)})(?:-00000-of-\d+)?\.arrow")


@dataclass(frozen=True, slots=True)
class Published:
    """A collection on the Hugging Face Hub.

    Attributes:
        repositories: names of its repository, the current one and those before.
        corpus: function from configuration and split to the name of the corpus; None for no corpus of the collection.
    """

    repositories: tuple[str, ...]
    corpus: Callable[[str, str], str | None]


def _same(config: str, split: str) -> str | None:
    return config


def _only(corpus: str) -> Callable[[str, str], str | None]:
    return lambda config, split: corpus


def _pairs(config: str, split: str) -> str | None:
    """The training data of the other languages are translations, which are ``xnli_mt``."""
    return config if config == "en" or (split != "train" and len(config) == 2) else None


def _translations(config: str, split: str) -> str | None:
    return config if config != "en" and split == "train" and len(config) == 2 else None


_XNLI = ("facebook/xnli", "xnli")

HUB = {
    "wikiann": Published(("unimelb-nlp/wikiann", "wikiann"), _same),
    "conll2003": Published(("eriktks/conll2003", "conll2003"), _only("en")),
    "conll2002": Published(("eriktks/conll2002", "conll2002"), _same),
    "msra": Published(("levow/msra_ner", "msra_ner"), _only("zh")),
    "masakhaner": Published(("masakhane/masakhaner2", "masakhaner2"), _same),
    "sib200": Published(("Davlan/sib200", "sib200"), _same),
    "xnli": Published(_XNLI, _pairs),
    "xnli_mt": Published(_XNLI, _translations),
}
"""Collection -> its data set on the Hub."""


def cache_folder() -> Path:
    """The cache of the library: ``HF_DATASETS_CACHE``, or ``datasets`` in ``HF_HOME``."""
    if folder := os.environ.get("HF_DATASETS_CACHE"):
        return Path(folder)
    cache = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    return Path(os.environ.get("HF_HOME") or cache / "huggingface").expanduser() / "datasets"


def find_files(collection: str, folder: Path) -> Files:
    """Find the corpora of a collection in a folder: saved data sets, and the folder as a cache of the library.

    Of several downloads of a data set, the newest counts. Each split is represented by its first Arrow file.
    """
    published = HUB.get(collection)
    if published is None or not folder.is_dir():
        return {}
    files: Files = {}
    for repository in reversed(published.repositories):
        downloads = folder.glob(f"{repository.replace('/', '___')}/*/*/*/*.arrow")
        for file in sorted(downloads, key=lambda file: (file.parent.stat().st_mtime, file)):
            parts = _FIRST.fullmatch(file.name)
            if parts and parts["stem"] == repository.rpartition("/")[2] and file.parent.suffix != ".incomplete":
                split = _SPLIT_NAMES[parts["split"]]
                corpus = published.corpus(file.parents[2].name, split)
                if corpus is not None:
                    files[corpus, split] = file
    for file in sorted((folder / collection).glob("*/*/data-00000-of-*.arrow")):
        if file.parent.name in _SPLIT_NAMES:
            files[file.parents[1].name, _SPLIT_NAMES[file.parent.name]] = file
    return files
