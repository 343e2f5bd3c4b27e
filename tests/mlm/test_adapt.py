"""Adapting an encoder: it goes on from the checkpoint, keeps the tokenizer, and says what the text was made of."""

import json
import math
import shutil
from dataclasses import replace

import pytest
from transformers import BertConfig, BertForMaskedLM, BertJapaneseTokenizer

from crosslens.data.corpus import Corpus
from crosslens.data.sentence import Text
from crosslens.encoders.load import load_encoder, load_masked_lm
from crosslens.errors import DataError, EncoderError, RequestError
from crosslens.mlm.adapt import adapt
from crosslens.mlm.adapt_settings import Adaptation
from crosslens.mlm.pretrain_settings import Masking
from crosslens.mlm.streams import cut_stream
from toy_architectures import fresh
from toys import SENTENCES, byte_level, metaspace, word_piece

SMALL = Adaptation(epochs=6, length=16, batch=4, learning_rate=3e-3, held_out=0.1)


def text(language="fr", times=20, name="raw"):
    return Corpus(tuple(Text((line,)) for line in SENTENCES[language] * times), name, language)


def test_it_goes_on_from_the_checkpoint(masked_bert, tmp_path):
    facts = adapt(masked_bert, {"fr": text()}, tmp_path / "out", settings=SMALL, device="cpu")
    assert facts["fresh_head"] == []
    assert facts["perplexity fr"] < facts["perplexity before fr"] / 2
    before, after = (load_encoder(folder, device="cpu") for folder in (masked_bert, tmp_path / "out"))
    assert after.tokenizer.get_vocab() == before.tokenizer.get_vocab()
    assert after.digest != before.digest
    told = json.loads((tmp_path / "out" / "adaptation.json").read_text())
    assert told["encoder_digest"] == before.digest
    assert told["facts"]["broken fr"] == facts["broken fr"] > 0
    assert not (tmp_path / "out.partial").exists()


def test_the_same_request_gives_the_same_bits(masked_bert, tmp_path):
    for name, lines in (("a", text()), ("b", text()), ("list", SENTENCES["fr"] * 20)):
        adapt(masked_bert, {"fr": lines}, tmp_path / name, settings=SMALL, device="cpu")
    assert len({load_encoder(tmp_path / name).digest for name in ("a", "b", "list")}) == 1


def test_settings_that_differ_from_the_defaults_can_be_a_mapping(masked_bert, tmp_path):
    changed = SMALL.model_dump(exclude_defaults=True)
    for name, settings in (("a", SMALL), ("b", changed)):
        adapt(masked_bert, {"fr": text()}, tmp_path / name, settings=settings, device="cpu")
    assert load_encoder(tmp_path / "a").digest == load_encoder(tmp_path / "b").digest
    with pytest.raises(RequestError, match="an adaptation has no setting 'epoch'"):
        adapt(masked_bert, {"fr": text()}, tmp_path / "c", settings={"epoch": 2}, device="cpu")


def test_interrupted_it_goes_on_to_the_same_bits(masked_bert, tmp_path):
    whole = adapt(masked_bert, {"fr": text()}, tmp_path / "whole", settings=SMALL, device="cpu")

    def stop(update):
        if update.done == 31:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        adapt(
            masked_bert, {"fr": text()}, tmp_path / "part", settings=SMALL, save_every=10, progress=stop, device="cpu"
        )
    assert (tmp_path / "part.partial" / "state.pt").exists()
    with pytest.raises(RequestError, match="other settings"):
        adapt(masked_bert, {"fr": text("en")}, tmp_path / "part", settings=SMALL)
    assert adapt(masked_bert, {"fr": text()}, tmp_path / "part", settings=SMALL, device="cpu") == whole
    assert load_encoder(tmp_path / "whole").digest == load_encoder(tmp_path / "part").digest


