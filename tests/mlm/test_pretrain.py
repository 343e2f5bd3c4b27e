import json
from collections import Counter

import numpy as np
import pytest
import torch
from transformers import AutoModelForMaskedLM

from crosslens.encoders.load import load_encoder
from crosslens.errors import DataError, RequestError
from crosslens.mlm.pretrain import pretrain
from crosslens.mlm.pretrain_settings import Pretraining, Shape, Vocabulary
from crosslens.mlm.streams import Masker, cut_streams, sort_lines
from crosslens.mlm.vocabulary import VOCABULARIES
from crosslens.settings import read_settings
from crosslens.training.loop import Loop
from toys import SENTENCES


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("raw")
    (folder / "en.txt").write_text("\n".join(SENTENCES["en"] * 12) + "\n", "utf-8")
    (folder / "fr.txt").write_text("\n".join(SENTENCES["fr"] * 4), "utf-8")
    return folder


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


def test_languages_are_drawn_by_size_to_the_exponent_and_rounds_are_complete(texts):
    text = {language: SENTENCES[language] * times for language, times in (("en", 40), ("fr", 10))}
    tokenizer = VOCABULARIES["bpe"]([line for lines in text.values() for line in lines], size=120, positions=24)
    streams = cut_streams(text, dict.fromkeys(text, tokenizer), length=24, steps=4000, exponent=0.5, seed=1)
    sizes = np.asarray([len(rows) for rows in streams.sequences])
    expected = sizes**0.5 / (sizes**0.5).sum()
    share = np.bincount(streams.order) / 4000
    assert np.abs(share - expected).max() < 4 * (0.25 / 4000) ** 0.5
    for language in (0, 1):
        steps = np.flatnonzero(streams.order == language)
        seen = np.concatenate([streams.batch(int(s), size=4) for s in steps[:30]])
        rows = {tuple(row) for row in streams.sequences[language]}
        first = [tuple(row) for row in seen[: sizes[language]]]
        assert set(first) == rows  # a round holds every sequence
    for rows in streams.sequences:
        assert (rows[:, 0] == tokenizer.cls_token_id).all()
        assert (rows[:, -1] == tokenizer.sep_token_id).all()


def test_masking_hides_the_shares_asked_for_and_never_a_special():
    tokenizer = VOCABULARIES["bpe"](SENTENCES["en"], size=100, positions=24)
    generator = np.random.default_rng(0)
    ids = np.full((200, 50), tokenizer.convert_tokens_to_ids("▁the"))
    ids[:, 0] = tokenizer.cls_token_id
    shown, chosen = Masker.of(tokenizer, share=0.2, masked=0.7, replaced=0.2).hide(ids, generator)
    n = chosen[:, 1:].sum()
    assert not chosen[:, 0].any()
    assert abs(n / 9800 - 0.2) < 0.02
    assert (shown[~chosen] == ids[~chosen]).all()
    masked = (shown[chosen] == tokenizer.mask_token_id).mean()
    same = (shown[chosen] == ids[chosen]).mean()
    assert abs(masked - 0.7) < 0.04
    assert abs(same - 0.1) < 0.03
    assert not np.isin(shown[chosen], [i for i in tokenizer.all_special_ids if i != tokenizer.mask_token_id]).any()
    _, one = Masker.of(tokenizer, share=0.0001, masked=0.8, replaced=0.1).hide(ids[:1, :3], generator)
    assert one.sum() == 1


@pytest.mark.parametrize("kind", sorted(VOCABULARIES))
def test_a_vocabulary_is_the_same_every_time(kind):
    lines = [*SENTENCES["en"], *SENTENCES["fr"], "Élève naïve — 10 000 猫と犬"]
    made = [VOCABULARIES[kind](lines, size=150, positions=16).backend_tokenizer.to_str() for _ in range(4)]
    assert len(set(made)) == 1
    tokenizer = VOCABULARIES[kind](lines, size=150, positions=16)
    assert tokenizer.unk_token_id not in tokenizer("the cat voit la maison")["input_ids"]


SETTINGS = """\
corpora:
  no: no.txt
  en: en.txt
vocabulary:
  kind: bpe
  size: many
shape: {layers: 4, width: 30, heads: 4}
steps: 0
learning_rate: 1e-3
lerning_rate: 2
"""


