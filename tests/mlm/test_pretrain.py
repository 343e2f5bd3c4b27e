import json
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from transformers import AutoModelForMaskedLM

from crosslens.encoders.load import load_encoder
from crosslens.errors import DataError, RequestError
from crosslens.mlm import objective
from crosslens.mlm.pretrain import pretrain
from crosslens.mlm.pretrain_settings import Pretraining, Shape, Validation, Vocabulary, find_text
from crosslens.training.loop import Loop

SMALL = Pretraining(
    corpora={"en": "en.txt", "fr": "fr.txt"},
    vocabulary=Vocabulary(size=120),
    batch=4,
    steps=30,
    shape=Shape(layers=2, width=32, heads=2, positions=24, dropout=0.1),
    learning_rate=5e-3,
)


def weights(folder):
    return load_encoder(folder, device="cpu").digest


@pytest.fixture(scope="module")
def whole(texts, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pretrained") / "whole"
    losses = []
    facts = pretrain(SMALL, folder, base=texts, device="cpu", stepped=lambda step, loss: losses.append(loss))
    return folder, losses, facts


def test_it_learns_more_than_how_often_each_subword_comes(texts, tmp_path):
    shape = SMALL.shape.model_copy(update={"dropout": 0.0})
    settings = SMALL.model_copy(update={"steps": 300, "batch": 16, "corpora": {"en": "en.txt"}, "shape": shape})
    losses = []
    pretrain(settings, tmp_path / "out", base=texts, device="cpu", stepped=lambda step, loss: losses.append(loss))
    tokenizer = load_encoder(tmp_path / "out", device="cpu").tokenizer
    ids = tokenizer((texts / "en.txt").read_text(), add_special_tokens=False, verbose=False)["input_ids"]
    shares = np.bincount(ids)[np.unique(ids)] / len(ids)
    assert np.mean(losses[-20:]) < -(shares * np.log(shares)).sum()


def test_what_is_made_and_that_it_loads(whole):
    folder, losses, facts = whole
    assert len(losses) == facts["steps"] == 30
    assert facts["subwords"] == 30 * 4 * 24
    encoder = load_encoder(folder, device="cpu")
    assert (encoder.depth, encoder.width, encoder.capacity) == (2, 32, 24)
    assert AutoModelForMaskedLM.from_pretrained(folder).config.initializer_range == pytest.approx(0.55 / 32**0.5)
    assert json.loads((folder / "pretraining.json").read_text())["settings"] == SMALL.model_dump(mode="json")
    assert not folder.with_name("whole.partial").exists()


class Killed(Exception):
    pass


@pytest.mark.parametrize("at", [3, 11, 29])
def test_killed_anywhere_the_same_call_ends_in_the_same_bits(texts, tmp_path, whole, at):
    def kill(update):
        if (update.unit, update.done) == ("steps", at):
            raise Killed

    with pytest.raises(Killed):
        pretrain(SMALL, tmp_path / "out", base=texts, save_every=5, device="cpu", progress=kill)
    assert not (tmp_path / "out").exists()
    torch.manual_seed(5)
    steps = []
    pretrain(SMALL, tmp_path / "out", base=texts, save_every=5, device="cpu", stepped=lambda s, _: steps.append(s))
    assert steps[0] == at // 5 * 5 + 1
    assert weights(tmp_path / "out") == weights(whole[0])


def test_interrupted_by_whoever_listens_it_saves_its_state_first(texts, tmp_path, whole):
    def stop(update):
        if (update.unit, update.done) == ("steps", 3):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pretrain(SMALL, tmp_path / "out", base=texts, device="cpu", progress=stop)
    steps = []
    pretrain(SMALL, tmp_path / "out", base=texts, device="cpu", stepped=lambda step, _: steps.append(step))
    assert steps[0] == 4
    assert weights(tmp_path / "out") == weights(whole[0])


def test_another_seed_is_another_encoder(texts, tmp_path, whole):
    pretrain(SMALL.model_copy(update={"seed": 2}), tmp_path / "out", base=texts, device="cpu")
    assert weights(tmp_path / "out") != weights(whole[0])


def test_a_partial_training_of_other_settings_is_not_taken_up(texts, tmp_path, monkeypatch):
    monkeypatch.setattr(Loop, "run", lambda *a, **k: (_ for _ in ()).throw(Killed))
    with pytest.raises(Killed):
        pretrain(SMALL, tmp_path / "out", base=texts, device="cpu")
    with pytest.raises(RequestError, match=r"out.partial holds an unfinished training with other settings"):
        pretrain(SMALL.model_copy(update={"steps": 31}), tmp_path / "out", base=texts, device="cpu")
    reordered = dict(reversed(SMALL.corpora.items()))  # which changes the ids of subwords
    with pytest.raises(RequestError, match=r"out.partial holds an unfinished training with other settings"):
        pretrain(SMALL.model_copy(update={"corpora": reordered}), tmp_path / "out", base=texts, device="cpu")


def test_an_existing_folder_is_refused_before_training(texts, tmp_path):
    (tmp_path / "mine.txt").write_text("x")
    steps = []
    with pytest.raises(RequestError, match="exists already"):
        pretrain(SMALL, tmp_path, base=texts, device="cpu", stepped=lambda step, loss: steps.append(step))
    assert not steps


def test_text_that_cannot_be_used(texts, tmp_path):
    (tmp_path / "empty.txt").write_text("\n \n")
    (tmp_path / "bad.txt").write_bytes(b"good\ncaf\xe9\n")
    (tmp_path / "short.txt").write_text("the cat\n")
    for file, message in (
        ("nowhere.txt", r"nowhere.txt: file not found"),
        ("empty.txt", "contains no text"),
        ("bad.txt", "bad.txt:2: invalid UTF-8"),
    ):
        with pytest.raises(DataError, match=message):
            pretrain(SMALL.model_copy(update={"corpora": {"en": file}}), tmp_path / "out", base=tmp_path)
    with pytest.raises(RequestError, match=r"too few for one sequence .*--set shape\.positions=NUMBER"):
        pretrain(SMALL.model_copy(update={"corpora": {"en": "short.txt"}}), tmp_path / "out", base=tmp_path)
    with pytest.raises(RequestError, match="save_every=0 is not an integer of at least 1"):
        pretrain(SMALL, tmp_path / "out", base=texts, save_every=0)
    for settings, message in (
        ("mini", "pretraining needs settings, not a str"),
        ({}, "invalid settings of Pretraining: corpora: "),
        ({"corpora": {"en": "en.txt"}, "step": 1}, "step: unknown setting; did you mean 'steps'"),
    ):
        with pytest.raises(RequestError, match=message):
            pretrain(settings, tmp_path / "out")
    assert not list(tmp_path.glob("out*"))  # nothing half-written


def test_a_mapping_is_settings(texts, tmp_path):
    whole = {**SMALL.model_dump(), "steps": 2}
    folders = [tmp_path / name for name in ("mapping", "settings")]
    for folder, settings in zip(folders, (whole, SMALL.model_copy(update={"steps": 2})), strict=True):
        pretrain(settings, folder, base=texts, device="cpu")
    one, two = ((folder / "model.safetensors").read_bytes() for folder in folders)
    assert one == two


def test_a_folder_of_someone_elses_is_left_alone(texts, tmp_path):
    (tmp_path / "out.partial").mkdir()
    (tmp_path / "out.partial" / "precious").touch()
    with pytest.raises(RequestError, match="do not belong to a training"):
        pretrain(SMALL, tmp_path / "out", base=texts, device="cpu")
    assert [p.name for p in (tmp_path / "out.partial").iterdir()] == ["precious"]


def test_pretraining_on_lines_with_words_and_its_own_embedding_rate(texts, tmp_path):
    shape = SMALL.shape.model_copy(update={"embedding_range": 0.3})
    settings = SMALL.model_copy(
        update={
            "reading": "lines",
            "vocabulary": Vocabulary(kind="words", size=100),
            "shape": shape,
            "embedding_learning_rate": 1e-2,
            "steps": 12,
        }
    )
    facts = pretrain(settings, tmp_path / "a", base=texts, device="cpu")
    assert facts["steps"] == 12
    assert facts["subwords"] <= 12 * 4 * 24
    other = settings.model_copy(update={"embedding_learning_rate": None})
    pretrain(other, tmp_path / "b", base=texts, device="cpu")
    assert weights(tmp_path / "a") != weights(tmp_path / "b")
    tables = [load_encoder(tmp_path / name, device="cpu").model.get_input_embeddings().weight for name in "ab"]
    assert all(0.2 < float(table.detach().std()) < 0.5 for table in tables)


def test_a_name_is_a_file_beside_the_settings_or_a_corpus(tmp_path):
    (tmp_path / "lab" / "src").mkdir(parents=True)  # as `crosslens lab export` writes it
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "en").touch()
    assert find_text("lab/src", tmp_path) == "lab/src"
    assert find_text("raw/en", tmp_path) == str(tmp_path / "raw" / "en")
    assert find_text("raw/fr", tmp_path) == "raw/fr"
    assert find_text("missing.txt", tmp_path) == str(tmp_path / "missing.txt")


