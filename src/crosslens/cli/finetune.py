"""``crosslens finetune``: the main job."""

from typing import TYPE_CHECKING

import click

from crosslens.cli.options import data_option, device_option, out_option, read_settings, split_names

if TYPE_CHECKING:
    from crosslens.encoders.ablation import Components, Init


@click.command("finetune")
@click.argument("task")
@click.argument("encoder")
@click.option("--train", required=True, metavar="CORPUS", help="Training data: ud/en_ewt, or a .conllu file.")
@click.option("--dev", metavar="CORPUS", help="Development data [the same treebank's dev split].")
@click.option(
    "--test", required=True, metavar="CORPORA", help="Evaluated on, separated by commas; ud/*_pud is all PUD."
)
@click.option("--random-init", metavar="LAYERS", help="Layers drawn anew before training: 1-2, or all, or 0,all.")
@click.option("--components", default="all", show_default=True, help="Which parts of them: attention, ffn, norms.")
@click.option("--init", default="architecture", show_default=True, help="How they are drawn: architecture or torch.")
@click.option("--freeze", metavar="LAYERS", help="Layers that are not trained; 0 is the embeddings.")
@click.option("--recipe", metavar="NAME", help="Named settings [muller2021.TASK]; see `crosslens list recipes`.")
@click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help="Override a setting, e.g. epochs=1.")
@click.option("--seed", type=int, default=1, show_default=True, help="Of the fresh layers, the head and the order.")
@out_option("Folder for results.csv and run.json")
@click.option("--keep-model", is_flag=True, help="Keep the fine-tuned model, in OUT/model.")
@click.option("--predictions", is_flag=True, help="Keep the predictions, in OUT/predictions.")
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
    seed: int,
    out: str,
    keep_model: bool,
    predictions: bool,
    data: str | None,
    device: str | None,
) -> None:
    """Fine-tune ENCODER (a hub name or a folder) for TASK on one language, and evaluate it on others.

    \b
    crosslens finetune pos bert-base-multilingual-cased --train ud/en_ewt \\
        --test ud/en_pud,ud/fr_pud --random-init 1-2 --seed 1 --out runs/pos-1-2
    """
    from crosslens.files import new_folder, refuse_existing

    refuse_existing(out)  # before the work, not after it
    test_names, overrides = split_names(test), read_settings(settings)

    # Asked wrongly is told before anything heavy is imported or loaded.
    from crosslens.catalogue import load_corpus, match_corpora, name_split
    from crosslens.tasks import find_task
    from crosslens.training.recipe import find_recipe

    chosen = find_task(task)
    how = find_recipe(recipe or f"muller2021.{chosen.name}", overrides)
    train_corpus = load_corpus(train, data=data, split="train")
    dev_name = dev or (name_split(train, "dev") if how.select == "best" else None)
    dev_corpus = load_corpus(dev_name, data=data, split="dev") if dev_name else None
    names = [name for pattern in test_names for name in match_corpora(pattern, data=data)]
    tests = [load_corpus(name, data=data) for name in names]
    for corpus in [train_corpus, *([dev_corpus] if dev_corpus else []), *tests]:
        corpus.require(*chosen.needs)

    from crosslens.cli.show import print_table, progress, say, say_oddities
    from crosslens.data.conllu import write
    from crosslens.encoders.ablation import freeze as frozen
    from crosslens.encoders.ablation import random_init as drawn_anew
    from crosslens.encoders.load import load_encoder
    from crosslens.training.checkpoint import save_model
    from crosslens.training.evaluate import evaluate
    from crosslens.training.finetune import Progress, finetune
    from crosslens.training.provenance import describe_run

    loaded = load_encoder(encoder, device=device)
    if random_init:
        loaded = drawn_anew(loaded, random_init, seed=seed, components=components, init=init)
        say(f"drawn anew: {len(loaded.changes[-1].tensors)} tensors of layers {loaded.changes[-1].layers}")
    if freeze:
        loaded = frozen(loaded, freeze)
        say(f"frozen: {len(loaded.changes[-1].tensors)} tensors of layers {loaded.changes[-1].layers}")

    with new_folder(out) as folder:
        with progress(f"fine-tuning on {train_corpus.name}") as bar:

            def after_step(state: Progress) -> None:
                bar.show(state.step, state.steps, f"loss {state.loss:.3f}")
                if state.dev is not None:
                    say(f"step {state.step}: dev {chosen.metric} {state.dev:.2f}")

            model = finetune(
                loaded, chosen, train=train_corpus, dev=dev_corpus, recipe=how, seed=seed, progress=after_step
            )
        say(f"trained {model.facts['steps']} steps in {model.facts['seconds']} s")
        if predictions:
            (folder / "predictions").mkdir()
        with progress("evaluating") as bar:
            finished = []

            def after_corpus(gold, predicted) -> None:  # noqa: ANN001
                finished.append(gold)
                bar.show(len(finished), len(tests), gold.name)
                if predictions:
                    write(predicted, folder / "predictions" / f"{gold.name.replace('/', '_').replace(':', '-')}.conllu")

            results = evaluate(model, tests, done=after_corpus)
        results.write(folder / "results.csv")
        (folder / "run.json").write_text(describe_run(model), "utf-8")
        if keep_model:
            save_model(model, folder / "model")
    title = f"{chosen.name} {chosen.metric}, trained on {train_corpus.name}"
    condition = f"layers {random_init} drawn anew, " if random_init else ""
    shown = results.filter(metric=chosen.metric)
    say_oddities(shown)
    print_table(
        shown.table(), title=title, note=f"{condition}seed {seed}; {out}/results.csv has intervals and signatures"
    )
