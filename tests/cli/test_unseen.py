"""``crosslens transliterate``, ``adapt``, ``advise`` and ``typology``: what is printed, written and refused."""

import pandas as pd
import pytest

from crosslens.data.formats import conllu, iob
from crosslens.encoders.load import load_encoder
from crosslens.unseen.rule import Measured, Provenance, Rule, write_rule
from toys import SENTENCES, conllu_text


@pytest.fixture
def folder(tmp_path, monkeypatch, encoder):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fr.txt").write_text("\n".join(SENTENCES["fr"] * 20) + "\n", "utf-8")
    (tmp_path / "fr.conllu").write_text(conllu_text("fr"), "utf-8")
    rows = [Measured(f"l{n}", f"c{n}", "en", 40.0 + n, (n / 2, n / 2, *[15.0 * n] * 3), 45.0 + n) for n in range(9)]
    fitted = Provenance("made up", encoder.body_digest, "pos", "one pass")
    write_rule(Rule(tuple(rows), fitted), tmp_path / "rule.csv")
    return tmp_path


def test_transliterate_writes_the_kind_of_file_it_reads(run, folder, treebanks):
    status, _, err = run("transliterate", "fr.conllu", "--scheme", "latin-cyrillic", "--out", "out.conllu")
    assert status == 0, err
    assert "6 items of fr.conllu@latin-cyrillic" in err
    assert conllu.read("out.conllu").sentences[0].words[1] == "цхат"
    assert run("transliterate", "fr.txt", "--scheme", "latin-cyrillic", "--out", "out.txt")[0] == 0
    assert len((folder / "out.txt").read_text("utf-8").splitlines()) == 120
    named = ("transliterate", "uner/en_toy", "--data", treebanks, "--scheme", "latin-cyrillic", "--out", "out.iob2")
    assert run(*named)[0] == 0
    assert "B-ANIMAL" in {tag for s in iob.read("out.iob2").sentences for tag in s.entities}
    texts = ("transliterate", "sib200/eng_Latn", "--data", treebanks, "--scheme", "latin-cyrillic", "--out", "out.tsv")
    assert run(*texts)[0] == 0


def test_adapt_says_what_it_read(run, folder, tiny_bert):
    words = ("adapt", tiny_bert, "--text", "wo=fr.txt", "--set", "epochs=2", "--set", "length=16")
    status, _, err = run(*words, "--out", "adapted")
    assert status == 0, err
    assert "has no masked language modelling head" in err
    assert f"wo: {20 * sum(len(s.split()) for s in SENTENCES['fr'])} words, 0.0 % of them unknown" in err
    assert "perplexity" in err
    assert load_encoder("adapted").digest != load_encoder(tiny_bert).digest
    assert not (folder / "adapted.partial").exists()


@pytest.mark.parametrize(
    ("words", "status", "reason"),
    [
        (("--text", "wo=missing.txt"), 2, "missing.txt"),
        (("--text", "wo=fr.txt", "--text", "wo=fr.txt"), 2, "two texts have the language 'wo'"),
        (("--text", "wo=fr.txt", "--set", "epoch=2"), 2, "an adaptation has no setting 'epoch'"),
        (("--text", "wo=fr.txt", "--set", "freeze=0-99"), 2, "99"),
        (("--text", "wo=odd.txt"), 2, "no letter of any known script"),
        (("--text", "raw/wol"), 2, "raw text 'raw/wol' not found"),
    ],
)
def test_adapt_refuses(run, folder, tiny_bert, words, status, reason):
    (folder / "odd.txt").write_text("12 34\n5\n", "utf-8")
    found, _, err = run("adapt", tiny_bert, *words, "--out", "adapted")
    assert found == status, err
    assert reason in err
    assert not (folder / "adapted").exists()
    assert "Traceback" not in err


