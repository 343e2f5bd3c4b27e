import tempfile
import warnings

import numpy as np
import pytest
from transformers import BertConfig, BertModel

from crosslens.corpora.parallel import load_parallel
from crosslens.data.language_pairs import expand_pairs
from crosslens.encoders.load import load_encoder
from crosslens.encoders.reinit import random_init, untrained_pair
from crosslens.encoders.represent import represent
from crosslens.errors import DataError, RequestError
from crosslens.similarity.cka import linear_cka, shuffled_cka
from crosslens.similarity.compare import compare
from crosslens.similarity.measures import DEFAULT_MEASURES
from crosslens.similarity.rbf import muller2021_code_cka


def test_every_layer_pair_and_measure(encoder, treebanks):
    pud = load_parallel("ud/pud", data=treebanks)
    read = []
    table = compare(
        encoder, pud, pairs=["en-fr", "fr-en"], represented=lambda its: read.append(its.language)
    ).to_pandas()
    assert read == ["en", "fr"]  # each language once, whatever the number of pairs
    assert len(table) == 2 * 5 * len(DEFAULT_MEASURES)
    vectors = represent(encoder, pud["en"]), represent(encoder, pud["fr"])
    for layer in range(5):
        row = table[(table.layer == layer) & (table.measure == "cka") & (table.source == "en")].iloc[0]
        assert row.value == pytest.approx(linear_cka(vectors[0][layer], vectors[1][layer]), abs=1e-12)
        back = table[(table.layer == layer) & (table.measure == "cka") & (table.source == "fr")].iloc[0]
        assert row.length_ratio == pytest.approx(pud["fr"].words / pud["en"].words)
        assert row.length_ratio * back.length_ratio == pytest.approx(1)
        assert row.fertility == pytest.approx(vectors[1].subwords.sum() / pud["fr"].words)
    assert pud["fr"].words != pud["en"].words
    assert set(table.n) == {6}
    assert set(table.state) == {"pretrained"}
    assert set(table.depth) == {4}
    untrained = compare(encoder, pud, pairs=["en-fr"], measures=["cka"], baselines=["untrained"]).to_pandas()
    assert untrained.state.tolist() == ["pretrained"] * 5 + ["untrained"] * 5


def test_an_encoder_is_like_itself_and_a_redrawn_one_less(encoder, treebanks):
    pud = load_parallel("ud/pud", data=treebanks)
    same = compare(encoder, pud, pairs=["en-en"], measures=["cka"]).to_pandas()
    assert same.value.tolist() == pytest.approx([1.0] * 5)
    drawn = compare(random_init(encoder, "1", seed=3), pud, pairs=["en-fr"], measures=["cka"]).to_pandas()
    assert set(drawn.ablation) == {"1"}


def test_one_pair_and_measure_need_no_list(encoder, treebanks):
    pud = load_parallel("ud/pud", data=treebanks)
    listed = compare(encoder, pud, pairs=["en-fr"], measures=["cka"], baselines=["shuffled"])
    assert compare(encoder, pud, pairs="en-fr", measures="cka", baselines="shuffled") == listed


def test_what_is_not_there(encoder, treebanks):
    pud = load_parallel("ud/pud", data=treebanks)
    with pytest.raises(RequestError, match=r"no measure 'ccka'.*did you mean 'cka'"):
        compare(encoder, pud, pairs=["en-fr"], measures=["ccka"])
    with pytest.raises(DataError, match="does not contain language 'de'"):
        compare(encoder, pud, pairs=["en-de"])


def test_two_encoders_against_each_other(encoder, treebanks):
    pud = load_parallel("ud/pud", data=treebanks)
    other = random_init(encoder, "1", seed=3)
    read = []
    results = compare(
        encoder,
        pud,
        pairs=["en-en", "en-fr"],
        measures=["cka", "anc"],
        against=other,
        represented=lambda its: read.append(its),
    )
    assert [its.language for its in read] == ["en", "en", "fr"]
    table = results.to_pandas()
    mine, its = represent(encoder, pud["en"]), represent(other, pud["fr"])
    row = table[(table.layer == 3) & (table.measure == "cka") & (table.target == "fr")].iloc[0]
    assert row.value == pytest.approx(linear_cka(mine[3], its[3]), abs=1e-12)
    second = f'against={other.name} against_digest={encoder.digest} against_condition={{"layers": "1"}}'
    assert (row.settings, row.condition) == (second, "none")
    same = compare(encoder, pud, pairs=["en-en"], measures=["cka"], against=encoder).to_pandas()
    assert same.value.tolist() == pytest.approx([1.0] * 5)


