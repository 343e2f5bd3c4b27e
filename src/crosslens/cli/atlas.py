"""``crosslens atlas``: build a static folder that compares encoders."""

import click

from crosslens.cli._options import out_option
from crosslens.files import write_folder


@click.command("atlas")
@click.argument("paths", nargs=-1, required=True)
@out_option("Folder of the atlas")
@click.option("--title", default="Atlas of encoders", show_default=True, help="Title of the page.")
@click.option(
    "--every-eval-ever",
    "organization",
    metavar="ORGANIZATION",
    help="Write scores for the database Every Eval Ever too, as provided by ORGANIZATION.",
)
def command(paths: tuple[str, ...], out: str, title: str, organization: str | None) -> None:
    """Build an atlas of encoders from PATHS: a static folder that anyone can host.

    PATHS are results (files, folders, stores of runs), files of encoders from another atlas, or whole atlases. Files of
    encoders are submissions: each is checked against the schema, and its means are recomputed from its records.

    OUT/index.html compares the encoders. OUT/encoders has one JSON file per encoder, with its records and means;
    OUT/schema.json describes these files, OUT/atlas.json lists them, and OUT/encoders.csv is the ranking.

    With --every-eval-ever, OUT/data/crosslens has one log per encoder in the schema of Every Eval Ever: the scores of
    fine-tuned encoders to which nothing else was done.
    """
    import time
    from pathlib import Path

    from crosslens.cli._display import print_report, say
    from crosslens.report.atlas.every_eval_ever import evaluation_logs
    from crosslens.report.atlas.folder import read_submissions, write_atlas
    from crosslens.report.atlas.ranking import encoder_ranking

    results = read_submissions(paths)
    encoders: list[str] = []

    def write(folder: Path) -> None:
        encoders[:] = write_atlas(results, folder, title=title)
        if organization is not None:
            for place, text in evaluation_logs(results, organization=organization, retrieved=int(time.time())).items():
                (folder / place).parent.mkdir(parents=True, exist_ok=True)
                (folder / place).write_text(text, "utf-8")

    write_folder(out, write)
    for table in encoder_ranking(results):
        print_report(table)
    say(f"{out}: {', '.join(encoders)}")
