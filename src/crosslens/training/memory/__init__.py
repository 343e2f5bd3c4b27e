"""Memory of training: estimated before it begins, and saved by computing again."""
