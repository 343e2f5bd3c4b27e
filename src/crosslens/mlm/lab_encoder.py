"""Cached encoders pretrained on artificial languages."""

from contextlib import nullcontext
from pathlib import Path

import torch
from filelock import FileLock

from crosslens import __version__
from crosslens.corpora.catalogue import cache_folder
from crosslens.digests import digest
from crosslens.encoders.encoder import Encoder
from crosslens.encoders.load import load_encoder
from crosslens.files import lock_reason
from crosslens.lab.export import export, pretraining_settings
from crosslens.lab.laboratory import DEFAULT_PRESET, Laboratory
from crosslens.lab.presets import find_laboratory
from crosslens.mlm.pretrain import pretrain
from crosslens.mlm.pretrain_settings import Pretraining
from crosslens.progress import Listener, listening
from crosslens.settings import read_settings
from crosslens.training import versions
from crosslens.training.distributed import threads

THREADS = 1
"""Number of threads, fixed so that the encoder is bit-identical on every machine. At a hidden size of 64 a second
thread gains nothing; with a busy core it slows training tenfold."""


def lab_encoder(
    preset: str = DEFAULT_PRESET,
    *,
    cache: str | Path | None = None,
    device: str | torch.device | None = None,
    progress: Listener = None,
) -> Encoder:
    """Load the encoder of a laboratory, pretrained on its artificial languages (six layers of width 64).

    It is pretrained once, in about a minute on one core, and kept in the cache. Studies name it ``lab:good``.

    Args:
        preset: name of a laboratory, as `crosslens list presets` shows them.
        cache: folder of such encoders; None: the user's cache.
        device: device of the model; None: a GPU if available.
        progress: listener for the pretraining.

    Returns:
        The encoder; corpora of its languages are ``lab/src``, ``lab/adj``, ``lab/gen`` and ``lab/sov``.

    Raises:
        RequestError: for an unknown preset.
    """
    return load_encoder(pretrained_laboratory(find_laboratory(preset), cache, progress=progress), device=device)


def laboratory_of(encoder: str | Path) -> Laboratory | None:
    """Find the laboratory that an encoder is named by, as in ``lab:good``; None for other names and for folders.

    Raises:
        RequestError: for an unknown preset.
    """
    kind, colon, preset = str(encoder).partition(":")
    return find_laboratory(preset) if colon and kind == "lab" else None


def encoder_folder(encoder: str | Path, cache: str | Path | None = None, *, progress: Listener = None) -> str:
    """Replace ``lab:good`` by the folder of that encoder, which is pretrained unless it is in the cache.

    Pretraining takes a minute, so callers first check everything else that was asked for.
    """
    laboratory = laboratory_of(encoder)
    return str(encoder if laboratory is None else pretrained_laboratory(laboratory, cache, progress=progress))


def pretrained_laboratory(
    laboratory: Laboratory, cache: str | Path | None = None, *, progress: Listener = None
) -> Path:
    """Return the folder of an encoder pretrained on artificial languages; pretrain it unless it is in the cache.

    Args:
        cache: folder of encoders, identified by settings, result versions and crosslens version; None: the user's.
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
    folder = Path(cache or cache_folder().parent / "demo") / identity[:16]
    encoder = folder / f"lab-{laboratory.preset or 'encoder'}"  # its name in tables
    folder.mkdir(parents=True, exist_ok=True)
    lock = folder / "lock"
    with FileLock(lock) if lock_reason(lock) is None else nullcontext():  # one process pretrains it, others wait
        if encoder.exists():
            listener.say(f"the encoder was pretrained before, and is in {encoder}")
            return encoder
        if not (folder / "lab").exists():
            listener.report("making the artificial languages", 0)
            export(laboratory, folder / "lab")
        pretraining = read_settings(folder / "lab" / "pretrain.yaml", Pretraining)
        with threads(THREADS):
            pretrain(pretraining, encoder, base=folder / "lab", device="cpu", progress=listener)
    return encoder
