"""What a pretraining begins with: text and translations, initial weights, rates, batches and held-out text."""

import numpy as np
import pytest
import torch

from crosslens.errors import RequestError
from crosslens.mlm import pretrain as module
from crosslens.mlm.pretrain import fresh_model, pretrain, word_tables
from crosslens.mlm.pretrain_settings import Pretraining, Shape, Validation, Vocabulary, replaced
from crosslens.mlm.streams import cut_stream
from crosslens.mlm.vocabulary import VOCABULARIES
from crosslens.training import versions
from toys import SENTENCES

SMALL = Pretraining(
    corpora={"en": "en.txt", "fr": "fr.txt"},
    vocabulary=Vocabulary(size=120),
    batch=3,
    steps=30,
    shape=Shape(layers=2, width=16, heads=2, positions=16),
)
SWITCHED = {"dictionaries": {"en-fr": "en-fr.txt", "fr-de": "fr-de.txt", "en-de": "en-de.txt"}, "extra_anchors": {}}
THREE = {"corpora": {"en": "en.txt", "fr": "fr.txt", "de": "en.txt"}, **SWITCHED}


class Begun(Exception):
    pass


@pytest.fixture(scope="module")
def tokenizer():
    return VOCABULARIES["words"](SENTENCES["en"], size=60, positions=16)


@pytest.fixture
def dictionaries(texts):
    for pair, rows in (("en-fr", "cat chat\ncat matou\n"), ("fr-de", "chat Katze\n"), ("en-de", "cat Katze\n")):
        (texts / f"{pair}.txt").write_text(rows, "utf-8")


@pytest.fixture
def begin(texts, tmp_path, monkeypatch):
    """Pretrain up to where training begins; return the parameter groups, the batches and the held-out ones."""
    begun = []
    original = module.Loop

    def loop(model, groups, *more, **options):
        begun.append((model, groups))
        return original(model, groups, *more, **options)

    def stop(_, model, batches, *, unseen, **options):
        begun[-1] += (lambda step: batches(step)[0], unseen)
        raise Begun

    def call(changes, out=None, device="cpu"):
        monkeypatch.setattr(module, "Loop", loop)
        monkeypatch.setattr(module, "train_language_model", stop)
        with pytest.raises(Begun):
            pretrain(replaced(SMALL, changes), out or tmp_path / str(len(begun)), base=texts, device=device)
        return begun[-1]

    return call


def test_words_are_switched_by_all_dictionaries_of_their_language_in_both_directions(
    texts, dictionaries, begin, monkeypatch
):
    asked = {}

    def switch_words(lines, translations, *, language, **options):
        asked[language] = ({word: sorted(of) for word, of in translations.items()}, options)
        return lines

    monkeypatch.setattr(module, "switch_words", switch_words)
    begin({**THREE, "extra_anchors": {"probability": 0.4, "most": 0.2}, "seed": 7})
    assert {language: table for language, (table, _) in asked.items()} == {
        "en": {"cat": [("Katze", 1.0), ("chat", 1.0), ("matou", 1.0)]},
        "fr": {"chat": [("Katze", 1.0), ("cat", 1.0)], "matou": [("cat", 1.0)]},
        "de": {"Katze": [("cat", 1.0), ("chat", 1.0)]},
    }
    assert [options for _, options in asked.values()] == [{"probability": 0.4, "most": 0.2, "seed": 7}] * 3


@pytest.mark.parametrize("change", ["version", "dictionary"])
def test_a_training_by_other_rules_or_with_another_dictionary_is_not_resumed(
    texts, dictionaries, begin, tmp_path, monkeypatch, change
):
    changes = {**SWITCHED, "dictionaries": {"en-fr": "en-fr.txt"}}
    begin(changes, tmp_path / "out")
    begin(changes, tmp_path / "out")  # the same again is
    if change == "version":
        monkeypatch.setattr(versions, "PRETRAINING", versions.PRETRAINING + 1)
    else:
        (texts / "en-fr.txt").write_text("cat chat\n", "utf-8")
    with pytest.raises(RequestError, match="holds an unfinished training with other settings or text"):
        pretrain(replaced(SMALL, changes), tmp_path / "out", base=texts, device="cpu")


