"""Addresses: what they mean, and what is refused."""

import pytest

from crosslens.encoders.states.address import Address
from crosslens.errors import EncoderError


@pytest.mark.parametrize(
    "text",
    ["5", "5-6", "1-3,7", "all", "0", "5.attention", "5-6.ffn", "5.output", "5.attention.head.3", "5.ffn.neuron.17-20"],
)
def test_an_address_is_written_as_it_is_read(text):
    assert str(Address.parse(text)) == text


def test_spaces_and_order_name_no_other_address():
    assert Address.parse(" 5 . attention.head. 3,1-2 ") == Address.parse("5.attention.head.1-3")


@pytest.mark.parametrize(
    "text",
    [
        "",
        ".",
        "5.",
        "5.all",
        "5.norms",
        "5.attention.3",
        "5.attention.neuron.3",
        "5.ffn.head.1",
        "5.output.neuron.1",
        "5.attention.head.",
        "5.attention.head.3-1",
        "5.attention.head.x",
        "5:6",
    ],
)
def test_other_texts_are_refused(text):
    with pytest.raises(EncoderError, match="address"):
        Address.parse(text)


@pytest.mark.parametrize(
    ("text", "each"),
    [
        ("*", ["1", "2"]),
        ("*.output", ["1.output", "2.output"]),
        ("*.attention.head.1", ["1.attention.head.1", "2.attention.head.1"]),
        ("2.attention.head.*", ["2.attention.head.0", "2.attention.head.1", "2.attention.head.2"]),
        ("1-2.attention.head.*", [f"1-2.attention.head.{head}" for head in range(3)]),
        ("1-2.ffn.neuron.3", []),
    ],
)
def test_a_star_stands_for_each_layer_and_head(text, each):
    address = Address.parse(text)
    assert str(address) == text
    assert [str(one) for one in address.each(depth=2, heads=3)] == each


def test_each_of_thousands_of_neurons_is_refused():
    with pytest.raises(EncoderError, match="too many neurons"):
        Address.parse("1.ffn.neuron.*").each(depth=2, heads=3)


def test_layers_are_scaled_and_heads_are_not():
    assert str(Address.parse("1-2.attention.head.3").scaled(written_for=12, depth=24)) == "1-4.attention.head.3"
