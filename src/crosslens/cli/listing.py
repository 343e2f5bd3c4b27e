"""``crosslens list``: list tasks, recipes, corpora and more."""

import click

from crosslens.cli._names import KIND, KINDS, STUDY
from crosslens.cli._options import data_option


@click.command("list")
@click.argument("kind", required=False, type=KIND)
@click.option(
    "--study", type=STUDY, help="With corpora: languages and tasks of a study or shipped data set, such as wu2019."
)
@data_option
def command(kind: str | None, study: str | None, data: str | None) -> None:
    """List KIND: tasks, probes, recipes, measures, families, presets, factors, schemes, studies, unseen or corpora.

    Without KIND, list all. Schemes are transliterations. With --study, corpora are numbers of training + test sentences
    by language and task. Unseen languages are those of Muller (2022), with script, family, sentences of raw text and
    class.
    """
    from crosslens.errors import RequestError, suggest

    if kind is not None and kind not in KINDS:
        raise RequestError(f"crosslens list: unknown kind {kind!r}", hint=suggest(kind, KINDS))
    if study is not None:
        if kind != "corpora":
            raise RequestError("--study tabulates corpora", hint="crosslens list corpora --study wu2019")
        click.echo("\n".join(_corpora_of(study, data)))
        return
    for name in KINDS if kind is None else (kind,):
        if kind is None:
            click.echo(f"{name}:")
        for line in _lines(name, data):
            click.echo(line if kind else f"  {line}")


def _corpora_of(name: str, folder: str | None) -> list[str]:
    """Languages as rows and tasks as columns."""
    from crosslens.studies.data_sets import find_data
    from crosslens.studies.languages import count_by_language
    from crosslens.studies.study import data_sets, read_study

    study = None if name.partition(":")[0] in (*data_sets(), "lab") else read_study(name)
    data = find_data(name if study is None else study.data, tasks=study.tasks if study else None)
    tasks = [task for task in data.tasks if study is None or study.tasks is None or task in study.tasks]
    counts = count_by_language(
        data.model_copy(update={"tasks": {task: data.tasks[task] for task in tasks}}), folder=folder
    )
    rows = [["", *tasks], *([language, *(row.get(task, "-") for task in tasks)] for language, row in counts.items())]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _lines(kind: str, data: str | None) -> list[str]:
    if kind == "tasks":
        from crosslens.tasks import TASKS

        return [
            f"{name:<8} needs {', '.join(task.needs)}; scored by {task.metric}"
            + ("; " if task.settings else "")
            + " ".join(f"{key}={value}" for key, value in task.settings.items())
            for name, task in TASKS.items()
        ]
    if kind == "probes":
        from crosslens.probes import PROBES

        return [f"{name:<8} {probe.about}" for name, probe in PROBES.items()]
    if kind == "recipes":
        from crosslens.training.recipe import RECIPES, Recipe

        default = Recipe()
        lines = []
        for name, recipe in RECIPES.items():
            settings = {k: v for k, v in recipe if v != getattr(default, k) or k in ("batch", "epochs")}
            settings |= settings.pop("task", {})
            settings.pop("name")
            lines.append(f"{name:<22} " + " ".join(f"{key}={value}" for key, value in settings.items()))
        return lines
    if kind == "measures":
        from crosslens.similarity.measures import MEASURES

        return [f"{name:<18} {measure.about}" for name, measure in MEASURES.items()]
    if kind == "families":
        from crosslens.encoders.families import FAMILIES, REFUSED

        return [*FAMILIES, *(f"{name} (refused: {reason})" for name, reason in REFUSED.items())]
    if kind == "presets":
        from crosslens.lab.presets import DESCRIPTIONS

        return [f"{name:<11} {description}" for name, description in DESCRIPTIONS.items()]
    if kind == "factors":
        from crosslens.mlm.factors import FACTORS

        described = {
            name: " ".join(f"{key}={value}" for key, value in changes.items()) for name, changes in FACTORS.items()
        }
        return [f"{name:<16} {settings}" for name, settings in described.items()]
    if kind == "schemes":
        from crosslens.data.transliteration import shipped_tables

        tables = {
            name: file.read_text("utf-8").splitlines()[0].removeprefix("# ") for name, file in shipped_tables().items()
        }
        extra = {
            "uroman": "any script to plain Latin letters (extra translit)",
            "icu:ID": "ICU transforms (extra translit)",
        }
        return [f"{name:<15} {about}" for name, about in {**extra, **tables}.items()]
    if kind == "studies":
        from crosslens.studies.study import library, read_study

        return [f"{name:<26} {read_study(name).about}" for name in library()]
    if kind == "unseen":
        from crosslens.unseen.typology import known_languages

        head = ("language (iso)", "tag", "script", "family", "#sents", "class")
        rows = [
            (f"{known.name} ({known.code})", tag, known.script, known.family, known.sentences, known.published)
            for tag, known in known_languages().items()
        ]
        widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
        return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in (head, *rows)]
    from crosslens.corpora.catalogue import list_corpora

    return [f"{name:<16} {', '.join(splits)}" for name, splits in list_corpora(data).items()]
