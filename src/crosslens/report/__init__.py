"""Tables, figures and an interactive page, made from results alone.

Where the results do not fill it, a table is left out and a figure raises a `RequestError`. Records that contradict one
another raise one everywhere.
"""
