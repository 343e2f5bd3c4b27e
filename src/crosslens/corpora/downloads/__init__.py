"""Download published corpora: `get` fetches their files, checks and unpacks them, and arranges them to be read."""
