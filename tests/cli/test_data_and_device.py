"""``--data`` and ``--device``: a command reads all its corpora in this folder, and computes on this device."""

from types import SimpleNamespace

import pytest
import torch

from crosslens.errors import RequestError
from crosslens.tasks import find_task

OUT = ("--out", "out")
CORPORA = ("--train", "ud/en_toy", "--dev", "ud/en_toy", "--test", "ud/fr_pud")
EN_FR = ("--pair", "en-fr")
READERS = {
    "crosslens.similarity.compare.compare": [("compare", "E", "--pairs", "en-fr", *OUT)],
    "crosslens.probes.probing.probe": [("probe", "upos", "E", *CORPORA, *OUT)],
    "crosslens.similarity.overlap.subword_overlap": [
        ("overlap", "E", "--train", "ud/en_toy", "--test", "ud/fr_pud", *OUT)
    ],
    "crosslens.similarity.word_order.word_order_distance": [
        ("word-order", "--source", "ud/en_toy", "--test", "ud/fr_pud", *OUT)
    ],
    "crosslens.alignment.measure.word_translation": [
        ("align", "words", "E", *EN_FR, "--text", "en=raw/en,fr=raw/fr", *OUT)
    ],
    "crosslens.alignment.measure.sentence_retrieval": [
        ("align", "sentences", "E", *EN_FR, "--train", "ud/pud", "--test", "ud/pud[:4]", *OUT)
    ],
    "crosslens.alignment.transplant.transfer_by_layer": [
        ("align", "transfer", "pos", "E", "--against", "E", *EN_FR, "--parallel", "ud/pud", *CORPORA, *OUT)
    ],
    "crosslens.corpora.translations.link_words": [("align", "links", "ud/en_pud", "ud/fr_pud", *OUT)],
    "crosslens.data.transliteration.transliterate": [
        ("transliterate", name, "--scheme", "latin-cyrillic", *OUT) for name in ("ud/fr_pud", "raw/fr")
    ],
    "crosslens.mlm.adapt.adapt": [("adapt", "E", "--text", "raw/fr", *OUT)],
    "crosslens.unseen.advice.advise": [
        ("advise", "fr", "--text", text, "--encoder", "E", "--sources", "ud/en_toy", "--parallel", "ud/pud")
        for text in ("ud/fr_pud:test", "raw/fr")
    ],
    "crosslens.training.evaluate.evaluate": [("evaluate", "MODEL", "--test", "ud/fr_pud", *OUT)],
    "crosslens.training.predict.predict": [
        ("predict", "MODEL", *words, "--out", "out.conllu") for words in (("ud/fr_pud",), ("raw/fr", "--split-words"))
    ],
}
"""Function that does the work -> commands that call it."""

COMPUTING = [
    *(
        words
        for commands in READERS.values()
        for words in commands
        if {"E", "MODEL"} & {*words} and words[0] != "overlap"
    ),
    ("encoders", "show", "E"),
]


@pytest.fixture
def elsewhere(run, treebanks, tmp_path, monkeypatch):
    """A data folder that only ``--data`` names."""
    folder = tmp_path / "elsewhere"
    for name in ("raw", "muse"):
        (folder / name).mkdir(parents=True)
    (folder / "ud").symlink_to(treebanks / "ud")
    for language, text in (("en", "the cat\n"), ("fr", "le chat\n")):
        (folder / "raw" / f"{language}.txt").write_text(text, "utf-8")
    for part in ("0-5000", "5000-6500"):
        (folder / "muse" / f"en-fr.{part}.txt").write_text("the le\n", "utf-8")
    monkeypatch.delenv("CROSSLENS_DATA")
    monkeypatch.setattr("crosslens.corpora.catalogue.cache_folder", lambda: tmp_path / "empty")
    return folder


@pytest.mark.parametrize(
    ("function", "words"),
    [(function, words) for function, commands in READERS.items() for words in commands],
    ids=lambda value: "" if isinstance(value, str) else "-".join(value[:2]),
)
def test_corpora_are_found_in_the_folder_that_is_named(handed, elsewhere, tiny_bert, monkeypatch, function, words):
    model = SimpleNamespace(task=find_task("pos"), encoder=SimpleNamespace(name="E"), facts={})
    monkeypatch.setattr("crosslens.training.checkpoint.load_model", lambda folder, device: model)
    monkeypatch.setattr("crosslens.training.model.in_precision", lambda model, precision: model)
    monkeypatch.setattr("crosslens.training.intervene.intervene", lambda model, **options: model)
    words = [tiny_bert if word == "E" else word for word in words]
    assert handed(function, *words, "--data", elsewhere)


@pytest.mark.parametrize("words", COMPUTING, ids=lambda words: "-".join(words[:2]))
def test_an_unknown_device_is_refused_wherever_it_is_named(run, elsewhere, tiny_bert, monkeypatch, words):
    def load(folder, device):
        raise RequestError(f"a model on {device}")

    monkeypatch.setattr("crosslens.training.checkpoint.load_model", load)
    words = [tiny_bert if word == "E" else word for word in words]
    where = ("--device", "nowhere") if words[0] == "encoders" else ("--data", elsewhere, "--device", "nowhere")
    status, _, said = run(*words, *where)
    assert (status, "nowhere" in said) == (2, True), said


def test_what_is_listed_and_planned_is_in_the_folder_that_is_named(run, handed, elsewhere, file, tmp_path):
    for words, shown in (
        (("list", "corpora"), "ud/en_toy"),
        (("list", "corpora", "--study", "study.yaml"), "en  6 + 6"),
        (("list", "corpora", "--study", "study.yaml", "--json"), '"pos": "6 + 6"'),
        (("plan", "study.yaml", "--out", "runs"), "2 to do"),
        (("doctor",), str(elsewhere)),
    ):
        status, out, said = run(*words, "--data", elsewhere)
        assert (status, shown in out) == (0, True), out + said
        assert shown not in run(*words)[1]
    for name in ("runs", "studies"):
        (tmp_path / "store" / name).mkdir(parents=True)
    _, options = handed("crosslens.studies.typology.read_typology", "typology", "store", "--data", elsewhere)
    assert options["data"] == str(elsewhere)


def test_every_gpu_is_named(run, monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda number: f"GPU {number}")
    assert "cpu, GPU 0, GPU 1" in run("doctor")[1]