def test_encoders_that_do_not_go_together(encoder, treebanks, tmp_path):
    pud = load_parallel("ud/pud", data=treebanks)
    for depth, width in ((3, 32), (4, 16)):
        config = BertConfig(
            vocab_size=len(encoder.tokenizer),
            hidden_size=width,
            num_hidden_layers=depth,
            num_attention_heads=2,
            intermediate_size=16,
            max_position_embeddings=64,
        )
        folder = tmp_path / str(depth)
        BertModel(config, add_pooling_layer=False).save_pretrained(folder)
        encoder.tokenizer.save_pretrained(folder)
        other = load_encoder(folder, device="cpu")
        if depth == 3:
            with pytest.raises(RequestError, match=r"same number of layers, but .* has 4, .* 3.*relative"):
                compare(encoder, pud, pairs=["en-en"], against=other)
            across = compare(encoder, pud, pairs=["en-en"], measures=["cka"], against=other, layers="relative")
            records = across.to_pandas()
            assert list(zip(records.layer, records.target_layer, strict=True)) == [(0, 0), (1, 1), (3, 2), (4, 3)]
        else:
            with pytest.raises(RequestError, match=r"retrieval needs encoders of the same width, but .* has 32, .* 16"):
                compare(encoder, pud, pairs=["en-en"], measures=["cka", "retrieval"], against=other)
            assert len(compare(encoder, pud, pairs=["en-en"], measures=["cka", "procrustes"], against=other)) == 10


@pytest.mark.parametrize("asked", [["*-*", "src-src"], ["adj-src", "gen-sov", "sov-src"]])
def test_pairs_read_each_language_once_and_leave_nothing_behind(encoder, tmp_path, monkeypatch, asked):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    toy, read = load_parallel("lab/all[:20]"), []
    pairs = expand_pairs(asked, toy.languages)
    results = compare(
        encoder, toy, pairs=pairs, measures=["cka", "retrieval"], represented=lambda its: read.append(its.language)
    )
    assert sorted(read) == sorted({language for pair in pairs for language in pair.split("-")})
    assert not list(tmp_path.iterdir())
    table = results.to_pandas()
    assert table[["source", "target"]].drop_duplicates().agg("-".join, axis=1).tolist() == pairs
    vectors = {language: represent(encoder, toy[language]) for language in toy.languages}
    for row in table[table.measure == "cka"].itertuples():
        expected = linear_cka(vectors[row.source][row.layer], vectors[row.target][row.layer])
        assert row.value == pytest.approx(expected, abs=1e-12)


def test_intervals_end_where_the_measure_does(encoder):
    toy = load_parallel("lab/all").head(12)
    measures = ["retrieval", "mexa", "svcca", "cka_debiased"]
    table = compare(encoder, toy, pairs=["src-sov"], measures=measures, interval="jackknife").to_pandas()
    bounded = table[table.measure != "cka_debiased"]
    assert bounded[["low", "high"]].stack().between(0, 1).all()
    assert ((bounded.low == 0) & (bounded.value > 0)).any()


def test_intervals_over_sentences(encoder):
    toy = load_parallel("lab/all[:30]")
    table = compare(encoder, toy, pairs=["src-sov"], measures=["cka"], interval="jackknife").to_pandas()
    assert (table.low < table.value).all()
    assert (table.value < table.high).all()
    assert compare(encoder, toy, pairs=["src-sov"], measures=["cka"]).to_pandas().low.isna().all()