def test_a_dictionary_of_other_languages_than_its_pair_is_refused(tmp_path):
    changes = {"corpora": {"src": "lab/src", "adj": "lab/adj"}, "extra_anchors": {}, "steps": 1}
    changes["dictionaries"] = {"src-adj": "lab/adj-src"}
    with pytest.raises(RequestError, match="lab/adj-src translates adj to src, not src to adj"):
        pretrain(replaced(SMALL, changes), tmp_path / "out", device="cpu")


OTHER = {
    "separate": "1",
    "extra_anchors.most": 0.2,
    "validation.lines": 2,
    "objective": "causal",
    "exponent": 0.5,
    "vocabulary.size": 110,
    "shape.width": 18,
    "steps": 31,
    "checkpoints": 10,
    "reading": "lines",
    "mix": "one",
    "batch": 4,
    "micro_batch": 2,
    "precision": "bfloat16",
    "masking.share": 0.2,
    "learning_rate": 2e-3,
    "embedding_learning_rate": 2e-3,
    "warmup": 0.1,
    "schedule": "inverse-sqrt",
    "betas": (0.9, 0.99),
    "weight_decay": 0.1,
    "clip": 2.0,
    "seed": 2,
}
"""Every setting but those that name files -> another value."""


def test_a_training_with_another_value_of_any_setting_is_not_resumed(texts, dictionaries, begin, tmp_path):
    switched = {"dictionaries": {"en-fr": "en-fr.txt"}, "extra_anchors": {}}
    begin(switched, tmp_path / "out")
    assert {name.partition(".")[0] for name in OTHER} == Pretraining.model_fields.keys() - {"corpora", "dictionaries"}
    for name, value in OTHER.items():
        with pytest.raises(RequestError, match="holds an unfinished training with other settings or text"):
            pretrain(replaced(SMALL, {**switched, name: value}), tmp_path / "out", base=texts, device="cpu")


@pytest.mark.parametrize("changes", [{}, {"objective": "causal"}, {"separate": "0"}])
@pytest.mark.parametrize("rate", [None, 7e-3])
def test_word_embeddings_have_a_rate_of_their_own_where_one_is_given(begin, changes, rate):
    model, groups, *_ = begin({**changes, "embedding_learning_rate": rate, "learning_rate": 1e-3})
    rates = {id(parameter): group["peak"] for group in groups for parameter in group["params"]}
    names = {name: rates[id(parameter)] for name, parameter in model.named_parameters()}
    tables = {name for name in names if "embed" in name and parameter_of(model, name).shape[0] > 30}
    assert len(tables) == (2 if "separate" in changes else 1)
    assert {names[name] for name in tables} == {rate or 1e-3}
    assert {names[name] for name in names.keys() - tables} == {1e-3}


def parameter_of(model, name):
    return dict(model.named_parameters())[name]


@pytest.mark.parametrize("changes", [{}, {"objective": "causal"}, {"separate": "1"}])
def test_the_seed_draws_the_initial_weights_and_moves_nothing_of_the_callers(tokenizer, changes):
    before = torch.get_rng_state()
    models = [
        fresh_model(replaced(SMALL, {**changes, "seed": seed}), {"en": tokenizer, "fr": tokenizer})
        for seed in (1, 1, 2)
    ]
    assert torch.equal(torch.get_rng_state(), before)
    first, again, other = ([p for p in model.parameters() if p.ndim > 1] for model in models)
    assert len(first) > 10
    assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))
    assert not any(torch.equal(a, b) for a, b in zip(first, other, strict=True))


