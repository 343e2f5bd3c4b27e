"""``crosslens word-order``: measure the word-order distance of treebanks."""

import click

from crosslens.cli._options import data_option, out_option


@click.command("word-order")
@click.option("--source", required=True, metavar="CORPUS", help="Treebank of the source language: ud/en_ewt:train.")
@click.option(
    "--test", required=True, metavar="CORPORA", help="Treebanks to compare, separated by commas; ud/*_pud is all PUD."
)
@out_option("Folder for results.csv")
@data_option
def command(source: str, test: str, out: str, data: str | None) -> None:
    """Measure how far the word order of treebanks is from the source language's (Ahmad et al. 2019).

    The distance is the mean difference, over types of dependencies, in how often dependents precede their heads: 0 for
    equal order, 1 for the reverse. To correlate it with transfer, give the results together with scores to
    `crosslens correlate --measures word_order`.
    """
    from crosslens.cli._display import print_table
    from crosslens.cli._evaluation import load_tests, write_results
    from crosslens.corpora.catalogue import load_corpus
    from crosslens.similarity.word_order import word_order_distance

    results = word_order_distance(load_corpus(source, split="train", data=data), load_tests(test, data=data))
    write_results(results, out)
    frame = results.to_pandas().sort_values("value").rename(columns={"value": "distance", "n": "types"})
    table = frame.set_index(["target", "corpus"]).loc[:, ["distance", "types"]]
    print_table(table, title=f"Word-order distance from {source}", note=f"{out}/results.csv")
