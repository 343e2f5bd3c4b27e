"""The encoder that a run starts from."""

import shutil
from dataclasses import replace

import pytest
import torch
from torch import nn

from crosslens.encoders import matmul
from crosslens.encoders.condition import Condition
from crosslens.encoders.load import load_encoder, save_encoder
from crosslens.encoders.models.held_weights import has_int8
from crosslens.mlm.adapt_settings import Adaptation
from crosslens.mlm.pretrain_settings import Pretraining
from crosslens.runs import make
from crosslens.runs.corpora import Corpora
from crosslens.runs.make import begin, describe_encoder, make_encoder
from crosslens.runs.question import CorpusRef, Perplexity
from crosslens.runs.run import AdaptRun, EncoderRef, EncoderRun, PretrainRun
from toy_architectures import fresh
from toys import SENTENCES


@pytest.mark.parametrize("precision", ["bfloat16", "float32"])
def test_weights_that_bfloat16_represents_are_held_in_the_precision_of_the_run(
    encoder, tmp_path, monkeypatch, precision
):
    """As those of published decoders, which then take half the memory."""
    monkeypatch.setattr(matmul, "_processor_features", lambda: frozenset({"amx_bf16"}))
    model = fresh("bert", 0, encoder.tokenizer)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(parameter.bfloat16())
    save_encoder(replace(encoder, model=model), tmp_path / "rounded")
    base = EncoderRef(str(tmp_path / "rounded"), "rounded", load_encoder(tmp_path / "rounded", device="cpu").digest)
    condition = Condition(precision=precision) if precision == "bfloat16" else Condition()
    begun = begin(EncoderRun(base, condition, 1), Corpora(), device="cpu")
    linear = [module.weight.dtype for module in begun.model.modules() if isinstance(module, nn.Linear)]
    assert set(linear) == {getattr(torch, precision)}
    assert begun.precision == precision


def test_weights_are_rounded_before_they_are_on_the_device(encoder, monkeypatch):
    base = EncoderRef(encoder.name, "bert", encoder.digest)
    loaded = []
    monkeypatch.setattr(
        make, "load_encoder", lambda *_, **options: loaded.append(load_encoder(*_, **options)) or loaded[-1]
    )
    condition = Condition(layers="1", quantize="int8")
    begun = begin(EncoderRun(base, condition, 1), Corpora(), device="cpu")
    assert has_int8(loaded[0].model)
    assert begun.condition == condition
    assert not has_int8(begun.layers[0])
    assert has_int8(begun.layers[1])


def test_an_encoder_that_was_replaced_is_loaded_again(encoder, tmp_path):
    folder = tmp_path / "encoder"
    for seed in (0, 1):
        shutil.rmtree(folder, ignore_errors=True)
        save_encoder(replace(encoder, model=fresh("bert", seed, encoder.tokenizer)), folder)
        described = describe_encoder(str(folder), "cpu", condition=Condition())
        assert described.digest == load_encoder(folder, device="cpu").digest


def test_an_update_of_an_encoder_that_was_replaced_is_loaded_again(encoder, tmp_path):
    peft = pytest.importorskip("peft", reason="needs PEFT: pip install 'crosslens[lora]'")
    pretrained, folder = tmp_path / "encoder", tmp_path / "update"
    for seed in (0, 1):
        shutil.rmtree(pretrained, ignore_errors=True)
        save_encoder(replace(encoder, model=fresh("bert", seed, encoder.tokenizer)), pretrained)
        if not folder.exists():
            config = peft.LoraConfig(target_modules=["query"], base_model_name_or_path=str(pretrained))
            peft.get_peft_model(load_encoder(pretrained, device="cpu").model, config).save_pretrained(folder)
        described = describe_encoder(str(folder), "cpu", condition=Condition())
        assert described.digest == load_encoder(pretrained, device="cpu").digest  # an untrained update adds 0


def test_an_encoder_that_stays_is_loaded_once(tiny_bert, monkeypatch):
    loaded = []
    monkeypatch.setattr(
        make, "load_encoder", lambda *_, **options: loaded.append(load_encoder(*_, **options)) or loaded[-1]
    )
    for _ in range(2):
        describe_encoder(f"{tiny_bert}/", "cpu", condition=Condition())
    assert len(loaded) == 1


def test_a_perplexity_is_recorded_with_the_text_and_its_digest(encoder, tmp_path):
    (tmp_path / "fr.txt").write_text("\n".join(SENTENCES["fr"] * 4), "utf-8")
    corpora, name = Corpora(), f"fr={tmp_path / 'fr.txt'}"
    text, base = CorpusRef(name, corpora.text(name).digest), EncoderRef(encoder.name, "bert", encoder.digest)
    run = AdaptRun(base, Adaptation(epochs=1, length=16), "fr", text, Condition(start="adapted"))
    _, results = make_encoder(run, tmp_path / "adapted", corpora, device="cpu")
    (record,) = results
    assert (record.measure, record.metric, record.state) == ("perplexity", "perplexity", "pretrained")
    assert (record.target, record.corpus, record.corpus_digest) == ("fr", name, text.digest)
    assert (record.seed, record.depth, record.question) == (1, encoder.depth, Perplexity().id)


def test_text_to_pretrain_on_is_that_of_the_data_folder(tmp_path, monkeypatch):
    monkeypatch.delenv("CROSSLENS_DATA", raising=False)
    (tmp_path / "data" / "raw").mkdir(parents=True)
    (tmp_path / "data" / "raw" / "en.txt").write_text("\n".join(SENTENCES["en"] * 4), "utf-8")
    corpora, shape = Corpora(str(tmp_path / "data")), {"layers": 1, "width": 8, "heads": 2, "positions": 32}
    settings = Pretraining(corpora={"en": "raw/en"}, shape=shape, vocabulary={"size": 100}, batch=4, steps=1)
    run = PretrainRun(settings, ".", {"en": corpora.text("raw/en").digest}, Condition(), "small")
    described, _ = make_encoder(run, tmp_path / "made", corpora, device="cpu")
    assert described["encoder_digest"] == load_encoder(tmp_path / "made", device="cpu").digest