def test_advise_prints_evidence_expectation_and_error(run, folder, tiny_bert, treebanks):
    words = (
        "advise",
        "wo",
        "--text",
        "fr.txt",
        "--encoder",
        tiny_bert,
        "--sources",
        "ud/en_toy,fr.conllu",
        "--data",
        treebanks,
        "--schemes",
        "none",
        "--rule",
        "rule.csv",
    )
    status, out, err = run(*words, "--parallel", "fr=fr.conllu,en=fr.conllu")
    assert status == 0, err
    for part in (
        "Latin 100 %",
        "unknown %",
        "subwords a word",
        "shared %",
        "confident %",
        "agreed %",
        "expected",
        "by layer",
        "points expected, 90 % interval [",
        "error of an estimate",
        "error of a constant guess",
        "regret of the choice",
        "regret of always en",
        "95 % CI",
        "The rule (rule.csv) was fitted to pos scores of made up (one pass): sources en; 9 treebanks of 9 languages",
    ):
        assert part in out


def test_advise_promises_nothing_for_an_untrained_encoder(run, folder, tiny_bert, treebanks):
    words = (
        "advise",
        "wo",
        "--text",
        "fr.txt",
        "--encoder",
        tiny_bert,
        "--sources",
        "ud/en_toy",
        "--data",
        treebanks,
        "--schemes",
        "none",
    )
    status, out, err = run(*words)
    assert status == 0, err
    assert "cannot estimate" in out
    assert "looks untrained" in out
    assert "was fitted to pos scores of multilingual-e5-small" in out
    assert "points expected" not in out
    assert "expected" not in out


def test_advise_leaves_the_language_out_of_its_rule(run, folder, tiny_bert, treebanks):
    words = (
        "advise",
        "l3",
        "--text",
        "ud/fr_pud:test",
        "--encoder",
        tiny_bert,
        "--sources",
        "ud/en_toy",
        "--data",
        treebanks,
        "--schemes",
        "none",
        "--rule",
        "rule.csv",
    )
    out = run(*words)[1]
    assert "8 treebanks of 8 languages: l0, l1, l2, l4," in out
    assert "l3 is not among them" in out


