"""Every `crosslens` command of README, tutorial and how-to guide, run in the order of the pages on small data.

Corpora are those of the mock release, encoders are tiny, and trainings are cut to one epoch of a few sentences. A study
is planned, with the settings of the page, and not run.
"""

import os
import re
import shlex
import shutil
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner

from crosslens.cli import cli
from crosslens.data import transliteration
from crosslens.data.formats import conllu, iob
from crosslens.lab.laboratory import Laboratory
from mock_release import MockRelease
from tiny_studies import Romaniser, save_decoder, save_encoder

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "how-to.md"
PAGES = (ROOT / "README.md", ROOT / "docs" / "tutorial.md", PAGE)
ENCODERS = (
    "bert-base-multilingual-cased",
    "xlm-roberta-base",
    "my-encoder",
    "my-english",
    "my-french",
    "e5",
    "e5-small",
)
NOT_RUN = {
    "data get": "downloads; tests/corpora/downloads has a server for it",
    "encoders get": "needs the extra e5; tests/encoders/test_e5.py",
    "demo": "tests/demo",
    "finetune pos lab:good": "pretrains for a minute; tests/lab",
    "finetune pos xlm-roberta-base --train ud/en_ewt --test ud/fr_pud --track": "tests/runs/test_tracking.py",
    "finetune pos my-steps": "needs PEFT; tests/encoders/models/test_lora.py",
    "compare lora/adapter": "needs PEFT; tests/encoders/models/test_lora.py",
    "finetune pos lab/encoder": "tests/lab; the encoder has another vocabulary for another world",
    "advise": "needs the encoder that the shipped rule was fitted to; tests/cli/test_advise.py",
    "align transfer": "needs eflomal; tests/cli/test_align.py",
    "run pretraining-factors": "needs raw text of every size; tests/studies/test_shipped_studies.py",
    "report runs": "needs the runs of a study; tests/cli/test_report.py",
    "results runs": "needs the runs of a study; tests/cli/test_results.py",
    "typology": "needs the runs of a study; tests/cli/test_typology.py",
    "correlate runs": "needs the runs of a study; tests/cli/test_correlate.py",
    "status": "needs the runs of a study; tests/studies",
    "test results/none": "needs runs of several seeds; tests/cli/test_paired.py",
    "test runs": "needs the runs of a study; tests/cli/test_paired.py",
}
"""Begin of a command -> why it is not run, and what tests it."""

LINES = 300
"""Lines of raw text in each artificial language, for pretraining, instead of 30,000."""

SMALLER = {
    "finetune": "epochs=1 limit=10",
    "adapt": "epochs=1 length=16",
    "pretrain": "steps=2 batch=2 vocabulary.size=200 shape.width=8 shape.heads=2 shape.positions=32 validation.lines=6",
}
"""Command -> settings that are added to it."""


def commands() -> list[str]:
    """The commands of the pages in order, with loops of the shell written out."""
    blocks = [block for page in PAGES for block in re.findall(r"```sh\n(.*?)```", page.read_text("utf-8"), flags=re.S)]
    lines: list[str] = []
    for block in blocks:
        text = block.replace("\\\n", " ")
        for names, body in re.findall(r"for layers in (.*?); do\n(.*?)done\n", text, flags=re.S):
            lines += [body.strip().replace("$layers", name) for name in names.split()]
        lines += re.sub(r"for .*?done\n", "", text, flags=re.S).splitlines()
    return [line for line in lines if line.startswith("crosslens ")]


@pytest.fixture(scope="module")
def workplace(tmp_path_factory):
    """The working directory of somebody who has the encoders and files that the page names."""
    folder = tmp_path_factory.mktemp("how-to")
    (folder / "data").mkdir()
    release = MockRelease()
    release.write(folder / "data")
    tiny = save_encoder(folder / "tiny")
    for name in ENCODERS:
        shutil.copytree(tiny, folder / name)
    save_decoder(folder / "Qwen" / "Qwen3-0.6B")
    _add_corpora(release, folder)
    return folder