def test_every_setting_of_the_shape_is_one_of_the_encoder(texts, tmp_path):
    shape = Shape(layers=3, width=24, heads=4, feedforward=40, positions=20, dropout=0.2, initializer_range=0.3)
    settings = SMALL.model_copy(update={"shape": shape, "steps": 1})
    pretrain(settings, tmp_path / "out", base=texts, device="cpu")
    config = json.loads((tmp_path / "out" / "config.json").read_text())
    expected = {
        "num_hidden_layers": 3,
        "hidden_size": 24,
        "num_attention_heads": 4,
        "intermediate_size": 40,
        "max_position_embeddings": 20,
        "hidden_dropout_prob": 0.2,
        "attention_probs_dropout_prob": 0.2,
        "initializer_range": 0.3,
    }
    assert {name: config[name] for name in expected} == expected


@pytest.mark.parametrize(
    "changed",
    [
        {"warmup": 0.5},
        {"betas": (0.5, 0.6)},
        {"weight_decay": 0.4},
        {"clip": 1e-9},  # so small that AdamW's epsilon is felt
        {"learning_rate": 1e-3},
        {"embedding_learning_rate": 1e-3},
        {"schedule": "inverse-sqrt"},
    ],
)
def test_every_setting_of_the_optimiser_changes_the_weights(texts, tmp_path, changed):
    short = SMALL.model_copy(update={"steps": 6})
    for name, settings in (("plain", short), ("changed", short.model_copy(update=changed))):
        pretrain(settings, tmp_path / name, base=texts, device="cpu")
    assert weights(tmp_path / "plain") != weights(tmp_path / "changed")


