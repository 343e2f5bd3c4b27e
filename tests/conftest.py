"""Fixtures: a small checkpoint, small treebanks, a small study; nothing is downloaded."""

import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # read when huggingface_hub is imported
os.environ["HF_DATASETS_CACHE"] = os.devnull  # corpora of the user's own cache are no part of any test

import importlib
import pkgutil
import signal
import sys
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import hypothesis
import pytest
import torch
from transformers import BertConfig, BertModel

import crosslens
from crosslens.heap import collect_rarely
from rounding import OtherRounding
from second_device import NAME, register
from toys import conllu_text, iob_text, pairs_text, topics_text, word_piece

hypothesis.settings.register_profile("crosslens", deadline=None)  # a busy machine is no failure
hypothesis.settings.load_profile("crosslens")


def pytest_addoption(parser):
    parser.addoption("--rounding", type=int, default=0, metavar="SEED", help="round as another machine: see rounding")
    parser.addoption("--no-onednn", action="store_true", help="leave float32 products to torch")


def pytest_configure(config):
    collect_rarely()
    if config.getoption("no_onednn"):
        torch.backends.mkldnn.enabled = False
    # With two kinds of devices beside the CPU, autograd fails on both.
    config.has_second_device = not torch.cuda.is_available() and register()


LONG = (
    "test_how_to.py",
    "test_docs.py",
    "test_shared_store.py",
    "test_executors.py",
    "test_processes.py",
    "test_demo.py",
)
"""Test files with few long tests: they come first, so that no process waits for another at the end."""


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: item.path.name not in LONG)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    with OtherRounding(seed) if (seed := item.config.getoption("rounding")) else nullcontext():
        return (yield)


@pytest.fixture(scope="session")
def treebanks(tmp_path_factory) -> Path:
    """A data folder with train, dev and test of ``ud/en_toy``, and ``ud/{en,fr}_pud``; the same in ``uner``.

    English and French also in ``sib200`` and ``xnli``.
    """
    root = tmp_path_factory.mktemp("data")
    for language, bank, splits in (
        ("en", "toy", ("train", "dev", "test")),
        ("en", "pud", ("test",)),
        ("fr", "pud", ("test",)),
    ):
        folder = root / "ud" / f"UD_{language.upper()}-{bank}"
        folder.mkdir(parents=True)
        for split in splits:
            (folder / f"{language}_{bank}-ud-{split}.conllu").write_text(conllu_text(language), "utf-8")
            entities = root / "uner" / f"UNER_{language.upper()}-{bank}" / f"{language}_{bank}-ud-{split}.iob2"
            entities.parent.mkdir(parents=True, exist_ok=True)
            entities.write_text(iob_text(language), "utf-8")
    for language, code in (("en", "eng_Latn"), ("fr", "fra_Latn")):
        (root / "sib200" / code).mkdir(parents=True)
        (root / "xnli").mkdir(exist_ok=True)
        for split in ("train", "dev", "test"):
            (root / "sib200" / code / f"{split}.tsv").write_text(topics_text(language), "utf-8")
            (root / "xnli" / f"{split}-{language}.tsv").write_text(pairs_text(language), "utf-8")
    return root


@pytest.fixture(scope="session")
def imported():
    """All modules: one that is first imported while a function is replaced would keep the replacement."""
    for module in pkgutil.walk_packages(crosslens.__path__, "crosslens."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)


@pytest.fixture
def second_device(request, monkeypatch, imported) -> torch.device:
    """A device that computes on the CPU and refuses tensors of the CPU, as a GPU does."""
    if not request.config.has_second_device:
        pytest.skip("devices in Python need a newer torch")
    monkeypatch.setattr(torch, "inference_mode", torch.no_grad)  # subclasses have no inference tensors
    monkeypatch.setattr(torch.__future__, "get_swap_module_params_on_conversion", lambda: True)  # shared stay shared
    return torch.device(NAME, 0)


@pytest.fixture(scope="session")
def tiny_bert(tmp_path_factory) -> Path:
    """A BERT of 4 layers and width 32, saved with its tokenizer."""
    folder = tmp_path_factory.mktemp("encoders") / "tiny-bert"
    tokenizer = word_piece()
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=4,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
        initializer_range=0.1,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        BertModel(config, add_pooling_layer=False).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def encoder(tiny_bert):
    """The loaded `tiny_bert`."""
    from crosslens.encoders.load import load_encoder

    return load_encoder(tiny_bert, device="cpu")


