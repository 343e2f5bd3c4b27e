"""Where does cross-lingual transfer live in a multilingual encoder?

Everything public is here, and imported when it is first used, so that ``import crosslens`` costs nothing.
"""

import importlib
from typing import Any

__version__ = "0.1.0"

_HOME = {
    "Adaptation": "mlm.adapt_settings",
    "Condition": "encoders.condition",
    "Corpus": "data.corpus",
    "CrosslensError": "errors",
    "Dictionary": "data.dictionary",
    "Encoder": "encoders.encoder",
    "Parallel": "data.parallel",
    "Pretraining": "mlm.pretrain_settings",
    "Progress": "progress",
    "Recipe": "training.recipe",
    "Record": "results.record",
    "Representations": "encoders.represent",
    "RequestError": "errors",
    "Results": "results.record",
    "Sentence": "data.sentence",
    "Study": "studies.study",
    "TaskModel": "training.model",
    "Text": "data.sentence",
    "adapt": "mlm.adapt",
    "add_lora": "encoders.models.adapters",
    "advise": "unseen.advice",
    "as_features": "encoders.readouts.scalar_mix_bilstm",
    "as_tower": "encoders.readouts.transformer",
    "compare": "similarity.compare",
    "correlate": "similarity.correlate",
    "correlations": "similarity.transfer_gap",
    "evaluate": "training.evaluate",
    "find_recipe": "training.recipe",
    "finetune": "training.finetune",
    "finetune_and_evaluate": "runs.finetuning",
    "fit_rotation": "alignment.rotation",
    "freeze": "encoders.freeze",
    "fresh_bilstm": "encoders.models.bilstm",
    "intervene": "training.intervene",
    "lab_encoder": "mlm.lab_encoder",
    "load_corpus": "corpora.catalogue",
    "load_dictionary": "corpora.dictionaries",
    "load_encoder": "encoders.load",
    "load_model": "training.checkpoint",
    "load_parallel": "corpora.parallel",
    "load_vectors": "alignment.vectors",
    "measure_coverage": "encoders.coverage",
    "predict": "training.predict",
    "pretrain": "mlm.pretrain",
    "probe": "probes.probing",
    "random_init": "encoders.reinit",
    "read_as": "encoders.interventions.read_as",
    "read_results": "runs.recorded",
    "read_study": "studies.study",
    "represent": "encoders.represent",
    "run_study": "studies.run_study",
    "save_encoder": "encoders.load",
    "save_lora": "encoders.models.adapters",
    "save_model": "training.checkpoint",
    "sentence_retrieval": "alignment.measure",
    "subword_overlap": "similarity.overlap",
    "test": "studies.paired",
    "transfer_by_layer": "alignment.transplant",
    "transliterate": "data.transliteration",
    "unknown_characters": "encoders.coverage",
    "untrained_vectors": "alignment.vectors",
    "word_order_distance": "similarity.word_order",
    "word_translation": "alignment.measure",
}

__all__ = ["__version__", *_HOME]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'crosslens' has no attribute {name!r}")
    return getattr(importlib.import_module(f"crosslens.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
