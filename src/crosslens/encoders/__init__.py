"""A Hugging Face encoder: loading, layers, ablation, representations."""
