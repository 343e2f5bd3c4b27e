"""Made-up records for every section of the page."""

from crosslens.report.table import Cell, Row, Table
from crosslens.results.record import Record, Results
from made_records import score

TARGETS = {"fr": 80.0, "de": 75.0, "fi": 70.0, "hi": 60.0, "zh": 50.0, "ja": 45.0}
"""Target language -> score of the reference."""

LOSSES = {"0": 1.0, "0-3": 4.0, "0-6": 9.0}
"""Frozen layers -> loss of each target; the source language loses half of it."""

PROBED = {"accuracy": (95.0, 90.0, 80.0), "accuracy_shuffled": (3.0, 4.0, 2.0)}


def frozen(losses=None, **columns):
    """Scores of the reference and with frozen layers, with two seeds, one of which loses a point more."""
    conditions = {None: 0.0} | (LOSSES if losses is None else losses)
    return [
        score(
            target,
            value - (loss + seed if layers else 0.0) * (0.5 if target == "en" else 1.0),
            seed=seed,
            condition={"freeze": layers} if layers else "none",
            **columns,
        )
        for layers, loss in conditions.items()
        for target, value in {"en": 95.0, **TARGETS}.items()
        for seed in (0, 1)
    ]


def overlaps(measure="overlap_types", *, factor=1.0):
    """Subword overlap of each target, a fixed share of its score."""
    made = {"encoder": "e", "source": "en", "measure": measure, "metric": "overlap"}
    return [
        Record(**made, target=target, value=value * factor, corpus=f"ud/{target}") for target, value in TARGETS.items()
    ]


def probes():
    """A probe of three layers and its control."""
    made = {"encoder": "e", "seed": 1, "depth": 2, "state": "pretrained"}
    about = {"measure": "probe langid", "corpus": "wili/all"}
    return [
        Record(**made, **about, metric=metric, layer=layer, value=value)
        for metric, values in PROBED.items()
        for layer, value in enumerate(values)
    ]


def retrieved(target, value, *, layer=0, level="words", mapping="procrustes", metric="precision@1", **columns):
    """Retrieval between two encoders that a mapping aligns."""
    made = {"encoder": "mono-en", "source": "en", "target": target, "depth": 2, "state": "pretrained"}
    settings = f"against=mono-{target} method=cosine"
    about = {"measure": f"{level} {mapping}", "metric": metric, "settings": settings, "corpus": f"muse/en-{target}"}
    return Record(**made, **about, layer=layer, value=value, **columns)


def retrieval():
    """Words of two language pairs with a baseline and two cutoffs."""
    return [
        retrieved(target, value - 10.0 * layer, layer=layer, mapping=mapping, metric=metric)
        for metric, more in (("precision@1", 0.0), ("precision@5", 20.0))
        for target, base in (("fr", 60.0), ("hi", 40.0))
        for mapping, value in (("procrustes", base + more), ("identity", 25.0))
        for layer in (0, 1, 2)
    ]


def one_layer():
    """Heads on layers 0 and 2, read through a mapping on the target."""
    targets = {"en": (90.0, 92.0), "fr": (70.0, 60.0)}
    mapped = {"en": {}, "fr": {"mapped_from": "f", "mapping": "ab"}}
    return [
        score(target, value, condition={"tower": layer, **mapped[target]})
        for target, values in targets.items()
        for layer, value in zip((0, 2), values, strict=True)
    ]


def everything():
    """Records that fill every section but the typology."""
    tokens = overlaps("overlap_tokens", factor=0.5)
    return Results.of([*frozen(), *overlaps(), *tokens, *probes(), *retrieval(), *one_layer()])


def typology():
    """A table of two classes of languages."""

    def row(name, language, *values, note=None):
        cells = [Cell(value, "score", note=note if not place else None) for place, value in enumerate(values[:2])]
        return Row(name, (*cells, Cell(values[2], "difference")), language=language)

    groups = {"pos: easy": (row("French, Latin", "fr", 90.0, 80.0, 10.0, note=1),)}
    groups["pos: hard"] = (row("Hindi, Devanagari", "hi", 60.0, None, -7.0),)
    head = ("encoder", "adapted", "encoder − BiLSTM")
    return Table("typology", "Scores by language.", head, groups, ("Muller 2022: 10K sentences of raw text",))
