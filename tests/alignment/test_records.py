"""A record of an alignment holds what its number is of, in every column."""

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest

from crosslens import __version__
from crosslens.alignment.baselines import SHUFFLED, baseline_of, fit_rotations
from crosslens.alignment.measure import sentence_retrieval, word_translation
from crosslens.alignment.rotation import fit_rotation
from crosslens.alignment.vectors import load_vectors
from crosslens.corpora.parallel import load_parallel
from crosslens.data.dictionary import of_words
from crosslens.digests import digest
from crosslens.encoders.condition import Condition
from crosslens.encoders.interventions.one_layer import OnOneLayer
from crosslens.encoders.load import load_encoder
from crosslens.encoders.reinit import random_init
from crosslens.errors import RequestError
from crosslens.results.record import Record, Results
from crosslens.scores import bootstrap_interval
from toy_vectors import csls, vectors

CHANGED = Condition(layers="1-2").columns


def spaces():
    """Two noisy copies of one space at two layers; the second encoder was changed."""
    generator = np.random.default_rng(5)
    rows = generator.normal(size=(2, 40, 6)).astype(np.float32)
    near = (rows + 0.8 * generator.normal(size=rows.shape)).astype(np.float32)
    source = replace(vectors([f"s{i}" for i in range(40)], rows[0]), vectors=rows, layers=(0, 3))
    target = replace(vectors([f"t{i}" for i in range(40)], near[0], "fr"), vectors=near, layers=(0, 3))
    return replace(source, name="left", columns={"depth": 3, "state": "pretrained"}), replace(
        target, name="right", columns={"depth": 3, "state": "pretrained", **CHANGED}
    )


@pytest.mark.parametrize("method", ["csls", "cosine"])
def test_every_column_of_a_word_translation(method):
    """Without a mapping, so that brute force finds the same words; two translations of a word are one question."""
    source, target = (replace(side, text=f"raw/{side.language}") for side in spaces())
    pairs = [*((f"s{i}", f"t{i}") for i in range(15)), ("s3", "t20"), ("s9", "none"), ("never", "t1")]
    test = of_words(pairs, name="test")
    train = of_words([(f"s{i}", f"t{i}") for i in range(20, 39)], name="train")
    found = word_translation(source, target, train=train, test=test, mapping="identity", method=method)
    expected = []
    for place, layer in enumerate((0, 3)):
        x, y = source.vectors[place], target.vectors[place]
        rotation = fit_rotation(x[20:39], y[20:39])
        x, y = rotation.source(x), rotation.target(y)
        scores = csls(x, y)[:15] if method == "csls" else x[:15] @ y.T
        ranking = np.argsort(-scores, 1)
        for at in (1, 5, 10):
            right = np.asarray([bool({i, 20 if i == 3 else i} & set(row[:at])) for i, row in enumerate(ranking)], int)
            low, high = bootstrap_interval(right, np.ones(15, int))
            expected.append(
                Record(
                    encoder="left",
                    source="en",
                    target="fr",
                    measure="words identity",
                    layer=layer,
                    depth=3,
                    state="pretrained",
                    metric=f"precision@{at}",
                    value=100 * right.mean(),
                    low=low,
                    high=high,
                    n=15,
                    corpus="test",
                    corpus_digest=digest([list(pair) for pair in test.pairs]),
                    train="train",
                    train_digest=digest([list(pair) for pair in train.pairs]),
                    settings=f"against=right against_condition={CHANGED['condition']} method={method}"
                    " text=raw/en,raw/fr",
                    signature=f"precision@{at}|words:{method}|data:{digest([list(pair) for pair in test.pairs])[:12]}"
                    f"|crosslens:{__version__}",
                    tags={"pairs": 19, "coverage": 93.8, "candidates": 40, "crosslens": __version__},
                )
            )
    assert {record.value for record in expected} - {0.0, 100.0}
    for row, right in zip(found.records.to_pylist(), Results.of(expected).records.to_pylist(), strict=True):
        assert json.loads(row.pop("tags")) == json.loads(right.pop("tags"))
        assert row == pytest.approx(right)


def test_spaces_of_other_layers_or_widths_are_named():
    source, target = spaces()
    train = of_words([("s1", "t1"), ("s2", "t2")], name="train")
    for other in (replace(target, vectors=target.vectors[:1]), replace(target, vectors=target.vectors[:, :, :4])):
        with pytest.raises(RequestError, match=r"left has 2 × 6, right has (1 × 6|2 × 4) \(layers × width\)"):
            word_translation(source, other, train=train, test=train)


