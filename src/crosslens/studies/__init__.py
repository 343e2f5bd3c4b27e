"""Studies: a file that says what to train and evaluate, the plan of its runs, and the store that keeps them."""