def test_languages_in_another_order_are_another_adaptation(masked_bert, tmp_path):
    """Their blocks are numbered in order, so that the order decides what each batch holds."""

    def adapted(*languages):
        folder = tmp_path / "-".join(languages)
        settings = SMALL.model_copy(update={"epochs": 1})
        adapt(masked_bert, {language: text(language) for language in languages}, folder, settings=settings)
        return json.loads((folder / "adaptation.json").read_text())["identity"]

    assert adapted("en", "fr") != adapted("fr", "en")


def test_a_tokenizer_in_python_is_as_good(tmp_path):
    (tmp_path / "vocab.txt").write_text(
        "\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefghilmnoprstuvx."])
    )
    options = {"word_tokenizer_type": "basic", "subword_tokenizer_type": "character"}
    tokenizer = BertJapaneseTokenizer(str(tmp_path / "vocab.txt"), **options)
    config = BertConfig(
        vocab_size=len(tokenizer), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16
    )
    BertForMaskedLM(config).save_pretrained(tmp_path / "ja")
    tokenizer.save_pretrained(tmp_path / "ja")
    facts = adapt(tmp_path / "ja", {"fr": text()}, tmp_path / "out", settings=SMALL, device="cpu")
    assert facts["perplexity fr"] < facts["perplexity before fr"]
    assert load_encoder(tmp_path / "out", device="cpu").tokenizer.tokenize("le chat") == list("lechat")


def test_a_head_that_is_missing_is_fresh_and_said(tiny_bert, tmp_path):
    facts = adapt(tiny_bert, {"fr": text()}, tmp_path / "out", settings=SMALL, device="cpu")
    assert facts["fresh_head"]
    assert all(name.startswith("cls.") for name in facts["fresh_head"])


def test_a_head_alone_is_fitted_to_a_frozen_encoder(tiny_bert, tmp_path):
    settings = SMALL.model_copy(update={"freeze": "0-4"})
    texts, lines = {"fr": text(), "en": text("en")}, []
    facts = adapt(tiny_bert, texts, tmp_path / "out", settings=settings, device="cpu", progress=lines.append)
    assert load_encoder(tmp_path / "out").digest == load_encoder(tiny_bert).digest
    assert lines[0].line.endswith("has no masked language modelling head: a randomly initialised one is trained")
    assert facts["perplexity fr"] < facts["perplexity before fr"]
    again = adapt(tmp_path / "out", {"fr": text()}, tmp_path / "on", settings=SMALL, device="cpu")
    assert again["fresh_head"] == []


def test_a_final_normalisation_is_frozen_with_all_layers(tmp_path):
    fresh("modernbert", 0, word_piece()).save_pretrained(tmp_path / "in")
    word_piece().save_pretrained(tmp_path / "in")
    for layers, same in (("0-3", True), ("0-2", False)):
        settings = SMALL.model_copy(update={"freeze": layers, "epochs": 1})
        adapt(tmp_path / "in", {"fr": text()}, tmp_path / layers, settings=settings, device="cpu")
        assert (load_encoder(tmp_path / layers).digest == load_encoder(tmp_path / "in").digest) is same


def test_the_best_pass_is_kept(masked_bert, tmp_path):
    seen = []
    settings = SMALL.model_copy(update={"epochs": 8, "learning_rate": 0.05})
    facts = adapt(
        masked_bert,
        {"fr": text(times=4)},
        tmp_path / "out",
        settings=settings,
        device="cpu",
        validated=lambda step, found: seen.append((found["fr"], step)),
    )
    assert (facts["perplexity fr"], facts["kept_step"]) == min(seen[1:])
    assert seen[0][0] == facts["perplexity before fr"]


