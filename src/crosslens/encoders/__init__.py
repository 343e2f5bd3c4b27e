"""Hugging Face encoders: load them, re-initialise or freeze layers, and extract representations."""
