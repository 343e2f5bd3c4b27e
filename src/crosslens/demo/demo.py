"""The stages of the demonstration: pretrain, draw layers anew, fine-tune, evaluate, compare.

Each stage leaves its result in a file that appears whole or not at all, and what is there is not done again: a
demonstration that was interrupted goes on where it stopped.
"""

import itertools
import json
import os
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path

from crosslens import __version__
from crosslens.data.records import Results, read_results
from crosslens.errors import RequestError
from crosslens.files import refuse_existing, write_text
from crosslens.identity import digest
from crosslens.lab.export import PRETRAINING, export
from crosslens.lab.laboratory import Laboratory, LaboratorySettings
from crosslens.lab.presets import find_laboratory

TASKS = ("pos", "parsing")
CONDITIONS = ("", "1-2", "3-4", "5-6", "all", "0,all")
"""Layers drawn anew before fine-tuning: the reference, pairs from the bottom up, all layers, and the embeddings too."""

TESTED = 200
"""Sentences of each language that a model is evaluated on, and that representations are compared on."""

Told = Callable[[str, int, int, str], None]
"""Stage, done, in all, and a few words."""


@dataclass(frozen=True, slots=True)
class Job:
    """One fine-tuning and its evaluation.

    Attributes:
        task: its name.
        layers: drawn anew; empty: none.
        seed: of the fine-tuning and of the layers.
    """

    task: str
    layers: str
    seed: int

    @property
    def file(self) -> str:
        """Where its records are kept."""
        return f"{self.task}-{self.layers.replace(',', '+') or 'reference'}-seed{self.seed}.csv"


def run_demo(
    preset: str,
    out: str | Path,
    *,
    seeds: int,
    cache: str | Path,
    processes: int | None = None,
    told: Told | None = None,
) -> Results:
    """Run all stages, or those that are left, and return all records.

    Args:
        preset: the laboratory.
        out: folder of the results; a demonstration that was interrupted there goes on.
        seeds: fine-tunings of each condition.
        cache: folder of pretrained encoders; one that was pretrained with the same settings is used again.
        processes: that fine-tune at once, one thread each; None: one a core.
        told: called as stages go on.

    Raises:
        RequestError: for an unknown preset, or when ``out`` holds something else.
    """
    laboratory = find_laboratory(preset)
    out = Path(out)
    _claim(out, {"preset": preset, "seeds": seeds, "crosslens": __version__})
    say = told or (lambda *_: None)
    encoder = _pretrained(laboratory, Path(cache), say)
    jobs = [Job(task, layers, seed) for seed, task, layers in itertools.product(range(1, seeds + 1), TASKS, CONDITIONS)]
    runs = out / "runs"
    runs.mkdir(exist_ok=True)
    _work_off(jobs, runs, encoder, laboratory, processes or os.cpu_count() or 1, say)
    similarity = runs / "similarity.csv"
    if not similarity.exists():
        say("comparing representations", 0, 1, "")
        _similarity(encoder, laboratory).write(similarity)
    say("comparing representations", 1, 1, "")
    files = [*(runs / job.file for job in jobs), similarity]
    results = sum((read_results(file) for file in files[1:]), read_results(files[0]))
    results.write(out / "results.csv")
    return results


def _claim(out: Path, request: dict) -> None:
    note = out / "demo.json"
    if note.exists():
        if json.loads(note.read_text("utf-8")) != request:
            raise RequestError(
                f"{out} holds a demonstration with other settings, or of another version",
                hint="remove it, or name another folder",
            )
        return
    refuse_existing(out).mkdir(parents=True, exist_ok=True)
    write_text(note, json.dumps(request))


def _pretrained(laboratory: Laboratory, cache: Path, say: Told) -> Path:
    """The folder of the pretrained encoder, made when it is not there yet."""
    from crosslens.settings import read_settings
    from crosslens.training.pretrain import SEMANTICS, Pretraining, pretrain

    identity = digest(
        {"laboratory": laboratory.settings.model_dump(mode="json"), "pretraining": PRETRAINING, "semantics": SEMANTICS,
         "crosslens": __version__}
    )  # fmt: skip
    folder = cache / identity[:16]
    if not (folder / "lab").exists():
        say("making the languages", 0, 1, "")
        export(laboratory, folder / "lab")
    settings = folder / "lab" / "pretrain.yaml"
    chosen = read_settings(settings, Pretraining)
    if not (folder / "encoder").exists():
        pretrain(
            chosen, folder / "encoder", base=settings.parent, device="cpu",
            progress=lambda step, steps, loss, _: say("pretraining", step, steps, f"loss {loss:.2f}"),
        )  # fmt: skip
    else:
        say("pretraining", chosen.steps, chosen.steps, "done before")
    return folder / "encoder"


def _work_off(jobs: list[Job], runs: Path, encoder: Path, laboratory: Laboratory, processes: int, say: Told) -> None:
    left = [job for job in jobs if not (runs / job.file).exists()]
    say("fine-tuning", len(jobs) - len(left), len(jobs), "")
    if not left:
        return
    settings = laboratory.settings.model_dump_json()
    threads = os.environ.get("OMP_NUM_THREADS")
    os.environ["OMP_NUM_THREADS"] = "1"  # the processes read it when they start
    pool = ProcessPoolExecutor(min(processes, len(left)), mp_context=get_context("spawn"))
    try:
        pending = {pool.submit(_do, asdict(job), str(encoder), settings, laboratory.preset): job for job in left}
        done = len(jobs) - len(left)
        while pending:
            finished, _ = wait(pending, return_when=FIRST_COMPLETED)
            for future in finished:
                job = pending.pop(future)
                future.result().write(runs / job.file)
                done += 1
                say("fine-tuning", done, len(jobs), f"{job.task} {job.layers or 'reference'}")
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        os.environ.pop("OMP_NUM_THREADS")
        if threads is not None:
            os.environ["OMP_NUM_THREADS"] = threads


def _do(job: dict, encoder: str, settings: str, preset: str | None) -> Results:
    """A job, in a process of its own."""
    import torch

    from crosslens.encoders.ablation import random_init
    from crosslens.encoders.load import load_encoder
    from crosslens.training.evaluate import evaluate
    from crosslens.training.finetune import finetune
    from crosslens.training.recipe import find_recipe

    torch.set_num_threads(1)
    task, layers, seed = job["task"], job["layers"], job["seed"]
    laboratory = Laboratory(LaboratorySettings.model_validate_json(settings), preset=preset)
    source = laboratory.languages[0]
    loaded = load_encoder(encoder, device="cpu")
    if layers:
        loaded = random_init(loaded, layers, seed=seed)
    train = laboratory.corpus(source, split="train")
    model = finetune(loaded, task, train=train, recipe=find_recipe("lab", task), seed=seed)
    return evaluate(model, [laboratory.corpus(language, sentences=TESTED) for language in laboratory.languages])


def _similarity(encoder: Path, laboratory: Laboratory) -> Results:
    """The pretrained encoder's similarities between the source and every other language, and the untrained one's."""
    from crosslens.encoders.ablation import random_init
    from crosslens.encoders.load import load_encoder
    from crosslens.similarity.compare import compare

    parallel = laboratory.parallel(sentences=TESTED)
    loaded = load_encoder(encoder, device="cpu")
    source, *others = laboratory.languages
    pairs = [f"{source}-{language}" for language in others]
    both = [compare(its, parallel, pairs=pairs) for its in (loaded, random_init(loaded, "0,all", seed=1))]
    return both[0] + both[1]
