"""Tables and figures for papers, from records alone."""
