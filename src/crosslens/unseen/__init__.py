"""Transfer to languages that an encoder was not pretrained on: evidence from raw text, advice, and typology."""
