"""Artificial languages with gold annotation: grammars, lexicons and corpora generated from shared concepts.

`grammar.py` generates dependency trees and `world.py` fills them with concepts. `language.py` sets word order,
`lexicon.py` the words, and `laboratory.py` builds the corpora.
"""
