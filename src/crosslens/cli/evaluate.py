"""``crosslens evaluate``: evaluate a fine-tuned model on more corpora."""

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from crosslens.cli._interventions import precision_option
from crosslens.cli._options import (
    SEED,
    data_option,
    device_option,
    json_option,
    new_folder_option,
    out_option,
    test_option,
)
from crosslens.files import refuse_inside, write_folder

if TYPE_CHECKING:
    from crosslens.encoders.condition import Condition


@click.command("evaluate")
@click.argument("model")
@test_option
@click.option(
    "--intervene",
    "interventions",
    multiple=True,
    metavar="ADDRESS:KIND",
    help="Intervention on the model: 5-6:mean, 5.attention.head.3:zero, 1-2:swap=FOLDER. Can be repeated.",
)
@click.option("--seed", type=SEED, help="Random seed of the interventions [default: that of the model's training].")
@out_option("Folder for results.csv")
@new_folder_option("--predictions", "Folder for the predictions; must not exist yet.")
@precision_option
@data_option
@device_option
@json_option
def command(
    model: str,
    test: str,
    interventions: tuple[str, ...],
    seed: int | None,
    out: str,
    predictions: str | None,
    precision: Any,
    data: str | None,
    device: str | None,
    as_json: bool,
) -> None:
    """Evaluate MODEL, a folder written by `crosslens finetune --keep-model`, on more corpora.

    \b
    --intervene ablates or exchanges parts of the model, without training it again:
      5-6:zero, 5-6:mean, 5-6:resample   zeros, the mean over the corpus, another sentence's states
      5.output:noise=0.5                 noise of half the size of the states
      5.output:rotate=30                 states turned by 30 degrees
      5.output:erase=ud/en_pud           states moved to this corpus's mean: erases their language
      5.output:patch=ud/en_pud           states of the translations with the same ids in this corpus
      5.output:patch=ud/en_pud;links=en-fr.links    with these word alignments [default: computed with eflomal]
      1-2:revert                         the pretrained weights
      1-2:swap=FOLDER                    the weights of another model or encoder
      1-2:add=FOLDER                     the change that another training made, added
      1-2:add=FOLDER;scale=0.5           half of that change
    `crosslens encoders show ENCODER --addresses` lists the addresses.
    """
    refuse_inside(predictions, out, what="--predictions")

    from crosslens.cli._display import progress
    from crosslens.cli._evaluation import find_folder, load_tests, show_results
    from crosslens.encoders.interventions.swap import Add, Revert
    from crosslens.runs.leakage import model_warnings
    from crosslens.runs.recorded import write_recorded
    from crosslens.tasks.prediction_files import prediction_files
    from crosslens.training.checkpoint import load_model
    from crosslens.training.evaluate import evaluate
    from crosslens.training.intervene import intervene, parse_intervention
    from crosslens.training.model import in_precision

    conditions = [parse_intervention(text) for text in interventions]
    computing = in_precision(load_model(model, device=device), precision)
    task = computing.task
    tests = load_tests(test, data=data, format=task.format)
    if predictions:
        prediction_files(task, tests)
    parsed = [_from_folders(condition) for condition in conditions]
    needed = any(isinstance(part, Revert | Add) for condition in parsed for part in condition.interventions)
    pretrained = find_folder(computing.encoder.name) if needed else None  # lab:good is not a folder
    loaded = intervene(computing, *parsed, seed=seed, pretrained=pretrained, data=data)
    with progress() as bar:
        for warning in model_warnings(computing, tests):
            bar.say(warning)
        results = evaluate(loaded, tests, predictions=predictions, progress=bar)
    write_folder(out, partial(write_recorded, results))
    show_results(
        results,
        task,
        title=f"{task.name} {task.metric} of {model}",
        note=f"{out}/results.csv has intervals and signatures",
        as_json=as_json,
    )


def _from_folders(condition: "Condition") -> "Condition":
    """Replace ``lab:good``, which layers or changes come from, by the folder of the laboratory's encoder."""
    from crosslens.cli._evaluation import find_folder
    from crosslens.encoders.interventions.swap import FromOther

    part = condition.find(FromOther)
    if part is None:
        return condition
    return condition.of((part.model_copy(update={"other": find_folder(part.other)}),))
