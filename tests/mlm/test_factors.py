"""What is varied in pretraining does what its name says, and nothing else."""

import json
import math
import os
import socket
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
import torch

from crosslens.encoders.load import load_encoder
from crosslens.errors import RequestError
from crosslens.mlm.code_switching import switch_words
from crosslens.mlm.factors import FACTORS, find_factor
from crosslens.mlm.pretrain import pretrain
from crosslens.mlm.pretrain_settings import Pretraining, Shape, Validation, Vocabulary, replaced
from crosslens.mlm.vocabulary import FOREIGN, make_vocabularies
from crosslens.training.loop import Optimiser
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


@pytest.mark.parametrize("kind", ["bpe", "wordpiece", "words"])
@pytest.mark.parametrize("anchors", ["joint", "default", "none"])
def test_what_vocabularies_share(kind, anchors):
    text = {language: SENTENCES[language] * 3 for language in ("en", "fr")}
    made = make_vocabularies(text, kind=kind, size=240, positions=16, anchors=anchors)
    sizes = {len(its) for its in made.values()}
    assert len(sizes) == 1
    used = {}
    for language, lines in text.items():
        ids = made[language](lines, add_special_tokens=False)["input_ids"]
        pieces = [made[language].convert_ids_to_tokens(its) for its in ids]
        assert not any(piece.startswith(FOREIGN) for its in pieces for piece in its)
        assert made[language].unk_token_id not in {i for its in ids for i in its}
        assert made[language].cls_token_id == 2
        used[language] = {
            i: piece for row, its in zip(ids, pieces, strict=True) for i, piece in zip(row, its, strict=True)
        }
    both = set(used["en"]) & set(used["fr"])
    strings = set(used["en"].values()) & set(used["fr"].values())
    assert strings  # the full stop, at least
    if anchors == "none":
        assert not both
    else:
        assert {used["en"][i] for i in both} == strings
        assert all(used["en"][i] == used["fr"][i] for i in both)


def test_a_vocabulary_of_ones_own_cuts_as_it_would_alone():
    from crosslens.mlm.vocabulary import VOCABULARIES

    text = {language: SENTENCES[language] * 3 for language in ("en", "fr")}
    united = make_vocabularies(text, kind="bpe", size=200, positions=16, anchors="default")
    for language, lines in text.items():
        alone = VOCABULARIES["bpe"](lines, size=100, positions=16)
        for line in lines:
            assert united[language].tokenize(line) == alone.tokenize(line)


TRANSLATIONS = {"a": [("x", 3.0), ("y", 1.0), ("two words", 9.0)], "b": [("z", 1.0)]}


def test_words_are_switched_as_often_as_is_said_and_translations_by_their_weight():
    lines = ["a b c c c c"] * 4000
    switched = switch_words(lines, TRANSLATIONS, probability=0.3, most=1.0, seed=1, language="en")
    counts = Counter(word for line in switched for word in line.split())
    assert len(switched) == len(lines)
    assert all(len(line.split()) == 6 for line in switched)
    assert counts["c"] == 16000
    assert counts["z"] / 4000 == pytest.approx(0.3, abs=0.03)
    assert (counts["x"] + counts["y"]) / 4000 == pytest.approx(0.3, abs=0.03)
    assert counts["x"] / (counts["x"] + counts["y"]) == pytest.approx(0.75, abs=0.04)
    assert switch_words(lines, TRANSLATIONS, probability=0.3, most=1.0, seed=1, language="en") == switched
    assert switch_words(lines, TRANSLATIONS, probability=0.3, most=1.0, seed=2, language="en") != switched


def test_no_more_words_are_switched_than_may_be():
    lines = ["a b"] * 3000 + ["c d"] * 3000
    switched = switch_words(lines, TRANSLATIONS, probability=0.5, most=0.15, seed=1, language="en")
    changed = [
        old != new for o, n in zip(lines, switched, strict=True) for old, new in zip(o.split(), n.split(), strict=True)
    ]
    blocks = np.asarray(changed).reshape(-1, 2000).mean(1)
    assert (blocks <= 0.15).all()
    assert (blocks[:3] > 0.149).all()
    assert not blocks[3:].any()


def test_a_dictionary_that_shares_no_word_with_the_text_is_refused():
    with pytest.raises(RequestError, match="no word of the text of 'en' is in its dictionary"):
        switch_words(["A B"], TRANSLATIONS, probability=0.3, most=0.15, seed=1, language="en")


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


def test_what_is_held_out_is_not_trained_on(texts, tmp_path):
    with pytest.raises(RequestError, match="en has 72 lines, too few to hold out 72"):
        pretrain(replaced(SMALL, {"validation": {"lines": 72}}), tmp_path / "out", base=texts, device="cpu")


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


def test_a_log_for_tensorboard_needs_its_package(texts, tmp_path, run):
    (texts / "three.yaml").write_text(
        replaced(SMALL, {"steps": 3, "validation": {"lines": 6, "every": 2}}).model_dump_json()
    )
    status, out, err = run("pretrain", str(texts / "three.yaml"), "--out", str(tmp_path / "a"), "--device", "cpu")
    assert status == 0, err
    assert "step 2 of 3: perplexity en" in err + out
    status, _, err = run(
        "pretrain", str(texts / "three.yaml"), "--tensorboard", str(tmp_path / "log"), "--out", str(tmp_path / "b")
    )
    try:
        import tensorboard  # noqa: F401
    except ImportError:
        assert status == 2
        assert "pip install tensorboard" in err
    else:
        assert status == 0
        assert list((tmp_path / "log").iterdir())
