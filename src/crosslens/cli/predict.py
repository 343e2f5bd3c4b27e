"""``crosslens predict``: annotate a corpus."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from crosslens.cli._interventions import precision_option
from crosslens.cli._names import CORPUS
from crosslens.cli._options import data_option, device_option, out_option
from crosslens.errors import RequestError
from crosslens.files import write_finished


@click.command("predict")
@click.argument("model")
@click.argument("corpus", type=CORPUS)
@out_option("Output file (.conllu, .iob2, .tsv, .csv or .jsonl)")
@click.option(
    "--split-words",
    is_flag=True,
    help="Split the lines of a .txt file into words at spaces and punctuation. A tokeniser made for the treebank's"
    " language is better: it also splits clitics and contractions.",
)
@precision_option
@data_option
@device_option
def command(
    model: str, corpus: str, out: str, split_words: bool, precision: Any, data: str | None, device: str | None
) -> None:
    """Annotate CORPUS with MODEL; annotation of MODEL's task is replaced, and all other is kept.

    CORPUS is a name, a .conllu or IOB file, or a .txt file with one sentence per line, its words and punctuation marks
    separated by spaces (or with --split-words). Texts are read from .tsv, .csv or .jsonl files with a column text, or
    from a .txt file with one text per line. Trees and word tags are written as CoNLL-U, entities as IOB2, text labels
    as .tsv, .csv or .jsonl, with the texts and the column id (not of pairs in .tsv), but no other columns.
    """
    from crosslens.cli._display import progress, say
    from crosslens.corpora.catalogue import load_text, names_text
    from crosslens.data.formats import LABELLED
    from crosslens.data.formats.text import cut_words
    from crosslens.data.sentence import Sentence
    from crosslens.training.checkpoint import load_model
    from crosslens.training.model import in_precision
    from crosslens.training.predict import predict

    loaded = in_precision(load_model(model, device=device), precision)
    task, ending = loaded.task, Path(out).suffix
    known = LABELLED if task.format in LABELLED else (task.format,)
    if ending not in {format.ending for format in known}:
        endings = " or ".join(format.ending for format in known)
        raise RequestError(
            f"--out {out}: {task.name} is written as {endings}", hint=f"name a file that ends in {endings}"
        )
    if split_words and task.format in LABELLED:
        raise RequestError(f"--split-words: {task.name} reads running text", hint="leave it out")
    if split_words and not names_text(corpus):
        raise RequestError(f"--split-words: {corpus} is not raw text", hint="leave it out, or give a .txt file")
    format = next((format for format in known if format.ending == ending), task.format)
    given: Any = load_text(corpus, data=data) if split_words else corpus
    if split_words:  # the file keeps the running text beside the words
        sentences = zip(cut_words(given).sentences, given, strict=True)
        items = tuple(replace(words, lines=(f"# text = {text.text}\n",)) for words, text in sentences)
        given = replace(given, items=items)
    with progress() as bar:
        predicted = predict(loaded, given, data=data, progress=bar)
    write_finished(out, lambda path: format.write(predicted, path))
    unit = f"sentences, {predicted.words} words" if isinstance(predicted[0], Sentence) else "texts"
    say(f"{out}: {len(predicted)} {unit}, {task.name} predicted")
