"""Model code: a BiLSTM baseline, encoders that PyPI packages contain, and BERT with language-specific layers."""
