"""Corpora, dictionaries and parallel text, and the readers and writers of their file formats."""
