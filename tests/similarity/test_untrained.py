"""The untrained encoder as a baseline: independent of the other side's, and another with each seed."""

import pytest

from crosslens.corpora.parallel import load_parallel
from crosslens.encoders.load import load_encoder
from crosslens.encoders.reinit import random_init
from crosslens.report.tables import all_tables
from crosslens.similarity.compare import compare


def test_untrained_encoders_of_a_pair_are_independent(encoder, tiny_bert, treebanks):
    """From one seed they would be equal, and their similarity that of an encoder with itself."""
    pud = load_parallel("ud/pud", data=treebanks)
    asked = {"pairs": ["en-en"], "measures": ["cka"], "baselines": ["untrained"]}
    other = load_encoder(tiny_bert, device="cpu")
    pair = compare(encoder, pud, **asked, against=other).to_pandas()
    assert pair[pair.state == "pretrained"].value.tolist() == pytest.approx([1.0] * 5)
    assert len(pair[pair.state == "untrained"]) == 5
    assert (pair[pair.state == "untrained"].value < 0.99).all()
    one = compare(encoder, pud, **asked, against=encoder).to_pandas()
    assert one.value.tolist() == pytest.approx([1.0] * 10)


def test_untrained_encoders_of_several_seeds_have_a_mean(encoder, treebanks):
    pud = load_parallel("ud/pud", data=treebanks)
    by_seed = [compare(random_init(encoder, "0,all", seed=seed), pud, pairs=["en-fr"]) for seed in (1, 2)]
    baseline = compare(encoder, pud, pairs=["en-fr"], baselines=["untrained"], seed=2)
    assert [set(results.to_pandas().seed.dropna()) for results in (*by_seed, baseline)] == [{1}, {2}, {2}]
    assert baseline.filter(state="pretrained").to_pandas().seed.isna().all()
    (table,) = (table for table in all_tables(sum(by_seed)) if table.name == "similarity-cka_debiased")
    (row,) = (row for rows in table.groups.values() for row in rows if row.label == "untrained")
    values = [results.filter(measure="cka_debiased").to_pandas().value for results in by_seed]
    assert (values[0] - values[1]).abs().max() > 0.01
    assert [cell.value for cell in row.cells] == pytest.approx(list((values[0] + values[1]) / 2))


def test_an_untrained_encoder_is_its_own_baseline(encoder, treebanks):
    """It is measured once; another seed draws another one."""
    untrained = random_init(encoder, "0,all", seed=1)
    seeds = []
    for seed in (1, 2):
        pair = {"pairs": ["en-fr"], "measures": ["cka"], "baselines": ["untrained"], "seed": seed}
        records = compare(untrained, load_parallel("ud/pud", data=treebanks), **pair).to_pandas()
        seeds.append(records.seed.tolist())
    assert seeds == [[1] * 5, [1] * 5 + [2] * 5]
