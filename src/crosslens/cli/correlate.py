"""``crosslens correlate``: correlate the transfer gap with similarity."""

from typing import TYPE_CHECKING

import click

from crosslens.cli._names import MEASURES
from crosslens.cli._options import choice_option, csv_option, json_option, split_names, where_option
from crosslens.errors import require_known
from crosslens.files import write_finished, write_text

if TYPE_CHECKING:
    from crosslens.similarity.correlate import Coefficient
    from crosslens.similarity.transfer_gap import Layers


@click.command("correlate")
@click.argument("paths", nargs=-1, required=True)
@click.option(
    "--measures",
    "--measure",
    default="cka",
    show_default=True,
    type=MEASURES,
    metavar="NAMES",
    help="Similarity measures.",
)
@choice_option("--layers", ["mean", "each"], "Correlate the mean over layers, or each layer.")
@click.option(
    "--control",
    metavar="NAMES",
    help="Partial correlation, controlling for length-ratio, fertility or test-size of the languages.",
)
@choice_option("--coefficient", ["spearman", "pearson", "kendall"], "Correlation coefficient.")
@where_option
@csv_option("file", description="CSV file for the table")
@json_option
def command(
    paths: tuple[str, ...],
    where: tuple[str, ...],
    measures: str,
    layers: "Layers",
    control: str | None,
    coefficient: "Coefficient",
    file: str | None,
    as_json: bool,
) -> None:
    """Correlate the transfer gap with similarity over languages, from the results in PATHS (files, folders, stores).

    The gap is the same-language score minus the cross-language score of the reference, so a similarity that
    predicts good transfer correlates negatively. Intervals come from a bootstrap over languages, and p-values from
    permutations of the languages.
    """
    import pandas as pd

    from crosslens.cli._display import print_object, print_table, say
    from crosslens.report.incomplete import not_evaluated
    from crosslens.runs.recorded import read_results
    from crosslens.similarity.transfer_gap import OF_TEXT, correlations
    from crosslens.similarity.word_order import WORD_ORDER

    results, chosen = read_results(*paths).matching(*where), split_names(measures)
    known = [measure for (measure,), _ in results.groups("measure") if measure is not None]
    for name in chosen if known else ():
        require_known(name, known, "these results have no measure")
    correlated = correlations(
        results,
        measures=chosen,
        layers=layers,
        control=split_names(control) if control else (),
        coefficient=coefficient,
        skipped=say,
    )
    by_encoder = ["encoder"] if len({row.encoder for row in correlated}) > 1 else []
    rows = [
        {
            **({"encoder": row.encoder} if by_encoder else {}),
            "task": row.called,
            "source": row.source,
            "similarity of": row.state,
            "measure": row.measure,
            "layer": "–" if row.measure in OF_TEXT else "mean" if row.layer is None else str(row.layer),
            "languages": len(row.correlation.languages),
            coefficient: row.correlation.value,
            "low": row.correlation.low,
            "high": row.correlation.high,
            "p": row.correlation.p,
        }
        for row in correlated
    ]
    table = pd.DataFrame(rows)
    if file:
        write_finished(file, lambda path: write_text(path, table.to_csv(index=False)))
    of_treebanks = any(row.measure == WORD_ORDER for row in correlated)
    distance = f"; {WORD_ORDER} is a distance: positive if similar languages transfer better" if of_treebanks else ""
    controlled = f", controlling for {control}" if control else ""
    if as_json:
        print_object(table.to_dict("records"))
    else:
        print_table(
            table.set_index([*by_encoder, "task", "source", "similarity of", "measure", "layer"]),
            title=f"Correlation of transfer gap and similarity over languages{controlled}",
            decimals=3,
            note=f"negative: similar languages transfer better{distance}",
        )
    for row in {(row.task, row.source): row for row in correlated if len(row.same_language) > 1}.values():
        say(f"{row.task}: the same-language score of {row.source} is the mean over {', '.join(row.same_language)}")
    for sentence in not_evaluated(paths, studies=results.columns.coded("study").values if where else None):
        say(sentence)
    undefined = [
        f"{row.called}, {row.source}, {row.state}, {row.measure}: {row.undefined}"
        for row in correlated
        if row.undefined
    ]
    for reason in dict.fromkeys(undefined):  # the table shows which layers
        say(reason)
    for warning in dict.fromkeys(warning for row in correlated for warning in row.warnings):
        say(warning)
