"""An encoder pretrained on a laboratory's raw text, made once and kept."""

from pathlib import Path

from crosslens import __version__
from crosslens.digests import digest
from crosslens.lab.export import export, pretraining_settings
from crosslens.lab.laboratory import Laboratory
from crosslens.mlm.pretrain import pretrain
from crosslens.mlm.pretrain_settings import Pretraining
from crosslens.progress import Listener, listening
from crosslens.settings import read_settings
from crosslens.training import versions
from crosslens.training.distributed import threads

THREADS = 1
"""Always so many, whatever the machine has, so that the same laboratory has the same encoder, bit for bit. At a width
of 64 a second one gains nothing, and beside a busy core it costs a factor of ten: each product waits for it."""


def pretrained_laboratory(laboratory: Laboratory, cache: str | Path, *, progress: Listener = None) -> Path:
    """The folder of the encoder that was pretrained on a laboratory; it is pretrained when it is not there yet.

    Args:
        laboratory: its languages.
        cache: a folder of such encoders, known by all that they depend on: settings, semantics and version. One of
            another version stays there and is not used.
        progress: hears how far that is.
    """
    listener = listening(progress)
    identity = digest(
        {
            "laboratory": laboratory.settings.model_dump(mode="json"),
            "pretraining": pretraining_settings(laboratory),
            "semantics": versions.PRETRAINING,
            "threads": THREADS,
            "crosslens": __version__,
        }
    )
    folder = Path(cache) / identity[:16]
    if not (folder / "lab").exists():
        listener.report("making the artificial languages", 0)
        export(laboratory, folder / "lab")
    settings = folder / "lab" / "pretrain.yaml"
    chosen = read_settings(settings, Pretraining)
    if (folder / "encoder").exists():
        listener.say(f"the encoder was pretrained before, and is in {folder / 'encoder'}")
    else:
        with threads(THREADS):
            pretrain(chosen, folder / "encoder", base=settings.parent, device="cpu", progress=listener)
    return folder / "encoder"