def test_wrong_requests(masked_bert, tiny_bert, tmp_path, encoder):
    out = tmp_path / "out"
    for texts, message in (("a.txt", "is given by language"), ({}, "is given by language"), ({"fr": 3}, "no.* corpus")):
        with pytest.raises(RequestError, match=message):
            adapt(masked_bert, texts, out)
    with pytest.raises(RequestError, match="save_every=0 is not an integer of at least 1"):
        adapt(tmp_path / "not loaded", {"fr": text()}, out, save_every=0)
    with pytest.raises(DataError, match="no letter of any known script"):
        adapt(tmp_path / "not loaded", {"und": Corpus((Text(("12 34",)), Text(("\ue000",))), "odd")}, out)
    with pytest.raises(RequestError, match="has 1 line, of which 1 must be held out"):
        adapt(tmp_path / "not loaded", {"fr": text()[:1]}, out)
    with pytest.raises(RequestError, match="has 3 lines, of which 3 must be held out") as refused:
        adapt(tmp_path / "not loaded", {"fr": text()[:3]}, out, settings={"held_out": 0.9})
    assert refused.value.hint == "lower held_out"
    with pytest.raises(RequestError, match="too few for one sequence") as refused:
        adapt(masked_bert, {"fr": text(times=1)[:2]}, out, settings=Adaptation(length=60))
    assert "make the setting length smaller (--set length=NUMBER)" in refused.value.hint
    unknown = Corpus((Text(("ߊߟߎ ߞߊ",)),) * 60, "nqo", "nqo")
    with pytest.raises(RequestError, match="nqo has nothing to predict"):
        adapt(masked_bert, {"fr": text(), "nqo": unknown}, out, settings=SMALL)
    with pytest.raises(RequestError, match="the held-out text of raw has nothing to predict"):
        adapt(masked_bert, {"fr": replace(text(), items=text().items + unknown.items)}, out, settings=SMALL)
    with pytest.raises(RequestError, match="exists already"):
        adapt(masked_bert, {"fr": text()}, tiny_bert)
    with pytest.raises(EncoderError, match="no mask"):
        load_masked_lm(replace(encoder, tokenizer=byte_level()))
    assert not out.exists()
    assert not (tmp_path / "out.partial").exists()


def test_vocabularies_of_other_languages_are_not_those_of_the_text(masked_bert, tmp_path):
    """Text in one language would be cut by the vocabulary of another, into unknown subwords."""
    shutil.copytree(masked_bert, tmp_path / "separate")
    for language in ("en", "fr"):
        word_piece().save_pretrained(tmp_path / "separate" / "tokenizers" / language)
    for language in ("fr", "oc"):
        with pytest.raises(EncoderError, match="a vocabulary for each of en, fr"):
            adapt(tmp_path / "separate", {language: text()}, tmp_path / "out", settings=SMALL, device="cpu")


def test_a_family_without_bfloat16_is_refused_before_anything_is_written(tmp_path):
    tokenizer = word_piece()
    fresh("deberta", 1, tokenizer).save_pretrained(tmp_path / "deberta")
    tokenizer.save_pretrained(tmp_path / "deberta")
    settings = SMALL.model_copy(update={"precision": "bfloat16"})
    with pytest.raises(EncoderError, match="cannot compute deberta in bfloat16"):
        adapt(tmp_path / "deberta", {"fr": text()}, tmp_path / "out", settings=settings, device="cpu")
    assert [path.name for path in tmp_path.iterdir()] == ["deberta"]


def test_decoders_have_no_masked_language_model(tmp_path):
    from transformers import LlamaConfig, LlamaModel

    tokenizer = word_piece()
    config = LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16
    )
    LlamaModel(config).save_pretrained(tmp_path / "llama")
    tokenizer.save_pretrained(tmp_path / "llama")
    with pytest.raises(EncoderError, match="llama encoders have no masked language model"):
        adapt(tmp_path / "llama", {"fr": text()}, tmp_path / "out", settings=SMALL)


