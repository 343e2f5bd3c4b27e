"""``crosslens probe``: probe every layer of an encoder."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from crosslens.cli._interventions import reading_options
from crosslens.cli._names import ENCODER, PROBE
from crosslens.cli._options import (
    choice_option,
    corpus_option,
    last_layer_option,
    random_init_option,
    read_settings,
    results_options,
    seed_option,
    setting_option,
)
from crosslens.files import write_folder

if TYPE_CHECKING:
    from crosslens.encoders.options import LastLayer


@click.command("probe")
@click.argument("probe", type=PROBE)
@click.argument("encoder", type=ENCODER)
@corpus_option(
    "--train",
    "Training data: labelled texts (langid/all, a .tsv, .csv or .jsonl file), or sentences for upos (ud/en_ewt).",
    required=True,
)
@corpus_option("--test", "Test data.", required=True)
@corpus_option("--dev", "Development data for the learning-rate schedule [default: a tenth of the training data].")
@setting_option("Probe setting: sentences=2, pooling=cls.")
@choice_option("--inputs", ["scaled", "raw"], "Standardised features (variance 1) or raw states.")
@last_layer_option
@reading_options
@random_init_option
@seed_option("Random seed of data order, control task and re-initialised layers.")
@results_options("Folder for results.csv and confusion.csv")
def command(
    probe: str,
    encoder: str,
    train: str,
    test: str,
    dev: str | None,
    settings: tuple[str, ...],
    inputs: Literal["scaled", "raw"],
    last_layer: "LastLayer",
    random_init: str | None,
    seed: int,
    out: str,
    data: str | None,
    device: str | None,
    as_json: bool,
    **reading: Any,
) -> None:
    """Train a linear classifier for PROBE on the states of every layer of ENCODER, next to a control task.

    ENCODER is a hub name, a folder, or a fine-tuned model that `crosslens finetune --keep-model` wrote.

    \b
    crosslens probe langid bert-base-multilingual-cased --train wili/all --test wili/all --set sentences=2 \\
        --out results/langid
    """
    from crosslens.corpora.catalogue import load_corpus
    from crosslens.probes import find_probe

    chosen = find_probe(probe, read_settings(settings))
    names = {"train": train, "test": test} | ({"dev": dev} if dev else {})
    splits = {split: load_corpus(name, split=split, data=data) for split, name in names.items()}
    for corpus in splits.values():
        chosen.answers(corpus)  # checks the annotation before an encoder is loaded

    import pandas as pd

    from crosslens.cli._display import print_records, print_table, progress
    from crosslens.cli._evaluation import load_subject, of_probed_model
    from crosslens.probes import probing
    from crosslens.probes.softmax import Fit

    loaded, model = load_subject(encoder, reading, device=device, random_init=random_init, seed=seed)
    with progress() as bar:
        probed = probing.probe(
            loaded,
            chosen,
            train=splits["train"],
            test=splits["test"],
            dev=splits.get("dev"),
            how=Fit(inputs=inputs),
            last_layer=last_layer,
            seed=seed,
            progress=bar,
        )

    results = of_probed_model(probed.results, model) if model is not None else probed.results

    def write(folder: Path) -> None:
        results.write(folder / "results.csv")
        pd.DataFrame(probed.confusion_rows()).to_csv(folder / "confusion.csv", index=False)

    write_folder(out, write)
    if as_json:
        print_records(results)
        return
    frame = results.to_pandas()
    table = frame[frame["target"].isna()].pivot(index="layer", columns="metric", values="value")
    print_table(
        table,
        title=f"Probe accuracy by layer: {chosen.about}, {len(probed.answers)} labels",
        note=f"shuffled: control with shuffled labels; {out}/confusion.csv has the confusion matrices",
    )
