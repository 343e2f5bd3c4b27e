"""What commands compare and probe: an encoder, or that of a fine-tuned model, as the options change it."""

from crosslens.cli._evaluation import load_subject
from crosslens.encoders.condition import Condition
from crosslens.encoders.interventions.read_as import read_as
from crosslens.encoders.load import load_encoder
from crosslens.encoders.reinit import random_init


def test_an_encoder_is_reinitialised_and_read_as_the_options_say(tiny_bert):
    encoder, model = load_subject(
        str(tiny_bert), {"repeat": 2, "precision": None}, device="cpu", random_init="1", seed=3
    )
    expected = read_as(random_init(load_encoder(tiny_bert, device="cpu"), "1", seed=3), repeat=2)
    assert model is None
    assert encoder.condition == expected.condition == Condition(layers="1", repeat=2)
    assert encoder.digest == expected.digest
    unchanged, _ = load_subject(str(tiny_bert), {}, device="cpu")
    assert unchanged.condition.is_reference
    assert unchanged.digest != encoder.digest
