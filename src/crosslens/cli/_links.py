"""``crosslens align links``: align the words of parallel corpora."""

from pathlib import Path

import click

from crosslens.cli._names import CORPUS
from crosslens.cli._options import data_option, out_option
from crosslens.files import write_finished, write_text


@click.command("links")
@click.argument("corpus", type=CORPUS)
@click.argument("translations", type=CORPUS)
@click.option(
    "--sentences",
    type=click.IntRange(min=1),
    metavar="N",
    help="Sentences, from the first, whose links are written; all are aligned [default: all].",
)
@out_option("Output file")
@data_option
def links(corpus: str, translations: str, sentences: int | None, out: str, data: str | None) -> None:
    """Align the words of CORPUS with those of its TRANSLATIONS, for the intervention patch and for `align transfer`.

    Sentences are paired by their ids, or in order without ids. Each line of the file has the links of one sentence of
    CORPUS in Pharaoh format: 0-0 1-2. Needs eflomal, which samples without a seed: keep the file to repeat a study.
    """
    path = Path(out)

    from crosslens.cli._display import say
    from crosslens.corpora.catalogue import load_corpus
    from crosslens.corpora.translations import link_words
    from crosslens.data.links import as_text

    source, target = load_corpus(corpus, data=data), load_corpus(translations, data=data)
    aligned = link_words(source, target, sentences=sentences)
    write_finished(path, lambda file: write_text(file, as_text(aligned)))
    words = sum(len(sentence) for sentence in source.sentences[: len(aligned)])
    linked = sum(len({i for i, _ in pairs}) for pairs in aligned)
    say(f"{out}: {len(aligned):,} sentences, {linked:,} of {words:,} words of {source.name} have a link")
