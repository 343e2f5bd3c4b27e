"""``crosslens evaluate``: evaluate a fine-tuned model on more corpora."""

from functools import partial

import click

from crosslens.cli._names import CORPORA
from crosslens.cli._options import data_option, device_option, json_option, out_option


@click.command("evaluate")
@click.argument("model")
@click.option(
    "--test",
    required=True,
    type=CORPORA,
    metavar="CORPORA",
    help="Test corpora, separated by commas; ud/*_pud is all PUD.",
)
@out_option("Folder for results.csv")
@click.option("--predictions", metavar="FOLDER", help="Folder for the predictions; must not exist yet.")
@data_option
@device_option
@json_option
def command(
    model: str, test: str, out: str, predictions: str | None, data: str | None, device: str | None, as_json: bool
) -> None:
    """Evaluate MODEL, a folder written by `crosslens finetune --keep-model`, on more corpora."""
    from crosslens.files import refuse_existing, write_folder

    refuse_existing(out)
    if predictions:
        refuse_existing(predictions, what="--predictions")

    from crosslens.cli._display import progress
    from crosslens.cli._evaluation import load_tests, show_results
    from crosslens.runs.recorded import write_recorded
    from crosslens.training.checkpoint import load_model
    from crosslens.training.evaluate import evaluate
    from crosslens.training.prediction_files import prediction_files

    loaded = load_model(model, device=device)
    task = loaded.task
    tests = load_tests(test, data=data, format=task.format)
    if predictions:
        prediction_files(task, tests)
    with progress() as bar:
        results = evaluate(loaded, tests, predictions=predictions, progress=bar)
    write_folder(out, partial(write_recorded, results))
    show_results(results, task, title=f"{task.name} {task.metric} of {model}", form="json" if as_json else "table")
