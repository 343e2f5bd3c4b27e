"""``crosslens finetune``: fine-tune on one language, evaluate on others."""

from typing import Any, Literal

import click

from crosslens.cli._interventions import intervention_options
from crosslens.cli._names import ENCODER, TASK
from crosslens.cli._options import (
    corpus_option,
    data_option,
    device_option,
    json_option,
    new_folder_option,
    out_option,
    read_settings,
    recipe_option,
    save_every_option,
    seed_option,
    setting_option,
    split_names,
    test_option,
    track_option,
)
from crosslens.encoders.interventions import INTERVENTIONS


@click.command("finetune")
@click.argument("task", type=TASK)
@click.argument("encoder", type=ENCODER)
@corpus_option("--train", "Training data: ud/en_ewt, wikiann/en, a file, or several joined by +.", required=True)
@corpus_option("--dev", "Development data [default: the dev split of the training data, if the recipe needs it].")
@test_option
@intervention_options(*INTERVENTIONS.built_in.values())
@recipe_option("muller2021.TASK", "wu2019.TASK for document and nli", "bilstm.TASK for ENCODER bilstm")
@setting_option("Override of a training setting, e.g. epochs=1.")
@click.option("--vectors", metavar="FILE", help="Pretrained word vectors for ENCODER bilstm, in fastText's format.")
@seed_option("Random seed of re-initialised layers, task head and data order.")
@out_option("Folder for results.csv and run.json")
@click.option("--keep-model", "keep", flag_value="model", help="Save the fine-tuned model in OUT/model.")
@new_folder_option("--predictions", "Folder for the predictions; must not exist yet.")
@save_every_option(500, "Number of steps between checkpoints in OUT.state, from which the same command resumes.")
@track_option
@data_option
@device_option
@json_option
def command(
    task: str,
    encoder: str,
    train: str,
    dev: str | None,
    test: str,
    recipe: str | None,
    settings: tuple[str, ...],
    vectors: str | None,
    seed: int,
    out: str,
    keep: Literal["model"] | None,
    predictions: str | None,
    save_every: int,
    track: str | None,
    data: str | None,
    device: str | None,
    as_json: bool,
    **condition: Any,
) -> None:
    """Fine-tune ENCODER (a hub name or a folder) for TASK on one language, and evaluate it on others.

    Use ENCODER bilstm for a baseline without pretraining, and lab:good for the encoder of a laboratory.

    \b
    crosslens finetune pos bert-base-multilingual-cased --train ud/en_ewt \\
        --test ud/en_pud,ud/fr_pud --random-init 1-2 --seed 1 --out results/pos-1-2
    """
    from crosslens.cli._display import progress
    from crosslens.runs.finetuning import finetune_and_evaluate

    with progress() as bar:
        results = finetune_and_evaluate(
            encoder,
            task,
            train=train,
            tests=split_names(test),
            dev=dev,
            condition={key: value for key, value in condition.items() if value is not None},
            recipe=recipe,
            settings=read_settings(settings),
            vectors=vectors,
            seed=seed,
            out=out,
            keep=keep or "results",
            predictions=predictions,
            save_every=save_every,
            data=data,
            device=device,
            track=track,
            progress=bar,
        )
    if len(results):  # under torchrun, only the first process has them
        from crosslens.cli._evaluation import show_results
        from crosslens.tasks import find_task

        chosen = find_task(task)
        show_results(
            results,
            chosen,
            title=f"{task} {chosen.metric}, trained on {results.records['train'][0]}",
            note=f"seed {seed}; {out}/results.csv has intervals and signatures",
            as_json=as_json,
        )
