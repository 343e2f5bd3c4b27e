from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crosslens.encoders.layers import format_layers, name_layer, pair_layers, parse_layers, scale_layers
from crosslens.errors import EncoderError, RequestError


@pytest.mark.parametrize(
    ("spec", "layers"),
    [
        ("1-2", (1, 2)),
        ("1-3,7", (1, 2, 3, 7)),
        ("all", tuple(range(1, 13))),
        ("0", (0,)),
        ("0,all", tuple(range(13))),
        (" 11 - 12 , 1", (1, 11, 12)),
        (5, (5,)),
        (np.int64(5), (5,)),
        (np.arange(1, 3), (1, 2)),
        ((2, 1, 2), (1, 2)),
        ("3-3", (3,)),
    ],
)
def test_what_names_mean(spec, layers):
    assert parse_layers(spec, 12) == layers


@given(st.sets(st.integers(0, 24), min_size=1))
def test_round_trip(layers):
    assert parse_layers(format_layers(layers), 24) == tuple(sorted(layers))


def test_a_layer_given_twice_is_written_once():
    assert format_layers((2, 1, 2, 4, 4)) == "1-2,4"


@given(st.integers(1, 24), st.integers(1, 24), st.data())
def test_layers_of_another_depth_are_those_that_they_overlap(depth, other, data):
    """Both stacks drawn equally tall: layer l of n reaches from (l - 1) / n to l / n."""
    named = data.draw(st.sets(st.integers(0, depth), min_size=1))

    def ends(layer, of):
        return Fraction(layer - 1, of), Fraction(layer, of)

    overlapped = {
        layer
        for layer in range(1, other + 1)
        for low, high in [ends(layer, other)]
        if any(low < top and bottom < high for bottom, top in (ends(each, depth) for each in named if each))
    } | ({0} & named)
    assert set(parse_layers(scale_layers(format_layers(named), depth, other), other)) == overlapped
    assert scale_layers(format_layers(named), None, depth) == format_layers(named)


@pytest.mark.parametrize("spec", ["", "x", "1-", "-1", "1--2", "1;2", "1.5", "all-2", "²", [], (), None, 1.0, ["1"]])
def test_nonsense_is_refused(spec):
    with pytest.raises(EncoderError, match=r"invalid layers|no layers given"):
        parse_layers(spec, 12)


def test_what_is_not_there_is_refused_with_what_is():
    with pytest.raises(EncoderError, match=r"layer 13 does not exist.*layers 1 to 12"):
        parse_layers("12-13", 12)
    with pytest.raises(EncoderError, match="layer -1 does not exist"):
        parse_layers([-1], 12)
    with pytest.raises(EncoderError, match=r"invalid layer range.*write 1-2"):
        parse_layers("2-1", 12)
    with pytest.raises(EncoderError, match="layer 99999999 does not exist"):
        parse_layers("1-99999999", 12)


@pytest.mark.parametrize(
    ("depths", "pairs"),
    [
        ((6, 12), [(layer, 2 * layer) for layer in range(7)]),
        ((12, 6), [(2 * layer, layer) for layer in range(7)]),
        ((3, 4), [(0, 0), (1, 1), (2, 3), (3, 4)]),
        ((3, 3), [(0, 0), (1, 1), (2, 2), (3, 3)]),
        ((0, 2), [(0, 0)]),
    ],
)
def test_layers_at_the_same_relative_depth(depths, pairs):
    first, second = (SimpleNamespace(name=name, depth=depth) for name, depth in zip("ab", depths, strict=True))
    assert pair_layers(first, second, layers="relative") == pairs


def test_layers_of_the_same_number_need_the_same_depth():
    first, second = SimpleNamespace(name="a", depth=2), SimpleNamespace(name="b", depth=1)
    assert pair_layers(first, first) == [(0, 0), (1, 1), (2, 2)]
    assert len(pair_layers(first, second, layers="all-pairs")) == 6
    with pytest.raises(RequestError, match="same number of layers, but a has 2, b 1") as error:
        pair_layers(first, second)
    assert error.value.hint is not None
    assert "--against-layers relative of align transfer" in error.value.hint  # its --layers are numbers


def test_the_other_layer_is_named_unless_it_is_the_same_one_of_encoders_as_deep():
    deep, flat = SimpleNamespace(name="a", depth=4), SimpleNamespace(name="b", depth=2)
    assert name_layer((1, 1), deep, deep) == {"layer": 1, "target_layer": None}
    assert name_layer((1, 2), deep, deep) == {"layer": 1, "target_layer": 2}
    assert name_layer((0, 0), deep, flat) == {"layer": 0, "target_layer": 0}
    assert name_layer((4, 2), deep, flat) == {"layer": 4, "target_layer": 2}
