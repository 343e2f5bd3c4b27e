"""An encoder with parts of its own for each language reads each as a plain one with that language's parts would."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from transformers import BertConfig, BertModel

from crosslens.alignment.vectors import table_vectors
from crosslens.corpora.catalogue import load_corpus
from crosslens.data.corpus import Corpus
from crosslens.data.sentence import Sentence
from crosslens.encoders.encoder import Encoder
from crosslens.encoders.families import FAMILIES
from crosslens.encoders.freeze import freeze
from crosslens.encoders.load import load_encoder, save_encoder
from crosslens.encoders.models.language_specific import (
    RoutedBertConfig,
    RoutedBertForMaskedLM,
    RoutedBertModel,
    language_parts,
    subword_tables,
)
from crosslens.encoders.reinit import random_init
from crosslens.encoders.represent import represent
from crosslens.errors import EncoderError
from crosslens.mlm.pretrain import pretrain
from crosslens.mlm.pretrain_settings import Pretraining, Shape, Vocabulary
from crosslens.tasks import TASKS
from crosslens.tasks.parsing import Parsing
from crosslens.training.checkpoint import load_model, save_model
from crosslens.training.evaluate import evaluate
from crosslens.training.finetune import finetune
from crosslens.training.predict import predict
from crosslens.training.provenance import describe_run
from crosslens.training.recipe import Recipe
from toys import SENTENCES, word_piece

SHAPE = {
    "hidden_size": 16,
    "num_attention_heads": 2,
    "intermediate_size": 24,
    "num_hidden_layers": 3,
    "max_position_embeddings": 20,
    "hidden_dropout_prob": 0.0,
    "attention_probs_dropout_prob": 0.0,
}
IDS = torch.tensor([[2, 5, 7, 9, 3], [2, 6, 8, 3, 0]])
MASK = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 1, 0]])


def routed(separate, **sizes):
    torch.manual_seed(3)
    return RoutedBertModel(RoutedBertConfig(vocabularies=sizes or {"en": 12, "fr": 15}, separate=separate, **SHAPE))


@pytest.mark.parametrize("separate", [(0,), (1,), (0, 1, 2), (1, 2, 3)])
@pytest.mark.parametrize("language", ["en", "fr"])
def test_it_reads_a_language_as_a_plain_bert_with_that_languages_parts(separate, language):
    model = routed(separate).eval()
    size = {"en": 12, "fr": 15}[language] if 0 in separate else 15
    plain = BertModel(BertConfig(**SHAPE, vocab_size=size), add_pooling_layer=False).eval()
    mine = {name.replace(f"parts.{language}.", ""): p for name, p in model.state_dict().items() if "parts." in name}
    shared = {name: p for name, p in model.state_dict().items() if "parts." not in name}
    plain.load_state_dict({name: (mine | shared)[name] for name in plain.state_dict()})
    expected = plain(input_ids=IDS, attention_mask=MASK).last_hidden_state
    assert torch.equal(model(input_ids=IDS, attention_mask=MASK, language=language).last_hidden_state, expected)


def test_every_part_is_drawn_and_each_languages_for_itself():
    model = routed((0, 2))
    drawn = dict(model.named_parameters())
    assert all(p.std() > 0.01 for name, p in drawn.items() if p.ndim > 1 and "token_type" not in name)
    for name, p in drawn.items():
        if ".parts.en." in name and p.ndim > 1 and p.shape == drawn[name.replace(".en.", ".fr.")].shape:
            assert not torch.equal(p, drawn[name.replace(".en.", ".fr.")])
    assert {id(p) for p in language_parts(model)} == {id(p) for name, p in drawn.items() if ".parts." in name}


def test_the_digest_of_the_body_is_the_same_whichever_language_was_read_last():
    """It leaves out the subwords of every language."""
    model, digests = routed((0, 2)), set()
    encoder = Encoder(model, word_piece(), FAMILIES["routed-bert"], "routed")
    for language in ("en", "fr"):
        model.set_language(language)
        digests.add(replace(encoder).body_digest)
        with torch.no_grad():
            model.get_input_embeddings().weight.add_(1.0)
        digests.add(replace(encoder).body_digest)
    assert len(digests) == 1
    assert [len(table.weight) for table in subword_tables(model)] == [12, 15]


def test_a_language_without_parts_is_refused_in_one_sentence():
    model = routed((1,))
    for language in ("de", None):
        with pytest.raises(EncoderError, match=r"(separate |no )parameters for"):
            model(input_ids=IDS, language=language)


def test_the_output_is_tied_to_the_languages_own_embeddings():
    model = RoutedBertForMaskedLM(RoutedBertConfig(vocabularies={"en": 12, "fr": 15}, separate=(0,), **SHAPE))
    for language, size in (("en", 12), ("fr", 15)):
        states = model.bert(input_ids=IDS, language=language).last_hidden_state
        logits = model.cls(states)
        assert logits.shape == (2, 5, size)
        model.zero_grad()
        logits.sum().backward()
        other = {"en": "fr", "fr": "en"}[language]
        tables = {name: p.grad for name, p in model.named_parameters() if "word_embeddings" in name}
        assert tables[f"bert.embeddings.parts.{language}.word_embeddings.weight"].abs().sum() > 0
        assert tables[f"bert.embeddings.parts.{other}.word_embeddings.weight"] is None


@pytest.fixture(scope="module", params=["0-1", "1", None])
def encoder(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("routed")
    for language in ("en", "fr"):
        (folder / f"{language}.txt").write_text("\n".join(SENTENCES[language] * 10), "utf-8")
    settings = Pretraining(
        corpora={"en": "en.txt", "fr": "fr.txt"},
        vocabulary=Vocabulary(size=240, anchors="none"),
        separate=request.param,
        batch=4,
        steps=12,
        shape=Shape(layers=2, width=16, heads=2, positions=24),
    )
    pretrain(settings, folder / "made", base=folder, device="cpu")
    return load_encoder(folder / "made", device="cpu")


def corpus(language, *, as_language=None):
    sentences = tuple(Sentence(tuple(text.split())) for text in SENTENCES[language])
    return Corpus(sentences, f"{language}.conllu", as_language or language)


def test_it_saves_and_loads_and_its_digest_is_one_whatever_it_reads(encoder, tmp_path):
    save_encoder(encoder, tmp_path / "again")
    again = load_encoder(tmp_path / "again", device="cpu")
    assert again.digest == encoder.digest == encoder.for_language("fr").digest
    for language in ("en", "fr"):
        vectors = represent(again, corpus(language)).vectors
        assert np.array_equal(vectors, represent(encoder, corpus(language)).vectors)
    with pytest.raises(EncoderError, match="it supports en, fr"):
        represent(encoder, corpus("en", as_language="de"))


def test_each_language_is_cut_by_its_own_vocabulary(encoder):
    for language, other in (("en", "fr"), ("fr", "en")):
        cut = encoder.for_language(language).tokenizer
        text = " ".join(SENTENCES[language])
        pieces = cut.convert_ids_to_tokens(cut(text, add_special_tokens=False)["input_ids"])
        assert "".join(pieces).replace("▁", " ").strip() == text
        foreign = encoder.for_language(other).tokenizer.convert_ids_to_tokens(
            encoder.for_language(other).tokenizer(text, add_special_tokens=False)["input_ids"]
        )
        assert len(foreign) > len(pieces)


def test_the_words_that_fit_into_a_window_are_counted_by_the_languages_own_vocabulary(encoder):
    """Where a parser is scored on the words that fit, whatever language the encoder was read for."""
    for language, other in (("en", "fr"), ("fr", "en")):
        words = tuple(" ".join(SENTENCES[language]).split())
        (cut,) = Parsing(words="wu2019").cut(encoder.for_language(other), Corpus((Sentence(words),), "long", language))
        tokenizer = encoder.for_language(language).tokenizer
        pieces = np.cumsum([len(tokenizer.tokenize(word)) for word in words])
        assert 0 < len(cut) == np.searchsorted(pieces, encoder.capacity - 2, side="right") < len(words)


def test_the_table_of_whole_words_is_of_the_language_asked_for(encoder):
    models = {language: encoder.for_language(language) for language in ("en", "fr")}
    for language in ("en", "fr", "en"):  # whatever was read before
        vectors = table_vectors(encoder, language=language)
        model, tokenizer = encoder.model, models[language].tokenizer
        if hasattr(model, "set_language"):
            model.set_language(language)
        rows = model.get_input_embeddings().weight.detach().numpy()
        ids = [tokenizer(word, add_special_tokens=False).input_ids for word in vectors.words]
        assert vectors.words
        assert all(len(each) == 1 for each in ids)
        np.testing.assert_array_equal(vectors.vectors[0], rows[[each[0] for each in ids]])


def test_drawing_anew_and_freezing_reach_all_languages_parts(encoder):
    drawn = random_init(encoder, "1", seed=1)
    names = {name for name, _ in encoder.model.named_parameters() if name.startswith("encoder.layer.0.")}
    assert set(drawn.changes[-1].tensors) == names
    assert set(freeze(encoder, "1").changes[-1].tensors) == names
    assert len(random_init(encoder, "0,all", seed=1).changes[-1].tensors) == len(list(encoder.model.parameters()))


@pytest.mark.parametrize("task", TASKS)
def test_fine_tuning_leaves_what_belongs_to_one_language_as_it_is(encoder, treebanks, toy, tmp_path, task):
    dropout = "trained" if task == "pos" else "off"
    recipe = Recipe(batch=3, epochs=2, learning_rate=1e-2, select="last", encoder_dropout=dropout)
    model = finetune(encoder, task, train=toy(task=task), recipe=recipe)
    before, after = dict(encoder.model.named_parameters()), dict(model.encoder.model.named_parameters())
    moved = {name for name in before if not torch.equal(before[name], after[name])}
    assert not any(".parts." in name for name in moved)
    assert any(name.startswith("encoder.layer.1") for name in moved)
    french = {"ner": "uner/fr_pud", "document": "sib200/fra_Latn:test", "nli": "xnli/fr:test"}.get(task, "ud/fr_pud")
    corpus = load_corpus(french, data=treebanks)
    predicted = predict(model, corpus)
    save_model(model, tmp_path / "model")
    assert predict(load_model(tmp_path / "model", device="cpu"), corpus).items == predicted.items


def test_development_data_of_another_language_are_read_with_the_parts_of_that_language(encoder, treebanks, toy):
    french = load_corpus("ud/fr_pud", data=treebanks)
    recipe = Recipe(batch=3, epochs=4, learning_rate=1e-2, select="best", encoder_dropout="off")
    model = finetune(encoder, "pos", train=toy(), dev=french, recipe=recipe)
    assert evaluate(model, french)[0].value == model.facts["dev_score"] > 0
    english = finetune(encoder, "pos", train=toy(), dev=replace(french, language="en"), recipe=recipe)
    assert english.facts["run"] != model.facts["run"] == describe_run(model)["run"]
