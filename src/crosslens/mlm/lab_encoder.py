"""Cached encoders pretrained on artificial languages."""

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
"""Number of threads, fixed so that the encoder is bit-identical on every machine. At a hidden size of 64 a second
thread gains nothing; with a busy core it slows training tenfold."""


def pretrained_laboratory(laboratory: Laboratory, cache: str | Path, *, progress: Listener = None) -> Path:
    """Return the folder of an encoder pretrained on artificial languages; pretrain it unless it is in the cache.

    Args:
        laboratory: artificial languages.
        cache: folder of encoders, identified by settings, result versions and crosslens version.
        progress: listener for the pretraining.
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
    pretraining = read_settings(settings, Pretraining)
    if (folder / "encoder").exists():
        listener.say(f"the encoder was pretrained before, and is in {folder / 'encoder'}")
    else:
        with threads(THREADS):
            pretrain(pretraining, folder / "encoder", base=settings.parent, device="cpu", progress=listener)
    return folder / "encoder"