def test_a_measure_that_has_a_pooling_of_its_own_brings_it(encoder):
    toy = load_parallel("lab/all[:20]")
    table = compare(encoder, toy, pairs=["src-sov"], measures=["cka", "cka=muller2021-code"]).to_pandas()
    x, y = (represent(encoder, toy[language], pooling="muller2021-code") for language in ("src", "sov"))
    row = table[(table.layer == 2) & (table.measure == "cka=muller2021-code")].iloc[0]
    assert row.value == pytest.approx(muller2021_code_cka(x[2], y[2]), abs=1e-12)


@pytest.mark.parametrize("pooling", ["first", "cls", "last", "muller2021-code"])
def test_fertility_and_length_ratio_do_not_depend_on_the_pooling(encoder, treebanks, pooling):
    pud = load_parallel("ud/pud", data=treebanks)
    asked = {"pairs": ["en-fr"], "measures": ["cka"]}
    row, mean = (compare(encoder, pud, **asked, pooling=name)[0] for name in (pooling, "mean"))
    assert (row.fertility, row.length_ratio) == (mean.fertility, mean.length_ratio)


def test_fertility_and_length_ratio_of_running_text_count_words(encoder, tmp_path):
    """Punctuation marks are words of their own; Chinese without spaces has no words to count."""
    lines = {"en": "a cat, a dog", "fr": "un chat dort .", "zh": "我们在图书馆里一起学习中文和英文"}
    for language, line in lines.items():
        (tmp_path / f"{language}.txt").write_text(f"{line}\n" * 4, "utf-8")
    files = ",".join(f"{language}={tmp_path / language}.txt" for language in lines)
    with warnings.catch_warnings(action="error"):
        french, chinese = compare(encoder, files, pairs=["en-fr", "en-zh"], measures=["cka"]).filter(layer=0)
    pieces = encoder.tokenizer.encode(lines["fr"], add_special_tokens=False)
    assert french.fertility == pytest.approx(len(pieces) / 4)
    assert french.length_ratio == pytest.approx(4 / 5)
    assert (chinese.fertility, chinese.length_ratio) == (None, None)


def test_vectors_that_are_all_one_have_no_similarity(encoder):
    toy = load_parallel("lab/all[:20]")
    flat = random_init(encoder, "1", seed=1)
    flat.layers[0].output.LayerNorm.weight.data.zero_()
    table = compare(flat, toy, pairs=["src-sov"], measures=["cka", "retrieval"]).to_pandas()
    assert table[table.layer == 1].value.isna().all()
    assert table[table.layer == 0].value.notna().all()


def test_too_few_items_are_refused_before_any_is_read(encoder, monkeypatch):
    with pytest.raises(RequestError, match=r"cka needs at least 3 items, but lab/all\[:2\] has 2"):
        compare(encoder, load_parallel("lab/all[:2]"), pairs=["src-sov"], measures=["cka"])
    monkeypatch.setattr("crosslens.similarity.compare.represent", None)
    with pytest.raises(RequestError, match=r"cka_debiased needs at least 4 items, but lab/all\[:3\] has 3"):
        compare(encoder, load_parallel("lab/all[:3]"), pairs=["src-sov"])
    monkeypatch.undo()
    four = load_parallel("lab/all[:4]")
    with pytest.raises(RequestError, match=r"an interval needs at least 5 items, but lab/all\[:4\] has 4"):
        compare(encoder, four, pairs=["src-sov"], interval="jackknife")
    assert len(compare(encoder, four, pairs=["src-sov"]))
    script = {"pairs": ["src-sov"], "measures": ["cka=muller2021-code"], "interval": "jackknife"}
    with pytest.raises(RequestError, match=r"an interval needs at least 9 items, but lab/all\[:8\] has 8"):
        compare(encoder, load_parallel("lab/all[:8]"), **script)
    five = compare(encoder, load_parallel("lab/all[:5]"), pairs=["src-sov"], interval="jackknife").to_pandas()
    assert five.low.notna().any()


