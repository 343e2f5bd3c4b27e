import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from crosslens.data.formats.conllu import read, write


def test_a_prediction_for_other_sentences(run, treebanks, tmp_path):
    gold = treebanks / "ud" / "UD_FR-pud" / "fr_pud-ud-test.conllu"
    corpus = read(gold)
    write(corpus[1:], tmp_path / "less.conllu")
    status, _, said = run("score", "pos", gold, "less.conllu")
    assert status == 2
    assert "less.conllu:1: sentence 1 differs in words from the gold one" in said
    write(corpus[:-1], tmp_path / "fewer.conllu")
    status, _, said = run("score", "pos", gold, "fewer.conllu")
    assert (status, "fewer.conllu: 5 sentences, but the gold" in said) == (2, True)


def test_one_sentence_has_no_interval(run, treebanks, tmp_path):
    write(read(treebanks / "ud" / "UD_FR-pud" / "fr_pud-ud-test.conllu")[:1], tmp_path / "one.conllu")
    status, shown, _ = run("score", "pos", "one.conllu", "one.conllu")
    assert status == 0
    assert shown.startswith("accuracy 100.00  no interval  n=")


def test_a_score_of_nothing_right_is_zero(run, treebanks, tmp_path):
    gold = treebanks / "ud" / "UD_FR-pud" / "fr_pud-ud-test.conllu"
    (tmp_path / "wrong.conllu").write_text(re.sub(r"\t[A-Z]+\t", "\tX\t", gold.read_text("utf-8")), "utf-8")
    assert run("score", "pos", gold, "wrong.conllu")[1].startswith("accuracy 0.00  95 % [0.00, 0.00]  n=")


def test_scores_as_json_have_intervals_sizes_and_signatures(run, treebanks):
    """A treebank of punctuation has no word for a score without punctuation."""
    row = "{}\t.\t_\tPUNCT\t_\t_\t{}\t{}\t_\t_\n"
    Path("points.conllu").write_text((row.format(1, 0, "root") + row.format(2, 1, "punct") + "\n") * 3, "utf-8")
    asked = ("score", "parsing", "points.conllu", "points.conllu")
    shown, values = run(*asked)[1], json.loads(run(*asked, "--json")[1])
    words = [line.split("  ") for line in shown.splitlines()]
    assert [line[-1] for line in words] == values["signatures"]
    assert [line[0] for line in words if "–" in line[0]] == ["las_nopunct –", "uas_nopunct –"]
    for (name, written), interval, size, _ in ((line[0].split(), *line[1:]) for line in words):
        value, limits = values[name], values["intervals"][name]
        assert written == ("–" if value is None else f"{value:.2f}")
        assert interval == ("no interval" if limits is None else "95 % [{:.2f}, {:.2f}]".format(*limits))
        assert size == f"n={values['n'][name]}"


def test_predicted_heads_may_form_cycles_and_gold_ones_may_not(run, treebanks, tmp_path):
    """Greedy parsers choose each head alone."""
    gold = read(treebanks / "ud" / "UD_FR-pud" / "fr_pud-ud-test.conllu")[:2]
    first = replace(gold.sentences[0], heads=(2, 1, *gold.sentences[0].heads[2:]))
    write(gold, tmp_path / "gold.conllu")
    write(replace(gold, items=(first, gold[1])), tmp_path / "greedy.conllu")
    status, shown, _ = run("score", "parsing", "gold.conllu", "greedy.conllu")
    assert status == 0
    assert f"n={gold.words}" in shown
    status, _, said = run("score", "parsing", "greedy.conllu", "gold.conllu")
    assert (status, "greedy.conllu:3: the heads form a cycle: 1 → 2 → 1" in said) == (2, True)


TRAIN = ("finetune", "ner", "x", "--out", "o", "--train")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("score", "parsing", "two-roots.conllu", "two-roots.conllu"), "two-roots.conllu:1: the sentence has 2 roots"),
        (("score", "parsing", "uner/fr_pud", "uner/fr_pud"), "uner/fr_pud:test has no heads (HEAD)"),
        (("score", "ner", "uner/fr_pud", "bad.iob2"), "bad.iob2:1: 'B_PER' is not an IOB tag"),
        (("score", "ner", "uner/fr_pud", "short.iob2"), "short.iob2:2: 1 column, but the first word"),
        (("score", "ner", "uner/fr_pud", "uner/en_pud"), "sentence 1 differs in words from the gold one"),
        (("score", "ner", "uner/fr_pud", "uner/fr_pud", "--set", "repair=lenient"), "repair=lenient"),
        (("score", "pos", "ud/fr_pud", "ud/fr_pud", "--set", "relations=full"), "has no setting 'relations'"),
        (("score", "parsing", "ud/fr_pud", "ud/fr_pud", "--set", "words=wu2019"), "words=wu2019 needs an encoder"),
        ((*TRAIN, "ud/en_toy", "--test", "uner/fr_pud"), "has no entity tags"),
        ((*TRAIN, "uner/en_toy", "--test", "uner/fr_pud", "--set", "arcs=3"), "nor ner have a setting 'arcs'"),
    ],
)
def test_what_is_wrong_with_trees_and_tags_is_one_sentence(run, tmp_path, tiny_bert, arguments, message):
    row = "{}\tx\t_\tNOUN\t_\t_\t0\troot\t_\t_\n"
    (tmp_path / "two-roots.conllu").write_text(row.format(1) + row.format(2) + "\n")
    (tmp_path / "bad.iob2").write_text("Paris\tB_PER\n")
    (tmp_path / "short.iob2").write_text("Paris\tB-LOC\nici\n")
    status, _, said = run(*(tiny_bert if argument == "x" else argument for argument in arguments))
    assert status == 2
    assert message in said
    assert "Traceback" not in said
    assert not (tmp_path / "o").exists()


def test_scores_of_texts_have_the_baseline_of_the_most_frequent_label(run, tmp_path):
    labels = ["sports", "travel", "sports", "health", "sports"]
    for name, given in (("gold", labels), ("predicted", ["travel"] * 5)):
        rows = "".join(f"text {place}\t{label}\n" for place, label in enumerate(given))
        (tmp_path / f"{name}.tsv").write_text("text\tlabel\n" + rows, "utf-8")
    status, shown, _ = run("score", "document", "gold.tsv", "predicted.tsv")
    assert (status, shown.splitlines()[0].split("  ")[0]) == (0, "accuracy 20.00")
    assert shown.splitlines()[1:] == ["always predicting the most frequent label of a corpus: 60.00"]


def test_scores_of_words_have_no_such_baseline(run, treebanks):
    gold = treebanks / "ud" / "UD_FR-pud" / "fr_pud-ud-test.conllu"
    assert "most frequent" not in run("score", "pos", gold, gold)[1]


def test_pairs_without_a_decided_label_may_be_predicted_and_are_not_scored(run):
    rows = [("a", "b", "neutral"), ("c", "d", "-"), ("e", "f", "entailment")]
    for name, label in (("gold.csv", None), ("all.csv", "neutral")):
        lines = [",".join((*texts, label or gold)) for *texts, gold in rows]
        Path(name).write_text("\n".join(["premise,hypothesis,label", *lines, ""]))
    Path("decided.csv").write_text("premise,hypothesis,label\na,b,neutral\ne,f,neutral\n")
    scores = [run("score", "nli", "gold.csv", name) for name in ("all.csv", "decided.csv")]
    assert scores[0] == scores[1]
    assert scores[0][1].startswith("accuracy 50.00")
