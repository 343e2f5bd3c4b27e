"""Studies: a file that declares models, data and analyses, and the planning and running of its runs."""
