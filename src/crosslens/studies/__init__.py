"""Studies: files that declare models, data and analyses, and the code that plans and runs them."""
