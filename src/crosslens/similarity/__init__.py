"""How alike two sets of representations are."""
