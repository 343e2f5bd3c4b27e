"""Readouts: networks trained on the states of an encoder's layers, which task heads read in place of the top layer."""
