"""Fixtures: text, a treebank and a rule in the folder where commands run."""

import pytest

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
