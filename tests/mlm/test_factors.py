"""What is varied in pretraining does what its name says, and nothing else."""

import json
import math
import os
import shutil
import socket
import subprocess
import sys

import pytest
import torch

from crosslens.encoders.load import load_encoder
from crosslens.errors import RequestError
from crosslens.mlm.factors import FACTORS, find_factor
from crosslens.mlm.pretrain import pretrain
from crosslens.mlm.pretrain_settings import Pretraining, Shape, Validation, Vocabulary, replaced
from crosslens.training.loop import Optimiser
from fake_wandb import FakeWandb
from toys import SENTENCES

SMALL = Pretraining(
    corpora={"en": "en.txt", "fr": "fr.txt"},
    vocabulary=Vocabulary(size=240),
    batch=6,
    steps=24,
    shape=Shape(layers=2, width=16, heads=2, positions=16),
    learning_rate=5e-3,
    dictionaries={"en-fr": "en-fr.txt"},
)


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("raw")
    for language in ("en", "fr"):
        (folder / f"{language}.txt").write_text("\n".join(SENTENCES[language] * 12) + "\n", "utf-8")
    (folder / "en-fr.txt").write_text("the le\nthe la\ncat chat\nhouse maison\n", "utf-8")
    return folder


def weights(folder):
    return load_encoder(folder, device="cpu").digest


@pytest.mark.parametrize("factor", [*FACTORS, "default"])
def test_every_factor_pretrains_and_loads(texts, tmp_path, factor):
    changes = dict(find_factor(factor, {"default": {}}))
    if "separate" in changes:
        changes["separate"] = changes["separate"].replace("3", "1").replace("6", "2")
    pretrain(replaced(SMALL, {**changes, "steps": 3}), tmp_path / "out", base=texts, device="cpu")
    encoder = load_encoder(tmp_path / "out", device="cpu")
    own = changes.get("vocabulary.anchors", "joint") != "joint"
    assert set(encoder.tokenizers) == ({"en", "fr"} if own else set())


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"separate": "0-3"}, "layer 3 does not exist"),
        ({"separate": "1", "corpora": {"en": "en.txt"}, "dictionaries": {}}, "separate needs at least two languages"),
        (
            {"vocabulary.anchors": "none", "corpora": {"en": "en.txt"}, "dictionaries": {}},
            "needs at least two languages",
        ),
        ({"validation": {"select": "de"}}, "there is no language 'de'"),
        ({"validation": {"patience": 3}}, "patience needs select"),
        ({"dictionaries": {"en-de": "x"}}, "not a pair of these languages"),
        ({"extra_anchors": {}, "dictionaries": {}}, "extra_anchors needs dictionaries"),
        ({"corpora": {"e n": "en.txt"}, "dictionaries": {}}, "not a language tag"),
    ],
)
def test_what_cannot_be_pretrained_is_refused_in_one_sentence(changes, reason):
    with pytest.raises(RequestError, match=reason):
        replaced(SMALL, changes)


def test_between_keeps_two_languages_and_their_dictionary():
    three = replaced(
        SMALL, {"corpora": {"en": "a", "fr": "b", "de": "c"}, "dictionaries": {"en-fr": "d", "en-de": "e"}}
    )
    two = three.between("en", "de")
    assert list(two.corpora) == ["en", "de"]
    assert two.dictionaries == {"en-de": "e"}
    with pytest.raises(RequestError, match="no text of 'it'"):
        three.between("en", "it")


def test_an_unknown_factor_is_refused_with_its_neighbour():
    with pytest.raises(RequestError, match=r"no factor 'no-anchor'.*no-anchors"):
        find_factor("no-anchor", {})


def test_a_study_may_give_a_known_factor_settings_of_its_own():
    own = {"no-anchors": {"vocabulary.size": 99}, "domain": {"corpora": {"en": "other.txt"}}}
    assert {name: find_factor(name, own) for name in own} == own
    assert find_factor("no-anchors", {"domain": {}}) == FACTORS["no-anchors"]


def test_inverse_square_root():
    optimiser = Optimiser(steps=100, warmup=0.1, schedule="inverse-sqrt")
    assert optimiser.factor(5) == 0.5
    assert optimiser.factor(10) == 1.0
    assert optimiser.factor(40) == 0.5


@pytest.mark.rounding
def test_micro_batches_change_nothing_but_rounding(texts, tmp_path):
    facts = {}
    for micro in (None, 2):
        settings = replaced(SMALL, {"micro_batch": micro, "steps": 4})
        facts[micro] = pretrain(settings, tmp_path / str(micro), base=texts, device="cpu")
    assert facts[None]["loss"] == pytest.approx(facts[2]["loss"], rel=1e-5)


VALIDATED = SMALL.model_copy(update={"validation": Validation(lines=6, every=4, select="fr"), "separate": "0-1"})


