"""``crosslens finetune``: the main job."""

import json
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import click

from crosslens.cli.options import data_option, device_option, out_option, read_settings

if TYPE_CHECKING:
    from crosslens.encoders.changes import Components, Init


@click.command("finetune")
@click.argument("task")
@click.argument("encoder")
@click.option("--train", required=True, metavar="CORPUS", help="Training data: ud/en_ewt, wikiann/en, or a file.")
@click.option("--dev", metavar="CORPUS", help="Development data [the same treebank's dev split].")
@click.option(
    "--test", required=True, metavar="CORPORA", help="Evaluated on, separated by commas; ud/*_pud is all PUD."
)
@click.option("--random-init", metavar="LAYERS", help="Layers drawn anew before training: 1-2, or all, or 0,all.")
@click.option("--components", default="all", show_default=True, help="Which parts of them: attention, ffn, norms.")
@click.option("--init", default="architecture", show_default=True, help="How they are drawn: architecture or torch.")
@click.option("--freeze", metavar="LAYERS", help="Layers that are not trained; 0 is the embeddings.")
@click.option("--recipe", metavar="NAME", help="Named settings [muller2021.TASK]; see `crosslens list recipes`.")
@click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help="Override one, e.g. epochs=1.")
@click.option("--vectors", metavar="FILE", help="Of a bilstm: given vectors of words, in fastText's format.")
@click.option("--seed", type=int, default=1, show_default=True, help="Of the fresh layers, the head and the order.")
@out_option("Folder for results.csv and run.json")
@click.option("--keep-model", is_flag=True, help="Keep the fine-tuned model, in OUT/model.")
@click.option("--predictions", metavar="FOLDER", help="Keep the predictions there; must not exist yet.")
@click.option(
    "--save-every", type=click.IntRange(min=1), default=500, show_default=True,
    help="Steps between states, in OUT.state; interrupted, the same command goes on from there.",
)  # fmt: skip
@data_option
@device_option
def command(
    task: str,
    encoder: str,
    train: str,
    dev: str | None,
    test: str,
    random_init: str | None,
    components: "Components",
    init: "Init",
    freeze: str | None,
    recipe: str | None,
    settings: tuple[str, ...],
    vectors: str | None,
    seed: int,
    out: str,
    keep_model: bool,
    predictions: str | None,
    save_every: int,
    data: str | None,
    device: str | None,
) -> None:
    """Fine-tune ENCODER (a hub name or a folder) for TASK on one language, and evaluate it on others.

    The ENCODER bilstm is a network without pretraining: what a pretrained one must be better than.

    \b
    crosslens finetune pos bert-base-multilingual-cased --train ud/en_ewt \\
        --test ud/en_pud,ud/fr_pud --random-init 1-2 --seed 1 --out runs/pos-1-2
    """
    from crosslens.files import new_folder, refuse_existing

    refuse_existing(out)  # before the work, not after it
    if predictions:
        refuse_existing(predictions, what="--predictions")
    overrides = read_settings(settings)

    # Asked wrongly is told before anything heavy is imported or loaded.
    from crosslens.catalogue import load_corpus, name_split
    from crosslens.cli.evaluating import evaluate_into, load_tests, show_results
    from crosslens.errors import RequestError
    from crosslens.tasks import find_task
    from crosslens.training.predictions import prediction_files
    from crosslens.training.recipe import BILSTM, USUAL, find_recipe

    fresh = encoder == BILSTM and not Path(encoder).exists()
    if vectors and not fresh:
        raise RequestError("--vectors are of a bilstm, and an encoder brings its own embeddings")
    how = find_recipe(recipe or (BILSTM if fresh else USUAL), find_task(task).name, overrides)
    chosen = find_task(task, how.task)
    train_corpus = load_corpus(train, data=data, split="train")
    dev_name = dev or (name_split(train, "dev") if how.select == "best" else None)
    dev_corpus = load_corpus(dev_name, data=data, split="dev") if dev_name else None
    tests = load_tests(test, data=data)
    for corpus in [train_corpus, *([dev_corpus] if dev_corpus else []), *tests]:
        chosen.check(corpus)
    if predictions:
        prediction_files(chosen, tests)

    from crosslens.alignment.vectors import read_vectors
    from crosslens.cli.show import ODDITIES, progress, say
    from crosslens.encoders.ablation import freeze as frozen
    from crosslens.encoders.ablation import random_init as drawn_anew
    from crosslens.encoders.bilstm import fresh_bilstm
    from crosslens.encoders.load import load_encoder
    from crosslens.training.checkpoint import save_model
    from crosslens.training.finetune import finetune
    from crosslens.training.processes import join_processes, leave_processes, processes
    from crosslens.training.provenance import describe_run

    device = join_processes(device)
    if fresh:
        given = read_vectors(vectors) if vectors else None
        by_word = dict(zip(given.words, given.vectors[0], strict=True)) if given else None
        loaded = fresh_bilstm(train_corpus, seed=seed, vectors=by_word, device=device)
    else:
        loaded = load_encoder(encoder, device=device)
    if random_init:
        loaded = drawn_anew(loaded, random_init, seed=seed, components=components, init=init)
    if freeze:
        loaded = frozen(loaded, freeze)
    alone = processes().rank == 0  # the others train along, and leave the rest to the first
    for change in loaded.changes if alone else ():
        did = "drawn anew" if change.kind == "random_init" else "frozen"
        say(f"{did}: {len(change.tensors)} tensors of layers {change.layers}")

    state = Path(f"{out.rstrip('/')}.state")
    if alone and state.exists():
        say(f"going on from {state}")
    with progress(shown=alone) as bar:
        model = finetune(
            loaded, chosen, train=train_corpus, dev=dev_corpus, recipe=how, seed=seed, state=state,
            save_every=save_every, progress=bar,
        )  # fmt: skip
    leave_processes()
    if not alone:
        return
    say(f"trained {model.facts['steps']} steps in {model.facts['seconds']} s")
    for fact, words in (
        ("train_split_sentences", "sentences read in several windows"),
        ("train_cut_words", ODDITIES["cut_words"]),
    ):
        if model.facts[fact]:
            say(f"{train_corpus.name}: {words}: {model.facts[fact]}")
    with new_folder(out) as folder, new_folder(predictions) if predictions else nullcontext() as kept:
        results = evaluate_into(folder, model, tests, predictions=kept)
        described = json.dumps(describe_run(model), indent=1, ensure_ascii=False, allow_nan=False)
        (folder / "run.json").write_text(described + "\n", "utf-8")
        if keep_model:
            save_model(model, folder / "model")
    state.unlink(missing_ok=True)
    condition = f"layers {random_init} drawn anew, " if random_init else ""
    show_results(
        results, chosen, title=f"{chosen.name} {chosen.metric}, trained on {train_corpus.name}",
        note=f"{condition}seed {seed}; {out}/results.csv has intervals and signatures",
    )  # fmt: skip
