"""Claims and sentences by hand, where the laws of `test_findings_laws` are also satisfied by fewer claims."""

import pytest

from crosslens.encoders.condition import Condition
from crosslens.report.findings import LowestCarry, conclusions, effects, findings
from crosslens.results.record import Results
from made_records import made_up, similarity

PAIRS = {f"{low}-{low + 1}": 18.0 if low == 1 else 1.0 for low in range(1, 12, 2)}


@pytest.mark.parametrize(
    ("more", "carried"), [({}, True), ({"1-4": 28.0}, True), ({"1-4": 2.0}, False), ({"1": 2.0}, True)]
)
def test_the_lowest_layers_carry_transfer_only_if_more_of_them_cost_it_too(more, carried):
    (effect,) = effects(made_up({**PAIRS, **more}))
    assert any(isinstance(claim, LowestCarry) for claim in conclusions(effect)) is carried


def translations(pretrained, untrained, *, targets=("fr", "de")):
    return Results.of(
        similarity(measure, value, layer=layer, target=target, **columns)
        for state, values in (("pretrained", pretrained), ("untrained", untrained))
        for layer, value in enumerate(values)
        for target in targets
        for measure in ("cka", "cka_length_matched")
        for columns in ({} if state == "pretrained" else {**Condition(layers="0-1").columns, "state": state},)
    )


@pytest.mark.parametrize(
    ("pretrained", "untrained", "words"),
    [
        ((0.9, 0.5), (0.8, 0.1), "layer 1 (0.50 against 0.10)"),
        ((0.2, 0.5), (0.9, 0.1), "layer 0 (0.20 against 0.90)"),
        ((0.1, 0.5), (0.5, 0.6), "layer 0 (0.10 against 0.50)"),
    ],
)
def test_the_layer_where_two_encoders_differ_most_whichever_is_higher(pretrained, untrained, words):
    (text,) = findings(translations(pretrained, untrained))
    assert f"The two encoders differ most in {words}." in text


def test_a_language_with_itself_is_not_a_pair_of_translations():
    same = translations((1.0, 1.0), (1.0, 1.0), targets=("en",))
    (text,) = findings(translations((0.9, 0.5), (0.8, 0.1)) + same)
    assert (
        "the CKA of translations is 0.90 in the embeddings and 0.50 in the last layer (mean of 2 language pairs)"
        in text
    )
    assert findings(same) == []
