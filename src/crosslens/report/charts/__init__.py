"""Figures, drawn with altair."""
