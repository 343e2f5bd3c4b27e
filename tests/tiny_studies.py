"""Shipped studies made tiny: a small encoder, a dozen sentences, few steps; and what their reports contain."""

import csv
import json
import os
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

import torch
from ruamel.yaml import YAML
from transformers import BertConfig, BertModel, LlamaConfig, LlamaModel

from crosslens.corpora.collection import COLLECTIONS
from crosslens.data import transliteration
from crosslens.mlm.pretrain_settings import replaced
from crosslens.report.papers import PAPERS
from crosslens.studies.data_sets import find_data
from crosslens.studies.pretrainings import find_pretraining
from crosslens.studies.study import PRETRAIN, Study, read_study
from toys import word_piece

TINY = {"set.limit": "12", "set.epochs": "1", "seeds": "1"}
ADAPTATION = "{epochs: 1, length: 16}"
SHAPE = "{layers: 2, width: 8, heads: 2, positions: 64}"
VALIDATION = "{lines: 6, every: 1, select: mean}"
SCRATCH = f"{{steps: 2, batch: 4, vocabulary: {{size: 200}}, shape: {SHAPE}, validation: {VALIDATION}}}"
PRETRAINING = {
    "steps": 2,
    "batch": 2,
    "micro_batch": None,
    "vocabulary.size": 200,
    "shape.width": 8,
    "shape.heads": 2,
    "shape.positions": 32,
    "validation.lines": 6,
    "validation.every": 1,
}


class Romaniser:
    """Stands for uroman, which is not installed everywhere: every letter of the shipped tables in Latin letters."""

    def __init__(self):
        tables = map(transliteration.read_table, transliteration.shipped_tables().values())
        self.letters = {old: new for table in tables for old, new in table.letters.items()}

    def romanize_string(self, word, lcode=None):
        return "".join(self.letters.get(letter, letter) for letter in word)


@dataclass(frozen=True)
class Reported:
    """A study that ran, cut or whole, the folder of its report, and what the command printed."""

    study: Study
    cut: bool
    folder: Path
    said: str = ""

    @property
    def names(self):
        return {path.stem for path in self.folder.iterdir()} - {"index", "tables"}

    def table(self, name):
        """Column heads, and group -> row label -> cells; labels of beside rows have the row above first."""
        with open(self.folder / f"{name}.csv", encoding="utf-8") as stream:
            (_, _, *head), *rows = csv.reader(stream)
        if head[-1] == "notes":
            head, rows = head[:-1], [row[:-1] for row in rows]
        groups = {}
        above = ""
        for group, label, *values in rows:
            beside = label.split(",")[0] in (*PAPERS, "ours − theirs", "ours")
            above = above if beside else label
            groups.setdefault(group, {})[(above, label) if beside else label] = values
        return head, groups

    def texts(self, figure):
        root = ElementTree.parse(self.folder / f"{figure}.svg").getroot()
        return [" ".join(element.itertext()) for element in root.iter() if element.tag.endswith("}text")]

    @property
    def paper(self):
        data = read_study(self.study.name).data
        return next((name for name in PAPERS if isinstance(data, str) and data.startswith(name)), None)

    @property
    def blocks(self):
        data = find_data(self.study.data, tasks=self.study.tasks)
        return {task: data.tasks[task] for task in self.study.tasks or data.tasks}


MANY = 20
"""Conditions above which a cut study keeps only the lowest and highest pair of layers."""


def kept_when_cut(condition):
    """Whether a cut study keeps a condition: it changes no pair of layers, or the lowest or highest one."""
    pairs = re.findall(r"\b\d+-\d+\b", condition.text)
    return all(int(pair.split("-")[1]) - int(pair.split("-")[0]) != 1 or pair in ("1-2", "11-12") for pair in pairs)


OF_ALL_LANGUAGES = ("first-align-then-predict", "similarity")
"""Studies that keep all languages: to stand beside the paper's numbers, and to correlate over them."""


def with_few_languages(data, sources):
    """A data set as plain values, with the tests of the sources and of two other languages; of PUD, three languages."""
    plain = data.model_dump(mode="json", exclude_defaults=True)
    if plain.get("parallel") == "ud/pud":
        files = COLLECTIONS["ud"].files(Path(os.environ["CROSSLENS_DATA"]))
        languages = list(dict.fromkeys([*sources, "fr", "de"]))[:3]
        plain["parallel"] = ",".join(f"{language}={files[f'{language}_pud', 'test']}" for language in languages)
    for task in plain["tasks"].values():
        for block in task.values():
            own = [test for test in block["tests"] if test.rpartition("/")[2].startswith(tuple(sources))]
            block["tests"] = own + [test for test in block["tests"] if test not in own][:2]
    return plain


def tiny(name, encoder, folder, *, cut):
    """The study, changed as ``--set`` would: small, and cut if asked."""
    study = read_study(name)
    changes = {**TINY, "encoder": str(encoder)}
    data = find_data(study.data, tasks=study.tasks)
    if study.similarity is not None:
        changes["similarity.sentences"] = "12"
    if {"adapted", "scratch"} & {condition.start for condition in study.conditions}:
        changes |= {"seeds": "2", "adaptation": ADAPTATION, "scratch": SCRATCH}  # one seed has no test, so no class
    if study.pretrains:
        settings, _ = find_pretraining(study.encoder.removeprefix(PRETRAIN))
        path = folder / f"{study.encoder.removeprefix(PRETRAIN)}.yaml"
        with open(path, "w", encoding="utf-8") as stream:
            kept = {"checkpoints": [0, PRETRAINING["steps"]]} if settings.kept_steps else {}
            YAML().dump(replaced(settings, PRETRAINING | kept).model_dump(mode="json", exclude_defaults=True), stream)
        changes["encoder"] = f"{PRETRAIN}{path}"
    if cut and data.tasks:
        changes["set.select"] = "last"  # some dev data has thousands of sentences
        compared = len(study.conditions) > 1
        tasks = [task for task in data.tasks if task in (study.tasks or data.tasks)][: 1 if compared else None]
        sources = list(dict.fromkeys(source for task in tasks for source in data.tasks[task]))
        changes["tasks"] = f"[{', '.join(tasks)}]"
        sources = sources[: 1 if compared else 2]
        changes["sources"] = f"[{', '.join(sources)}]"
        if str(study.data).startswith("muller2021") and "domains" not in study.data and name not in OF_ALL_LANGUAGES:
            changes["data"] = json.dumps(with_few_languages(data, sources))
        if study.bilingual:
            changes["bilingual"] = f"[{study.bilingual[0]}]"
        if len(study.conditions) > MANY:
            kept = [condition.plain for condition in study.conditions if kept_when_cut(condition)]
            changes["conditions"] = json.dumps(kept)
    return read_study(name, overrides=changes)


SHAPE = {"hidden_size": 8, "num_hidden_layers": 12, "num_attention_heads": 2, "intermediate_size": 8}
"""Twelve layers, as the studies' layers are written for, of width 8."""


def save_encoder(folder):
    return _save(lambda config: BertModel(config, add_pooling_layer=False), BertConfig, folder, initializer_range=0.1)


def save_decoder(folder):
    return _save(LlamaModel, LlamaConfig, folder, pad_token_id=0)


def _save(model, config, folder, **more):
    tokenizer = word_piece()
    shape = config(vocab_size=len(tokenizer), max_position_embeddings=64, **SHAPE, **more)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model(shape).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
