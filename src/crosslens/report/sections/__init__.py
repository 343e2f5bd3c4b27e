"""Sections of the page below scores and similarity: a heading, a note, and charts that share the page's state."""
