"""The model card of a saved model, and its code, run as it stands there."""

import dataclasses
import json
import random
import re
from types import SimpleNamespace

import pytest
import torch
import transformers
from ruamel.yaml import YAML
from tokenizers import normalizers, pre_tokenizers
from transformers import (
    AutoConfig,
    AutoModel,
    AutoModelForTokenClassification,
    AutoTokenizer,
    Qwen2Tokenizer,
    RobertaTokenizer,
)

from crosslens.data.corpus import Corpus
from crosslens.data.formats import conllu
from crosslens.data.sentence import Sentence
from crosslens.encoders.load import load_encoder
from crosslens.encoders.reinit import random_init
from crosslens.training.checkpoint import load_model, save_model
from crosslens.training.finetune import finetune
from crosslens.training.model_card import model_card
from crosslens.training.predict import predict
from crosslens.training.recipe import Recipe
from toys import byte_level, metaspace, word_piece

FAST = Recipe(batch=2, learning_rate=1e-2, epochs=8, select="last")
CHINESE = [
    ("狗 猫 .", "NOUN VERB PUNCT"),
    ("猫 狗 cat .", "NOUN VERB PROPN PUNCT"),
    ("the 狗 猫猫 狗狗 .", "DET NOUN VERB NOUN PUNCT"),
    ("the cat 猫", "DET PROPN VERB"),
    ("狗", "NOUN"),
    ("a \u200b 狗 <unk> .", "DET SYM NOUN SYM PUNCT"),
]
"""Words that a vocabulary like XLM-R's begins with a lone ``▁``, and one that has no subword in many."""


def spaces():
    """A vocabulary that marks spaces, as Gemma's and mmBERT's do."""
    tokenizer = metaspace()
    tokenizer.backend_tokenizer.normalizer = normalizers.Replace(" ", "▁")
    tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.Split("▁", "merged_with_next")
    return tokenizer


def of_class(kind):
    """A tokenizer of one of transformers' own classes, with a byte-level vocabulary."""
    state = json.loads(byte_level().backend_tokenizer.to_str())["model"]
    merges = [tuple(merge) for merge in state["merges"]]
    return kind(vocab=state["vocab"], merges=merges, unk_token="<unk>", pad_token="<pad>", model_max_length=64)


def roberta():
    return of_class(RobertaTokenizer)  # which is read without the mark of words, whatever was saved


def qwen():
    return of_class(Qwen2Tokenizer)


def corpus():
    sentences = tuple(Sentence(tuple(words.split(" ")), upos=tuple(tags.split())) for words, tags in CHINESE)
    return Corpus(sentences, "toy", "zh")


