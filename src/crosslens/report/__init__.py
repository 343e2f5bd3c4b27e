"""Tables, figures and a page to click through, from records alone."""
