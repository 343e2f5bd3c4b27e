"""``crosslens align``: encoders that never met, rotated into one space."""

from typing import TYPE_CHECKING, Any

import click

from crosslens.cli.options import data_option, device_option, out_option, read_settings, split_names

if TYPE_CHECKING:
    from crosslens.results.record import Results

against_option = click.option(
    "--against", metavar="ENCODER", help="Reads the second language [the same ENCODER reads both, and nothing rotates]."
)
pair_option = click.option("--pair", required=True, metavar="PAIR", help="Languages: en-fr.")
mapping_option = click.option(
    "--mapping", type=click.Choice(["procrustes", "none"]),
    help="A rotation, or the spaces as they are [procrustes with --against, else none].",
)  # fmt: skip
method_option = click.option(
    "--method", type=click.Choice(["csls", "cosine"]), help="Of retrieval [csls for words, cosine for sentences]."
)


@click.group("align")
def command() -> None:
    """Are independently trained encoders alike? Rotate one into the other, and see what is found there.

    Conneau, Wu et al. (2020, section 5): words by a dictionary, sentences, and zero-shot transfer.
    """


@command.command("words")
@click.argument("encoder")
@against_option
@pair_option
@click.option(
    "--text", metavar="en=FILE,fr=FILE", help="Average words over all places in these texts [the embedding table]."
)
@click.option("--train", metavar="DICTIONARY", help="Word pairs to learn from [muse/PAIR:train].")
@click.option("--test", metavar="DICTIONARY", help="Word pairs to be tested on [muse/PAIR:test].")
@mapping_option
@method_option
@out_option("Folder for results.csv")
@data_option
@device_option
def words(
    encoder: str, against: str | None, pair: str, text: str | None, train: str | None, test: str | None,
    mapping: str | None, method: str | None, out: str, data: str | None, device: str | None,
) -> None:  # fmt: skip
    """Translate words: precision at 1, 5 and 10 for every layer.

    ENCODER is a hub name, a folder, or a file of static vectors that ends in .vec (fastText's), and so is --against.

    \b
    crosslens align words E --against F --pair en-fr --text en=raw/en,fr=raw/fr --out words
    crosslens align words wiki.en.vec --against wiki.fr.vec --pair en-fr --out fasttext
    """
    from crosslens.files import refuse_existing

    refuse_existing(out)
    languages = _languages(pair)
    texts = _sides(text, languages)

    from crosslens.alignment.measure import word_translation
    from crosslens.alignment.vectors import load_vectors
    from crosslens.catalogue import load_text
    from crosslens.dictionaries import load_dictionary

    chosen: Any = mapping or ("procrustes" if against else "none")
    how: Any = method or "csls"
    dictionaries = [
        load_dictionary(name or f"muse/{pair}:{split}", data=data) for name, split in ((train, "train"), (test, "test"))
    ]
    corpora = {language: load_text(name, language=language, data=data) for language, name in texts.items()}

    from crosslens.cli.show import progress

    with progress() as bar:
        bar.report("reading words", 0, 2, "languages", languages[0])
        left = load_vectors(encoder, language=languages[0], text=corpora.get(languages[0]), device=device)
        bar.report("reading words", 1, 2, "languages", languages[1])
        right = load_vectors(against or encoder, language=languages[1], text=corpora.get(languages[1]), device=device)
        results = word_translation(
            left, right, train=dictionaries[0], test=dictionaries[1], mapping=chosen, method=how, progress=bar
        )
    tags = results.tags()[0]
    _finish(
        results, out, title=f"{pair}: words translated by {how}, {_named(chosen)}",
        note=f"{tags['coverage']} % of the {dictionaries[1].name} words have vectors;"
        f" learnt from {tags['pairs']:,} pairs; {tags['candidates']:,} candidates",
    )  # fmt: skip


@command.command("sentences")
@click.argument("encoder")
@against_option
@pair_option
@click.option("--train", required=True, metavar="NAME", help="Parallel sentences to learn from: ud/pud, en=FILE,…")
@click.option("--test", required=True, metavar="NAME", help="Parallel sentences to be looked for: tatoeba/fr.")
@mapping_option
@method_option
@out_option("Folder for results.csv")
@data_option
@device_option
def sentences(
    encoder: str, against: str | None, pair: str, train: str, test: str, mapping: str | None, method: str | None,
    out: str, data: str | None, device: str | None,
) -> None:  # fmt: skip
    """Find the translations of sentences: precision at 1 for every layer, in both directions.

    \b
    crosslens align sentences E --against F --pair en-fr --train ud/pud --test tatoeba/fr --out sentences
    """
    from crosslens.files import refuse_existing

    refuse_existing(out)
    languages = _languages(pair, train, data)

    from crosslens.alignment.measure import sentence_retrieval
    from crosslens.translations import load_parallel

    chosen: Any = mapping or ("procrustes" if against else "none")
    how: Any = method or "cosine"
    both = [load_parallel(name, languages=languages, data=data) for name in (train, test)]

    from crosslens.cli.show import progress
    from crosslens.encoders.load import load_encoder

    source = load_encoder(encoder, device=device)
    target = load_encoder(against, device=device) if against else source
    with progress() as bar:
        results = sentence_retrieval(
            source, target, train=both[0], test=both[1], pair=languages, mapping=chosen, method=how,
            progress=bar,
        )  # fmt: skip
    _finish(
        results, out, title=f"sentences of {test} found by {how}, {_named(chosen)}",
        note=f"learnt from {len(both[0])} pairs; chance is {100 / len(both[1]):.2f}",
    )  # fmt: skip


