"""Read results of version 1, whose conditions and settings are parsed from labels and JSON text."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from crosslens.encoders.condition import Condition
from crosslens.encoders.interventions.factor import Factor
from crosslens.encoders.interventions.features import Features
from crosslens.encoders.interventions.freeze import Freeze
from crosslens.encoders.interventions.intervention import Intervention
from crosslens.encoders.interventions.one_layer import OnOneLayer
from crosslens.encoders.interventions.reinit import Reinit
from crosslens.encoders.interventions.start import LABELS, Start

VERSION_1 = [
    "study",
    "run",
    "task",
    "encoder",
    "source",
    "target",
    "split",
    "measure",
    "layer",
    "ablation",
    "components",
    "seed",
    "metric",
    "value",
    "low",
    "high",
    "n",
    "tags",
]

COLUMNS_OF_TAGS = {
    "corpus": "corpus",
    "digest": "corpus_digest",
    "training_train": "train",
    "training_train_digest": "train_digest",
    "training_dev": "dev",
    "training_selection": "selection",
    "signature": "signature",
    "training_translated_from": "translated_from",
}
"""Tag -> the column that it is now."""

QUESTION_SETTINGS = ("against", "against_condition", "pooling", "inputs", "method")
"""Tags that are settings of a similarity or a probe now."""

_REINIT = re.compile(r"(?P<layers>[\d,-]+)(?: (?P<components>attention|ffn|norms|embeddings))?(?: init=(?P<init>\w+))?")
_FOLLOWING = {
    r" features$": lambda match: Features(use="features"),
    r" tower on (\d+)$": lambda match: OnOneLayer(layer=int(match[1])),
    r" frozen ([\d,-]+)$": lambda match: Freeze(layers=match[1]),
}


def updated(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Convert a table of version 1 to the current columns."""
    rows = table.to_pylist()
    tags = [json.loads(row["tags"]) for row in rows]
    deepest: dict[str | None, int] = {}
    for row in rows:
        if row["layer"] is not None:
            deepest[row["encoder"]] = max(deepest.get(row["encoder"], 0), int(row["layer"]))
    partners = _partners(rows)
    conditions = [_condition(row, facts) for row, facts in zip(rows, tags, strict=True)]
    for row, facts, condition in zip(rows, tags, conditions, strict=True):
        row |= condition.columns
        row |= {column: facts.get(tag) for tag, column in COLUMNS_OF_TAGS.items()}
        row["depth"] = deepest.get(row["encoder"])
        row["partner"] = partners.get(row["run"])
        row["settings"] = _settings(row, facts)
        trained = row["metric"] not in ("similarity", "perplexity", "overlap") and row["task"] is not None
        untrained = row["depth"] is not None and condition.is_untrained(row["depth"])
        after = trained or facts.get("state") == "fine-tuned"
        row["state"] = "fine-tuned" if after else "untrained" if untrained else "pretrained"
        row["seed"] = row["seed"] if row["seed"] is not None else facts.get("seed")
        if facts.get("length"):
            row["fertility"] = facts.get("subwords", 0) / facts["length"]
            if facts.get("source_length"):
                row["length_ratio"] = facts["length"] / facts["source_length"]
        kept = {tag: value for tag, value in facts.items() if tag not in COLUMNS_OF_TAGS and tag != "condition"}
        row["tags"] = json.dumps(kept, sort_keys=True, ensure_ascii=False)
    _as_the_reference(rows, conditions)
    return pa.table({name: pa.array([row.get(name) for row in rows], schema.field(name).type) for name in schema.names})


def condition_of_label(label: str) -> Condition:
    """Parse a condition label of version 1."""
    parts: list[Intervention] = []
    for pattern, make in _FOLLOWING.items():
        match = re.search(pattern, label)
        if match:
            parts.append(make(match))
            label = label[: match.start()]
    starts = {text: start for start, text in LABELS.items()}
    for word in label.split(";") if label != "reference" else ():
        match = _REINIT.fullmatch(word)
        if word in starts:
            parts.append(Start.model_validate({"start": starts[word]}))
        elif match:
            parts.append(Reinit.model_validate({name: value for name, value in match.groupdict().items() if value}))
        else:
            parts.append(Factor(name=word))
    return Condition.of(tuple(parts))


def _condition(row: Mapping[str, Any], tags: Mapping[str, Any]) -> Condition:
    if "condition" in tags:
        return condition_of_label(tags["condition"])
    if row["ablation"] is None:
        return Condition()
    return Condition(layers=row["ablation"], components=row["components"] or "all")


def _settings(row: Mapping[str, Any], tags: Mapping[str, Any]) -> str | None:
    """Move the selection rule to its own column."""
    if row["measure"] is not None:
        words = [f"{name}={tags[name]}" for name in QUESTION_SETTINGS if name in tags]
    else:
        words = [word for word in tags.get("differs_from_usual", "").split() if not word.startswith("select=")]
    return " ".join(words) or None


def _as_the_reference(rows: Sequence[dict[str, Any]], conditions: Sequence[Condition]) -> None:
    """Give conditions with an unrecorded recipe of their own the recipe of the others, if there is one."""
    usual: dict[tuple, set] = {}
    for row, condition in zip(rows, conditions, strict=True):
        if row["measure"] is None and not condition.own_recipe:
            usual.setdefault((row["task"], row["source"], row["encoder"]), set()).add(
                (row["settings"], row["selection"])
            )
    for row, condition in zip(rows, conditions, strict=True):
        known = usual.get((row["task"], row["source"], row["encoder"]), set())
        if row["measure"] is None and condition.own_recipe and len(known) == 1:
            ((row["settings"], row["selection"]),) = known


def _partners(rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Map each run to the second language of its bilingual encoder: the other language that it was tested on."""
    targets: dict[str, set] = {}
    for row in rows:
        if row["run"] and row["task"] and (row["encoder"] or "").startswith("pretrain:"):
            targets.setdefault(row["run"], set()).add((row["source"], row["target"]))
    others = {run: {target for source, target in pairs if target != source} for run, pairs in targets.items()}
    return {run: next(iter(languages)) for run, languages in others.items() if len(languages) == 1}
