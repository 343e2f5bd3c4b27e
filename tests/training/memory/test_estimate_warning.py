"""Warnings before a training that will run out of memory."""

import dataclasses
from pathlib import Path

import numpy as np
import torch

from crosslens.data.windows import Window
from crosslens.encoders.interventions.change import Change
from crosslens.encoders.models.quantize import Quantize
from crosslens.training.memory import estimate as memory
from crosslens.training.memory.estimate import GIB, free_memory, memory_warning, training_memory
from crosslens.training.recipe import Recipe
from toy_architectures import trained
from toy_trainings import RECIPE, run


def windows(*lengths, parts=1):
    """Windows of sentences that are cut into so many parts."""
    nothing = np.empty(0, np.int64)
    return [
        Window(sentence, 0, 0, np.zeros(length, np.int64), nothing, nothing, 1)
        for sentence, length in enumerate(lengths)
        for _ in range(parts)
    ]


def test_a_warning_names_what_fits(monkeypatch):
    encoder = trained("bert")
    monkeypatch.setattr(memory, "_roughly", lambda *_: 10**15)
    recipe = Recipe(batch=16)

    def warned(free, recipe=recipe, processes=1):
        monkeypatch.setattr(memory, "free_memory", lambda _: free)
        return memory_warning(encoder, recipe, windows(*[60] * 16), processes=processes)

    needs = training_memory(encoder, recipe, length=60).peak
    loaded = sum(parameter.nbytes for parameter in encoder.trained.parameters())
    assert warned(None) is warned(needs - loaded) is None
    assert warned(needs // 2).endswith("use the setting micro_batch=4 (--set micro_batch=4)")
    assert "training needs about" in warned(needs - loaded - 1)
    assert warned(needs // 2, processes=4) is None
    assert warned(10**5).endswith("(--set micro_batch=1 --set gradient_checkpointing=layers)")
    smallest = Recipe(batch=1, gradient_checkpointing="layers")
    shorter = "use a shorter window (the setting window=30, or --set window=30)"
    assert warned(10**5, smallest).endswith(f"--quantize int8), or {shorter}")
    encoder = dataclasses.replace(encoder, changes=(Change(Quantize(quantize="int8")),))
    assert warned(10**5, smallest).endswith(f": {shorter}")


def test_the_advised_window_is_one_that_a_recipe_can_have(monkeypatch):
    monkeypatch.setattr(memory, "_roughly", lambda *_: 10**15)
    monkeypatch.setattr(memory, "free_memory", lambda _: 10**4)
    recipe = Recipe(batch=1, gradient_checkpointing="layers")
    for length, window in ((20, 10), (15, 8)):
        warning = memory_warning(trained("bert"), recipe, windows(length))
        assert warning.endswith(f"use a shorter window (the setting window={window}, or --set window={window})")
        assert Recipe(window=window)


def test_all_windows_of_the_longest_sentences_of_a_micro_batch_count(monkeypatch):
    encoder, recipe = trained("bert"), Recipe(batch=2)
    loaded = sum(parameter.nbytes for parameter in encoder.trained.parameters())
    needs = training_memory(encoder, recipe, length=60, rows=6).peak - loaded
    monkeypatch.setattr(memory, "_roughly", lambda *_: 10**15)
    sentences = windows(60, 60, parts=3) + windows(9, 9, 9)
    for free, warns in ((needs, False), (needs - 1, True)):
        monkeypatch.setattr(memory, "free_memory", lambda _, free=free: free)
        assert (memory_warning(encoder, recipe, sentences) is not None) == warns


def test_a_training_warns_before_it_begins(encoder, toy, monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda _: 10**5)
    lines = []
    recipe = RECIPE.model_copy(update={"epochs": 1})
    run(encoder, "pos", toy, recipe, progress=lambda update: lines.append(update.line))
    assert any("training needs about" in line for line in lines)


def test_small_trainings_need_no_estimate(monkeypatch):
    monkeypatch.setattr(memory, "training_memory", None)  # would raise if it were called
    monkeypatch.setattr(memory, "free_memory", lambda _: 8 * GIB)
    assert memory_warning(trained("bert"), RECIPE, windows(60)) is None


def test_free_memory_of_this_machine():
    free = free_memory(torch.device("cpu"))
    if Path("/proc/meminfo").exists():
        assert 2**24 < free < 2**50
    assert free_memory(torch.device("meta")) is None


def test_pages_of_files_that_can_be_dropped_are_free_memory_of_a_container(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "CONTROL_GROUP", tmp_path)
    (tmp_path / "memory.max").write_text("3000\n")
    (tmp_path / "memory.current").write_text("2500\n")
    assert free_memory(torch.device("cpu")) == 500
    (tmp_path / "memory.stat").write_text("anon 900\ninactive_file 1200\nactive_file 300\n")
    assert free_memory(torch.device("cpu")) == 1700
