"""Runs: what is made or trained once, what is asked of it, and the store that keeps both."""