def test_every_column_of_a_retrieved_sentence_each_way(encoder, treebanks):
    train, sides = (load_parallel(name, data=treebanks) for name in ("ud/pud[:3]", "ud/pud[3:]"))
    changed = random_init(encoder, "2", seed=1)
    found = sentence_retrieval(encoder, changed, train=train, test=sides, pair=("en", "fr"), baselines=())
    rows = found.records.to_pylist()
    assert len(rows) == 2 * (encoder.depth + 1)
    pieces = [encoder.tokenizer.tokenize(" ".join(s.text for s in sides[name])) for name in ("en", "fr")]
    counts = [{"subwords": len(each), "unknown_subwords": each.count("[UNK]")} for each in pieces]
    assert counts[0] != counts[1]
    of_corpus, of_train = (digest([side["en"].digest, side["fr"].digest]) for side in (sides, train))
    for place, row in enumerate(rows):
        queries, candidates = (encoder, changed) if place % 2 == 0 else (changed, encoder)
        hits = round(row["value"] / 100 * len(sides))
        assert json.loads(row.pop("tags")) == {
            "pairs": 3,
            "candidates": len(sides),
            **counts[1 - place % 2],
            **{f"source_{name}": count for name, count in counts[place % 2].items()},
            "crosslens": __version__,
        }
        expected = {
            **queries.columns,
            "source": ("en", "fr")[place % 2],
            "target": ("fr", "en")[place % 2],
            "measure": "sentences procrustes",
            "layer": place // 2,
            "metric": "precision@1",
            "value": 100 * hits / len(sides),
            "n": len(sides),
            "corpus": sides.name,
            "corpus_digest": of_corpus,
            "train": train.name,
            "train_digest": of_train,
            "signature": f"precision@1|sentences:cosine|data:{of_corpus[:12]}|crosslens:{__version__}",
            "seed": 1,  # of the changed encoder, on either side
            "settings": f"against={candidates.name} against_digest={encoder.digest}"
            + (f" against_condition={changed.columns['condition']}" if candidates is changed else "")
            + " method=cosine",
        }
        assert {name: value for name, value in row.items() if value is not None and name not in ("low", "high")} == (
            pytest.approx({name: value for name, value in expected.items() if value is not None})
        )


def test_the_stages_of_a_measurement_are_told_apart(encoder, treebanks):
    updates = []
    found = sentence_retrieval(
        encoder,
        encoder,
        train=load_parallel("ud/pud[:3]", data=treebanks),
        test=load_parallel("ud/pud[3:]", data=treebanks),
        pair=("en", "fr"),
        baselines=("untrained", "shuffled"),
        baseline_seeds=(4, 5),
        progress=updates.append,
    )
    reading, retrieving = "reading sentences", "retrieving translations"
    stages = [reading, retrieving, *[f"{reading}, untrained", f"{retrieving}, untrained"] * 2]
    assert [stage for stage, _ in itertools.groupby(updates, key=lambda update: update.stage)] == stages
    layers = encoder.depth + 1
    assert [(u.done, u.total, u.unit) for u in updates if u.stage == reading] == [(n, 4, "corpora") for n in range(5)]
    counted = [(u.done, u.total, u.unit) for u in updates if u.stage == retrieving]
    assert counted == [(n, layers, "layers") for n in range(layers + 1)]
    baselines = {(row["state"], "shuffled" in row["measure"], row["seed"]) for row in found.records.to_pylist()}
    shuffled = {("pretrained", True, 4), ("pretrained", True, 5)}
    assert baselines == {("pretrained", False, None), *shuffled, ("untrained", False, 4), ("untrained", False, 5)}
    source, target = spaces()
    train, test = (of_words([(f"s{i}", f"t{i}") for i in some], name="toy") for some in (range(20), range(20, 30)))
    updates = []
    asked = {"train": train, "test": test, "untrained": [(1, source, target)], "progress": updates.append}
    word_translation(source, target, **asked)
    stages = ["translating words", "translating words, untrained"]
    assert list(dict.fromkeys(update.stage for update in updates)) == stages


