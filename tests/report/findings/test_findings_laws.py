"""No sentence states what the records contradict, whatever their conditions, numbers, seeds and depths."""

import itertools
import re
from importlib import resources

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from crosslens.encoders.condition import Condition
from crosslens.encoders.layers import parse_layers
from crosslens.report.findings import (
    conclusions,
    describe,
    effects,
)
from made_records import made_up


def contradiction(claim, losses, own, depth):
    """What is wrong with a claim, judged from the losses alone: layers -> mean loss, zero-shot and in the source."""
    runs = lambda size: [tuple(range(low, low + size)) for low in range(1, depth - size + 2)]  # noqa: E731
    sets = claim.sets
    match claim.kind:
        case "loses transfer":
            return [s for s in sets if losses[s] <= 5 or losses[s] - own[s] <= 5]
        case "loses source":
            return [s for s in sets if own[s] <= 20]
        case "costs most":
            layers, *_ = sets
            tested = [run for run in runs(len(layers)) if run in losses]
            return set(sets) != set(tested) or [s for s in tested if s != layers and losses[s] >= losses[layers]]
        case "lowest carry":
            lowest, highest = sets
            tested = [run for run in runs(len(lowest)) if run in losses]
            whole = set().union(*tested) == set(range(1, depth + 1)) and {lowest, highest} <= set(tested)
            ends = [s for s in losses if s == tuple(range(s[0], depth + 1)) and s[0] > 1 and len(s) <= len(highest)]
            most = all(losses[lowest] > losses[s] for s in tested if s != lowest)
            return (
                not whole or not most or 1 not in lowest or depth not in highest or [s for s in ends if losses[s] >= 5]
            )
        case "lowest spare":
            lowest = [s for s in losses if s == tuple(range(1, s[-1] + 1)) and s[-1] < depth]
            return set(sets) != set(lowest) or [s for s in sets if losses[s] >= 5 and losses[s] - own[s] >= 5]
        case "in embeddings":
            (layers,) = sets
            return layers != runs(depth)[0] or losses[layers] >= 5 or losses[0, *layers] <= 5


def judge(conditions, values, *, seeds, depth, lacking=frozenset()):
    """Every sentence about these conditions, against the numbers that the records were made of."""
    losses = {condition: values[place % len(values)] for place, condition in enumerate(conditions)}
    own = {condition: values[(place * 7 + 3) % len(values)] / 3 for place, condition in enumerate(conditions)}
    results = made_up(losses, seeds=seeds, depth=depth, source=own, lacking=lacking, noise=0.5)
    found = effects(results)
    text = " ".join(sentence for effect in found for sentence in describe(effect))
    for effect in found:
        claims = conclusions(effect)
        assert not claims or len({seed for seed in seeds if ("none", seed) not in lacking}) > 1
        whole = {
            c for c in conditions if not any((c, seed) in lacking and ("none", seed) not in lacking for seed in seeds)
        }
        sets = {parse_layers(c, depth or 99): c for c in whole}
        for claim in claims:
            assert depth is not None or claim.kind.startswith("loses")
            by_set = {layers if depth else label: losses[label] for layers, label in sets.items()}
            at_home = {layers if depth else label: own[label] for layers, label in sets.items()}
            assert not contradiction(claim, by_set, at_home, depth), (claim, by_set)
    named = {parse_layers(condition, depth) for condition in conditions} if depth else set()
    for words, layers in (("all layers", 1), ("whole encoder", 0), ("embeddings", 1)):
        assert (
            words not in text
            or tuple(range(layers, (depth or 0) + 1)) in named
            or (words == "embeddings" and "whole encoder" in text)
        )
    if len(seeds) == 1:
        assert not re.search(r"\bThus\b|\bAmong\b|the lowest|the highest|by more than|score itself", text)


def shipped():
    """Conditions of every study: the sets of re-initialised layers, and the depth that they are written for."""
    for file in sorted(resources.files("crosslens.studies").joinpath("library").iterdir(), key=lambda file: file.name):
        study = yaml.safe_load(file.read_text("utf-8"))
        depth = study.get("depth", 12)
        layers = [str(c) for c in study.get("conditions", []) if not isinstance(c, dict) and c != "none"]
        if layers:
            yield tuple(Condition(layers=c).scaled(written_for=depth, depth=depth).reinit.layers for c in layers), depth


STUDIES = tuple(dict.fromkeys(shipped()))
LOSSES = (0.0, 4.0, 9.0, 28.0, -3.0, 70.0)


@pytest.mark.parametrize(("conditions", "depth"), STUDIES)
def test_no_subset_of_a_shipped_study_is_contradicted(conditions, depth):
    for size, orders in ((1, 6), (2, 2), (3, 1)):
        for place, subset in enumerate(itertools.combinations(conditions, size)):
            for values in itertools.islice(
                itertools.permutations(LOSSES, size), place % 20, None, 120 // orders // size
            ):
                judge(subset, values, seeds=(1, 2), depth=depth)
            if size == 2:
                judge(subset, LOSSES[place % 6 :], seeds=(1,), depth=depth)


@settings(max_examples=200, deadline=None)
@given(data=st.data(), study=st.sampled_from(STUDIES), seeds=st.integers(1, 3), known=st.booleans())
def test_no_numbers_make_a_sentence_false(data, study, seeds, known):
    conditions, depth = study
    extra = ("0-2", "1-4", f"0-{depth}", f"1-{depth}", "1", str(depth))
    subset = data.draw(st.lists(st.sampled_from(sorted({*conditions, *extra})), unique=True, max_size=9))
    values = data.draw(st.lists(st.sampled_from(LOSSES) | st.floats(-10, 80), min_size=1, max_size=9))
    lacking = data.draw(st.frozensets(st.tuples(st.sampled_from(["none", *subset]), st.integers(1, 3)), max_size=3))
    judge(subset, values, seeds=tuple(range(1, seeds + 1)), depth=depth if known else None, lacking=lacking)


@settings(max_examples=300, deadline=None)
@given(depth=st.integers(1, 4) | st.integers(5, 25), data=st.data())
def test_nor_do_encoders_of_any_depth(depth, data):
    runs = [f"{low}-{high}" for low in range(depth + 1) for high in range(low, depth + 1)]
    size = data.draw(st.integers(1, depth))
    whole = [f"{low}-{low + size - 1}" for low in range(1, depth - size + 2, size)]
    others = data.draw(st.lists(st.sampled_from(runs), unique=True, max_size=8))
    values = data.draw(st.lists(st.sampled_from(LOSSES), min_size=1, max_size=8))
    judge(tuple(dict.fromkeys([*whole, *others])), values, seeds=(1, 2, 3), depth=depth)
