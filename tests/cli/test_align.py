"""``crosslens align``: what is printed, what is written, what is refused."""

import json

import numpy as np
import pandas as pd
import pytest
from transformers import AutoTokenizer, BertConfig, BertModel

from crosslens.cli.align import _by_layer
from crosslens.results.record import Record, Results
from tiny_studies import save_encoder
from toys import SENTENCES


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("align")
    for language in ("en", "fr"):
        (folder / f"{language}.txt").write_text("\n".join(SENTENCES[language]) + "\n", "utf-8")
    (folder / "train.txt").write_text("the le\ncat chat\ndog chien\nsmall petit\nhouse maison\n", "utf-8")
    (folder / "test.txt").write_text("garden jardin\ngarden parc\nsees voit\nunheard inconnu\n", "utf-8")
    for language, words in (
        ("en", "the cat dog small house garden sees"),
        ("fr", "le chat chien petit maison jardin voit"),
    ):
        lines = [f"{word} {number} {number % 3} 1" for number, word in enumerate(words.split(), start=1)]
        (folder / f"{language}.vec").write_text("\n".join(lines), "utf-8")
    return folder


def words(files, *more):
    dictionaries = ["--train", files / "train.txt", "--test", files / "test.txt"]
    return ["align", "words", *more, "--pair", "en-fr", *dictionaries]


def test_words_by_text_by_table_and_by_static_vectors(run, files, tiny_bert, tmp_path):
    text = f"en={files / 'en.txt'},fr={files / 'fr.txt'}"
    status, out, err = run(*words(files, tiny_bert, "--against", tiny_bert, "--text", text), "--out", tmp_path / "w")
    assert status == 0, err
    assert "orthogonal mapping" in out
    assert "66.7 % of the" in out
    assert "precision@1 untrained" in out
    assert "precision@10 shuffled" in out
    assert (
        max(len(line) for line in out.splitlines() if "precision@" in line) < 100
    )  # each precision, with its baselines, is a table
    assert [out.count(f"orthogonal mapping, precision@{at}") for at in (1, 5, 10)] == [2, 1, 1]  # @1 begins @10
    assert out.count("66.7 % of the") == 1
    found = pd.read_csv(tmp_path / "w" / "results.csv")
    assert set(found["measure"]) == {"words procrustes", "words procrustes_shuffled", "words identity"}
    assert set(found["state"]) == {"pretrained", "untrained"}
    assert set(found["layer"]) == set(range(5))
    assert set(found["metric"]) == {"precision@1", "precision@5", "precision@10"}
    assert found["value"].between(0, 100).all()
    assert set(found["n"]) == {2}
    assert found["settings"].str.endswith(f" method=csls text={files / 'en.txt'},{files / 'fr.txt'}").all()
    status, out, err = run(*words(files, files / "en.vec", "--against", files / "fr.vec"), "--out", tmp_path / "v")
    assert status == 0, err
    assert "vectors" in out
    assert "skipped: static vectors have no untrained baseline" in err
    assert "shuffled" in out
    assert "precision@1 untrained" not in out
    assert run(*words(files, tiny_bert), "--out", tmp_path / "t")[0] in (0, 2)  # its table may lack the words


def test_one_table_for_both_languages_is_pointed_out(run, files, tmp_path):
    """Whatever the encoder learnt: every word is nearest to itself."""
    both = [line.split()[0] for name in ("en.vec", "fr.vec") for line in (files / name).read_text("utf-8").split("\n")]
    rows = [" ".join([word, *(str(int(word == other)) for other in both)]) for word in both]
    (tmp_path / "joint.vec").write_text("\n".join(rows), "utf-8")
    said = "precision@1 is the\nshare of words that are their own translation; name the other encoder or file"
    status, _, err = run(*words(files, tmp_path / "joint.vec"), "--out", tmp_path / "joint")
    assert (status, said in err) == (0, True), err
    found = pd.read_csv(tmp_path / "joint" / "results.csv")
    assert set(found[found["metric"] == "precision@1"]["value"]) == {0.0}
    status, _, err = run(*words(files, files / "en.vec", "--against", files / "fr.vec"), "--out", tmp_path / "two")
    assert (status, "one table" in err) == (0, False), err


