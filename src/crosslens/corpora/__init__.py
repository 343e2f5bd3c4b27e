"""Corpora by name: collections of treebanks, parallel text and dictionaries, and how their files are found and read."""
