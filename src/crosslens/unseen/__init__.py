"""Languages that an encoder never saw: what it makes of their text, what to do, and what came of it."""
