"""Runs: encoders and models that are trained once, their evaluations, and the store that keeps the results."""
