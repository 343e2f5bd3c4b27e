"""Findings are of models that differ in what is said, and in nothing else."""

import pytest

from crosslens.report.finding import effects, findings
from crosslens.results.record import Record, Results


def score(target, value, *, seed=1, condition="reference", ablation=None, settings=""):
    tags = {"condition": condition, **({"differs_from_usual": settings} if settings else {})}
    return Record(
        task="pos", encoder="e", source="en", target=target, metric="accuracy", seed=seed, value=value,
        ablation=ablation, tags=tags,
    )  # fmt: skip


PLAIN = [
    *(score(target, value) for target, value in (("en", 95.0), ("fr", 85.0), ("de", 75.0))),
    *(score(t, v, condition="1-2", ablation="1-2") for t, v in (("en", 94.0), ("fr", 65.0), ("de", 55.0))),
]


def test_frozen_layers_features_and_parts_of_layers_are_no_reference():
    others = [
        score(target, 1.0, condition=condition, ablation=ablation)
        for target in ("en", "fr", "de")
        for condition, ablation in (("reference frozen 0-3", None), ("reference features", None),
                                    ("1-2 attention", "1-2"))
    ]  # fmt: skip
    (plain,), (both,) = effects(Results.of(PLAIN)), effects(Results.of([*PLAIN, *others]))
    assert both == plain
    assert plain.reference == (95.0, 80.0)
    assert plain.cross["1-2"].mean == pytest.approx(-20.0)
    assert plain.gaps == {"fr": 10.0, "de": 20.0}
    assert findings(Results.of([*PLAIN, *others])) == findings(Results.of(PLAIN))


def test_models_of_other_settings_have_a_finding_of_their_own():
    longer = [score(t, v, settings="epochs=9") for t, v in (("en", 97.0), ("fr", 90.0), ("de", 80.0))]
    longer += [score(t, 50.0, settings="epochs=9", condition="1-2", ablation="1-2") for t in ("en", "fr", "de")]
    found = {effect.task: effect for effect in effects(Results.of([*PLAIN, *longer]))}
    assert set(found) == {"pos", "pos, epochs=9"}
    assert found["pos"].reference == (95.0, 80.0)
    assert found["pos, epochs=9"].same["1-2"].mean == pytest.approx(-47.0)
