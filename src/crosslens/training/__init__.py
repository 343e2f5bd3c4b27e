"""One loop; fine-tuning and masked-language-model pretraining are two callers of it."""
