"""Scores of encoders in the schema of Every Eval Ever, a shared database of evaluations (EvalEval Coalition, 2026)."""

import hashlib
import json
import math
import re
import uuid
from collections.abc import Iterator
from typing import Any

from crosslens.errors import RequestError
from crosslens.report.blocks import on_one_layer
from crosslens.results.cells import Cell, Column, Key, Row, cells, columns_of, disambiguated, encoders_apart
from crosslens.results.pivot import ROW
from crosslens.results.record import Results
from crosslens.results.record_rows import together
from crosslens.tasks import TASKS
from crosslens.tasks.titles import metric_name, task_name

VERSION = "0.3.0"
"""Version of the schema ``eval.schema.json``."""

COLLECTION = "crosslens"
"""Folder of the database below which encoders stand."""


def evaluation_logs(results: Results, *, organization: str, retrieved: int) -> dict[str, str]:
    """Write the scores of each encoder as an aggregate log of Every Eval Ever.

    The schema describes models: scores are those of the reference condition, a fine-tuned encoder to which nothing else
    was done. They are means over seeds, with their standard error, or of one seed with its 95 % confidence interval
    over sentences. An encoder without an owner in its name stands under the organization.

    Args:
        results: records of all encoders; similarities are left out.
        organization: who provides the results.
        retrieved: seconds since 1970, which the schema asks for.

    Returns:
        Path in the database, ``data/crosslens/OWNER/ENCODER/UUID.json`` -> text. Only time and organization make the
        texts of equal results different.

    Raises:
        RequestError: for an organization without a name.
    """
    if not organization.strip():
        raise RequestError("the organization that provides the results has no name", hint="--every-eval-ever NAME")
    texts = {}
    for (encoder,), block in encoders_apart(on_one_layer(results.filter(measure=None), where=False)).groups("encoder"):
        scores = list(_scores(block))
        if encoder is None or not scores:
            continue
        owner, name = encoder.split("/", 1) if "/" in encoder else (organization, encoder)
        relationship = "other" if "/" not in encoder else "first_party" if owner == organization else "third_party"
        about = {"deployment_type": "self_deployed", "model_availability": "unknown"}
        versions = dict.fromkeys(str(tags["crosslens"]) for tags in block.tags() if "crosslens" in tags)
        digests = [str(digest) for digest in block.columns.coded("encoder_digest").values if digest]
        log = {
            "schema_version": VERSION,
            "evaluation_id": f"{COLLECTION}/{owner}/{name}/{retrieved}",
            "retrieved_timestamp": str(retrieved),
            "source_metadata": {
                "source_name": "crosslens",
                "source_type": "documentation",  # scores, without what was predicted for each sentence
                "source_organization_name": organization,
                "evaluator_relationship": relationship,
            },
            "eval_library": {"name": "crosslens", "version": ", ".join(versions) or "unknown"},
            "model_info": {
                "name": name,
                "id": encoder,
                "developer": owner,
                "additional_details": about | ({"sha256": ", ".join(digests)} if digests else {}),
            },
            "evaluation_results": scores,
        }
        text = json.dumps(log, ensure_ascii=False, allow_nan=False, indent=1) + "\n"
        place = uuid.UUID(bytes=hashlib.sha256(text.encode("utf-8")).digest()[:16], version=4)
        texts["/".join(["data", COLLECTION, _portable(owner), _portable(name), f"{place}.json"])] = text
    return texts


def _portable(name: str) -> str:
    """A name as a folder: slashes become underscores, as in the database."""
    return re.sub(r'[<>:"\\|?*\x00-\x1f]', "_", name.replace("/", "_")).strip(". ") or "encoder"


def _scores(results: Results) -> Iterator[dict[str, Any]]:
    """Yield the scores of the reference condition of one encoder."""
    columns = ("task", "metric", "source", "split", "translated_from")
    for (task, metric, source, split, translated_from), block in results.groups(*columns):
        if task not in TASKS or metric is None:
            continue
        table = cells(block, rows=ROW)
        records = disambiguated(block)
        places = together([records.columns.together(*ROW), columns_of(records)], size=len(records))
        for (row, column), first in zip(places.values, places.firsts.tolist(), strict=True):
            cell = table.get(row, column)
            if column.condition.is_reference and cell.mean is not None:
                about = {"source": source, "split": split, "translated_from": translated_from}
                yield _score(task, metric, row, column, cell, records[first], about)


def _score(
    task: str, metric: str, row: Key, column: Column, cell: Cell, record: Row, about: dict[str, str | None]
) -> dict[str, Any]:
    target, corpus, partner = row
    name = f"{task_name(task)}, {about['source'] or '?'} to {target or '?'}"
    details = {
        **about,
        "target": target,
        "partner": partner,
        "variant": column.variant,
        "trained on": record["train"],
        "scored units": record["n"],
        "seeds": len(cell.by_seed),
        "signature": record["signature"],
    }
    trained = about["translated_from"] and f"translated from {about['translated_from']}"
    words = [task, metric, about["source"], trained, target, corpus, about["split"], partner, column.variant]
    result: dict[str, Any] = {
        "evaluation_result_id": "; ".join(str(word) for word in words if word),
        "evaluation_name": name,
        "source_data": {
            "dataset_name": corpus or target or "?",
            "source_type": "other",
            "additional_details": _texts({"sha256": record["corpus_digest"]}),
        },
        "metric_config": {
            "metric_id": metric,
            "metric_name": metric_name(metric),
            "metric_unit": "percent",
            "lower_is_better": False,
            "score_type": "continuous",
            "min_score": 0.0,
            "max_score": 100.0,
        },
        "score_details": {"score": cell.mean, "details": _texts(details)},
    }
    if uncertainty := _uncertainty(cell, record):
        result["score_details"]["uncertainty"] = uncertainty
    return result


def _texts(details: dict[str, Any]) -> dict[str, str]:
    """What is known of details; the schema wants texts."""
    return {name: str(value) for name, value in details.items() if value not in (None, "")}


def _uncertainty(cell: Cell, record: Row) -> dict[str, Any]:
    if cell.std is not None:
        error = cell.std / math.sqrt(len(cell.by_seed))
        return {"standard_error": {"value": error, "method": "over seeds of fine-tuning"}}
    if record["low"] is None or record["high"] is None:
        return {}
    ends = {"lower": record["low"], "upper": record["high"]}
    return {"confidence_interval": {**ends, "confidence_level": 0.95, "method": "over sentences"}}