@pytest.mark.parametrize("first", ["static", "encoder"])
def test_static_vectors_are_mapped_to_the_table_of_an_encoder_and_back(run, files, tiny_bert, tmp_path, first):
    """They need its width, and as little text as two files; only encoders can be untrained."""
    language = "en" if first == "static" else "fr"
    names = [line.split()[0] for line in (files / f"{language}.vec").read_text("utf-8").split("\n")]
    vectors = np.random.default_rng(1).normal(size=(len(names), 32))
    lines = [" ".join([name, *map(str, row)]) for name, row in zip(names, vectors, strict=True)]
    (tmp_path / "static.vec").write_text("\n".join(lines), "utf-8")
    both = [tmp_path / "static.vec", tiny_bert][:: 1 if first == "static" else -1]
    status, shown, said = run(*words(files, both[0], "--against", both[1]), "--out", tmp_path / "out")
    assert (status, "skipped: static vectors have no untrained baseline" in said) == (0, True), said
    assert ("precision@1 shuffled" in shown, "untrained" in shown) == (True, False)


def test_a_text_for_static_vectors_is_refused(run, files):
    text = ("--text", f"en={files / 'en.txt'},fr={files / 'fr.txt'}", "--out", "out")
    status, _, err = run(*words(files, files / "en.vec", "--against", files / "fr.vec"), *text)
    assert (status, "en.vec has static vectors, which no text changes" in err) == (2, True), err


def test_words_of_encoders_of_different_depth_are_refused_before_they_are_read(run, files, tiny_bert, tmp_path):
    """Reading a text takes minutes."""
    other = save_encoder(tmp_path / "other")
    text = ("--text", f"en={files / 'en.txt'},fr={files / 'fr.txt'}", "--out", "out")
    status, _, err = run(*words(files, tiny_bert, "--against", other), *text)
    assert status == 2
    assert "equally many layers" in err
    assert "reading words" not in err


def test_embedding_tables_of_encoders_of_different_depth_are_compared(run, tiny_bert, tmp_path):
    """Without a text each has one layer, that of its table."""
    for name, letters in (("letters", "abcd"), ("other", "ef")):
        (tmp_path / f"{name}.txt").write_text("".join(f"{letter} {letter}\n" for letter in letters), "utf-8")
    BertModel(BertConfig.from_pretrained(tiny_bert, num_hidden_layers=2)).save_pretrained("shallow")
    AutoTokenizer.from_pretrained(tiny_bert).save_pretrained("shallow")
    dictionary = ("--pair", "en-fr", "--train", "letters.txt", "--test", "other.txt")
    status, _, err = run("align", "words", tiny_bert, "--against", "shallow", *dictionary, "--out", "out")
    assert status == 0, err
    assert set(pd.read_csv("out/results.csv")["layer"]) == {0}


def test_sentences_in_both_directions(run, tiny_bert, tmp_path):
    arguments = ["align", "sentences", tiny_bert, "--pair", "en-fr", "--train", "ud/pud[:3]", "--test", "ud/pud[3:]"]
    status, out, err = run(*arguments, "--out", tmp_path / "s")
    assert status == 0, err
    assert "no mapping" in out
    assert "vectors normalised over 3 pairs; chance is 33.33" in " ".join(out.split())
    found = pd.read_csv(tmp_path / "s" / "results.csv")
    assert set(zip(found["source"], found["target"], strict=True)) == {("en", "fr"), ("fr", "en")}
    status, out, _ = run(*arguments, "--mapping", "procrustes", "--out", tmp_path / "r")
    assert "orthogonal mapping" in out
    assert "mapping learnt from 3 pairs; chance" in " ".join(out.split())
    for column in ("untrained", "shuffled", "identity"):
        assert f"fr→en {column}" in out


def test_sentences_of_one_language_are_refused(run, tiny_bert):
    corpora = ("--train", "ud/pud[:3]", "--test", "ud/pud[3:]", "--out", "out")
    status, _, err = run("align", "sentences", tiny_bert, "--pair", "en-en", *corpora)
    assert (status, "--pair en-en: parallel sentences are in two languages" in err) == (2, True), err


