"""Records of what was measured, and the one rule by which tables are made of them (`cells`)."""
