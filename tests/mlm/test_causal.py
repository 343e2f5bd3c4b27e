"""Pretraining of decoders: the loss is that of the library, and what is saved is a decoder."""

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM

from crosslens.encoders.load import load_encoder
from crosslens.errors import RequestError
from crosslens.mlm.objective import prediction_loss
from crosslens.mlm.pretrain import fresh_model, pretrain
from crosslens.mlm.pretrain_settings import Pretraining, Shape, Vocabulary, replaced
from crosslens.mlm.streams import next_subwords
from crosslens.mlm.vocabulary import VOCABULARIES

SMALL = Pretraining(
    corpora={"en": "en.txt", "fr": "fr.txt"},
    objective="causal",
    vocabulary=Vocabulary(size=120),
    batch=4,
    steps=40,
    shape=Shape(layers=2, width=32, heads=2, positions=24, embedding_range=0.2),
    embedding_learning_rate=5e-3,
    learning_rate=5e-3,
)


@pytest.fixture(scope="module")
def decoder(texts, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pretrained") / "decoder"
    losses = []
    pretrain(SMALL, folder, base=texts, device="cpu", stepped=lambda step, loss: losses.append(loss))
    return folder, losses


def test_each_subword_is_predicted_from_those_before_it(decoder):
    """As transformers computes the loss of labels, and whatever follows the predicted subword."""
    model = AutoModelForCausalLM.from_pretrained(decoder[0]).eval()
    ids = np.random.default_rng(0).integers(5, 100, size=(3, 12))
    with torch.inference_mode():
        loss, count = prediction_loss(model, (None, *next_subwords(ids)))
        wanted = model(input_ids=torch.from_numpy(ids), labels=torch.from_numpy(ids)).loss
    assert count == 3 * 11
    assert float(loss) / count == pytest.approx(float(wanted), rel=1e-5)


def test_it_learns_and_is_saved_as_a_causal_decoder(decoder):
    folder, losses = decoder
    assert np.mean(losses[-10:]) < 0.7 * losses[0]
    encoder = load_encoder(folder, device="cpu")
    assert (encoder.family.name, encoder.depth, encoder.width, encoder.capacity) == ("llama", 2, 32, 24)
    assert encoder.causal
    model = AutoModelForCausalLM.from_pretrained(folder)
    assert model.lm_head.weight is model.model.embed_tokens.weight
    assert 0.1 < float(model.lm_head.weight.detach().std()) < 0.4


def test_the_objective_is_part_of_the_settings_that_decide_the_weights(decoder, texts, tmp_path):
    pretrain(SMALL, tmp_path / "again", base=texts, device="cpu")
    pretrain(replaced(SMALL, {"masking.share": 0.5}), tmp_path / "masking", base=texts, device="cpu")
    pretrain(replaced(SMALL, {"objective": "masked"}), tmp_path / "masked", base=texts, device="cpu")
    digests = [
        load_encoder(f, device="cpu").digest for f in (decoder[0], *(tmp_path / n for n in ("again", "masking")))
    ]
    assert len(set(digests)) == 1  # nothing is masked
    assert load_encoder(tmp_path / "masked", device="cpu").family.name == "bert"


def test_a_decoder_has_no_language_specific_layers():
    with pytest.raises(RequestError, match="separate needs objective=masked"):
        replaced(SMALL, {"separate": "1"})


def test_a_decoder_has_the_dropout_of_its_settings():
    tokenizer = VOCABULARIES["words"](["the cat sees a dog"], size=20, positions=24)
    ids = torch.tensor([tokenizer("the cat sees a dog")["input_ids"]])
    for dropout in (0.0, 0.5):
        shape = SMALL.shape.model_copy(update={"dropout": dropout})
        model = fresh_model(SMALL.model_copy(update={"shape": shape}), {"en": tokenizer})
        first, second = (model.train()(ids).logits for _ in range(2))
        assert torch.equal(first, second) == (dropout == 0)