def test_training_pairs_that_are_tested_are_left_out_with_a_note(run, files, tiny_bert, tmp_path):
    corpora = ["--train", "ud/pud", "--test", "ud/pud[:2]", "--mapping", "procrustes", "--baseline", "none"]
    status, out, err = run("align", "sentences", tiny_bert, "--pair", "en-fr", *corpora, "--out", tmp_path / "s")
    assert status == 0, err
    assert "mapping learnt from 4 pairs, 2 tested ones left out" in " ".join(out.split())
    same = ["--train", files / "test.txt", "--mapping", "procrustes", "--out", tmp_path / "w"]
    status, _, err = run(*words(files, files / "en.vec", "--against", files / "fr.vec"), *same)
    assert (status, "all 4 pairs of" in err) == (2, True), err


def test_baselines_are_chosen_and_left_out(run, tiny_bert, tmp_path):
    arguments = ["align", "sentences", tiny_bert, "--pair", "en-fr", "--train", "ud/pud[:3]", "--test", "ud/pud[3:]"]
    rotated = [*arguments, "--mapping", "procrustes"]
    status, out, _ = run(*rotated, "--baseline", "none", "--out", tmp_path / "none")
    assert status == 0
    assert not any(name in out for name in ("untrained", "shuffled", "identity"))
    chosen = ["--baseline", "shuffled", "--baseline-seeds", "2", "--seed", "5", "--out", tmp_path / "two"]
    assert run(*rotated, *chosen)[0] == 0
    frame = pd.read_csv(tmp_path / "two" / "results.csv")
    assert set(frame["measure"]) == {"sentences procrustes", "sentences procrustes_shuffled"}
    assert set(frame["seed"].dropna()) == {5, 6}
    status, _, err = run(*arguments, "--baseline", "shuffled", "--out", tmp_path / "skipped")
    assert status == 0
    assert "skipped: the shuffled baseline needs a mapping" in err
    status, _, err = run(*arguments, "--baseline", "shuffle", "--out", tmp_path / "wrong")
    assert status == 2
    assert "did you mean 'shuffled'" in err


def test_a_table_has_the_mean_of_a_baseline_over_its_seeds_beside_the_measurement():
    def retrieved(layer, value, mapping="procrustes", seed=None):
        columns = {"source": "en", "target": "fr", "layer": layer, "metric": "precision@1", "seed": seed}
        return Record(encoder="e", measure=f"sentences {mapping}", value=value, state="pretrained", **columns)

    shuffled = [
        retrieved(layer, 10.0 * seed + layer, "procrustes_shuffled", seed) for layer in (0, 1) for seed in (5, 6)
    ]
    records = [*shuffled, retrieved(0, 70.0), retrieved(1, 80.0)]
    table = _by_layer(Results.of(records), lambda row: "fr", mapping="procrustes")
    assert table.columns.tolist() == ["fr", "fr shuffled"]
    assert table.values.tolist() == [[70.0, 55.0], [80.0, 56.0]]


def test_rows_are_layers_of_the_first_language_in_both_directions():
    """Encoders of different depth: layer 1 of one with layer 2 of the other."""

    def retrieved(source, target, layers, value):
        columns = dict(zip(("layer", "target_layer"), layers, strict=True))
        return Record(source=source, target=target, measure="sentences procrustes", value=value, **columns)

    there = [retrieved("en", "fr", layers, 70.0 + layers[0]) for layers in ((1, 2), (2, 4))]
    back = [retrieved("fr", "en", layers, 50.0 + layers[1]) for layers in ((2, 1), (4, 2))]
    table = _by_layer(Results.of([*there, *back]), lambda row: row["target"], mapping="procrustes")
    assert table.index.tolist() == [1, 2]
    assert table[["fr", "en"]].values.tolist() == [[71.0, 51.0], [72.0, 52.0]]


