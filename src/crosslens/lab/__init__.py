"""Artificial languages: one world, and languages that realise it, each in its own words and its own order.

`grammar.py` draws dependency trees, `world.py` fills their nodes with concepts, `language.py` gives the concepts words
and the trees an order, and `laboratory.py` makes corpora of it: everything is known, and every factor has a knob.
"""
