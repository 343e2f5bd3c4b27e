"""``crosslens align``: align independently pretrained encoders."""

from typing import TYPE_CHECKING, Any, Literal

import click

from crosslens.cli._links import links as links_command
from crosslens.cli._names import CORPORA, ENCODER, TASK
from crosslens.cli._options import (
    choice_option,
    corpus_option,
    read_settings,
    recipe_option,
    results_options,
    seed_option,
    setting_option,
    split_names,
)
from crosslens.errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas

    from crosslens.alignment.baselines import Baseline, Mapping
    from crosslens.results.cells import Row
    from crosslens.results.record import Results

against_option = click.option(
    "--against",
    type=ENCODER,
    metavar="ENCODER",
    help="Encoder for the second language [default: ENCODER for both, without mapping].",
)
pair_option = click.option("--pair", required=True, metavar="PAIR", help="Languages: en-fr.")
mapping_option = click.option(
    "--mapping",
    type=click.Choice(["procrustes", "identity"]),
    help="Orthogonal mapping, or none [default: procrustes with --against, else identity].",
)
method_option = click.option(
    "--method",
    type=click.Choice(["csls", "cosine"]),
    help="Retrieval by CSLS or cosine [default: csls for words, cosine for sentences].",
)
baseline_option = click.option(
    "--baseline",
    metavar="NAMES",
    help="Baselines: re-initialised encoders (untrained), a mapping learnt from shuffled pairs (shuffled), no mapping"
    " (identity), or none [default: all that apply].",
)
baseline_seeds_option = click.option(
    "--baseline-seeds",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Number of random seeds of the untrained and shuffled baselines.",
)


@click.group("align")
def command() -> None:
    """Align independently pretrained encoders by an orthogonal mapping, and measure the alignment.

    Conneau, Wu et al. (2020, section 5): words by a dictionary, sentences, and zero-shot transfer. links aligns the
    words of parallel text.
    """


command.add_command(links_command)


@command.command("words")
@click.argument("encoder", type=ENCODER)
@against_option
@pair_option
@click.option(
    "--text",
    metavar="en=FILE,fr=FILE",
    help="Texts over which word vectors are averaged in context [default: the embedding table].",
)
@click.option(
    "--train", metavar="DICTIONARY", help="Dictionary that the mapping is learnt from [default: muse/PAIR:train]."
)
@click.option("--test", metavar="DICTIONARY", help="Dictionary for testing [default: muse/PAIR:test].")
@mapping_option
@method_option
@baseline_option
@baseline_seeds_option
@seed_option("First random seed of the baselines.")
@results_options("Folder for results.csv")
def words(
    encoder: str,
    against: str | None,
    pair: str,
    text: str | None,
    train: str | None,
    test: str | None,
    mapping: str | None,
    method: str | None,
    baseline: str | None,
    baseline_seeds: int,
    seed: int,
    out: str,
    data: str | None,
    device: str | None,
    as_json: bool,
) -> None:
    """Translate words, and measure precision at 1, 5 and 10 for every layer.

    ENCODER and --against are hub names, folders, or .vec files of static vectors (fastText's format).

    \b
    crosslens align words E --against F --pair en-fr --text en=raw/en,fr=raw/fr --out words
    crosslens align words wiki.en.vec --against wiki.fr.vec --pair en-fr --out fasttext
    """
    languages = _languages(pair)
    texts = _sides(text, languages)

    from crosslens.alignment.measure import refuse_different_shapes, word_translation
    from crosslens.alignment.vectors import is_static, load_vectors, untrained_vectors
    from crosslens.corpora.catalogue import load_text
    from crosslens.corpora.dictionaries import load_dictionary, require_languages
    from crosslens.data.formats.text import cut_words

    static = [name for name in (encoder, against) if name and is_static(name)]
    if texts and static:
        raise RequestError(
            f"--text: {static[0]} has static vectors, which no text changes", hint="leave out --text, or name encoders"
        )
    mapping_name: Any = mapping or ("procrustes" if against else "identity")
    retrieval: Any = method or "csls"
    baselines = _baselines(baseline, mapping_name)
    dictionaries = [
        load_dictionary(name or f"muse/{pair}:{split}", data=data) for name, split in ((train, "train"), (test, "test"))
    ]
    for dictionary in dictionaries:  # before minutes of reading
        require_languages(dictionary, *languages)
    corpora = {language: cut_words(load_text(name, language=language, data=data)) for language, name in texts.items()}

    from crosslens.cli._display import progress, say
    from crosslens.cli._evaluation import load_named_encoder

    source = encoder if is_static(encoder) else load_named_encoder(encoder, device=device)
    target: Any = against if against and is_static(against) else source
    if against not in (None, encoder) and not is_static(against):
        target = load_named_encoder(against, device=device)
    seeds = range(seed, seed + baseline_seeds)
    untrained = ()
    if not isinstance(source, str) and not isinstance(target, str):
        refuse_different_shapes(
            *((each.name, (each.depth + 1 if corpora else 1, each.width)) for each in (source, target))
        )
        untrained = untrained_vectors(source, target, languages=languages, texts=corpora, seeds=seeds)
    elif "untrained" in baselines:
        say("skipped: static vectors have no untrained baseline")
    with progress() as bar:
        bar.report("reading words", 0, 2, "languages", languages[0])
        left = load_vectors(source, language=languages[0], text=corpora.get(languages[0]))
        bar.report("reading words", 1, 2, "languages", languages[1])
        right = load_vectors(target, language=languages[1], text=corpora.get(languages[1]))
        bar.report("reading words", 2, 2, "languages")
        results = word_translation(
            left,
            right,
            train=dictionaries[0],
            test=dictionaries[1],
            mapping=mapping_name,
            method=retrieval,
            baselines=baselines,
            baseline_seeds=seeds,
            untrained=untrained,
            progress=bar,
        )
    if left.words == right.words and (left.vectors == right.vectors).all():
        say("one table of vectors for both languages: the nearest word of every word is itself, so precision@1 is the")
        remedy = "name the other encoder or file with --against" if static else "use --text, or --against"
        say(f"share of words that are their own translation; {remedy}")
    tags = results.tags()[0]
    _finish(
        results,
        out,
        heading=lambda row: row["metric"],
        mapping=mapping_name,
        title=f"{pair}: word translation by {retrieval}, {_described(mapping_name)}",
        note=f"{tags['coverage']} % of the {dictionaries[1].name} words have vectors;"
        f" {_learnt(tags, mapping_name)}; {tags['candidates']:,} candidates",
        as_json=as_json,
    )


