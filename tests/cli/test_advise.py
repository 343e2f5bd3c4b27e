"""``crosslens advise``: what is printed and refused."""

import json
import re

import pytest

from crosslens.unseen.confidence import Confidence
from crosslens.unseen.rule import write_rule
from made_rules import made_up


def test_advise_prints_evidence_expectation_and_error(run, folder, tiny_bert, treebanks, monkeypatch):
    unlike = Confidence(confident=40.0, agreement=60.0)  # those of the toy encoder are equal
    monkeypatch.setattr("crosslens.unseen.evidence.measure_confidence", lambda probes, states: unlike)
    words = (
        "advise",
        "WO",
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
    status, out, err = run(*words, "--parallel", "wo=fr.conllu,en=fr.conllu")
    assert status == 0, err
    for part in (
        "wo: coverage of fr.txt",
        "Latin 100 %",
        "unknown %",
        "subwords per word",
        "shared %",
        "confident %",
        "agreed %",
        "expected",
        "by layer",
        "points expected, 90 % interval [",
        "error of an estimate",
        "error of a constant guess",
        "95 % CI",
        "The rule (rule.csv) was fitted to pos scores of made up (one pass): sources en; 9 treebanks of 9 languages",
    ):
        assert part in out
    assert "regret" not in out  # there is one source: nothing was chosen
    lines = [line.split() for line in out.splitlines()]
    status, out, err = run(*words, "--json")
    assert status == 0, err
    described = json.loads(out)
    evidence = described["evidence"][""]
    confidence = evidence["confidence"]["en"]
    of_probes = [described["accuracy"]["en"], confidence["confident"], confidence["agreement"]]
    shared = [evidence["overlap"]["en"], described["ways"][0]["expected"]]
    assert ["en", *(f"{value:.1f}" for value in (*of_probes, *shared))] in lines
    (coverage,) = (line for line in lines if line[:4] == ["as", "it", "is", "written"])
    assert coverage[-3:] == [f"{evidence['coverage'][name]:.1f}" for name in ("unknown", "broken", "fertility")]
    assert (described["language"], described["ways"][0]["source"]) == ("wo", "en")
    assert described["evidence"][""]["scripts"] == {"Latn": 100.0}
    assert set(described["accuracy"]) == {"en", "fr.conllu"}
    assert described["rule"].startswith("pos scores of made up (one pass)")


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
    rule = (folder / "rule.csv").read_text("utf-8")
    named = re.sub(r"^l(\d+),", lambda match: f"qa{'abcdefghi'[int(match[1])]},", rule, flags=re.MULTILINE)
    (folder / "rule.csv").write_text(named, "utf-8")
    words = (
        "advise",
        "qad",
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
    assert "8 treebanks of 8 languages: qaa, qab, qac, qae," in out
    assert "qad is not among them" in out


def test_advise_shows_the_regret_of_a_choice_among_sources(run, folder, tiny_bert, treebanks):
    write_rule(made_up(8), folder / "rule.csv")
    words = ("advise", "wo", "--text", "fr.txt", "--encoder", tiny_bert, "--sources", "ud/en_toy", "--schemes", "none")
    shown = run(*words, "--data", treebanks, "--rule", "rule.csv")[1]
    assert "regret of the choice" in shown
    assert "regret of always en" in shown


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
        (("--sources", "ud/en_toy[:9],ud/en_toy"), 2, "ud/en_toy:train[:9] and ud/en_toy:train are both in en"),
        (("--sources", "fr.conllu,fr.conllu"), 2, "fr.conllu is named twice"),
        (("--sources", "wo=fr.conllu"), 2, "is in wo, so transfer from it is not zero-shot"),
        (("--sources", "wo-Arab=fr.conllu"), 2, "is in wo, so transfer from it is not zero-shot"),
        (
            ("--text", "fr.txt@latin-cyrillic"),
            2,
            "is transliterated, but scores are estimated for text in its original",
        ),
        (("--parallel", "wo=fr.conllu"), 2, "two are needed"),
        (("--parallel", "en=fr.conllu,fr=fr.conllu"), 2, "has en and fr, but no sentences in wo"),
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


@pytest.mark.parametrize(("language", "same"), [("pes", "fa"), ("fa", "pes"), ("ug-Latn", "ug"), ("cmn", "zh")])
def test_a_source_in_the_same_language_under_another_tag_is_refused(run, folder, tiny_bert, language, same):
    words = ("--encoder", tiny_bert, "--text", "fr.txt", "--schemes", "none", "--rule", "rule.csv")
    status, _, err = run("advise", language, *words, "--sources", f"{same}=fr.conllu")
    assert status == 2
    assert f"is in {language}, so transfer from it is not zero-shot" in err


@pytest.mark.parametrize(("language", "same"), [("pes", "fa"), ("wo-Latn", "wo")])
def test_translations_may_have_another_tag_of_the_language(run, folder, tiny_bert, treebanks, language, same):
    words = ("--encoder", tiny_bert, "--text", "fr.txt", "--schemes", "none", "--rule", "rule.csv")
    more = ("--sources", "ud/en_toy", "--data", treebanks, "--parallel", f"{same}=fr.conllu,en=fr.conllu")
    status, out, err = run("advise", language, *words, *more)
    assert (status, "Retrieval of the parallel sentences" in out) == (0, True), err


@pytest.mark.parametrize(("language", "registered"), [("wo", True), ("ug-Latn", True), ("xqx", False)])
def test_a_tag_that_is_not_registered_is_remarked_on(run, folder, tiny_bert, language, registered):
    _, _, err = run("advise", language, "--encoder", tiny_bert, "--text", "fr.txt@latin-cyrillic")
    assert (f"{language!r} is not a registered language tag" in err) == (not registered)


@pytest.mark.parametrize("language", ["", "../..", "english", "123", "419", "w o"])
def test_a_language_must_be_a_tag(run, folder, tiny_bert, language):
    status, _, err = run("advise", language, "--encoder", tiny_bert, "--text", "fr.txt")
    assert status == 2
    assert "is not a language tag" in err


def test_the_text_can_be_a_treebank_that_is_annotated_in_part(run, folder, tiny_bert, treebanks):
    """Only its words are read."""
    (path,) = treebanks.glob("ud/*/fr_pud-ud-test.conllu")
    text = path.read_text("utf-8")
    options = ("--encoder", tiny_bert, "--sources", "ud/en_toy", "--data", treebanks, "--schemes", "none", "--json")
    answers = []
    for content in (text, text.replace("\tNOUN\t", "\t_\t", 1)):
        (folder / "wo.conllu").write_text(content, "utf-8")
        status, out, err = run("advise", "wo", "--text", "wo.conllu", *options)
        assert status == 0, err
        answers.append(json.loads(out))
    assert answers[0] == answers[1]