def test_transfer_with_links_of_another_aligner(run, treebanks, tiny_bert, tmp_path):
    (tmp_path / "links").write_text("0-0 1-1\n" * 6)
    arguments = ["align", "transfer", "pos", tiny_bert, "--pair", "en-fr", "--train", "ud/en_toy", "--layers", "0,2"]
    arguments += ["--test", "ud/en_pud,ud/fr_pud:test[3:]", "--recipe", "small", "--set", "epochs=1"]
    rotated = ["--against", tiny_bert, "--parallel", "ud/pud", "--links", tmp_path / "links"]
    status, out, err = run(*arguments, *rotated, "--out", tmp_path / "x")
    assert status == 0, err
    assert "mapped states of the second encoder" in out
    found = pd.read_csv(tmp_path / "x" / "results.csv")
    assert "fr untrained fr shuffled fr identity" in " ".join(out.split())
    assert set(found["layer"]) == {0, 2}
    assert set(found["target"]) == {"en", "fr"}
    assert "learnt from 3 of 6 parallel sentences; the others are tested" in " ".join(out.split())
    status, out, _ = run(*arguments, "--test", "ud/*_pud", "--out", tmp_path / "y", "--json")
    assert status == 0
    assert [row["value"] for row in json.loads(out)] == pd.read_csv(tmp_path / "y" / "results.csv")["value"].tolist()
    status, _, err = run(*arguments, "--against", tiny_bert, "--out", tmp_path / "z")
    assert status == 2
    assert "--against needs parallel sentences" in err
    for option in ("--parallel=ud/pud", "--links=nonexisting", "--against-layers=relative"):
        status, _, err = run(*arguments, option, "--out", tmp_path / "z")
        assert (status, f"{option.partition('=')[0]} needs --against" in err) == (2, True), err
    (tmp_path / "links").write_text("0-99\n" * 6)
    status, _, err = run(*arguments, *rotated, "--out", tmp_path / "z")
    assert status == 2
    assert "out of range" in err
    assert not (tmp_path / "z").exists()


def test_several_corpora_of_one_language_have_a_column_each(run, tiny_bert):
    arguments = ["align", "transfer", "pos", tiny_bert, "--pair", "en-fr", "--train", "ud/en_toy", "--layers", "0"]
    arguments += ["--test", "ud/en_pud,ud/fr_pud,ud/fr_pud[:3]", "--recipe", "small", "--set", "epochs=1"]
    status, out, err = run(*arguments, "--baseline", "none", "--out", "x")
    assert status == 0, err
    (head,) = (line.split() for line in out.splitlines() if line.split()[:1] == ["layer"])
    assert head == ["layer", "en", "ud/fr_pud:test", "ud/fr_pud:test[:3]"]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (("--pair", "enfr"), "is not a language pair"),
        (("--train", "nowhere.txt"), "dictionary file 'nowhere.txt' not found"),
        (("--text", "en=a.txt"), "--text names en, but --pair is en-fr"),
        (("--test", "fr.txt"), "has two columns"),
    ],
)
def test_what_cannot_be_asked(run, files, tiny_bert, tmp_path, change, reason):
    (tmp_path / "fr.txt").write_text("le chat dort\n")
    status, _, err = run(*words(files, tiny_bert), *change, "--out", tmp_path / "out")
    assert status == 2
    assert reason in err
    assert not (tmp_path / "out").exists()


def test_languages_with_a_hyphen(run, tiny_bert, files, tmp_path):
    corpus = f"zh-Hant={files / 'fr.txt'},en={files / 'en.txt'}"
    arguments = ["align", "sentences", tiny_bert, "--pair", "zh-Hant-en", "--train", corpus, "--test", corpus]
    status, _, err = run(*arguments, "--out", tmp_path / "s")
    assert status == 0, err
    assert set(pd.read_csv(tmp_path / "s" / "results.csv")["source"]) == {"zh-Hant", "en"}


def test_a_text_without_its_language_is_told_how_to_name_it(run, files, tiny_bert):
    status, _, err = run(*words(files, tiny_bert), "--text", files / "en.txt", "--out", "out")
    assert status == 2
    assert "hint: for example --text en=FILE,fr=FILE" in err
