"""Fixtures: text, a treebank and a rule in the folder where commands run."""

import pytest
from ruamel.yaml import YAML

from crosslens.data.corpus import Corpus
from crosslens.errors import RequestError
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


@pytest.fixture
def file(study, tmp_path):
    """The toy study as a file; one of its conditions fails in `broken.yaml`."""
    settings = study.model_dump(mode="json", exclude_defaults=True)
    for name, conditions in (
        ("study", ["none", "1-2"]),
        ("broken", ["none", {"layers": "1", "components": "embeddings"}]),
    ):
        with open(tmp_path / f"{name}.yaml", "w") as stream:
            YAML().dump({**settings, "conditions": conditions, "seeds": 1}, stream)
    return tmp_path / "study.yaml"


@pytest.fixture
def incomplete(file, tmp_path):
    """The study as a file, with a target and a source that are missing."""
    settings = YAML().load(file)
    settings["data"]["tasks"]["pos"]["en"]["tests"].append("sib200/arb_Arab")
    settings["data"]["tasks"]["pos"]["ru"] = {"train": "ud/ru_gsd", "tests": ["ud/fr_pud"]}
    with open(tmp_path / "incomplete.yaml", "w") as stream:
        YAML().dump(settings, stream)
    return "incomplete.yaml"


@pytest.fixture
def handed(run, monkeypatch, imported):
    """Run a command up to its call of a function: the arguments of that call, with the names of corpora."""

    def call(function, *words):
        calls = []

        def record(*arguments, **options):
            calls.append((arguments, options))
            raise RequestError("called")

        with monkeypatch.context() as patch:
            patch.setattr(function, record)
            status, _, said = run(*words)
        assert (status, "called" in said) == (2, True), said
        ((arguments, options),) = calls
        return arguments, {name: each.name if isinstance(each, Corpus) else each for name, each in options.items()}

    return call
