"""``crosslens typology``: classify unseen languages as easy, intermediate or hard."""

from typing import TYPE_CHECKING, Any

import click

from crosslens.cli._options import csv_option, data_option, json_option, sort_option
from crosslens.errors import RequestError
from crosslens.files import write_finished, write_text

if TYPE_CHECKING:
    from crosslens.results.order import Order


@click.command("typology")
@click.argument("store")
@click.option(
    "--study",
    "studies",
    multiple=True,
    metavar="NAME",
    help="Study whose runs are used; repeatable [default: all studies of STORE].",
)
@csv_option("file", description="CSV file for the table")
@sort_option
@data_option
@json_option
def command(
    store: str, studies: tuple[str, ...], file: str | None, sort: "Order", data: str | None, as_json: bool
) -> None:
    """Classify the languages of the runs in STORE as easy, intermediate or hard (Muller 2022), task by task.

    Easy: the encoder beats a BiLSTM trained on the same data. Intermediate: it does so only after adaptation to raw
    text. Hard: it never does. Undecided: a test that decides the class is not significant, or the encoder is not
    better and was not adapted. With one seed there is no test and no class.

    STORE needs a study with the conditions none, {start: adapted} and {start: bilstm}, such as unseen-languages.
    """
    from crosslens.runs.store import Store, is_store

    if not is_store(store):
        raise RequestError(f"{store} is not a folder of runs", hint="name what `crosslens run --out` made")

    from crosslens.cli._display import print_object, print_table
    from crosslens.report.incomplete import not_evaluated
    from crosslens.report.typology import in_order, shared_adaptation
    from crosslens.studies.typology import read_typology

    frame = in_order(read_typology(Store(store), studies=studies, data=data), sort)
    if file:
        write_finished(file, lambda path: write_text(path, frame.to_csv(index=False)))
    if as_json:
        print_object(frame.to_dict("records"))
        return
    shown = frame.rename(columns={"name": "", "train": "trained on", "text": "words of text"})
    shown["words of text"] = ["" if words != words else f"{int(words):,}" for words in frame["text"].astype(float)]
    for task, rows in shown.groupby("task"):
        columns = [
            "encoder",
            "adapted",
            "from scratch",
            "BiLSTM",
            "class",
            "by means",
            "published class",
            "script",
            "family",
            "words of text",
        ]
        table: Any = rows.set_index(["", "trained on"])[columns].replace("", float("nan")).dropna(axis=1, how="all")
        unclassified = list(rows["class"].isna())
        about = "no class: one seed cannot be tested" if all(unclassified) else "class of each language"
        print_table(table, title=f"{task}: scores in points, {about}")
    for sentence in not_evaluated([store], studies=studies or None):
        click.echo(sentence)
    if shared := shared_adaptation(frame):
        click.echo(f"note: {shared}")