@pytest.fixture(scope="session")
def shallow(encoder, tmp_path_factory):
    """An encoder of 2 layers and width 16, with the tokenizer of `encoder`."""
    from crosslens.encoders.load import load_encoder

    folder = tmp_path_factory.mktemp("encoders") / "shallow-bert"
    config = BertConfig(
        vocab_size=len(encoder.tokenizer),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
        initializer_range=0.1,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        BertModel(config, add_pooling_layer=False).save_pretrained(folder)
    encoder.tokenizer.save_pretrained(folder)
    return load_encoder(folder, device="cpu")


@pytest.fixture(scope="session")
def toy(treebanks):
    """The toy treebank's corpus by split: ``toy("train")``; for another task: ``toy(task="ner")``."""
    names = {"ner": "uner/en_toy", "document": "sib200/eng_Latn", "nli": "xnli/en", "sentiment": "sib200/eng_Latn"}
    from crosslens.corpora.catalogue import load_corpus

    def load(name="train", *, task="pos"):
        return load_corpus(f"{names.get(task, 'ud/en_toy')}:{name}", data=treebanks)

    return load


@pytest.fixture(scope="module")
def plugins():
    """The distribution ``foreign`` is installed: a task, a measure, a probe, an executor and a collection."""
    site = str(Path(__file__).parent / "plugins" / "site")
    sys.path.insert(0, site)
    yield site
    sys.path.remove(site)
    for name in [name for name in sys.modules if name.partition(".")[0] == "foreign"]:
        del sys.modules[name]


@pytest.fixture(scope="session")
def study(tiny_bert):
    """A tagger trained on six English sentences, tested on French and English ones: reference and one ablation."""
    from crosslens.studies.study import Data, Source, Study

    source = Source(train="ud/en_toy", tests=("ud/en_pud", "ud/fr_pud"))
    return Study(
        name="toy",
        encoder=str(tiny_bert),
        data=Data(parallel="ud/pud", tasks={"pos": {"en": source}}),
        conditions=("none", "1-2"),
        seeds=[1, 2],
        recipe="small",
        set={"batch": 2, "epochs": 2},
    )


@pytest.fixture(scope="session")
def uninterrupted(study, treebanks, tmp_path_factory):
    """The folder of the study's runs, as one process made them without a break."""
    from toy_studies import run

    folder = tmp_path_factory.mktemp("whole")
    report = run(study, folder, treebanks)
    assert not report.failed
    assert report.plan.done == 4
    return folder


@pytest.fixture
def fresh_processes(request):
    """For tests whose worker processes must round as this process does."""
    if request.config.getoption("no_onednn"):
        pytest.skip("--no-onednn holds in this process; workers start with oneDNN")


@pytest.fixture
def run(monkeypatch, capsys, treebanks, tmp_path):
    """Run a command line as the shell would: its exit status, standard output and standard error."""
    from crosslens import cli

    monkeypatch.setenv("CROSSLENS_DATA", str(treebanks))
    monkeypatch.setenv("COLUMNS", "140")
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["crosslens", *map(str, arguments)])
        try:
            cli.main()
            status = 0
        except SystemExit as stop:
            status = stop.code or 0
        shown = capsys.readouterr()
        return status, shown.out, shown.err

    return call


@pytest.fixture
def interruptible():
    """Ctrl-C raises KeyboardInterrupt, also where the tests were started in the background, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def eflomal(monkeypatch):
    """An aligner that writes prepared links, and keeps what it was given."""
    made = SimpleNamespace(forward="0-0 1-1\n2-0\n", backward="0-0\n2-0 1-1\n", given=None)

    class Aligner:
        def align(self, source, target, *, links_filename_fwd, links_filename_rev, quiet):
            made.given = (source, target, quiet)
            Path(links_filename_fwd).write_text(made.forward)
            Path(links_filename_rev).write_text(made.backward)

    monkeypatch.setitem(sys.modules, "eflomal", SimpleNamespace(Aligner=Aligner))
    return made