def test_a_decoder_knows_the_special_tokens_of_its_text(tokenizer):
    config = fresh_model(replaced(SMALL, {"objective": "causal"}), {"en": tokenizer}).config
    ids = tokenizer("the cat")["input_ids"]
    assert (config.bos_token_id, config.eos_token_id, config.pad_token_id) == (ids[0], ids[-1], tokenizer.pad_token_id)


@pytest.mark.parametrize(("changes", "keywords"), [({}, {}), ({"separate": "1"}, {"language": "en"})])
def test_an_encoder_has_the_dropout_of_its_settings(tokenizer, changes, keywords):
    for dropout in (0.0, 0.5):
        settings = replaced(SMALL, {**changes, "shape.dropout": dropout})
        model = fresh_model(settings, {"en": tokenizer, "fr": tokenizer}).train()
        first, second = (model(input_ids=torch.tensor([[6, 7, 8]]), **keywords).logits for _ in range(2))
        assert torch.equal(first, second) == (dropout == 0)


def test_every_step_hides_subwords_of_its_own(begin):
    _, _, batches, _ = begin({})
    hidden = [batches(step)[3].tobytes() for step in range(SMALL.steps)]
    assert len(set(hidden)) == SMALL.steps
    assert batches(7)[3].tobytes() == hidden[7]


def test_a_micro_batch_of_lines_has_as_many_as_fill_that_many_sequences_of_maximum_length(begin):
    settings = {"reading": "lines"}
    (_, _, whole, _), (_, _, parts, _) = begin(settings), begin(settings | {"micro_batch": 2})
    for step in range(SMALL.steps):
        _, ids, *_ = whole(step)
        _, first, *_ = parts(step)
        assert np.array_equal(first, ids[: 2 * SMALL.shape.positions // ids.shape[1]])


def test_a_model_is_trained_on_the_device_that_is_asked_for(begin, second_device):
    model, *_ = begin({}, device=second_device)
    assert {parameter.device for parameter in model.parameters()} == {second_device}


@pytest.mark.parametrize("separate", ["0", "1"])
def test_a_step_reads_one_language_where_languages_have_layers_of_their_own(begin, separate):
    """Also where lines of all languages would be mixed."""
    _, _, batches, _ = begin({"separate": separate, "reading": "lines", "mix": "all"})
    languages = [batches(step)[0] for step in range(SMALL.steps)]
    assert set(languages) == {"en", "fr"}


@pytest.mark.parametrize(("separate", "tables"), [("0", 2), ("1", 1)])
def test_every_table_of_embeddings_has_a_row_for_each_subword(begin, separate, tables):
    """The vocabulary is joint; each language has a table of its own where the embeddings are separate."""
    model, *_ = begin({"separate": separate, "vocabulary.anchors": "joint"})
    (size,) = set(model.config.vocabularies.values())
    assert [len(table) for table in word_tables(model)] == [size] * tables


@pytest.mark.parametrize("reading", ["streams", "lines"])
def test_all_held_out_text_is_read_in_batches_no_larger_than_those_of_training(texts, begin, tmp_path, reading):
    settings = {"reading": reading, "validation": Validation(lines=20).model_dump(), "vocabulary.kind": "words"}
    _, _, _, unseen = begin(settings)
    lines = (texts / "en.txt").read_text("utf-8").splitlines()
    made = VOCABULARIES["words"](
        [line for language in ("en", "fr") for line in (texts / f"{language}.txt").read_text().splitlines()[:-20]],
        size=120,
        positions=16,
    )
    read = [row.tolist() for _, ids, *_ in unseen["en"] for row in ids]
    if reading == "lines":
        expected = made(lines[-20:])["input_ids"]
    else:
        expected = cut_stream("en", lines[-20:], made, length=16).tolist()
    assert sorted(read) == sorted(expected)
    assert len(unseen["en"]) > 2
    assert all(ids.size <= SMALL.batch * 16 for _, ids, *_ in unseen["en"])
    assert all(np.array_equal(ids.shape, predicted.shape) for _, ids, _, predicted in unseen["en"])