def test_the_weights_kept_are_those_of_the_best_perplexity_and_a_kill_changes_no_bit(texts, tmp_path):
    found = {}
    facts = pretrain(
        VALIDATED, tmp_path / "whole", base=texts, device="cpu", validated=lambda step, its: found.update({step: its})
    )
    assert list(found) == list(range(4, 25, 4))
    best = min(found, key=lambda step: found[step]["fr"])
    assert facts["kept_step"] == best
    assert facts["perplexity fr"] == found[best]["fr"]
    assert all(1 < value < 200 and math.isfinite(value) for its in found.values() for value in its.values())

    class Killed(Exception):
        pass

    def kill(update):
        if (update.unit, update.done) == ("steps", 17):
            raise Killed

    with pytest.raises(Killed):
        pretrain(VALIDATED, tmp_path / "again", base=texts, device="cpu", save_every=5, progress=kill)
    assert pretrain(VALIDATED, tmp_path / "again", base=texts, device="cpu", save_every=5) == facts
    assert weights(tmp_path / "again") == weights(tmp_path / "whole")


def test_training_ends_when_nothing_gets_better(texts, tmp_path):
    settings = replaced(
        SMALL,
        {"validation": {"lines": 6, "every": 2, "select": "mean", "patience": 2}, "learning_rate": 0.5, "steps": 200},
    )
    facts = pretrain(settings, tmp_path / "out", base=texts, device="cpu")
    assert facts["steps"] == facts["kept_step"] + 4 < 200
    assert facts["subwords"] == facts["steps"] * 6 * 16


def test_what_is_held_out_is_not_trained_on(texts, tmp_path):
    with pytest.raises(RequestError, match="en has 72 lines, too few to hold out 72"):
        pretrain(replaced(SMALL, {"validation": {"lines": 72}}), tmp_path / "out", base=texts, device="cpu")
    one = shutil.copytree(texts, tmp_path / "one")
    (one / "en.txt").write_text("one line\n", "utf-8")
    with pytest.raises(RequestError, match=r"en has 1 line, too few to hold out 1 .give more text"):
        pretrain(replaced(SMALL, {"validation": {"lines": 1}}), tmp_path / "out", base=one, device="cpu")


@pytest.mark.rounding
def test_two_processes_pretrain_what_one_does(texts, tmp_path):
    """torchrun and gloo: each reads half of every batch; loss and perplexities are those of one process, to rounding.

    They are compared, and not the weights: see `gradients`.
    """
    settings = replaced(SMALL, {"separate": "1", "steps": 6, "validation": {"lines": 6, "every": 3}})
    (texts / "two.yaml").write_text(settings.model_dump_json())  # JSON is YAML
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--master-port", str(port)]
    command += [
        "-m",
        "crosslens",
        "pretrain",
        str(texts / "two.yaml"),
        "--out",
        str(tmp_path / "two"),
        "--device",
        "cpu",
    ]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=240)
    assert done.returncode == 0, done.stderr[-2000:]
    alone = pretrain(settings, tmp_path / "one", base=texts, device="cpu")
    together = json.loads((tmp_path / "two" / "pretraining.json").read_text("utf-8"))["facts"]
    assert {"loss", "perplexity en", "perplexity fr", "steps", "subwords"} <= set(alone)
    assert together == pytest.approx(alone, rel=1e-4)
    assert not (tmp_path / "two.partial").exists()


def test_the_same_language_twice_is_two_languages(texts, tmp_path):
    """The paper's en-en' (section 5.2): one language's text for both, with embeddings of their own."""
    twice = {"corpora": {"en": "en.txt", "en-x-two": "en.txt"}, "dictionaries": {"en-en-x-two": "en-fr.txt"}}
    settings = replaced(SMALL, {**twice, "separate": "0", "steps": 4})
    assert settings.sides("en-en-x-two") == ("en", "en-x-two")
    pretrain(settings, tmp_path / "out", base=texts, device="cpu")
    encoder = load_encoder(tmp_path / "out", device="cpu")
    assert set(encoder.tokenizers) == {"en", "en-x-two"}
    tables = [p for name, p in encoder.model.named_parameters() if name.endswith("word_embeddings.weight")]
    assert len(tables) == 2
    assert not torch.equal(*tables)


def test_pretraining_is_tracked(texts, tmp_path, run, monkeypatch):
    (texts / "three.yaml").write_text(
        replaced(SMALL, {"steps": 3, "validation": {"lines": 6, "every": 2}}).model_dump_json()
    )
    status, out, err = run("pretrain", str(texts / "three.yaml"), "--out", str(tmp_path / "a"), "--device", "cpu")
    assert status == 0, err
    assert "step 2 of 3: perplexity en" in err + out
    module = FakeWandb()
    monkeypatch.setitem(sys.modules, "wandb", module)
    status, _, err = run("pretrain", str(texts / "three.yaml"), "--track", "wandb", "--out", str(tmp_path / "b"))
    assert status == 0, err
    assert (module.started["name"], module.started["config"]["steps"]) == ("b", 3)
    assert {step: sorted(values) for step, values in module.logged if "train/loss" in values} == {
        1: ["train/loss"],
        2: ["train/loss"],
        3: ["train/loss"],
    }
    (perplexities,) = [values for step, values in module.logged if step == 2 and "train/loss" not in values]
    assert set(perplexities) == {"dev/en", "dev/fr"}
    assert module.ended