def test_the_baseline_of_a_record_is_read_off_its_columns():
    def row(measure="words procrustes", depth=4, condition=Condition()):  # noqa: B008
        return {"condition": condition.columns["condition"], "depth": depth, "measure": measure}

    def tower(by):
        return Condition.of((OnOneLayer(layer=1, mapped_from="b", mapping="0" * 8, mapped_by=by),))

    assert baseline_of(row()) is None
    for level in ("words", "sentences"):
        assert baseline_of(row(f"{level} {SHUFFLED}")) == "shuffled"
        assert baseline_of(row(f"{level} identity")) == "identity"
        assert baseline_of(row(f"{level} identity"), mapping="identity") is None
    assert baseline_of(row(None, condition=tower(SHUFFLED))) == "shuffled"
    assert baseline_of(row(None, condition=tower("identity"))) == "identity"
    assert baseline_of(row(None, condition=tower(None))) is None
    everything = Condition(layers="0-4")
    assert baseline_of(row(condition=everything)) == "untrained"
    assert baseline_of(row(condition=everything, depth=5)) is None
    assert baseline_of(row(condition=everything, depth=None)) is None


def test_a_shuffled_dictionary_is_one_permutation_of_the_pairs_a_seed():
    generator = np.random.default_rng(0)
    x, y = generator.normal(size=(2, 7, 5, 3))
    seeds = (1, 2, 3)
    matrices = []
    for layer in range(7):
        fitted = fit_rotations(x[layer], y[layer], baselines=("shuffled", "identity"), seeds=seeds)
        assert [(each.name, each.seed) for each in fitted] == [
            ("procrustes", None),
            *((SHUFFLED, seed) for seed in seeds),
            ("identity", None),
        ]
        assert np.array_equal(fitted[0].rotation.matrix, fit_rotation(x[layer], y[layer]).matrix)
        assert np.array_equal(fitted[-1].rotation.matrix, np.eye(3))
        matrices.append([each.rotation.matrix for each in fitted[1:4]])
    for place in range(3):
        orders = [
            order
            for order in itertools.permutations(range(5))
            if all(
                np.allclose(fit_rotation(x[layer][list(order)], y[layer]).matrix, matrices[layer][place])
                for layer in range(7)
            )
        ]
        assert len(orders) == 1  # the same in every layer
        assert orders[0] != (0, 1, 2, 3, 4)
    assert not np.allclose(matrices[0][0], matrices[0][1])


def test_the_seed_is_that_of_the_last_random_change_of_an_encoder(encoder, treebanks):
    """So that the seeds of a re-initialised encoder can be averaged; a baseline has the seed that it draws with."""
    train, test = (load_parallel(name, data=treebanks) for name in ("ud/pud[:3]", "ud/pud[3:]"))
    pairs = (("the", "le"), ("sees", "voit"), ("cat", "chat"))
    words = [of_words(some, name="toy") for some in (pairs[:2], pairs[2:])]
    text = {language: load_parallel("ud/pud", data=treebanks)[language] for language in ("en", "fr")}
    third, fifth = random_init(encoder, "1", seed=3), random_init(random_init(encoder, "1", seed=3), "2", seed=5)
    for first, second, seeds in ((third, third, (3, 3)), (encoder, fifth, (5, 5)), (fifth, third, (5, 3))):
        asked = {"pair": ("en", "fr"), "baselines": ("shuffled",), "baseline_seeds": (7,)}
        found = sentence_retrieval(first, second, train=train, test=test, **asked)
        rows = {(row["source"], row["measure"], row["seed"]) for row in found.records.to_pylist()}
        assert rows == {
            (source, *of)
            for source, seed in zip(("en", "fr"), seeds, strict=True)
            for of in (("sentences procrustes", seed), ("sentences procrustes_shuffled", 7))
        }
        sides = [
            load_vectors(each, language=language, text=text[language])
            for each, language in ((first, "en"), (second, "fr"))
        ]
        translated = word_translation(*sides, train=words[0], test=words[1], mapping="identity", baselines=())
        assert set(translated.records["seed"].to_pylist()) == {seeds[0]}


def test_an_embedding_table_is_not_recorded_as_that_of_changed_states(tiny_bert):
    (zero,) = Condition(zero="1").interventions
    changed = zero.apply(load_encoder(tiny_bert, device="cpu"), seed=1)
    with pytest.raises(RequestError, match="no states, which zero 1 acts on"):
        load_vectors(changed, language="en")
