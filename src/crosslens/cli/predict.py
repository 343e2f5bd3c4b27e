"""``crosslens predict``: annotate a corpus."""

import click

from crosslens.cli.options import data_option, device_option, out_option


@click.command("predict")
@click.argument("model")
@click.argument("corpus")
@out_option("The .conllu file to write")
@data_option
@device_option
def command(model: str, corpus: str, out: str, data: str | None, device: str | None) -> None:
    """Annotate CORPUS, a name or a .conllu file, with MODEL; everything else in it is kept as it is."""
    from crosslens.files import refuse_existing

    refuse_existing(out)

    from crosslens.catalogue import load_corpus
    from crosslens.cli.show import say
    from crosslens.data.conllu import write
    from crosslens.training.checkpoint import load_model
    from crosslens.training.predict import predict

    read = load_corpus(corpus, data=data)
    loaded = load_model(model, device=device)
    write(predict(loaded, read), out)
    say(f"{out}: {len(read)} sentences, {read.words} words, {loaded.task.name} predicted")