@command.command("sentences")
@click.argument("encoder", type=ENCODER)
@against_option
@pair_option
@click.option(
    "--train",
    required=True,
    metavar="NAME",
    help="Parallel sentences that the mapping is learnt from: ud/pud, en=FILE,….",
)
@click.option("--test", required=True, metavar="NAME", help="Parallel sentences for testing: tatoeba/fr.")
@choice_option(
    "--layers",
    ["same", "relative"],
    "Aligned layers: of the same number, or at the same relative depth, for encoders of different depth.",
)
@mapping_option
@method_option
@baseline_option
@baseline_seeds_option
@seed_option("First random seed of the baselines.")
@results_options("Folder for results.csv")
def sentences(
    encoder: str,
    against: str | None,
    pair: str,
    train: str,
    test: str,
    layers: Literal["same", "relative"],
    mapping: str | None,
    method: str | None,
    baseline: str | None,
    baseline_seeds: int,
    seed: int,
    out: str,
    data: str | None,
    device: str | None,
    as_json: bool,
) -> None:
    """Retrieve the translations of sentences with ENCODER: precision at 1 for every layer, in both directions.

    \b
    crosslens align sentences E --against F --pair en-fr --train ud/pud --test tatoeba/fr --out sentences
    """
    languages = _languages(pair, train, data)

    from crosslens.alignment.measure import sentence_retrieval
    from crosslens.corpora.parallel import load_parallel

    mapping_name: Any = mapping or ("procrustes" if against else "identity")
    retrieval: Any = method or "cosine"
    baselines = _baselines(baseline, mapping_name)
    parallel = [load_parallel(name, languages=languages, data=data) for name in (train, test)]

    from crosslens.cli._display import progress
    from crosslens.cli._evaluation import load_named_encoder

    source = load_named_encoder(encoder, device=device)
    target = load_named_encoder(against, device=device) if against not in (None, encoder) else source
    with progress() as bar:
        results = sentence_retrieval(
            source,
            target,
            train=parallel[0],
            test=parallel[1],
            pair=languages,
            layers=layers,
            mapping=mapping_name,
            method=retrieval,
            baselines=baselines,
            baseline_seeds=range(seed, seed + baseline_seeds),
            progress=bar,
        )
    _finish(
        results,
        out,
        heading=lambda row: f"{row['source']}→{row['target']}",
        mapping=mapping_name,
        title=f"Sentence retrieval in {test} by {retrieval}, {_described(mapping_name)}: precision@1",
        note=f"{_learnt(results.tags()[0], mapping_name)}; chance is {100 / len(parallel[1]):.2f}"
        + (
            f"; layers of {languages[0]}, each with the {languages[1]} layer at the same relative depth"
            * (layers != "same")
        ),
        as_json=as_json,
    )


