"""The examples in docstrings print what they say.

They see `xl` (the package), `sample` (the data folder of the shipped treebanks), `encoder` (a BERT of four layers),
`tagger` (fine-tuned from it) and `folder` (an empty folder).
"""

import doctest
import importlib
import inspect
import pkgutil
from pathlib import Path

import pytest

import crosslens

MINUTES = {
    "adapt",
    "add_lora",
    "advise",
    "finetune_and_evaluate",
    "lab_encoder",
    "pretrain",
    "run_study",
    "save_lora",
    "transfer_by_layer",
}
"""Public functions whose examples stand in the guides, because they take minutes, files of the reader's own or PEFT."""


def modules():
    names = [module.name for module in pkgutil.walk_packages(crosslens.__path__, "crosslens.")]
    assert len(names) > 150
    return [name for name in names if not name.endswith("__main__")]


def examples(name):
    module = importlib.import_module(name)
    return [test for test in doctest.DocTestFinder(exclude_empty=True).find(module, name) if test.examples]


@pytest.fixture(scope="session")
def sample():
    return Path(crosslens.__file__).parent / "demo" / "sample"


@pytest.fixture(scope="session")
def tagger(encoder, sample):
    recipe = crosslens.find_recipe("small", "pos", {"epochs": 1, "select": "last"})
    train = crosslens.load_corpus("ud/en_ewt:train[:20]", data=sample)
    return crosslens.finetune(encoder, "pos", train=train, recipe=recipe, seed=1)


@pytest.mark.parametrize("name", modules())
def test_examples(name, encoder, tagger, sample, tmp_path, monkeypatch):
    monkeypatch.setattr("crosslens.encoders.matmul.has_fast_bfloat16", lambda device: True)  # else there is a warning
    for test in examples(name):
        test.globs |= {"xl": crosslens, "encoder": encoder, "tagger": tagger, "sample": sample, "folder": tmp_path}
        printed = []
        outcome = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS).run(test, out=printed.append)
        assert outcome.failed == 0, "".join(printed)


def functions():
    values = {name: getattr(crosslens, name) for name in crosslens.__all__ if name != "__version__"}
    return {name: value for name, value in values.items() if not isinstance(value, type)}


@pytest.mark.parametrize("name", sorted(functions()))
def test_public_functions_are_documented(name):
    text = functions()[name].__doc__ or ""
    assert "Args:" in text
    assert ("Returns:" in text) == (inspect.signature(functions()[name]).return_annotation is not None)
    if name not in MINUTES:
        assert ">>>" in text
