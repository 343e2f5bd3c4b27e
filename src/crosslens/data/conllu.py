"""Public alias of `crosslens.data.formats.conllu`: read and write CoNLL-U."""

from crosslens.data.formats.conllu import read, write

__all__ = ["read", "write"]
