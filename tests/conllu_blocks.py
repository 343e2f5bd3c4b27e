"""Blocks of CoNLL-U that the tests write."""

WORD = "{}\t{}\t_\t{}\t_\t_\t{}\t{}\t_\t_"
PLAIN = [WORD.format(1, "dogs", "NOUN", 2, "nsubj"), WORD.format(2, "bark", "VERB", 0, "root")]


def block(*lines):
    return "\n".join(lines) + "\n\n"