def test_specials_of_other_tokenizers(tmp_path):
    """XLM-R's kind: other special tokens than BERT's, and the mask last."""
    from transformers import XLMRobertaConfig, XLMRobertaForMaskedLM

    tokenizer = metaspace()
    config = XLMRobertaConfig(
        vocab_size=len(tokenizer),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=70,
        pad_token_id=1,
        bos_token_id=0,
        eos_token_id=2,
    )
    XLMRobertaForMaskedLM(config).save_pretrained(tmp_path / "x")
    tokenizer.save_pretrained(tmp_path / "x")
    settings = Adaptation(epochs=1, length=24, masking=Masking(share=0.5), learning_rate=1e-2)
    facts = adapt(tmp_path / "x", {"en": text("en")}, tmp_path / "out", settings=settings, device="cpu")
    assert facts["steps"] > 0
    assert facts["fertility en"] > 1


def test_an_epoch_reads_every_block_and_is_then_validated(masked_bert, tmp_path):
    """Also where the last batch of an epoch is smaller than the others."""
    settings = SMALL.model_copy(update={"epochs": 3, "batch": 5})
    corpus = text()
    lines = [item.text for item in corpus][:-12]  # the last tenth is held out
    tokenizer = load_encoder(masked_bert, device="cpu").tokenizer
    blocks = len(cut_stream("fr", lines, tokenizer, length=settings.length))
    assert blocks % 5
    validated = []
    facts = adapt(
        *(masked_bert, {"fr": corpus}, tmp_path / "out"),
        settings=settings,
        device="cpu",
        validated=lambda step, perplexities: validated.append(step),
    )
    steps = math.ceil(blocks / 5)
    assert validated == [0, steps, 2 * steps, 3 * steps]
    assert facts["steps"] == 3 * steps


def test_the_seed_chooses_what_is_hidden_in_the_held_out_text(masked_bert, tmp_path):
    def before(seed, name):
        settings = SMALL.model_copy(update={"epochs": 1, "seed": seed})
        return adapt(masked_bert, {"fr": text(times=4)}, tmp_path / name, settings=settings)["perplexity before fr"]

    assert before(1, "a") == before(1, "b") != before(2, "c")


@pytest.fixture
def planned(masked_bert, tmp_path, monkeypatch):
    """The lines that are cut into blocks, and the batches of a training that does not take place."""

    def plan(corpus, settings):
        cut, batches = {}, []

        def record(name, lines, *more, **options):
            cut[name] = list(lines)
            return cut_stream(name, lines, *more, **options)

        def stop(loop, model, asked, **options):
            batches.extend(asked(step)[0][1] for step in range(loop.settings.steps))
            raise RequestError("planned")

        monkeypatch.setattr("crosslens.mlm.adapt.cut_stream", record)
        monkeypatch.setattr("crosslens.mlm.adapt.train_language_model", stop)
        with pytest.raises(RequestError, match="planned"):
            adapt(masked_bert, {"fr": corpus}, tmp_path / "out", settings=settings, device="cpu")
        return cut, batches

    return plan


@pytest.mark.parametrize(("lines", "share", "count"), [(30, 0.05, 2), (24, 0.1, 2), (120, 0.01, 1), (60, 0.25, 15)])
def test_the_last_lines_are_held_out_to_the_nearest_number(planned, lines, share, count):
    """1.5 lines are two, 2.4 are two, and there is always one."""
    corpus = replace(text(), items=text().items[:lines])
    cut, _ = planned(corpus, SMALL.model_copy(update={"held_out": share, "length": 8, "epochs": 1}))
    texts = [item.text for item in corpus]
    assert cut == {"raw": texts[:-count], "the held-out text of raw": texts[-count:]}


def test_every_epoch_reads_each_block_once_in_an_order_of_its_own(planned):
    _, batches = planned(text(), SMALL.model_copy(update={"epochs": 3}))
    size = len(batches) // 3
    epochs = [[row.tobytes() for batch in batches[i * size : (i + 1) * size] for row in batch] for i in range(3)]
    assert len(epochs[0]) > 10
    assert sorted(epochs[0]) == sorted(epochs[1]) == sorted(epochs[2])
    assert epochs[0] != epochs[1] != epochs[2] != epochs[0]
