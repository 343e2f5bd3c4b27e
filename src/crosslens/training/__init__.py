"""Fine-tuning, prediction and evaluation; `loop` also trains masked language models."""
