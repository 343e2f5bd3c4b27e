"""``crosslens test``: test the difference between two results."""

import click

from crosslens.cli._options import json_option, read_settings, split_names

HEADS = {"a": "A", "b": "B", "difference": "B − A"}
"""Column of a table of tests -> its head."""


@click.command("test")
@click.argument("a")
@click.argument("b")
@click.option(
    "--a",
    "where_a",
    multiple=True,
    metavar="KEY=VALUE",
    help="Records of A to select, e.g. condition=none; repeatable.",
)
@click.option(
    "--b", "where_b", multiple=True, metavar="KEY=VALUE", help="Records of B to select, e.g. ablation=1-2; repeatable."
)
@click.option("--metric", metavar="NAME", help="Metric to test [default: all].")
@json_option
def command(
    a: str, b: str, where_a: tuple[str, ...], where_b: tuple[str, ...], metric: str | None, as_json: bool
) -> None:
    """Test the difference B − A, paired by seed and sentence, for each corpus and for means.

    Means are over the corpora in the source language, if they are several, and over those in other languages.

    A and B are folders that finetune, evaluate or run wrote, each one or several (one for each seed), separated by
    commas. KEY is a column of results.csv; in a folder of runs it selects a condition.

    \b
    crosslens test results/reference-1,results/reference-2 results/ablated-1,results/ablated-2
    crosslens test runs runs --a condition=none --b ablation=1-2

    The 95 % interval covers seeds and sentences. With one seed it covers sentences alone, and there is no p-value.
    """
    from crosslens.cli._display import print_object, print_table
    from crosslens.studies.paired import test

    sides = split_names(a), split_names(b)
    chosen_a, chosen_b = (
        read_settings(where, option=option, example="condition=none")
        for where, option in ((where_a, "--a"), (where_b, "--b"))
    )
    table = test(*sides, where_a=chosen_a, where_b=chosen_b, metric=metric)
    if as_json:
        print_object(table.to_dict("records"))
        return
    for name, rows in table.groupby("metric", sort=False):
        frame = rows.set_index(["target", "corpus"]).drop(columns="metric").rename(columns=HEADS)
        for column in ("p", "q"):
            frame[column] = [_written(value) for value in frame[column]]
        frame.attrs["differences"] = ["B − A", "low", "high"]
        note = f"A: {', '.join((a, *where_a))}\nB: {', '.join((b, *where_b))}\n{_note(max(rows['seeds'].tolist()))}"
        print_table(frame, title=str(name), note=note)


def _written(p: float) -> str:
    """Write a p-value with three decimals."""
    return "–" if p != p else "<0.001" if p < 0.001 else f"{p:.3f}"


def _note(seeds: int) -> str:
    if seeds == 1:
        return "one seed: the 95 % interval is over sentences alone, and there is no test of other seeds"
    return f"{seeds} seeds; 95 % intervals over seeds and sentences; q: p after Benjamini-Hochberg correction"
