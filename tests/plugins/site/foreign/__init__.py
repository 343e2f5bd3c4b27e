"""A distribution that is not crosslens, and brings one part of every kind."""