def test_every_mistake_in_a_settings_file_is_told_with_its_line(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text(SETTINGS)
    with pytest.raises(RequestError) as caught:
        read_settings(path, Pretraining)
    lines = caught.value.message.splitlines()
    assert [line.split(": ")[0].rpartition(":")[2] for line in lines] == ["6", "7", "8", "10"]
    assert "vocabulary.size" in lines[0]
    assert "a width of 30 is not divisible by 4 heads" in lines[1]
    assert "there is no setting lerning_rate; did you mean 'learning_rate'" in lines[3]


def test_settings_are_yaml_1_2_and_can_be_overridden(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text("corpora: {no: no.txt}\nlearning_rate: 1e-4\n")
    settings = read_settings(path, Pretraining, overrides={"shape.layers": "6", "masking.share": "0.3"})
    assert settings.corpora == {"no": "no.txt"}
    assert (settings.learning_rate, settings.shape.layers, settings.masking.share) == (1e-4, 6, 0.3)
    for text, message in (
        ("", "expected settings"),
        ("- a\n", "expected settings"),
        ("a: [", r"c.yaml:\d: invalid YAML"),
        ("a: 1\na: 2\n", "invalid YAML"),
        ("steps: 3\n", "c.yaml:1: corpora: field required"),
    ):
        path.write_text(text)
        with pytest.raises(RequestError, match=message):
            read_settings(path, Pretraining)
    with pytest.raises(RequestError, match="there is no settings file"):
        read_settings(tmp_path / "x.yaml", Pretraining)


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
    with pytest.raises(RequestError, match="too few for one sequence"):
        pretrain(SMALL.model_copy(update={"corpora": {"en": "short.txt"}}), tmp_path / "out", base=tmp_path)
    assert not list(tmp_path.glob("out*"))  # nothing half-written


def test_a_folder_of_someone_elses_is_left_alone(texts, tmp_path):
    (tmp_path / "out.partial").mkdir()
    (tmp_path / "out.partial" / "precious").touch()
    with pytest.raises(RequestError, match="do not belong to a training"):
        pretrain(SMALL, tmp_path / "out", base=texts, device="cpu")
    assert [p.name for p in (tmp_path / "out.partial").iterdir()] == ["precious"]


def test_whole_words(texts):
    lines = (texts / "en.txt").read_text().split("\n")
    tokenizer = VOCABULARIES["words"](lines, size=200, positions=24)
    assert tokenizer.convert_ids_to_tokens(tokenizer("the cat yawns")["input_ids"]) == [
        "[CLS]",
        "the",
        "cat",
        "[UNK]",
        "[SEP]",
    ]
    few = VOCABULARIES["words"](lines, size=50, positions=24)
    assert {"the", "."} <= set(few.get_vocab())
    assert len(VOCABULARIES["words"](lines, size=8, positions=24)) == 8


def test_a_step_reads_lines_of_one_length_and_an_epoch_reads_every_line_once(texts):
    text = {language: (texts / f"{language}.txt").read_text().split("\n") for language in ("en", "fr")}
    tokenizer = VOCABULARIES["words"]([line for lines in text.values() for line in lines], size=200, positions=24)
    lines = sort_lines(text, dict.fromkeys(text, tokenizer), length=24, budget=60, seed=1)
    expected = Counter(tuple(tokenizer(line)["input_ids"]) for its in text.values() for line in its if line)
    steps = sum(-(-len(rows) // (60 // rows.shape[1])) for rows in lines.sequences)
    epochs = []
    for epoch in range(2):
        batches = [lines.batch(epoch * steps + step, size=0) for step in range(steps)]
        assert all(batch.size <= 60 for batch in batches)
        assert Counter(tuple(row.tolist()) for batch in batches for row in batch) == expected
        epochs.append([batch.tolist() for batch in batches])
    assert epochs[0] != epochs[1]
    assert lines.subwords(steps, size=0) == sum(len(ids) * times for ids, times in expected.items())
    again = sort_lines(text, dict.fromkeys(text, tokenizer), length=24, budget=60, seed=1)
    np.testing.assert_array_equal(again.batch(5, size=0), lines.batch(5, size=0))
    with pytest.raises(RequestError, match="no line of the text has a subword"):
        sort_lines({"en": [""]}, {"en": tokenizer}, length=24, budget=60, seed=1)


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
