"""``crosslens compare``: compare representations of parallel sentences."""

from typing import TYPE_CHECKING, Any

import click

from crosslens.cli._interventions import reading_options
from crosslens.cli._names import ENCODER, MEASURES
from crosslens.cli._options import (
    choice_option,
    last_layer_option,
    new_folder_option,
    random_init_option,
    results_options,
    seed_option,
    split_names,
)
from crosslens.files import refuse_inside

if TYPE_CHECKING:
    from crosslens.encoders.layers import LayerPairs
    from crosslens.encoders.options import LastLayer, Pooling


@click.command("compare")
@click.argument("encoder", type=ENCODER)
@click.option(
    "--corpus",
    default="ud/pud",
    show_default=True,
    metavar="NAME",
    help="Parallel sentences: ud/pud, tatoeba/fr, sib200/test, xnli/dev, lab/all, or en=FILE,fr=FILE.",
)
@click.option(
    "--pairs", required=True, metavar="PAIRS", help="Languages: en-fr,en-ru; en-* is English with all others."
)
@click.option(
    "--against",
    type=ENCODER,
    metavar="ENCODER",
    help="Encoder for the second language of each pair; --random-init, --bidirectional, --repeat and --subword change"
    " only ENCODER [default: ENCODER].",
)
@choice_option(
    "--layers",
    ["same", "relative", "all-pairs"],
    "Compared layers: of the same number, at the same relative depth, or each layer with each. Encoders of"
    " different depth need relative or all-pairs.",
)
@click.option(
    "--measures",
    "--measure",
    type=MEASURES,
    metavar="NAMES",
    help="Similarity measures; see `crosslens list measures` [default: CKA and debiased CKA, without"
    " --baseline also the baselines of CKA].",
)
@click.option(
    "--baseline",
    "baselines",
    metavar="NAMES",
    help="Baselines of each measure: shuffled pairs (shuffled), pairs of similar length (length-matched), the encoder"
    " with all parameters re-initialised (untrained).",
)
@choice_option(
    "--pooling",
    ["mean", "first", "cls", "last", "muller2021-code"],
    "Pooling of subword states into a sentence vector.",
)
@last_layer_option
@reading_options
@click.option(
    "--intervals",
    is_flag=True,
    help="Add 95 % jackknife intervals for the expected value over samples of this size (debiased CKA: for the value in"
    " the population of sentences).",
)
@click.option("--original", metavar="LANGUAGE", help="Use only PUD sentences originally written in this language.")
@click.option(
    "--sentences", type=click.IntRange(min=3), help="Number of sentences to compare, from the first [default: all]."
)
@random_init_option
@seed_option("Random seed of re-initialised layers, also of the untrained baseline.")
@new_folder_option("--export", "Folder for the vectors of every language, as .npy.")
@results_options("Folder for results.csv")
def command(
    encoder: str,
    corpus: str,
    pairs: str,
    against: str | None,
    layers: "LayerPairs",
    measures: str | None,
    baselines: str | None,
    pooling: "Pooling",
    intervals: bool,
    original: str | None,
    sentences: int | None,
    last_layer: "LastLayer",
    random_init: str | None,
    seed: int,
    export: str | None,
    out: str,
    data: str | None,
    device: str | None,
    as_json: bool,
    **reading: Any,
) -> None:
    """Compare how ENCODER represents sentences and their translations, layer by layer.

    ENCODER is a hub name, a folder, or a fine-tuned model that `crosslens finetune --keep-model` wrote. Layer 0 is the
    embeddings. cka is linear centred CKA; cka_shuffled is its baseline for unrelated sentences.

    \b
    crosslens compare E --pairs en-fr --measure cka,retrieval --baseline shuffled,untrained --out similarity
    crosslens compare E --against F --pairs en-en --out before-and-after
    crosslens compare E --against F --pairs en-fr --layers all-pairs --out layer-by-layer
    """
    refuse_inside(export, out, what="--export")

    from crosslens.cli._evaluation import load_subject, of_model, of_second_model, write_results
    from crosslens.similarity.compare import compare, select_sentences
    from crosslens.similarity.measures import choose_measures

    chosen: Any = {
        "measures": split_names(measures) if measures else None,
        "baselines": split_names(baselines) if baselines else [],
    }
    patterns = split_names(pairs)
    interval = "jackknife" if intervals else "none"
    parallel = select_sentences(  # checks names and sizes before an encoder is loaded
        corpus,
        patterns,
        measures=choose_measures(**chosen),
        interval=interval,
        original=original,
        sentences=sentences,
        data=data,
    )

    from crosslens.cli._display import print_records, print_table, progress, say
    from crosslens.lab.presets import given_name
    from crosslens.results.cautions import cautions

    loaded, model = load_subject(encoder, reading, device=device, random_init=random_init, seed=seed)
    shared = {key: reading[key] for key in ("precision", "quantize")}  # values in two formats are not comparable
    other, other_model = load_subject(against, shared, device=device) if against else (None, None)
    with progress() as bar:
        results = compare(
            loaded,
            parallel,
            pairs=patterns,
            **chosen,
            against=other,
            layers=layers,
            pooling=pooling,
            last_layer=last_layer,
            interval=interval,
            seed=seed,
            export=export,
            progress=bar,
        )
    if model is not None:
        results = of_model(results, model)
    if other_model is not None:
        results = of_second_model(results, other_model)
    write_results(results, out)
    encoders = " and ".join(given_name(name) for name in (encoder, against) if name)
    title = f"similarity of {len(parallel)} parallel sentences, {encoders}"
    if as_json:
        print_records(results)
    else:
        print_table(results.table(), title=title, note="; ".join(cautions(results)), decimals=3)
    undefined = results.records["value"].null_count
    if undefined:
        say(f"{undefined} of {len(results)} values are undefined: the vectors of a layer are all equal, or")
        say("the measure needs more sentences")