def encoder_with(tokenizer, kind, folder, **more):
    config = AutoConfig.for_model(
        kind,
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=48,
        max_position_embeddings=64,
        pad_token_id=tokenizer.pad_token_id,
        **more,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        AutoModel.from_config(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return load_encoder(folder, device="cpu")


def code_of(folder):
    (code,) = re.findall(r"```python\n(.*?)```", (folder / "README.md").read_text("utf-8"), re.DOTALL)
    return code


def first_subwords(folder, words):
    """The usual reading: the first subword of each of the word_ids."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForTokenClassification.from_pretrained(folder).eval()
    read = tokenizer(list(words), is_split_into_words=True, return_tensors="pt")
    best = model(read["input_ids"], read["attention_mask"]).logits[0].argmax(-1).tolist()
    return [model.config.id2label[best[read.word_ids().index(number)]] for number in range(len(words))]


DECODER = {"num_key_value_heads": 1, "head_dim": 16, "bos_token_id": 0, "eos_token_id": 2}
TAGGERS = {
    "XLM-R": (metaspace, "xlm-roberta", {}),
    "BERT": (word_piece, "bert", {}),
    "byte level": (byte_level, "bert", {}),
    "RoBERTa": (roberta, "roberta", {}),
    "Gemma": (spaces, "llama", DECODER),
    "Qwen": (qwen, "qwen2", DECODER),
}


@pytest.fixture(scope="module", params=TAGGERS)
def tagger(request, tmp_path_factory):
    made, kind, more = TAGGERS[request.param]
    folder = tmp_path_factory.mktemp("card")
    model = finetune(encoder_with(made(), kind, folder / "encoder", **more), "pos", train=corpus(), recipe=FAST)
    save_model(model, folder / "model")
    return request.param, load_model(folder / "model", device="cpu"), folder / "model"


def test_the_code_of_the_card_gives_the_tags_that_crosslens_gives(tagger, monkeypatch, capsys):
    kind, model, folder = tagger
    monkeypatch.chdir(folder)
    names = {}
    exec(code_of(folder), names)
    assert re.fullmatch(r"\['[A-Z]+', '[A-Z]+', '[A-Z]+', '[A-Z]+'\]\n", capsys.readouterr().out)
    draw = random.Random(1)
    words = ["".join(draw.choices("abcdeth狗猫.", k=draw.randint(1, 5))) for _ in range(200)]
    drawn = [Sentence(tuple(words[start : start + 5])) for start in range(0, 200, 5)]
    drawn.append(Sentence(("▁", "狗", "▁")))  # words without a subword but the mark
    predicted = predict(model, Corpus((*corpus(), *drawn), "toy", "zh")).sentences
    assert len(predicted) == len(CHINESE) + 41
    assert len({tag for sentence in predicted for tag in sentence.upos}) > 2
    for sentence in predicted:
        assert tuple(names["tag"](list(sentence.words))) == sentence.upos
    if kind == "XLM-R":  # where reading the first subwords is wrong
        words = predicted[0].words
        assert tuple(first_subwords(folder, words)) != predicted[0].upos


def header_of(folder):
    text = (folder / "README.md").read_text("utf-8")
    return YAML(typ="safe").load(text.split("---\n")[1]), text


def test_the_header_is_what_the_hub_reads(tagger, tmp_path, monkeypatch):
    _, model, folder = tagger
    header, text = header_of(folder)
    assert header == {
        "language": "zh",
        "library_name": "transformers",
        "pipeline_tag": "token-classification",
        "tags": ["crosslens", "pos"],
    }
    assert "`toy` (zh), 6 sentences; seed 1." in text
    assert str(folder.parent) not in text  # a folder of whoever trained it is nobody's base model
    named = dataclasses.replace(model, encoder=dataclasses.replace(model.encoder, name="someone/their-encoder"))
    assert "base_model: someone/their-encoder\n" in model_card(named, exported=True)
    (tmp_path / "someone" / "their-encoder").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)  # where that is a folder, which may be another encoder than the hub's of this name
    assert "base_model" not in model_card(named, exported=True)
    own = dataclasses.replace(model, encoder=dataclasses.replace(model.encoder, tokenizers={"zh": word_piece()}))
    card = model_card(own, exported=True)  # plain transformers would read every language with one vocabulary
    assert ("library_name: crosslens\n" in card, "```python" in card) == (True, False)


def test_a_tokenizer_that_cannot_align_subwords_with_words_leaves_tagging_to_crosslens(tagger):
    """The weights are those of a token classifier all the same."""
    _, model, _ = tagger
    slow = dataclasses.replace(model.encoder, tokenizer=SimpleNamespace(is_fast=False))
    card = model_card(dataclasses.replace(model, encoder=slow), exported=True)
    assert ("library_name: crosslens\n" in card, "```python" in card) == (True, False)
    assert "loads the weights with `AutoModelForTokenClassification`, but cannot align subwords" in card


def test_the_language_of_the_training_data_is_named_if_it_is_known(tagger):
    _, model, _ = tagger
    for source, words in (("zh", "Training data: `toy` (zh), "), (None, "Training data: `toy`, ")):
        assert words in model_card(dataclasses.replace(model, source=source), exported=False)
    card = model_card(dataclasses.replace(model, source="zh+wo"), exported=False)
    assert YAML().load(card.split("---")[1])["language"] == ["zh", "wo"]


def test_the_card_tells_the_dev_score_and_what_was_done_to_the_encoder(encoder, toy, tmp_path):
    model = finetune(random_init(encoder, "1-2", seed=1), "pos", train=toy(), dev=toy("dev"), recipe=FAST)
    save_model(model, tmp_path / "model")
    header, text = header_of(tmp_path / "model")
    assert header["metrics"] == ["accuracy"]
    assert f"Development score on `ud/en_toy:dev`: accuracy {model.facts['dev_score']:.2f}." in text
    assert "crosslens condition: `1-2`" in text
    by_uas = dataclasses.replace(model, recipe=model.recipe.model_copy(update={"select_by": "uas"}))
    text = model_card(by_uas, exported=True)
    assert f"`: uas {model.facts['dev_score']:.2f}." in text
    assert "metrics:\n- uas\n" in text


@pytest.mark.parametrize("task", ["parsing", "document", "nli"])
def test_heads_that_plain_transformers_cannot_read_are_said_to_be_so(encoder, toy, tmp_path, task):
    corpus = toy(task=task) if task != "parsing" else toy()
    save_model(finetune(encoder, task, train=corpus, recipe=FAST), tmp_path / "model")
    header, text = header_of(tmp_path / "model")
    assert header["library_name"] == "crosslens"
    assert f", {len(corpus)} {'sentences' if task == 'parsing' else 'texts'}; seed " in text
    assert "cannot load the head" in text
    assert "```python" not in text
    ending = {"parsing": "conllu"}.get(task, "tsv")
    assert f"crosslens predict FOLDER text.{ending} --out" in text
    (plain,) = re.findall(r"`(\w+)\.from_pretrained`", text)
    body = getattr(transformers, plain).from_pretrained(tmp_path / "model", add_pooling_layer=False)
    again = load_model(tmp_path / "model", device="cpu")
    saved = again.encoder.model.state_dict()
    assert saved
    assert all(torch.equal(tensor, saved[name]) for name, tensor in body.state_dict().items())
    _, info = AutoModelForTokenClassification.from_pretrained(tmp_path / "model", output_loading_info=True)
    assert "classifier.weight" in info["missing_keys"]  # random, as the card says


def test_a_tagger_of_an_architecture_with_another_head_is_said_to_be_unreadable(tmp_path):
    encoder = encoder_with(word_piece(), "modernbert", tmp_path / "encoder", cls_token_id=2, sep_token_id=3)
    save_model(finetune(encoder, "pos", train=corpus(), recipe=FAST), tmp_path / "model")
    header, text = header_of(tmp_path / "model")
    assert (header["library_name"], "cannot load the head" in text) == ("crosslens", True)


def test_the_command_on_the_card_tags_a_text(run, encoder, toy, tmp_path):
    save_model(finetune(encoder, "pos", train=toy(), recipe=FAST.model_copy(update={"epochs": 1})), tmp_path / "saved")
    (command,) = re.findall(r"^crosslens (predict .*)$", (tmp_path / "saved" / "README.md").read_text("utf-8"), re.M)
    conllu.write(toy("test"), tmp_path / "text.conllu")
    status, _, error = run(*command.replace("FOLDER", "saved").split())
    assert status == 0, error
    assert (tmp_path / "predicted.conllu").is_file()
