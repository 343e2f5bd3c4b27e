"""Made-up records of scores and similarities."""

from dataclasses import replace

from crosslens.encoders.condition import Condition
from crosslens.encoders.interventions.precision import InPrecision
from crosslens.results.record import Record, Results


def score(target, value, *, seed=1, depth=12, condition="none", **columns):
    condition = Condition.model_validate(condition)
    return Record(
        task="pos",
        source="en",
        metric="accuracy",
        state="fine-tuned",
        **{"encoder": "e", "target": target, "seed": seed, "value": value, "depth": depth, "corpus": f"ud/{target}"}
        | condition.columns
        | columns,
    )


PLAIN = [
    *(score(target, value) for target, value in (("en", 95.0), ("fr", 85.0), ("de", 75.0))),
    *(score(t, v, condition="1-2") for t, v in (("en", 94.0), ("fr", 65.0), ("de", 55.0))),
]


def made_up(losses, *, seeds=(1, 2, 3), depth=12, source=None, lacking=(), noise=0.0):
    """Records in which each condition loses so much in fr and de, and so much of `source` in en."""
    return Results.of(
        score(
            target,
            base - (loss if target != "en" else (source or {}).get(condition, 0.0)) + noise * seed,
            seed=seed,
            depth=depth,
            condition=condition,
        )
        for condition, loss in {"none": 0.0, **losses}.items()
        for seed in seeds
        if (condition, seed) not in lacking
        for target, base in (("en", 95.0), ("fr", 85.0), ("de", 75.0))
    )


def in_bfloat16(record, *, lost=0.0):
    """The score of the same model in bfloat16, less so many points where it is not the reference."""
    condition = Condition.parse(record.condition)
    columns = Condition.of((*condition.interventions, InPrecision(precision="bfloat16"))).columns
    return replace(record, value=record.value - lost * (not condition.is_reference), **columns)


def similarity(measure, value, *, seed=None, layer=0, target="fr", **columns):
    described = {"encoder": "e", "source": "en", "depth": 1, "state": "pretrained", "corpus": "ud/pud"}
    return Record(
        metric="similarity",
        measure=measure,
        value=value,
        layer=layer,
        target=target,
        seed=seed,
        **{**described, **columns},
    )


EFFECTS = {(1, 0): (-1.0, -9.0), (1, 1): (0.0, 1.0), (3, 0): (-4.0, -2.0)}
"""Layer and head -> difference to the reference in the source language and in the others."""


def of_heads(effects=EFFECTS):
    """Records of models in which one head at a time is zeroed."""
    conditions = {"none": (0.0, 0.0)}
    conditions |= {f"{layer}.attention.head.{head}": effect for (layer, head), effect in effects.items()}
    return Results.of(
        score(
            target,
            base + (source if target == "en" else others),
            seed=seed,
            depth=4,
            condition=name if name == "none" else {"zero": name},
        )
        for seed in (1, 2)
        for name, (source, others) in conditions.items()
        for target, base in (("en", 95.0), ("fr", 85.0), ("de", 75.0))
    )


def along_pretraining(seeds=(1, 2)):
    """Similarity and scores at three steps of pretraining, of which only French differs by seed."""
    return Results.of(
        record
        for seed in seeds
        for step, cka, zero_shot in ((0, 0.2, 40.0), (100, 0.6, 40.0 + seed), (300, 1.0, 50.0))
        for record in (
            similarity("cka", cka, seed=seed, layer=1, condition=f'{{"checkpoint": "{step}"}}'),
            similarity("cka_shuffled", 0.1, seed=seed, layer=1, condition=f'{{"checkpoint": "{step}"}}'),
            score("en", 90.0, seed=seed, condition={"checkpoint": step}),
            score("fr", zero_shot, seed=seed, condition={"checkpoint": step}),
        )
    )


HOSTILE = "<img src=x onerror=alert(1)>"