@pytest.mark.parametrize("rate", [None, 1e-2])
def test_weight_decay_leaves_word_embeddings_alone(texts, tmp_path, rate):
    """The gradients of a first step are those of one without decay."""
    states = []
    for decay in (0.0, 0.5):
        settings = SMALL.model_copy(update={"steps": 1, "weight_decay": decay, "embedding_learning_rate": rate})
        pretrain(settings, tmp_path / str(decay), base=texts, device="cpu")
        states.append(load_encoder(tmp_path / str(decay), device="cpu").model.state_dict())
    same = {name for name, value in states[0].items() if torch.equal(value, states[1][name])}
    assert "embeddings.word_embeddings.weight" in same
    assert "encoder.layer.0.attention.self.query.weight" not in same


def test_nothing_is_learnt_from_held_out_lines(texts, tmp_path):
    """They decide neither the vocabulary nor the weights."""
    for name, last in (("a", "the cat sees a dog ."), ("b", "zebras quack")):
        (tmp_path / name).mkdir()
        for language in ("en", "fr"):
            text = (texts / f"{language}.txt").read_text("utf-8").strip()
            (tmp_path / name / f"{language}.txt").write_text(f"{text}\n" + f"{last}\n" * 8, "utf-8")
    settings = SMALL.model_copy(update={"steps": 4, "validation": Validation(lines=8, every=4)})
    facts = [pretrain(settings, tmp_path / name / "out", base=tmp_path / name, device="cpu") for name in "ab"]
    assert facts[0]["perplexity en"] != facts[1]["perplexity en"]
    assert weights(tmp_path / "a" / "out") == weights(tmp_path / "b" / "out")


def test_every_process_reads_a_part_of_each_batch(texts, tmp_path, monkeypatch):
    """Together they read it once; results do not show whether each reads it whole, only the time does."""
    read = {}

    def stop(loop, model, batches, **more):
        read[rank, size] = [row.tolist() for step in range(3) for _, ids, *_ in batches(step) for row in ids]
        raise Killed

    monkeypatch.setattr("crosslens.mlm.pretrain.train_language_model", stop)
    for rank, size in ((0, 1), (0, 2), (1, 2)):
        group = SimpleNamespace(rank=rank, size=size, wait=lambda: None)
        monkeypatch.setattr("crosslens.mlm.pretrain.processes", lambda group=group: group)
        with pytest.raises(Killed):
            pretrain(SMALL, tmp_path / "out", base=texts, device="cpu")
    assert sorted(read[0, 2] + read[1, 2]) == sorted(read[0, 1])
    assert len(read[0, 2]) == len(read[1, 2]) == 3 * SMALL.batch // 2


def test_every_evaluation_hides_the_same_subwords_and_another_seed_hides_others(texts, tmp_path, monkeypatch):
    hidden = {}

    def measured(model, batches):
        places = {language: [batch[3].tolist() for batch in parts] for language, parts in batches.items()}
        hidden.setdefault(seed, []).append(places)
        return dict.fromkeys(batches, 1.0)

    monkeypatch.setattr(objective, "perplexities", measured)
    for seed in (1, 2):
        settings = SMALL.model_copy(update={"seed": seed, "steps": 4, "validation": Validation(lines=4, every=2)})
        pretrain(settings, tmp_path / str(seed), base=texts, device="cpu")
        first, second = hidden[seed]
        assert first == second
        assert set(first) == {"en", "fr"}
    assert hidden[1][0] != hidden[2][0]


@pytest.mark.parametrize("anchors", ["none", "default"])
def test_languages_with_embeddings_of_their_own_share_the_size_of_the_vocabulary(texts, tmp_path, anchors):
    changes = {"separate": "0-1", "steps": 1, "vocabulary": {"size": 160, "anchors": anchors}}
    settings = Pretraining.model_validate(SMALL.model_dump() | changes)
    pretrain(settings, tmp_path / "out", base=texts, device="cpu")
    sizes = {language: len(each) for language, each in load_encoder(tmp_path / "out", device="cpu").tokenizers.items()}
    assert sizes.keys() == {"en", "fr"}
    assert max(sizes.values()) <= 80
