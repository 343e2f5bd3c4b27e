"""``crosslens predict``: annotate a corpus."""

from pathlib import Path

import click

from crosslens.cli._options import data_option, device_option, out_option


@click.command("predict")
@click.argument("model")
@click.argument("corpus")
@out_option("Output file (.conllu, .iob2 or .tsv)")
@data_option
@device_option
def command(model: str, corpus: str, out: str, data: str | None, device: str | None) -> None:
    """Annotate CORPUS with MODEL; all other annotation is kept.

    CORPUS is a name, a .conllu or IOB file, or a .txt file with one tokenised sentence per line. Trees and
    word tags are written as CoNLL-U, entities as IOB2, text labels as .tsv.
    """
    from crosslens.errors import RequestError
    from crosslens.files import refuse_existing, write_finished

    refuse_existing(out)

    from crosslens.cli._display import progress, say
    from crosslens.corpora.catalogue import load_corpus
    from crosslens.data.formats import FORMATS
    from crosslens.data.sentence import Sentence
    from crosslens.training.checkpoint import load_model
    from crosslens.training.predict import predict

    loaded = load_model(model, device=device)
    task, ending = loaded.task, loaded.task.format.ending
    if Path(out).suffix in (*FORMATS, ending) and Path(out).suffix != ending:
        raise RequestError(
            f"--out {out}: {task.name} is written as {ending}", hint=f"name a file that ends in {ending}"
        )
    items = load_corpus(corpus, data=data, format=task.format)
    with progress() as bar:
        predicted = predict(loaded, items, progress=bar)
    write_finished(out, lambda path: task.format.write(predicted, path))
    unit = f"sentences, {items.words} words" if isinstance(items[0], Sentence) else "texts"
    say(f"{out}: {len(items)} {unit}, {task.name} predicted")
