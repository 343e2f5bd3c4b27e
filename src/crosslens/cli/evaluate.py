"""``crosslens evaluate``: a model that is there, on more corpora."""

import click

from crosslens.cli.options import data_option, device_option, out_option, split_names


@click.command("evaluate")
@click.argument("model")
@click.option(
    "--test", required=True, metavar="CORPORA", help="Evaluated on, separated by commas; ud/*_pud is all PUD."
)
@out_option("Folder for results.csv")
@data_option
@device_option
def command(model: str, test: str, out: str, data: str | None, device: str | None) -> None:
    """Score MODEL, a folder that `crosslens finetune --keep-model` wrote, on more corpora."""
    from crosslens.files import new_folder, refuse_existing

    refuse_existing(out)

    from crosslens.catalogue import load_corpus, match_corpora

    names = [name for pattern in split_names(test) for name in match_corpora(pattern, data=data)]
    tests = [load_corpus(name, data=data) for name in names]

    from crosslens.cli.show import print_table, progress, say_oddities
    from crosslens.training.checkpoint import load_model
    from crosslens.training.evaluate import evaluate

    loaded = load_model(model, device=device)
    with new_folder(out) as folder:
        with progress("evaluating") as bar:
            finished = []

            def after_corpus(gold, predicted) -> None:  # noqa: ANN001
                finished.append(gold)
                bar.show(len(finished), len(tests), gold.name)

            results = evaluate(loaded, tests, done=after_corpus)
        results.write(folder / "results.csv")
    metric = loaded.task.metric
    shown = results.filter(metric=metric)
    say_oddities(shown)
    print_table(shown.table(), title=f"{loaded.task.name} {metric} of {model}")
