"""Which parameters decay in architectures whose biases are not vectors."""

from crosslens.training.loop import parameter_groups
from toy_architectures import fresh
from toys import word_piece


def test_biases_of_two_dimensions_do_not_decay():
    model = fresh("xlnet", 0, word_piece())
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    decaying, others = parameter_groups(model, learning_rate=1.0, weight_decay=0.1)
    assert (decaying["weight_decay"], others["weight_decay"]) == (0.1, 0.0)
    decayed, kept = ({names[id(parameter)] for parameter in group["params"]} for group in (decaying, others))
    assert decayed | kept == set(names.values())
    assert "layer.0.rel_attn.q" in decayed
    assert {name for name in names.values() if "bias" in name} <= kept
