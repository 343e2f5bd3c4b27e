"""``crosslens predict``: annotate a corpus."""

from pathlib import Path

import click

from crosslens.cli.options import data_option, device_option, out_option


@click.command("predict")
@click.argument("model")
@click.argument("corpus")
@out_option("The file to write, .conllu, .iob2 or .tsv")
@data_option
@device_option
def command(model: str, corpus: str, out: str, data: str | None, device: str | None) -> None:
    """Annotate CORPUS with MODEL; everything else in it is kept as it is.

    CORPUS is a name, a .conllu or IOB file, or a .txt file that has a sentence a line, its words between spaces.
    Trees and tags of words are written as CoNLL-U, entities as IOB2, labels of texts as .tsv.
    """
    from crosslens.errors import RequestError
    from crosslens.files import refuse_existing

    refuse_existing(out)

    from crosslens.catalogue import load_corpus
    from crosslens.cli.show import progress, say
    from crosslens.training.checkpoint import load_model
    from crosslens.training.predict import predict
    from crosslens.training.predictions import prediction_suffix, write_predictions

    read = load_corpus(corpus, data=data)
    loaded = load_model(model, device=device)
    if Path(out).suffix in (".conllu", ".iob2", ".tsv") and Path(out).suffix != prediction_suffix(loaded.task):
        raise RequestError(f"--out {out}: {loaded.task.name} is written as {prediction_suffix(loaded.task)}")
    with progress() as bar:
        predicted = predict(loaded, read, progress=bar)
    write_predictions(loaded.task, predicted, Path(out))
    what = "texts" if prediction_suffix(loaded.task) == ".tsv" else f"sentences, {read.words} words"
    say(f"{out}: {len(read)} {what}, {loaded.task.name} predicted")
