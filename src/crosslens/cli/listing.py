"""``crosslens list``: list tasks, recipes, corpora and more."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from crosslens.cli._names import KIND, KINDS, STUDY
from crosslens.cli._options import data_option, json_option
from crosslens.errors import RequestError, suggest

if TYPE_CHECKING:
    from crosslens.training.recipe import Recipe

WIDTHS = {
    "tasks": 8,
    "probes": 8,
    "recipes": 22,
    "measures": 18,
    "presets": 11,
    "factors": 16,
    "schemes": 15,
    "studies": 34,
    "corpora": 16,
}
"""Kind -> columns for its names."""


@click.command("list")
@click.argument("kind", required=False, type=KIND)
@click.option(
    "--study", type=STUDY, help="With corpora: languages and tasks of a study or shipped data set, such as wu2019."
)
@data_option
@json_option
def command(kind: str | None, study: str | None, data: str | None, as_json: bool) -> None:
    """List KIND: tasks, probes, recipes, measures, families, presets, factors, schemes, studies, unseen or corpora.

    Without KIND, list all. Schemes are transliterations. With --study, corpora are numbers of training + test sentences
    by language and task. Unseen languages are those of Muller (2022), with script, family, sentences of raw text and
    class.
    """
    from crosslens.cli._columns import hanging
    from crosslens.cli._display import print_object

    if kind is not None and kind not in KINDS:
        raise RequestError(f"crosslens list: unknown kind {kind!r}", hint=suggest(kind, KINDS))
    if study is not None:
        if kind != "corpora":
            raise RequestError("--study tabulates corpora", hint="crosslens list corpora --study wu2019")
        if as_json:
            print_object(_sizes(study, data))
        else:
            click.echo("\n".join(_corpora_of(study, data)))
        return
    if as_json:
        facts = {name: _facts(name, data) for name in (KINDS if kind is None else (kind,))}
        print_object(facts if kind is None else facts[kind])
        return
    for name in KINDS if kind is None else (kind,):
        if kind is None:
            click.echo(f"{name}:")
        margin = "" if kind else "  "
        for line in _lines(name, data):
            click.echo(hanging(margin + line, indent=len(margin) + WIDTHS.get(name, 1) + 1))


def _sizes(name: str, folder: str | None) -> dict[str, dict[str, str]]:
    """Language -> task -> numbers of training and test sentences."""
    from crosslens.studies.data_sets import find_data
    from crosslens.studies.languages import count_by_language
    from crosslens.studies.study import data_sets, read_study

    study = None if name.partition(":")[0] in (*data_sets(), "lab") else read_study(name)
    data = find_data(name if study is None else study.data, tasks=study.tasks if study else None)
    tasks = [task for task in data.tasks if study is None or study.tasks is None or task in study.tasks]
    chosen = study.sources if study else None
    sources = {
        task: {source: corpora for source, corpora in data.tasks[task].items() if chosen is None or source in chosen}
        for task in tasks
    }
    used = data.model_copy(update={"tasks": sources})
    counts = count_by_language(used, folder=folder)
    return {language: {task: row.get(task, "-") for task in tasks} for language, row in counts.items()}


def _corpora_of(name: str, folder: str | None) -> list[str]:
    """Languages as rows and tasks as columns."""
    sizes = _sizes(name, folder)
    tasks = next(iter(sizes.values()), {})
    rows = [["", *tasks], *([language, *row.values()] for language, row in sizes.items())]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _facts(kind: str, data: str | None) -> dict[str, Any]:
    """What is known by each name of a kind, as plain values."""
    if kind == "tasks":
        from crosslens.tasks import TASKS

        return {
            name: {"needs": list(task.needs), "metric": task.metric, "settings": dict(task.settings)}
            for name, task in TASKS.items()
        }
    if kind == "probes":
        from crosslens.probes import PROBES

        return {name: probe.about for name, probe in PROBES.items()}
    if kind == "recipes":
        from crosslens.training.recipe import RECIPES

        return {name: _settings(recipe) for name, recipe in RECIPES.items()}
    if kind == "measures":
        from crosslens.similarity.measures import MEASURES

        return {name: measure.about for name, measure in MEASURES.items()}
    if kind == "families":
        from crosslens.encoders.families import FAMILIES, REFUSED

        return {**dict.fromkeys(FAMILIES, ""), **{name: f"refused: {reason}" for name, reason in REFUSED.items()}}
    if kind == "presets":
        from crosslens.lab.presets import DESCRIPTIONS

        return dict(DESCRIPTIONS)
    if kind == "factors":
        from crosslens.mlm.factors import FACTORS

        return {name: dict(changes) for name, changes in FACTORS.items()}
    if kind == "schemes":
        from crosslens.data.transliteration import reversed_name, shipped_tables

        tables = {
            name: file.read_text("utf-8").splitlines()[0].removeprefix("# ") for name, file in shipped_tables().items()
        }
        extra = {
            "uroman": "any script to plain Latin letters (extra translit)",
            "icu:ID": "ICU transforms (extra translit)",
        }
        inverse = {reversed_name(name): f"{name}, reversed" for name in tables}
        return {**extra, **tables, **inverse}
    if kind == "studies":
        from crosslens.studies.study import library, read_study

        return {name: read_study(name).about for name in library()}
    if kind == "unseen":
        from crosslens.unseen.typology import known_languages

        return {tag: asdict(known) for tag, known in known_languages().items()}
    from crosslens.corpora.catalogue import list_corpora

    return {name: list(splits) for name, splits in list_corpora(data).items()}


def _settings(recipe: "Recipe") -> dict[str, Any]:
    """The settings of a recipe that are not the default, and its batch and epochs."""
    default = type(recipe)()
    settings = {key: value for key, value in recipe if value != getattr(default, key) or key in ("batch", "epochs")}
    settings |= settings.pop("task", {})
    settings.pop("name")
    return settings


def _lines(kind: str, data: str | None) -> list[str]:
    facts = _facts(kind, data)
    if kind == "unseen":
        head = ("language (iso)", "tag", "script", "family", "#sents", "class")
        rows = [
            (
                f"{known['name']} ({known['code']})",
                tag,
                known["script"],
                known["family"],
                known["sentences"],
                known["published"],
            )
            for tag, known in facts.items()
        ]
        widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
        return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in (head, *rows)]
    if kind == "families":
        return [f"{name} ({reason})" if reason else name for name, reason in facts.items()]
    return [f"{name:<{WIDTHS[kind]}} {_in_words(kind, value)}" for name, value in facts.items()]


def _in_words(kind: str, value: Any) -> str:
    """One line about a name."""
    if kind == "tasks":
        settings = "; " + _pairs(value["settings"]) if value["settings"] else ""
        return f"needs {', '.join(value['needs'])}; scored by {value['metric']}{settings}"
    if kind == "corpora":
        return ", ".join(value)
    return _pairs(value) if isinstance(value, dict) else value


def _pairs(settings: Mapping[str, Any]) -> str:
    return " ".join(f"{key}={value}" for key, value in settings.items())
