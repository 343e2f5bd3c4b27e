"""An intervention: every weight of chosen layers times a factor."""

import copy
from dataclasses import replace
from typing import ClassVar

from crosslens.encoders.interventions.change import Change
from crosslens.encoders.interventions.intervention import Intervention, Layers
from crosslens.encoders.layers import format_layers, parse_layers


class Scale(Intervention):
    """Multiply the weights of layers."""

    kind = "scale"
    keys: ClassVar = {"scale": "layers", "by": "factor"}
    verb = "scaled"

    layers: Layers
    factor: float = 0.5

    @property
    def label(self):
        return f"{self.layers} times {self.factor:g}"

    @property
    def acts_on(self):
        return self.layers

    def apply(self, encoder, *, seed):
        copied = replace(encoder, model=copy.deepcopy(encoder.model))
        names = {id(parameter): name for name, parameter in copied.model.named_parameters()}
        changed = []
        for layer in parse_layers(self.layers, encoder.depth):
            for parameter in copied.layers[layer - 1].parameters():
                parameter.data *= self.factor
                changed.append(names[id(parameter)])
        done = self.model_copy(update={"layers": format_layers(parse_layers(self.layers, encoder.depth))})
        return copied.changed(Change(done, tensors=tuple(changed)), since=encoder)
