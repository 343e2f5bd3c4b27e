"""Opening of the page: for each table of scores a headline, the key numbers, and the layer profile."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from crosslens.errors import RequestError
from crosslens.formatting import plain
from crosslens.report.blocks import Block
from crosslens.report.findings import Effect, Estimate, effects, headline, metric_name, task_name
from crosslens.results.cells import Key
from crosslens.results.record import Results
from crosslens.similarity.transfer_gap import Correlated, Layers, correlations


def overviews(block: Block, *, names: Mapping[Key, str], correlated: Sequence[Correlated]) -> list[dict[str, Any]]:
    """Summarise each group of comparable models in a block.

    Args:
        block: Scores of one task, source and encoder.
        names: Row of the block -> its name on the page.
        correlated: Correlations of the block, from `transfer_correlations`.

    Returns:
        Plain values for the page: the headline, the key numbers (in points) and, where layers were re-initialised, the
        profile of changes in layer order with half widths of 95 % confidence intervals over seeds.
    """
    known = effects(block.results)
    sound = [each for each in correlated if not each.variant and not each.caveats] if len(known) == 1 else []
    return [_overview(effect, names, sound[0] if sound else None) for effect in known]


def transfer_correlations(block: Block, similarities: Results, *, layers: Layers = "mean") -> list[Correlated]:
    """Correlate transfer gap and CKA of the pretrained encoder of a block, where there are similarities.

    Args:
        similarities: of all encoders, named as in blocks.
    """
    try:
        similar = similarities.filter(encoder=block.encoder, source=block.source)
        correlated = correlations(block.results + similar, layers=layers)
    except RequestError:
        return []
    return [each for each in correlated if each.state == "pretrained"]


def gap_panels(correlated: Sequence[Correlated], block: Block) -> list[dict[str, Any]]:
    """Transfer gap and CKA of each language, by layer, as the page's chart takes them.

    Args:
        correlated: of the block, by layer, and over all layers.
        block: scores of one task, source and encoder.

    Returns:
        One chart for each variant of the models.
    """
    panels: dict[str, dict[str, Any]] = {}
    for each in correlated:
        result = each.correlation
        gaps = {language: each.gaps[language] for language in result.languages}
        name = ", ".join(filter(None, (task_name(each.task), block.source_label, each.variant, each.state)))
        panel = panels.setdefault(each.variant, {"name": name, "gaps": {}, "layers": []})
        panel["gaps"] |= gaps  # a language may lack a layer, and so the mean over layers
        value, low, high = (plain(number, decimals=2) for number in (result.value, result.low, result.high))
        known = [] if each.undefined else [f"ρ {value}, 95 % CI {low} to {high}", f"{len(result.languages)} languages"]
        coefficient = ", ".join([*known, *each.caveats])
        similarities = {language: each.similarities[language] for language in result.languages}
        panel["layers"].append({"layer": each.layer, "coefficient": coefficient, "similarities": similarities})
    return list(panels.values())


def _overview(effect: Effect, names: Mapping[Key, str], correlated: Correlated | None) -> dict[str, Any]:
    loss = effect.largest_loss
    overview: dict[str, Any] = {
        "apart": effect.apart,
        "task": task_name(effect.task),
        "metric": metric_name(effect),
        "headline": headline(effect),
        "seeds": effect.seeds,
        "targets": effect.targets,
        "corpora": effect.corpora,
        "own": effect.own,
        "same": _estimate(effect.same),
        "cross": _estimate(effect.cross),
        "loss": None if loss is None else {"layers": loss.label, "size": loss.size, **_estimate(loss.cross)},
        "profile": [
            {
                "layers": change.label,
                "size": change.size,
                "same": _estimate(change.same),
                "cross": _estimate(change.cross),
                "targets": {names.get(row, row[1]): value for row, value in change.by_target.items()},
            }
            for change in effect.changes
        ],
        "languages": {names.get(row, row[1]): row[0] for change in effect.changes for row in change.by_target},
        "missing": [incomplete.text for incomplete in effect.incomplete],
    }
    if correlated is not None:
        result = correlated.correlation
        overview["correlation"] = {
            "value": result.value,
            "low": finite(result.low),
            "high": finite(result.high),
            "languages": len(result.languages),
        }
    return overview


def _estimate(estimate: Estimate) -> dict[str, float | None]:
    return {"mean": estimate.mean, "half": estimate.half_width}


def finite(value: float) -> float | None:
    """Replace NaN and infinity by None, for JSON."""
    return value if math.isfinite(value) else None