@command.command("transfer")
@click.argument("task")
@click.argument("encoder")
@against_option
@pair_option
@click.option(
    "--parallel", metavar="NAME", help="Parallel sentences whose words are aligned: xnli/dev, en=FILE,fr=FILE."
)
@click.option("--links", metavar="FILE", help="Word links in Pharaoh's format, of any aligner [eflomal is run].")
@click.option("--train", required=True, metavar="CORPUS", help="Labelled data of the first language.")
@click.option("--dev", metavar="CORPUS", help="Development data, where the recipe selects by it.")
@click.option("--test", required=True, metavar="CORPORA", help="Of both languages: ud/en_pud,ud/fr_pud.")
@click.option("--layers", metavar="LAYERS", help="That the head is put on, one after the other [all, and 0].")
@click.option("--recipe", metavar="NAME", help="See `crosslens list recipes`.")
@click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help="Override a setting of recipe or task.")
@click.option("--seed", type=int, default=1, show_default=True)
@out_option("Folder for results.csv")
@data_option
@device_option
def transfer(
    task: str, encoder: str, against: str | None, pair: str, parallel: str | None, links: str | None, train: str,
    dev: str | None, test: str, layers: str | None, recipe: str | None, settings: tuple[str, ...], seed: int, out: str,
    data: str | None, device: str | None,
) -> None:  # fmt: skip
    """Learn TASK on one fixed layer of ENCODER, and evaluate it on the rotated layer of another.

    Four fresh Transformer layers and the task's head are trained on the first language. Without --against, ENCODER
    reads both languages, and nothing rotates: a bilingual encoder, for comparison.

    \b
    crosslens align transfer pos E --against F --pair en-fr --parallel ud/pud --train ud/en_ewt \\
        --test ud/en_pud,ud/fr_pud --out transfer
    """
    from crosslens.errors import RequestError
    from crosslens.files import new_folder, refuse_existing

    refuse_existing(out)
    if against and not parallel:
        raise RequestError("a rotation is learnt from parallel sentences", hint="--parallel ud/pud, or en=FILE,fr=FILE")
    languages = _languages(pair, parallel, data)

    from crosslens.alignment.transfer import transfer_by_layer
    from crosslens.catalogue import load_corpus
    from crosslens.cli.show import print_table, progress
    from crosslens.encoders.load import load_encoder
    from crosslens.results.cells import languages_of
    from crosslens.tasks import find_task
    from crosslens.training.recipe import USUAL, find_recipe
    from crosslens.translations import load_parallel

    how = find_recipe(recipe or USUAL, task, read_settings(settings))
    asked = find_task(task, how.task)
    labelled = load_corpus(train, split="train", data=data)
    held_out = load_corpus(dev, split="dev", data=data) if dev else None
    tests = [load_corpus(name, data=data) for name in split_names(test)]
    for corpus in (labelled, *tests):
        asked.check(corpus)
    sides = load_parallel(parallel, languages=languages, data=data) if against and parallel else None
    with progress() as bar:
        results = transfer_by_layer(
            load_encoder(encoder, device=device), task, pair=languages, train=labelled, tests=tests, dev=held_out,
            against=load_encoder(against, device=device) if against else None, parallel=sides, links=links,
            layers=layers, recipe=how, seed=seed, progress=bar,
        )  # fmt: skip
    with new_folder(out) as folder:
        results.write(folder / "results.csv")
    frame = results.filter(metric=asked.metric).to_pandas()
    frame["target"] = frame["corpus"].map(languages_of(results))
    table = frame.pivot(index="layer", columns="target", values="value")
    note = "rotated where the second encoder reads" if against else "one encoder reads both languages"
    print_table(table, title=f"{task} {asked.metric} of a head on one fixed layer", note=note)


def _languages(pair: str, corpus: str | None = None, data: str | None = None) -> tuple[str, str]:
    """The languages of ``--pair``; a parallel corpus knows which there are."""
    from crosslens.data.pairs import split_pair
    from crosslens.translations import list_languages

    return split_pair(pair, list_languages(corpus, data=data) if corpus else ())


def _sides(text: str | None, languages: tuple[str, str]) -> dict[str, str]:
    from crosslens.errors import RequestError

    sides = read_settings(tuple(split_names(text)), option="--text") if text else {}
    if sides and set(sides) != set(languages):
        raise RequestError(f"--text has {', '.join(sides)}, and the pair is {'-'.join(languages)}",
                           hint="--text en=FILE,fr=FILE")  # fmt: skip
    return sides


def _named(mapping: str) -> str:
    return "after a rotation" if mapping == "procrustes" else "as they are"


def _finish(results: "Results", out: str, *, title: str, note: str) -> None:
    from crosslens.cli.show import print_table
    from crosslens.files import new_folder

    with new_folder(out) as folder:
        results.write(folder / "results.csv")
    frame = results.to_pandas().fillna({"layer": -1})
    frame["column"] = frame["source"].astype(str) + "→" + frame["target"].astype(str) + " " + frame["metric"]
    table: Any = frame.pivot(index="layer", columns="column", values="value")[list(dict.fromkeys(frame["column"]))]
    table = table.rename(index={-1: "vectors"})
    print_table(table, title=title, note=note)
