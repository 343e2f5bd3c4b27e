"""Options of computing representations: pooling and precision."""

from typing import Literal

Pooling = Literal["mean", "first", "cls", "last", "muller2021-code"]
"""Which states an item's vector is the mean of.

``mean``: all its subwords', special tokens left out (Muller et al. 2021, section 2.2). They carry the sentence's length
into the mean and make unrelated sentences look alike. ``first``: the first subword's of every word. ``cls``: the
special token's before the first word. ``last``: the last subword's, which in a decoder is the only one that has seen
all others. ``muller2021-code``: what the paper's published script does. It reads the running text and writes special
tokens around it that the tokenizer then adds once more; the mean leaves out the outer ones and holds the inner ones.
"""

Precision = Literal["float32", "bfloat16"]
"""Number format of the forward and backward passes; parameters are float32 either way."""
