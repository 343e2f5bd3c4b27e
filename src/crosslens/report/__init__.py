"""Tables, figures and an interactive page, made from results alone."""
