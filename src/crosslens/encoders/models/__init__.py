"""Model code: a BiLSTM baseline, the packaged multilingual-e5-small, and BERT with language-specific layers."""