@command.command("transfer")
@click.argument("task", type=TASK)
@click.argument("encoder", type=ENCODER)
@against_option
@pair_option
@click.option(
    "--parallel", metavar="NAME", help="Parallel sentences whose words are aligned: xnli/dev, en=FILE,fr=FILE."
)
@click.option("--links", metavar="FILE", help="Word alignments in Pharaoh format [default: computed with eflomal].")
@corpus_option("--train", "Training data in the first language.", required=True)
@corpus_option("--dev", "Development data, if the recipe selects on it.")
@click.option(
    "--test",
    required=True,
    type=CORPORA,
    metavar="CORPORA",
    help="Test corpora of both languages: ud/en_pud,ud/fr_pud; ud/*_pud is all PUD.",
)
@click.option("--layers", metavar="LAYERS", help="Layers to train a head on, one model each [default: 0 and all].")
@choice_option(
    "--against-layers",
    ["same", "relative"],
    "Mapped layers of --against: of the same number, or at the same relative depth, for encoders of different depth.",
)
@recipe_option("muller2021.TASK", "wu2019.TASK for document and nli")
@setting_option("Override of a recipe or task setting.")
@seed_option("Random seed of the trained models, and first random seed of the baselines.")
@baseline_option
@baseline_seeds_option
@results_options("Folder for results.csv")
def transfer(
    task: str,
    encoder: str,
    against: str | None,
    pair: str,
    parallel: str | None,
    links: str | None,
    train: str,
    dev: str | None,
    test: str,
    layers: str | None,
    against_layers: Literal["same", "relative"],
    recipe: str | None,
    settings: tuple[str, ...],
    seed: int,
    baseline: str | None,
    baseline_seeds: int,
    out: str,
    data: str | None,
    device: str | None,
    as_json: bool,
) -> None:
    """Train TASK on one fixed layer of ENCODER, and evaluate it on the mapped layer of another encoder.

    Four randomly initialised Transformer layers and the task's head are trained on the first language. Without
    --against, ENCODER is a bilingual encoder that reads both languages without a mapping, for comparison.

    \b
    crosslens align transfer pos E --against F --pair en-fr --parallel 'ud/pud[:500]' --train ud/en_ewt \\
        --test 'ud/en_pud,ud/fr_pud:test[500:]' --out transfer
    """
    from crosslens.cli._evaluation import load_named_encoder, load_tests

    if against and not parallel:
        raise RequestError(
            "--against needs parallel sentences to learn the mapping from", hint="--parallel ud/pud, or en=FILE,fr=FILE"
        )
    given = {"--parallel": parallel, "--links": links, "--against-layers": against_layers != "same"}
    for option, value in given.items():
        if value and not against:
            raise RequestError(f"{option} needs --against, the encoder of the second language")
    languages = _languages(pair, parallel, data)

    from crosslens.alignment.transplant import check_languages, transfer_by_layer
    from crosslens.cli._display import progress
    from crosslens.corpora.catalogue import load_corpus
    from crosslens.corpora.parallel import load_parallel
    from crosslens.results.cells import languages_of
    from crosslens.tasks import find_task
    from crosslens.training.recipe import DEFAULT_RECIPE, find_recipe

    chosen_recipe = find_recipe(recipe or DEFAULT_RECIPE, task, read_settings(settings))
    chosen_task = find_task(task, chosen_recipe.task)
    baselines = _baselines(baseline, "procrustes" if against else "identity")
    labelled = load_corpus(train, split="train", data=data)
    held_out = load_corpus(dev, split="dev", data=data) if dev else None
    tests = load_tests(test, data=data)
    check_languages(languages, labelled, tests)  # before an encoder is loaded
    for corpus in (labelled, *tests):
        chosen_task.check(corpus)
    sides = load_parallel(parallel, languages=languages, data=data) if against and parallel else None
    source = load_named_encoder(encoder, device=device)
    target = source if against == encoder else load_named_encoder(against, device=device) if against else None
    with progress() as bar:
        results = transfer_by_layer(
            source,
            task,
            pair=languages,
            train=labelled,
            tests=tests,
            dev=held_out,
            against=target,
            parallel=sides,
            links=links,
            layers=layers,
            against_layers=against_layers,
            recipe=chosen_recipe,
            seed=seed,
            baselines=baselines,
            baseline_seeds=range(seed, seed + baseline_seeds),
            progress=bar,
        )
    note = "second language: mapped states of the second encoder" if against else "one encoder reads both languages"
    if against_layers != "same":
        note += f"; layers of {languages[0]}, each with the {languages[1]} layer at the same relative depth"
    shared = results.tags()[0].get("shared_pairs", 0)
    if sides and shared:
        note += (
            f"; mapping learnt from {len(sides) - shared:,} of {len(sides):,} parallel sentences; the others are tested"
        )
    language_of = languages_of(results)
    _finish(
        results,
        out,
        metric=chosen_task.metric,
        heading=lambda row: language_of(row["target"], row["corpus"]),
        mapping="procrustes" if against else "identity",
        title=f"{task} {chosen_task.metric} of a head on one frozen layer",
        note=note,
        as_json=as_json,
    )


