"""``crosslens transliterate``: transliterate a corpus into another script."""

from pathlib import Path

import click

from crosslens.cli._names import CORPUS
from crosslens.cli._options import data_option, out_option
from crosslens.errors import RequestError
from crosslens.files import write_finished, write_text
from crosslens.formatting import counted

SHOWN = 10
"""Number of letters without a rule that are named, the most frequent first."""


@click.command("transliterate")
@click.argument("corpus", type=CORPUS)
@click.option(
    "--scheme",
    required=True,
    metavar="NAME",
    help="Transliteration scheme: uroman, icu, icu:ID, a shipped table, or a .tsv file.",
)
@out_option("Output file")
@data_option
def command(corpus: str, scheme: str, out: str, data: str | None) -> None:
    """Transliterate CORPUS, annotated data or raw text, into another script, word by word.

    Every command that takes a corpus also takes ud/ug_udt@uyghur-latin, without a file. A .tsv table has one letter and
    its replacement per line, separated by a tab.
    """
    path = Path(out)

    from crosslens.cli._display import say
    from crosslens.corpora.catalogue import load_corpus, load_text, names_text
    from crosslens.data.formats import CONLLU, FORMATS, IOB2, LABELLED, Format
    from crosslens.data.sentence import Sentence
    from crosslens.data.transliteration import letters_left, transliterate

    raw = names_text(corpus)
    read = load_text(corpus, data=data) if raw else load_corpus(corpus, data=data)
    known: tuple[Format, ...] = LABELLED
    if raw:
        known = ()
    elif isinstance(first := read[0], Sentence):
        known = (CONLLU,) if first.entities is None else (IOB2, CONLLU) if first.upos or first.heads else (IOB2,)
    ending = path.suffix.lower()
    as_text = ending == ".txt" and not raw and IOB2 not in known  # it would be read back as raw text
    if as_text or (ending in FORMATS and FORMATS[ending] not in known):
        endings = " or ".join(format.ending for format in known) or ".txt"
        raise RequestError(f"--out {out}: {corpus} is written as {endings}", hint=f"name a file that ends in {endings}")
    written = transliterate(read, scheme)

    chosen = next((format for format in known if format.ending == ending), known[0] if known else None)

    def write(path: Path) -> None:
        if chosen is None:
            write_text(path, "".join(f"{item.text}\n" for item in written))
        else:
            chosen.write(written, path)

    write_finished(path, write)
    items = counted(len(written), written.unit, f"{written.unit}s")
    say(f"{out}: {items} of {written.name}, language {written.language or 'unknown'}")
    if left := letters_left(read, written):
        count = counted(sum(left.values()), "letter", "letters")
        say(f"{out}: {scheme} has no rule for {count}, most often {' '.join([*left][:SHOWN])}")
    if known == (IOB2, CONLLU):
        say(
            f"{out}: parts of speech and trees are left out; a file that ends in .conllu has them"
            if chosen is IOB2
            else f"{out}: entities are left out; a file that ends in .iob2 has them"
        )
