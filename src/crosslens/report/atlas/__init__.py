"""Encoders compared with one another, and the folder that publishes them."""
