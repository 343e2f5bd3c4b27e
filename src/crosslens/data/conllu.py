"""CoNLL-U under its public name: `read` and `write` of `crosslens.data.formats.conllu`."""

from crosslens.data.formats.conllu import read, write

__all__ = ["read", "write"]
