"""What the passes of a model are computed in; its parameters are float32 either way."""

from typing import Literal

Precision = Literal["float32", "bfloat16"]
