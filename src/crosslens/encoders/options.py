"""Options of representations: pooling and numerical precision."""

from typing import Literal

Pooling = Literal["mean", "first", "cls", "last", "muller2021-code"]
"""States averaged into the vector of an item.

``mean``: all subwords (Muller et al. 2021, section 2.2). Special tokens are left out: they would carry the sentence
length into the mean and make unrelated sentences look alike. ``first``: the subword that represents each word, which is
the first one unless `Encoder.reading` says otherwise. ``cls``: the special token before the first word. ``last``: the
last subword, the only one that attends to all others in a decoder. ``muller2021-code``: as in the paper's published
script, which writes special tokens around the running text before the tokenizer adds them again; the mean includes the
inner ones but not the outer ones.
"""

Precision = Literal["float32", "bfloat16"]
"""Number format of the forward and backward passes. Parameters that are trained are float32 either way."""

ONLY_IN_FLOAT32 = ("deberta",)
"""Families whose forward pass fails in bfloat16: DeBERTa masks scores with the smallest float32 number."""

LastLayer = Literal["raw", "normalised"]
"""What is taken of the last layer: its ``raw`` output, comparable with that of lower layers, or what task heads read,
the output ``normalised`` by the architecture's final normalisation, which most decoders and many encoders have."""
