"""Masked language modelling: pretrain an encoder, or adapt one to the text of a language."""
