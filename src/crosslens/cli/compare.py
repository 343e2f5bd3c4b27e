"""``crosslens compare``: similarity of translations."""

from typing import TYPE_CHECKING

import click

from crosslens.cli.options import data_option, device_option, out_option, split_names

if TYPE_CHECKING:
    from crosslens.encoders.pooling import Pooling
    from crosslens.encoders.represent import Representations

NULLS = ("shuffled", "length-matched", "untrained")


@click.command("compare")
@click.argument("encoder")
@click.option(
    "--corpus", default="ud/pud", show_default=True, metavar="NAME",
    help="Parallel sentences: ud/pud, tatoeba/fr, sib200/test, xnli/dev, lab/all, or en=FILE,fr=FILE.",
)  # fmt: skip
@click.option(
    "--pairs", required=True, metavar="PAIRS", help="Languages: en-fr,en-ru; en-* is English with all others."
)
@click.option("--against", metavar="ENCODER", help="Take the second language of each pair from this encoder.")
@click.option(
    "--measures", "--measure", metavar="NAMES", help="See `crosslens list measures` [CKA, without its bias, its nulls]."
)
@click.option(
    "--null", "nulls", metavar="NAMES",
    help="Beside each measure, what it is for shuffled pairs (shuffled), for pairs of like length (length-matched),"
    " for an encoder drawn anew (untrained).",
)  # fmt: skip
@click.option(
    "--pooling", type=click.Choice(["mean", "first", "cls", "last", "muller2021-code"]), default="mean",
    show_default=True, help="What of a sentence's states is compared.",
)  # fmt: skip
@click.option("--intervals", is_flag=True, help="95 % intervals over sentences, by the jackknife.")
@click.option("--original", metavar="LANGUAGE", help="Of PUD, only sentences that were written in this language.")
@click.option("--sentences", type=click.IntRange(min=3), help="Compare on the first so many [all].")
@click.option("--random-init", metavar="LAYERS", help="Draw layers anew first; 0,all is the untrained encoder.")
@click.option("--seed", type=int, default=1, show_default=True, help="Of those layers.")
@click.option("--export", metavar="FOLDER", help="Also write every language's vectors there, as .npy for other tools.")
@out_option("Folder for results.csv")
@data_option
@device_option
def command(
    encoder: str,
    corpus: str,
    pairs: str,
    against: str | None,
    measures: str | None,
    nulls: str | None,
    pooling: "Pooling",
    intervals: bool,
    original: str | None,
    sentences: int | None,
    random_init: str | None,
    seed: int,
    export: str | None,
    out: str,
    data: str | None,
    device: str | None,
) -> None:
    """How alike ENCODER represents sentences and their translations, layer by layer.

    ENCODER is a hub name, a folder, or a fine-tuned model that `crosslens finetune --keep-model` wrote. Layer 0 is the
    embeddings. cka is linear centred CKA; cka_shuffled is what it would be for unrelated sentences.

    \b
    crosslens compare E --pairs en-fr --measure cka,retrieval --null shuffled,untrained --out similarity
    crosslens compare E --against F --pairs en-en --out before-and-after
    """
    from contextlib import nullcontext
    from functools import partial

    from crosslens.errors import RequestError, suggest
    from crosslens.files import new_folder, refuse_existing

    refuse_existing(out)
    if export:
        refuse_existing(export, what="--export")
    asked = split_names(nulls) if nulls else []
    for null in asked:
        if null not in NULLS:
            raise RequestError(f"there is no null {null!r}", hint=suggest(null, NULLS))

    from crosslens.similarity.compare import compare, expand_pairs, split_pair
    from crosslens.similarity.measures import USUAL, find_measure
    from crosslens.translations import list_languages, load_parallel

    names = split_names(measures) if measures else list(USUAL) if not nulls else ["cka", "cka_debiased"]
    endings = [null.replace("-", "_") for null in asked if null != "untrained"]
    chosen = {name: find_measure(name) for name in names}
    names = [*names, *(f"{name}_{ending}" for name, its in chosen.items() if its.null_of is None for ending in endings)]
    there = list_languages(corpus, data=data)
    wanted = expand_pairs(split_names(pairs), there)
    both = [split_pair(pair, there) for pair in wanted]
    parallel = load_parallel(corpus, languages=sorted({language for pair in both for language in pair}), data=data)
    if original:
        parallel = parallel.originally(original)
    if sentences:
        parallel = parallel.head(sentences)

    import numpy as np

    from crosslens.cli.show import print_table, progress, say
    from crosslens.encoders.ablation import random_init as drawn_anew
    from crosslens.encoders.load import load_encoder
    from crosslens.results.record import Results

    loaded = load_encoder(encoder, device=device)
    if random_init:
        loaded = drawn_anew(loaded, random_init, seed=seed)
    other = load_encoder(against, device=device) if against else None
    states = [(loaded, other)]
    if "untrained" in asked:
        states.append((drawn_anew(loaded, "0,all", seed=seed), other and drawn_anew(other, "0,all", seed=seed)))
    results = Results.of([])
    with new_folder(out) as folder, new_folder(export) if export else nullcontext() as vectors:
        with progress() as bar:

            def represented(its: "Representations", *, kept: bool) -> None:
                if vectors is not None and kept and its.pooling == pooling:
                    side = "against-" if other is not None and its.encoder == other.name else ""
                    np.save(vectors / f"{side}{its.language}.npy", its.vectors)

            for first, second in states:
                results += compare(
                    first, parallel, pairs=wanted, measures=names, against=second, pooling=pooling,
                    interval="jackknife" if intervals else "none", progress=bar,
                    represented=partial(represented, kept=first is loaded),
                )  # fmt: skip
        results.write(folder / "results.csv")
    title = f"similarity of {len(parallel)} parallel sentences, {encoder}" + (f" and {against}" if against else "")
    print_table(results.table(), title=title, decimals=3)
    undefined = results.records["value"].null_count
    if undefined:
        say(f"{undefined} of {len(results)} values are not defined and left empty: the vectors of a layer are all one,")
        say("or the measure needs more sentences")
