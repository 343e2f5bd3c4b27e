"""``crosslens overlap``: measure the subword overlap of training and test data."""

import click

from crosslens.cli._names import ENCODER
from crosslens.cli._options import corpus_option, data_option, json_option, out_option, test_option


@click.command("overlap")
@click.argument("encoder", type=ENCODER)
@corpus_option("--train", "Training data of the source language: ud/en_ewt.", required=True)
@test_option
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    metavar="N",
    help="Number of training sentences to count: the `limit` that the models were trained with [default: all].",
)
@out_option("Folder for results.csv")
@data_option
@json_option
def command(encoder: str, train: str, test: str, limit: int | None, out: str, data: str | None, as_json: bool) -> None:
    """Measure the percentage of the test data's subwords that occur in the training data, with ENCODER's tokenizer.

    overlap_types counts each distinct subword once, overlap_tokens every occurrence. To correlate overlap with
    transfer, merge the results with scores and run
    `crosslens correlate --measures overlap_types,overlap_tokens --coefficient pearson`.
    """
    from crosslens.cli._display import print_records, print_table
    from crosslens.cli._evaluation import load_subject, load_tests, write_results
    from crosslens.corpora.catalogue import load_corpus
    from crosslens.similarity.overlap import subword_overlap

    tests, training = load_tests(test, data=data), load_corpus(train, split="train", data=data)
    loaded, _ = load_subject(encoder, {}, device="cpu")
    results = subword_overlap(loaded, train=training, tests=tests, limit=limit)
    write_results(results, out)
    if as_json:
        print_records(results)
        return
    frame = results.to_pandas()
    table = frame.pivot(index=["target", "corpus"], columns="measure", values="value")
    sentences = f"{limit:,} sentences of " if limit else ""
    title = f"Subwords of the test data that occur in {sentences}{train}, in percent"
    print_table(table, title=title, note=f"{out}/results.csv")