def test_nulls_the_untrained_twin_and_the_vectors_are_one_call(encoder, treebanks, tmp_path):
    nulls = ("shuffled", "length-matched", "untrained")
    results = compare(
        encoder,
        "ud/pud",
        pairs=["en-*"],
        measures=["cka", "cka_shuffled"],
        baselines=nulls,
        seed=4,
        sentences=5,
        data=treebanks,
        export=tmp_path / "vectors",
    )
    pud = load_parallel("ud/pud", data=treebanks).head(5)
    names = ["cka", "cka_shuffled", "cka_length_matched"]
    parts = [
        compare(one, pud, pairs=["en-fr"], measures=names) for one in (encoder, random_init(encoder, "0,all", seed=4))
    ]
    assert (parts[0] + parts[1]).records.equals(results.records)
    assert sorted(path.name for path in (tmp_path / "vectors").iterdir()) == ["en.npy", "fr.npy"]
    np.testing.assert_array_equal(np.load(tmp_path / "vectors" / "fr.npy"), represent(encoder, pud["fr"]).vectors)
    with pytest.raises(RequestError, match="exists already"):
        compare(encoder, pud, pairs=["en-fr"], export=tmp_path / "vectors")
    with pytest.raises(RequestError, match=r"no baseline 'shuffle'.*did you mean 'shuffled'"):
        compare(encoder, pud, pairs=["en-fr"], baselines=["shuffle"])


def test_vectors_of_two_encoders_of_one_name_are_kept_apart(encoder, treebanks, tmp_path):
    pud = load_parallel("ud/pud", data=treebanks)
    other = random_init(encoder, "1", seed=3)
    updates = []
    compare(
        encoder,
        pud,
        pairs=["en-en", "en-fr"],
        measures=["cka"],
        against=other,
        export=tmp_path / "v",
        progress=updates.append,
    )
    names = ["against-en.npy", "against-fr.npy", "en.npy"]
    assert sorted(path.name for path in (tmp_path / "v").iterdir()) == names
    np.testing.assert_array_equal(np.load(tmp_path / "v/against-en.npy"), represent(other, pud["en"]).vectors)
    assert (updates[-1].done, updates[-1].total) == (2, 2)
    assert [update.done for update in updates] == sorted(update.done for update in updates)


def test_each_layer_with_each_of_another_encoder(encoder, shallow, treebanks):
    """Values and baselines are those of the two layers compared alone; each text is read once per encoder."""
    pud = load_parallel("ud/pud", data=treebanks)
    read = []
    table = compare(
        encoder,
        pud,
        pairs=["en-fr"],
        measures=["cka"],
        baselines=["shuffled", "untrained"],
        against=shallow,
        layers="all-pairs",
        represented=lambda its: read.append(its.language),
    ).to_pandas()
    assert read == ["en", "fr"] * 2
    first, second = represent(encoder, pud["en"]), represent(shallow, pud["fr"])
    for state, sides in (
        ("pretrained", (first, second)),
        ("untrained", tuple(map(represent, untrained_pair(encoder, shallow, seed=1), (pud["en"], pud["fr"])))),
    ):
        for name, measure in (("cka", linear_cka), ("cka_shuffled", shuffled_cka)):
            chosen = table[(table.state == state) & (table.measure == name)]
            values = {(row.layer, row.target_layer): row.value for row in chosen.itertuples()}
            expected = {(i, j): measure(sides[0][i], sides[1][j]) for i in range(5) for j in range(3)}
            assert values == pytest.approx(expected, abs=1e-12)


def test_each_layer_with_each_of_the_same_encoder(encoder, treebanks):
    """A layer compared with itself is recorded as where only layers of the same number are compared."""
    pud = load_parallel("ud/pud", data=treebanks)
    asked = {"pairs": ["en-fr"], "measures": ["cka"]}
    across = compare(encoder, pud, **asked, layers="all-pairs")
    assert len(across) == 25
    assert across.filter(target_layer=None).records.equals(compare(encoder, pud, **asked).records)


def test_an_export_without_vectors_is_refused(encoder, tmp_path):
    toy = load_parallel("lab/all[:8]")
    asked = {"pairs": ["src-sov"], "measures": ["cka=muller2021-code"], "export": tmp_path / "vectors"}
    with pytest.raises(RequestError, match="vectors of the pooling mean, which no measure reads") as refused:
        compare(encoder, toy, **asked)
    assert "muller2021-code" in refused.value.hint
    assert not (tmp_path / "vectors").exists()
    compare(encoder, toy, **asked, pooling="muller2021-code")
    assert len(list((tmp_path / "vectors").iterdir())) == 2
