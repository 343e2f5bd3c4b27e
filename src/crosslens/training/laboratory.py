"""An encoder pretrained on a laboratory's raw text, made once and kept."""

from collections.abc import Callable
from pathlib import Path

from crosslens import __version__
from crosslens.identity import digest
from crosslens.lab.export import export, pretraining_settings
from crosslens.lab.laboratory import Laboratory
from crosslens.settings import read_settings
from crosslens.training import versions
from crosslens.training.pretrain import pretrain
from crosslens.training.pretraining import Pretraining
from crosslens.training.processes import threads

THREADS = 1
"""Always so many, whatever the machine has, so that the same laboratory has the same encoder, bit for bit. At a width
of 64 a second one gains nothing, and beside a busy core it costs a factor of ten: each product waits for it."""

Told = Callable[[str, int, int, str], None]
"""Stage, done, in all, and a few words."""


def pretrained_laboratory(laboratory: Laboratory, cache: str | Path, *, told: Told | None = None) -> Path:
    """The folder of the encoder that was pretrained on a laboratory; it is pretrained when it is not there yet.

    Args:
        laboratory: its languages.
        cache: a folder of such encoders, known by all that they depend on: settings, semantics and version. One of
            another version stays there and is not used.
        told: called as the stages go on.
    """
    say = told or (lambda *_: None)
    identity = digest(
        {"laboratory": laboratory.settings.model_dump(mode="json"), "pretraining": pretraining_settings(laboratory),
         "semantics": versions.PRETRAINING, "threads": THREADS, "crosslens": __version__}
    )  # fmt: skip
    folder = Path(cache) / identity[:16]
    if not (folder / "lab").exists():
        say("making the languages", 0, 1, "")
        export(laboratory, folder / "lab")
    settings = folder / "lab" / "pretrain.yaml"
    chosen = read_settings(settings, Pretraining)
    if (folder / "encoder").exists():
        say("pretraining", chosen.steps, chosen.steps, "done before")
    else:
        with threads(THREADS):
            pretrain(
                chosen, folder / "encoder", base=settings.parent, device="cpu",
                progress=lambda step, steps, loss, _: say("pretraining", step, steps, f"loss {loss:.2f}"),
            )  # fmt: skip
    return folder / "encoder"