def test_advise_does_without_uroman_where_it_is_not_installed(run, folder, tiny_bert, treebanks, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    words = ("advise", "wo", "--text", "fr.txt", "--encoder", tiny_bert, "--sources", "ud/en_toy", "--data", treebanks)
    status, out, err = run(*words, "--rule", "rule.csv")
    assert status == 0, err
    assert "as it is written" in out
    assert "crosslens[translit]" in err
    assert run(*words, "--rule", "rule.csv", "--schemes", "none")[2].count("translit") == 0


@pytest.mark.parametrize(
    ("words", "status", "reason"),
    [
        (("--schemes", "klingon"), 2, "unknown transliteration 'klingon'"),
        (("--rule", "fr.txt"), 2, "wrong columns for measured transfer"),
        (("--sources", "ud/xx_nothing"), 2, "not found"),
        (("--parallel", "fr=fr.conllu"), 2, "two are needed"),
        (("--text", "odd.txt"), 2, "no letter of any known script"),
    ],
)
def test_advise_refuses(run, folder, tiny_bert, treebanks, words, status, reason):
    (folder / "odd.txt").write_text("12 34\n5\n", "utf-8")
    usual = ("--text", "fr.txt", "--sources", "ud/en_toy", "--schemes", "none", "--rule", "rule.csv")
    found, _, err = run("advise", "wo", "--encoder", tiny_bert, "--data", treebanks, *usual, *words)
    assert found == status, err
    assert reason in err
    assert "Traceback" not in err


STUDY = """
name: both
encoder: {encoder}
data:
  recipe: small
  tasks:
    pos:
      fr: {{train: ud/fr_pud:test, tests: [ud/fr_pud], text: fr.txt}}
set: {{batch: 3, epochs: 1}}
conditions: [none, {{start: bilstm}}]
seeds: 1
"""


def test_typology_of_a_store(run, folder, tiny_bert, treebanks):
    (folder / "both.yaml").write_text(STUDY.format(encoder=tiny_bert), "utf-8")
    status, out, err = run("run", "both.yaml", "--data", treebanks, "--executor", "serial", "--out", "runs")
    assert status == 0, err
    assert "BiLSTM" in out
    assert run("plan", "both.yaml", "--data", treebanks, "--out", "runs")[0] == 0
    status, out, err = run("typology", "runs", "--csv", "table.csv", "--data", treebanks)
    assert status == 0, err
    assert "pos: scores in points, no class: one seed cannot be tested" in out
    assert "undecided" not in out
    table = pd.read_csv("table.csv")
    assert table[["q", "class", "by means"]].isna().all(axis=None)
    assert table["encoder - BiLSTM"].notna().all()
    assert list(table["corpus"]) == ["ud/fr_pud:test"]
    assert table["adapted"].isna().all()
    assert run("typology", "runs", "--csv", "table.csv")[0] == 2
    assert run("typology", folder)[0] == 2


def test_a_typology_does_not_mix_what_was_trained_in_several_ways(run, folder, tiny_bert, treebanks):
    longer = STUDY.format(encoder=tiny_bert).replace("name: both", "name: longer").replace("epochs: 1", "epochs: 3")
    for name, text in (("both", STUDY.format(encoder=tiny_bert)), ("longer", longer)):
        (folder / f"{name}.yaml").write_text(text, "utf-8")
        words = ("run", f"{name}.yaml", "--data", treebanks, "--executor", "serial", "--out", "runs")
        assert run(*words)[0] == 0
    status, _, err = run("typology", "runs", "--data", treebanks)
    assert status == 2
    assert "was trained on in several ways" in err
    assert "--study both" in err
    for study in ("both", "longer"):
        assert run("typology", "runs", "--study", study, "--csv", f"{study}.csv", "--data", treebanks)[0] == 0
        table, summary = pd.read_csv(f"{study}.csv"), pd.read_csv(f"runs/studies/{study}/summary.csv")
        of_encoder = summary[summary["condition"] == "none"]["mean"]
        assert table["encoder"].tolist() == pytest.approx(of_encoder.tolist())
    status, _, err = run("typology", "runs", "--study", "lnger", "--data", treebanks)
    assert status == 2
    assert "longer" in err


def test_a_typology_refuses_two_encoders_of_one_seed_only_where_it_compares(run, folder, tiny_bert, treebanks):
    assert (
        run(
            "finetune",
            "pos",
            tiny_bert,
            "--train",
            "fr.conllu",
            "--test",
            "ud/fr_pud",
            "--data",
            treebanks,
            "--recipe",
            "small",
            "--keep-model",
            "--out",
            "other",
        )[0]
        == 0
    )
    study = STUDY.format(encoder=tiny_bert)
    alone = study.replace("[none, {start: bilstm}]", "[none]").replace("tests: [ud/fr_pud]", "tests: [fr.conllu]")
    again = alone.replace("epochs: 1", "epochs: 2").replace("name: both", "name: again")
    for name, text in (("both", study), ("alone", alone.replace("name: both", "name: alone")), ("again", again)):
        (folder / f"{name}.yaml").write_text(text, "utf-8")
        assert run("run", f"{name}.yaml", "--data", treebanks, "--executor", "serial", "--out", "runs")[0] == 0
    assert run("typology", "runs", "--data", treebanks)[0] == 0
    others = study.replace(str(tiny_bert), str(folder / "other" / "model")).replace("name: both", "name: others")
    (folder / "others.yaml").write_text(others, "utf-8")
    assert run("run", "others.yaml", "--data", treebanks, "--executor", "serial", "--out", "runs")[0] == 0
    status, _, err = run("typology", "runs", "--data", treebanks)
    assert status == 2
    assert "was trained on in several ways" in err


def test_a_bilstm_is_named_as_an_encoder_is(run, folder, treebanks, tiny_bert):
    lines = [f"{word} {number} {number % 3} 1" for number, word in enumerate(["le", "chat", "chien"], start=1)]
    (folder / "fr.vec").write_text("\n".join(lines), "utf-8")
    words = ("finetune", "pos", "bilstm", "--train", "fr.conllu", "--test", "ud/fr_pud", "--set", "epochs=2")
    status, out, err = run(*words, "--vectors", "fr.vec", "--keep-model", "--out", "given")
    assert status == 0, err
    assert "same-language mean" in out or "ud/fr_pud" in out
    assert run("evaluate", "given/model", "--test", "ud/fr_pud", "--out", "again")[0] == 0
    columns = ["target", "metric", "value"]
    assert pd.read_csv("given/results.csv")[columns].equals(pd.read_csv("again/results.csv")[columns])
    assert run(*words, "--out", "without")[0] == 0
    status, _, err = run("finetune", "pos", tiny_bert, *words[3:], "--vectors", "fr.vec", "--out", "wrong")
    assert status == 2
    assert "--vectors applies only to ENCODER bilstm" in err
