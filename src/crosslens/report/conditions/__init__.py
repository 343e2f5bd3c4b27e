"""Scores by condition: what is compared, and tables in the forms of the papers."""
