"""Opening of the page: for each table of scores a headline, the key numbers, and the layer profile."""

from collections.abc import Mapping, Sequence
from typing import Any

from crosslens.errors import RequestError
from crosslens.report.blocks import Block
from crosslens.report.findings import Effect, Estimate, effects, headline, metric_name, task_name
from crosslens.results.cells import Key
from crosslens.results.record import Results
from crosslens.similarity.transfer_gap import Correlated, available_correlations


def overviews(block: Block, *, names: Mapping[Key, str], correlated: Sequence[Correlated]) -> list[dict[str, Any]]:
    """Summarise each group of comparable models in a block.

    Args:
        block: Scores of one task, source and encoder.
        names: Row of the block -> its name on the page.
        correlated: Correlations from `transfer_correlations`.

    Returns:
        Plain values for the page: the headline, the key numbers (in points) and, where layers were re-initialised, the
        profile of changes in layer order with half widths of 95 % confidence intervals over seeds.
    """
    known = effects(block.results)
    correlations = [each for each in correlated if _same_models(each, block)] if len(known) == 1 else []
    return [_overview(effect, names, correlations[0] if correlations else None) for effect in known]


def transfer_correlations(results: Results) -> list[Correlated]:
    """Correlate transfer gap and CKA (mean over layers) in pretrained encoders, where there are enough languages."""
    try:
        correlated = available_correlations(results)
    except RequestError:
        return []
    return [each for each in correlated if each.state == "pretrained" and not each.caveats]


def _same_models(correlated: Correlated, block: Block) -> bool:
    models = (correlated.task, correlated.source, correlated.encoder)
    return not correlated.variant and models == (block.task, block.source, block.encoder)


def _overview(effect: Effect, names: Mapping[Key, str], correlated: Correlated | None) -> dict[str, Any]:
    loss = effect.largest_loss
    overview: dict[str, Any] = {
        "apart": effect.apart,
        "task": task_name(effect.task),
        "metric": metric_name(effect),
        "headline": headline(effect),
        "seeds": effect.seeds,
        "targets": effect.targets,
        "same": _estimate(effect.same),
        "cross": _estimate(effect.cross),
        "loss": None if loss is None else {"layers": loss.label, **_estimate(loss.cross)},
        "profile": [
            {
                "layers": change.label,
                "size": len(change.layers),
                "same": _estimate(change.same),
                "cross": _estimate(change.cross),
                "targets": {names.get(row, row[1]): round(value, 4) for row, value in change.by_target.items()},
            }
            for change in effect.changes
        ],
        "languages": {names.get(row, row[1]): row[0] for change in effect.changes for row in change.by_target},
        "missing": [incomplete.text for incomplete in effect.incomplete],
    }
    if correlated is not None:
        result = correlated.correlation
        overview["correlation"] = {
            "value": round(result.value, 4),
            "low": _finite(result.low),
            "high": _finite(result.high),
            "languages": len(result.languages),
        }
    return overview


def _estimate(estimate: Estimate) -> dict[str, float | None]:
    half = estimate.half_width
    return {"mean": round(estimate.mean, 4), "half": None if half is None else round(half, 4)}


def _finite(value: float) -> float | None:
    return round(value, 4) if value == value else None