def _baselines(text: str | None, mapping: "Mapping") -> "tuple[Baseline, ...]":
    """Return the baselines that apply; those of ``--baseline`` that do not are reported as skipped."""
    from crosslens.alignment.baselines import BASELINES, choose_baselines
    from crosslens.cli._display import say

    names = [] if text == "none" else split_names(text) if text else BASELINES
    baselines = choose_baselines(names, mapping=mapping)
    skipped = [name for name in names if name not in baselines]
    if text and skipped:
        say(f"skipped: the {' and '.join(skipped)} baseline needs a mapping")
    return baselines


def _languages(pair: str, corpus: str | None = None, data: str | None = None) -> tuple[str, str]:
    """Return the languages of ``--pair``, after checking that the parallel corpus has them, and that they are two."""
    from crosslens.corpora.parallel import list_languages
    from crosslens.data.language_pairs import split_pair

    languages = split_pair(pair, list_languages(corpus, data=data) if corpus else ())
    if corpus and languages[0] == languages[1]:
        raise RequestError(
            f"--pair {pair}: parallel sentences are in two languages",
            hint=f"`crosslens compare ENCODER --against ENCODER --pairs {pair}` compares two encoders of one language",
        )
    return languages


def _sides(text: str | None, languages: tuple[str, str]) -> dict[str, str]:

    example = ",".join(f"{language}=FILE" for language in languages)
    sides = read_settings(tuple(split_names(text)), option="--text", example=example) if text else {}
    if sides and set(sides) != set(languages):
        raise RequestError(
            f"--text names {', '.join(sides)}, but --pair is {'-'.join(languages)}", hint=f"--text {example}"
        )
    return sides


def _described(mapping: str) -> str:
    return "orthogonal mapping" if mapping == "procrustes" else "no mapping"


def _learnt(tags: dict[str, Any], mapping: str) -> str:
    """Say how many pairs the mapping, or else only the normalisation, was learnt from."""
    left_out = f", {tags['shared_pairs']:,} tested ones left out" if "shared_pairs" in tags else ""
    learnt = "mapping learnt from" if mapping == "procrustes" else "vectors normalised over"
    return f"{learnt} {tags['pairs']:,} pairs{left_out}"


def _finish(
    results: "Results",
    out: str,
    *,
    metric: str | None = None,
    heading: "Callable[[Row], str]",
    mapping: "Mapping",
    title: str,
    note: str,
    as_json: bool,
) -> None:
    from crosslens.cli._display import print_records, print_table
    from crosslens.cli._evaluation import write_results
    from crosslens.results.cautions import cautions

    write_results(results, out)
    if as_json:
        print_records(results)
        return
    note = "; ".join(filter(None, (note, *cautions(results))))
    shown = results if metric is None else results.filter(metric=metric)
    metrics = shown.columns.coded("metric").values
    for name in metrics:  # each with its baselines fits a terminal
        table = _by_layer(shown.filter(metric=name), heading, mapping=mapping)
        titled = f"{title}, {name}" if len(metrics) > 1 else title
        print_table(table, title=titled, note=note if name == metrics[-1] else "")


def _by_layer(results: "Results", heading: "Callable[[Row], str]", *, mapping: "Mapping") -> "pandas.DataFrame":
    """Tabulate measurements by layer, each followed by its baselines (mean over seeds)."""
    import pandas as pd

    from crosslens.alignment.baselines import BASELINES, baseline_of
    from crosslens.results.cells import layer_of

    rows = results.records.to_pylist()
    heads = [(heading(row), baseline_of(row, mapping=mapping) or "") for row in rows]
    order = sorted(set(heads), key=lambda head: (heads.index((head[0], "")), ["", *BASELINES].index(head[1])))
    frame = pd.DataFrame(
        {
            "layer": ["vectors" if row["layer"] is None else layer_of(row, source=rows[0]["source"]) for row in rows],
            "column": [" ".join(filter(None, head)) for head in heads],
            "value": [row["value"] for row in rows],
        }
    )
    table: Any = frame.pivot_table(index="layer", columns="column", values="value")
    return table[[" ".join(filter(None, head)) for head in order]]
