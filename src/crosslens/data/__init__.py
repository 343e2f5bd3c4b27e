"""Immutable values, and one file a format."""
