"""Functions shared by commands that evaluate: load corpora, evaluate, print tables."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crosslens.cli._options import split_names
from crosslens.files import write_folder

if TYPE_CHECKING:
    from crosslens.data.corpus import Corpus
    from crosslens.data.formats import Format
    from crosslens.encoders.encoder import Encoder
    from crosslens.results.record import Results
    from crosslens.tasks import Task
    from crosslens.training.model import TaskModel


def load_tests(test: str, *, data: str | None, format: "Format | None" = None) -> "list[Corpus]":
    """Load the corpora of ``--test``, each once; files are read in the format of the task."""
    from crosslens.corpora.catalogue import load_corpora

    return load_corpora(split_names(test), data=data, format=format)


def find_folder(name: str, *, device: str | None = None) -> str:
    """Replace ``lab:good`` by the folder of that encoder, which is pretrained unless it is in the cache.

    Commands call this when all else that they were asked for has been checked.
    """
    from crosslens.cli._display import progress
    from crosslens.encoders.encoder import find_device
    from crosslens.mlm.lab_encoder import encoder_folder, laboratory_of

    if laboratory_of(name) is None:
        return name
    find_device(device)
    with progress() as bar:
        return encoder_folder(name, progress=bar)


def load_named_encoder(name: str, *, device: str | None, **reading: Any) -> "Encoder":
    """Load an encoder by hub name or folder, or that of a laboratory by `find_folder`."""
    from crosslens.encoders.load import load_encoder

    return load_encoder(find_folder(name, device=device), device=device, **reading)


def load_subject(
    name: str, reading: Mapping[str, Any], *, device: str | None, random_init: str | None = None, seed: int = 1
) -> "tuple[Encoder, TaskModel | None]":
    """Load an encoder by hub name or folder, or a fine-tuned model by folder; return it as the options change it.

    Of the options, ``--precision`` and ``--quantize`` keep an encoder small in memory from the beginning.
    """
    from crosslens.cli._interventions import read_with
    from crosslens.encoders import reinit
    from crosslens.training.checkpoint import is_model, load_model

    precision, quantize = reading.get("precision") or "float32", reading.get("quantize")
    model = load_model(name, device=device) if is_model(name) else None
    if model is not None:
        encoder = read_with(model.encoder, {"quantize": quantize})  # rounded before layers are re-initialised
    else:
        encoder = load_named_encoder(name, precision=precision, quantize=quantize, device=device)
    if random_init:
        encoder = reinit.random_init(encoder, random_init, seed=seed)
    return read_with(encoder, reading), model


def of_model(results: "Results", model: "TaskModel") -> "Results":
    """Say in the records of a fine-tuned encoder what it was fine-tuned for; those of an untrained one stay.

    The seed of layers that were re-initialised after the training stays, too.
    """
    from crosslens.results.record import concatenated

    names = ["run", "task", "train", "train_digest", "dev", "selection", "recipe"]
    if results[0].seed is None:
        names.append("seed")
    named = {name: model.columns[name] for name in names}
    states = [(state, block) for (state,), block in results.groups("state")]
    return concatenated(block.with_columns(**named) if state == "fine-tuned" else block for state, block in states)


def of_second_model(results: "Results", model: "TaskModel") -> "Results":
    """Add the run of the fine-tuned encoder of the second language to the settings, except of an untrained one."""
    from crosslens.results.record import concatenated
    from crosslens.results.record_settings import settings_of, settings_text

    parts = []
    for (text,), block in results.groups("settings"):
        settings = settings_of(text)
        run = {"against_run": model.columns["run"]} if "against_task" in settings and model.columns["run"] else {}
        parts.append(block.with_columns(settings=settings_text(settings | run)))
    return concatenated(parts)


def of_probed_model(results: "Results", model: "TaskModel") -> "Results":
    """Name the run of a fine-tuned model in the records of a probe, whose other columns are of the probe itself.

    The settings have it too, so that no table takes several models for seeds of one.
    """
    run, probed = model.columns["run"], results[0]
    if run is None or probed.state != "fine-tuned":
        return results
    return results.with_columns(run=run, settings=f"{probed.settings} model={run}")


def write_results(results: "Results", out: str | Path) -> None:
    """Write ``results.csv`` in the new folder ``out``."""
    write_folder(out, lambda folder: results.write(folder / "results.csv"))


def show_results(results: "Results", task: "Task", *, title: str, note: str = "", as_json: bool) -> None:
    """Print the table of the task's metric for each split, or all records as JSON, and warnings about the corpora."""
    from crosslens.cli._display import print_records, print_table, say_oddities
    from crosslens.results.pivot import corpora_note, of_several_splits

    main_scores = results.filter(metric=task.metric)
    say_oddities(main_scores)
    if as_json:
        print_records(results)
        return
    for split, scores in main_scores.groups("split") if of_several_splits(main_scores) else [((), main_scores)]:
        words = "; ".join(filter(None, (corpora_note(scores), note)))
        print_table(scores.table(), title=", ".join(filter(None, (title, *split))), note=words)
