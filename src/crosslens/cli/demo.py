"""``crosslens demo``: the finding, from raw text to a page."""

from pathlib import Path

import click


@click.command("demo")
@click.option("--preset", default="good", show_default=True, metavar="NAME", help="See `crosslens list presets`.")
@click.option("--seeds", type=click.IntRange(min=1), default=1, show_default=True, help="Fine-tunings a condition.")
@click.option("--out", default="demo", show_default=True, metavar="FOLDER", help="Of the page and the records.")
@click.option("--cache", metavar="FOLDER", help="Of pretrained encoders [the user's cache].")
@click.option("--processes", type=click.IntRange(min=1), help="Fine-tunings at once [one a core].")
def command(preset: str, seeds: int, out: str, cache: str | None, processes: int | None) -> None:
    """Pretrain on languages that nobody speaks, draw layers anew, fine-tune, evaluate, and write a page of it.

    Nothing is downloaded. It takes a minute and a half on two idle cores; interrupted, the same command goes on.
    """
    from crosslens.catalogue import cache_folder
    from crosslens.cli.show import print_table, progress, say
    from crosslens.demo.demo import run_demo
    from crosslens.demo.finding import describe, describe_similarity, effects, similarity_means
    from crosslens.demo.page import make_page
    from crosslens.files import write_text
    from crosslens.lab.presets import DESCRIPTIONS

    with progress("demo") as bar:
        last = [""]

        def told(stage: str, done: int, total: int, words: str) -> None:
            if stage != last[0]:
                say(f"{stage} …")
                bar.begin(stage)
                last[0] = stage
            bar.show(done, total, words)

        results = run_demo(preset, out, seeds=seeds, cache=cache or cache_folder().parent / "demo",
                           processes=processes, told=told)  # fmt: skip
    page = Path(out) / "index.html"
    write_text(page, make_page(results, preset=preset, description=DESCRIPTIONS[preset]))
    note = f"mean of {seeds} seed{'s' * (seeds > 1)}"
    for effect in effects(results):
        scores = results.filter(task=effect.task, metric=effect.metric)
        print_table(scores.table(), title=f"{effect.task} {effect.metric}", note=note)
    click.echo()
    for effect in effects(results):
        click.echo("\n".join(describe(effect)) + "\n")
    click.echo(describe_similarity(similarity_means(results)))
    say(f"open {page}")
