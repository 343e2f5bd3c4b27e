"""Language modelling: pretrain an encoder or a decoder, or adapt an encoder to the text of a language."""
