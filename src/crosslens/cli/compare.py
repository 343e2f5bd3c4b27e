"""``crosslens compare``: similarity of translations."""

import click

from crosslens.cli.options import data_option, device_option, out_option, split_names


@click.command("compare")
@click.argument("encoder")
@click.option("--corpus", default="ud/pud", show_default=True, metavar="NAME", help="Parallel sentences.")
@click.option(
    "--pairs", required=True, metavar="PAIRS", help="Languages: en-fr,en-ru; en-* is English with all others."
)
@click.option("--measures", metavar="NAMES", help="See `crosslens list measures` [CKA and its nulls].")
@click.option("--sentences", type=click.IntRange(min=4), help="Compare on the first so many [all].")
@click.option("--random-init", metavar="LAYERS", help="Draw layers anew first; 0,all is the untrained encoder.")
@click.option("--seed", type=int, default=1, show_default=True, help="Of those layers.")
@out_option("Folder for results.csv")
@data_option
@device_option
def command(
    encoder: str,
    corpus: str,
    pairs: str,
    measures: str | None,
    sentences: int | None,
    random_init: str | None,
    seed: int,
    out: str,
    data: str | None,
    device: str | None,
) -> None:
    """How alike ENCODER represents sentences and their translations, layer by layer.

    ENCODER is a hub name, a folder, or a fine-tuned model that `crosslens finetune --keep-model` wrote. Layer 0 is the
    embeddings. cka is linear centred CKA; cka_shuffled is what it would be for unrelated sentences.
    """
    from crosslens.files import new_folder, refuse_existing

    refuse_existing(out)

    from crosslens.catalogue import load_parallel
    from crosslens.similarity.compare import compare, expand_pairs
    from crosslens.similarity.measures import USUAL

    parallel = load_parallel(corpus, data=data)
    chosen = expand_pairs(split_names(pairs), parallel.languages)
    names = split_names(measures) if measures else list(USUAL)
    if sentences:
        parallel = parallel.head(sentences)

    from crosslens.cli.show import print_table, progress
    from crosslens.encoders.ablation import random_init as drawn_anew
    from crosslens.encoders.load import load_encoder

    loaded = load_encoder(encoder, device=device)
    if random_init:
        loaded = drawn_anew(loaded, random_init, seed=seed)
    languages = {language for pair in chosen for language in pair.split("-")}
    with new_folder(out) as folder:
        with progress("reading") as bar:
            read = []

            def done(language: str) -> None:
                read.append(language)
                bar.show(len(read), len(languages), language)

            results = compare(loaded, parallel, pairs=chosen, measures=names, done=done)
        results.write(folder / "results.csv")
    title = f"similarity of {len(parallel)} parallel sentences, {encoder}"
    print_table(results.table(), title=title, decimals=3)
