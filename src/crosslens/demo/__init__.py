"""Demonstration of a whole study, on artificial languages or on a small sample of real ones."""
