"""Encoders with code of their own: a BiLSTM baseline, the packaged multilingual-e5-small, language-specific parts."""
