"""Encoders of laboratories: pretrained once, then read from the cache."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Barrier, BrokenBarrierError

import pytest
import torch

import crosslens as xl
import crosslens.lab.export as lab_export
from crosslens.errors import RequestError
from crosslens.lab.laboratory import Laboratory, LaboratorySettings
from crosslens.lab.language import Language
from crosslens.mlm import lab_encoder
from crosslens.training import versions

TINY = LaboratorySettings(languages={"src": Language(), "vso": Language(order="VSO")}, sentences=40)


def test_an_encoder_is_pretrained_once_and_then_read_from_the_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(lab_encoder, "find_laboratory", lambda preset: Laboratory(TINY))
    encoder = xl.lab_encoder("tiny", cache=tmp_path, device="cpu")
    assert (encoder.depth, encoder.width) == (6, 64)
    monkeypatch.setattr(lab_encoder, "pretrain", None)
    assert xl.lab_encoder("tiny", cache=tmp_path, device="cpu").digest == encoder.digest


def test_two_processes_pretrain_it_once(tmp_path, monkeypatch):
    meeting, trained = Barrier(2), []

    def pretrain(settings, folder, **_):
        trained.append(folder)
        with suppress(BrokenBarrierError):
            meeting.wait(timeout=0.5)
        folder.mkdir()

    monkeypatch.setattr(lab_encoder, "pretrain", pretrain)
    with ThreadPoolExecutor(2) as both:
        folders = list(both.map(lambda _: lab_encoder.pretrained_laboratory(Laboratory(TINY), tmp_path), range(2)))
    assert folders == trained * 2


def test_another_laboratory_has_another_encoder(tmp_path):
    folders = [
        lab_encoder.pretrained_laboratory(Laboratory(TINY.model_copy(update={"seed": seed})), tmp_path)
        for seed in (0, 1)
    ]
    assert len({xl.load_encoder(folder, device="cpu").digest for folder in folders}) == 2


@pytest.mark.parametrize(
    "change", [(versions, "PRETRAINING", 99), (lab_encoder, "__version__", "9.9"), (lab_encoder, "THREADS", 2)]
)
def test_an_encoder_of_another_version_is_not_read_from_the_cache(tmp_path, monkeypatch, change):
    monkeypatch.setattr(lab_encoder, "pretrain", lambda settings, folder, **_: folder.mkdir())
    first, again = (lab_encoder.pretrained_laboratory(Laboratory(TINY), tmp_path) for _ in range(2))
    assert first == again
    monkeypatch.setattr(*change)
    assert lab_encoder.pretrained_laboratory(Laboratory(TINY), tmp_path) != first


def test_an_encoder_is_pretrained_with_one_thread_and_the_callers_number_is_restored(tmp_path, monkeypatch):
    used = []

    def pretrain(settings, folder, **_):
        used.append(torch.get_num_threads())
        folder.mkdir()

    monkeypatch.setattr(lab_encoder, "pretrain", pretrain)
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        lab_encoder.pretrained_laboratory(Laboratory(TINY), tmp_path)
        assert (used, torch.get_num_threads()) == ([1], 2)
    finally:
        torch.set_num_threads(before)


def test_an_unknown_preset_is_refused(tmp_path):
    with pytest.raises(RequestError, match="'god'"):
        xl.lab_encoder("god", cache=tmp_path)
    assert not list(tmp_path.iterdir())


def test_other_settings_of_pretraining_are_another_encoder(tmp_path, monkeypatch):
    monkeypatch.setattr(lab_encoder, "pretrain", lambda settings, folder, **_: folder.mkdir())
    first = lab_encoder.pretrained_laboratory(Laboratory(TINY), tmp_path)
    monkeypatch.setattr(lab_export, "PRETRAINING", lab_export.PRETRAINING | {"batch": 48})
    second = lab_encoder.pretrained_laboratory(Laboratory(TINY), tmp_path)
    assert first.name == second.name
    assert first != second


def test_a_device_that_the_machine_lacks_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(lab_encoder, "find_laboratory", lambda preset: Laboratory(TINY))
    with pytest.raises(RequestError, match="no device 'meta' on this machine"):
        xl.lab_encoder("tiny", cache=tmp_path, device="meta")