def _add_corpora(release: MockRelease, folder: Path) -> None:
    data, laboratory = folder / "data", release.laboratory
    shutil.copytree(data / "raw", folder / "raw")
    for language in ("wol", "uig"):
        shutil.copy(data / "raw" / f"{language}.txt", folder / ("raw.txt" if language == "wol" else "my-uyghur.txt"))
    for split in ("train", "dev", "test"):
        conllu.write(laboratory.corpus("en", split=split, sentences=12), folder / f"my_{split}.conllu")
        rows = (f"some {word}\t{label}\n" for word, label in (("politics", "a"), ("sports", "b")) * 6)
        (folder / f"{split}.tsv").write_text("".join(("text\tlabel\n", *rows)), "utf-8")
    conllu.write(laboratory.corpus("wo", split="train", sentences=170), folder / "my_wolof.conllu")
    for language in ("en", "fr"):
        conllu.write(laboratory.corpus(language, split="test", sentences=12), folder / f"{language}_pud-ud-test.conllu")
    gold = laboratory.corpus("en", split="test", sentences=12)
    for name in ("gold", "predicted", "my-treebank"):
        conllu.write(gold, folder / f"{name}.conllu")
        iob.write(gold, folder / f"{name}.iob2")
    (folder / "my-table.tsv").write_text("a\tb\nb\ta\n", "utf-8")
    for language in ("en", "wo"):
        (folder / f"dev.{language}").write_text("".join(f"the cat {number}\n" for number in range(30)), "utf-8")
        (folder / f"wiki.{'fr' if language == 'wo' else 'en'}.vec").write_text(_vectors(release, language), "utf-8")
    for topics in ("wol_Latn", "nqo_Nkoo"):
        shutil.copytree(data / "sib200" / "eng_Latn", data / "sib200" / topics, dirs_exist_ok=True)
    (data / "langid").mkdir()
    for split in ("train", "dev", "test"):
        rows = (f"{label}\tsome {word} {split}\n" for word, label in (("cat", "en"), ("chat", "fr")) * 6)
        (data / "langid" / f"{split}.tsv").write_text("".join(("label\ttext\n", *rows)), "utf-8")
    tatoeba = data / "tatoeba"
    tatoeba.mkdir()
    for name in ("tatoeba.fra-eng.fra", "tatoeba.fra-eng.eng"):
        (tatoeba / name).write_text("".join(f"sentence {number}\n" for number in range(30)), "utf-8")
    page = PAGE.read_text("utf-8").replace("fr_sequoia[", "fr_gsd[")  # the mock release has no Sequoia
    for study in re.findall(r"```yaml\n(.*?)```", page, flags=re.S):
        name = re.match(r"name: (\S+)", study)
        (folder / f"{name[1] if name else 'small'}.yaml").write_text(study, "utf-8")


def _vectors(release: MockRelease, language: str) -> str:
    words = sorted({word for pair in release.laboratory.dictionary("en", "fr") for word in pair})
    rows = [
        f"{word} {' '.join(str((hash_ * 7 + i * i) % 11 / 10) for i in range(4))}\n" for hash_, word in enumerate(words)
    ]
    return f"{len(rows)} 4\n" + "".join(rows)


@pytest.fixture
def here(workplace, monkeypatch):
    monkeypatch.chdir(workplace)
    monkeypatch.setenv("CROSSLENS_DATA", "data")
    monkeypatch.setattr(transliteration, "_loaded_uroman", cache(Romaniser))
    monkeypatch.setattr(Laboratory, "text", _few_lines)


def _few_lines(laboratory, language, *, sentences=None, of=Laboratory.text):
    return of(laboratory, language, sentences=min(sentences or laboratory.settings.sentences, LINES))


def test_every_command_runs(here):
    done, skipped = [], set()
    for line in commands():
        words = shlex.split(line, comments=True)[1:]
        reason = next((name for name in NOT_RUN if " ".join(words).startswith(name)), None)
        if reason:
            skipped.add(reason)
            continue
        if words[0] == "run":
            words[0] = "plan"
        added = [part for setting in SMALLER.get(words[0], "").split() for part in ("--set", setting)]
        result = CliRunner().invoke(cli, [*words, *added])
        assert result.exit_code == 0, (line, result.output[-2000:], result.exception)
        done.append(line)
    assert len(done) > 45
    assert skipped == set(NOT_RUN), "commands that the page no longer has"
    assert os.listdir("runs")
