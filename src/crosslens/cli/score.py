"""``crosslens score``: score a prediction file against a gold file."""

import json
from dataclasses import replace

import click

from crosslens.cli._names import CORPUS, TASK
from crosslens.cli._options import read_settings, setting_option


@click.command("score")
@click.argument("task", type=TASK)
@click.argument("gold", type=CORPUS)
@click.argument("predicted")
@setting_option("Scoring rule, e.g. relations=full.")
@click.option("--json", "as_json", is_flag=True, help="Print the scores as JSON.")
def command(task: str, gold: str, predicted: str, settings: tuple[str, ...], as_json: bool) -> None:
    """Score PREDICTED against GOLD with the metrics of TASK, in points from 0 to 100.

    Both are .conllu, IOB (UNER, CoNLL, WikiANN), .tsv, .csv or .jsonl files; GOLD can also be a corpus name such as
    ud/fr_pud.
    """
    from crosslens.corpora.catalogue import load_corpus
    from crosslens.data.formats import CONLLU, LABELLED, PREDICTED_CONLLU, to_complete
    from crosslens.results.most_frequent_label import BASELINE, TAG
    from crosslens.tasks import find_task

    chosen = find_task(task, read_settings(settings))
    of_predictions = PREDICTED_CONLLU if chosen.format is CONLLU else chosen.format
    corpus = chosen.cut(None, load_corpus(gold, format=chosen.format))
    given = load_corpus(predicted, format=of_predictions)
    if chosen.format in LABELLED and len(given) != len(corpus):  # undecided pairs are predicted, but not scored
        whole = load_corpus(gold, format=to_complete(chosen.format, chosen.needs))
        if len(given) == len(whole):
            decided = tuple(text for text, row in zip(given, whole.texts, strict=True) if row.label is not None)
            given = replace(given, items=decided)
    scores = chosen.score(corpus, given)
    if as_json:
        values: dict = {score.metric: score.value for score in scores}
        values["intervals"] = {score.metric: score.interval for score in scores}
        values["n"] = {score.metric: score.n for score in scores}
        values["signatures"] = [score.signature for score in scores]
        click.echo(json.dumps(values, allow_nan=False))
        return
    for score in scores:
        interval = "no interval" if score.interval is None else "95 % [{:.2f}, {:.2f}]".format(*score.interval)
        value = "–" if score.value is None else f"{score.value:.2f}"
        click.echo(f"{score.metric} {value}  {interval}  n={score.n}  {score.signature}")
        if chosen.needs == ("label",) and TAG in score.notes:  # as in tables, not beside scores of words
            click.echo(f"{BASELINE}: {100 * score.notes[TAG] / score.n:.2f}")
