"""Where does cross-lingual transfer live in a multilingual encoder?

Everything public is here, and imported when it is first used, so that ``import crosslens`` costs nothing.
"""

import importlib
from typing import Any

__version__ = "0.1.0"

_HOME = {
    "Adaptation": "training.adaptation",
    "Condition": "encoders.condition",
    "Corpus": "data.corpus",
    "Dictionary": "data.dictionary",
    "Encoder": "encoders.encoder",
    "Parallel": "data.parallel",
    "Pretraining": "training.pretraining",
    "Progress": "progress",
    "Recipe": "training.recipe",
    "Record": "results.record",
    "Representations": "encoders.represent",
    "Results": "results.record",
    "Sentence": "data.sentence",
    "Study": "studies.study",
    "TaskModel": "training.model",
    "Text": "data.sentence",
    "adapt": "training.adapt",
    "advise": "unseen.advice",
    "as_features": "encoders.features",
    "as_tower": "encoders.tower",
    "compare": "similarity.compare",
    "correlate": "similarity.correlate",
    "correlations": "similarity.transfer",
    "evaluate": "training.evaluate",
    "find_recipe": "training.recipe",
    "finetune": "training.finetune",
    "finetune_and_evaluate": "runs.finetuning",
    "fit_rotation": "alignment.rotation",
    "freeze": "encoders.ablation",
    "fresh_bilstm": "encoders.bilstm",
    "load_corpus": "catalogue",
    "load_dictionary": "dictionaries",
    "load_encoder": "encoders.load",
    "load_model": "training.checkpoint",
    "load_parallel": "translations",
    "predict": "training.predict",
    "pretrain": "training.pretrain",
    "probe": "probes.probing",
    "random_init": "encoders.ablation",
    "read_results": "results.record",
    "read_study": "studies.study",
    "represent": "encoders.represent",
    "run_study": "studies.runner",
    "save_encoder": "encoders.load",
    "save_model": "training.checkpoint",
    "sentence_retrieval": "alignment.measure",
    "subword_overlap": "similarity.overlap",
    "transfer_by_layer": "alignment.transfer",
    "transliterate": "data.transliteration",
    "word_translation": "alignment.measure",
}

__all__ = ["__version__", *_HOME]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'crosslens' has no attribute {name!r}")
    return getattr(importlib.import_module(f"crosslens.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
