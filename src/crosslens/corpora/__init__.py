"""Load corpora, parallel text and dictionaries by name."""
