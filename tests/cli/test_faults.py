"""Commands whose calls of the operating system fail one by one, as SQLite is tested, or that are killed there.

Every sweep counts a command's calls first. Whatever fails: one sentence on standard error, status 1 or 2, nothing
half-written under its final name, and the same command afterwards writes the same bytes as an undisturbed one.
"""

import os
import random
import re
import shutil
import sys
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from crosslens.files import UNFINISHED
from crosslens.results.record import Results
from faulty_calls import KINDS, Commands, Fault
from file_server import serving
from made_results import SCORES
from toy_archives import serve_xnli
from toys import SENTENCES, conllu_text

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux") or shutil.which("cc") is None, reason="needs Linux and a C compiler, cc"
)

REASONS = {
    "open": ("EACCES", "EIO", "EINTR"),
    "create": ("ENOSPC", "EACCES"),
    "mkdir": ("ENOSPC", "EACCES"),
    "read": ("EIO", "EINTR"),
    "write": ("ENOSPC", "EIO", "EINTR"),
    "fsync": ("EIO", "ENOSPC"),
    "rename": ("ENOSPC", "EACCES", "EIO"),
}
CHANGING = ("create", "mkdir", "write", "fsync", "rename")
"""Kinds of calls between which the disk changes: a kill elsewhere is a kill before the next of them."""

STORE = ("out/tmp", "out/failed", "out/claims", "out/studies")
RESUMED = {
    "data": ("out/.xnli.download",),
    "adapt": ("out.partial",),
    "pretrain": ("out.partial",),
    "finetune": ("out.state",),
    "run": STORE,
    "demo": (*STORE, "out/runs", "cache"),  # finished runs get more answers
}
"""Where a command keeps what it resumes from."""

FIRST = {"compare": "vectors", "finetune": "predicted"}
"""Of two folders that a command writes, the one that is complete first; while it is there, the command is refused."""

CPU = ("--device", "cpu")
FINETUNE = (
    "finetune",
    "pos",
    "../inputs/encoder",
    "--train",
    "ud/en_toy",
    "--test",
    "ud/fr_pud",
    "--set",
    "epochs=1",
    "--set",
    "batch=2",
)
SMALL = ("--set", "epochs=1", "--set", "length=16", "--save-every", "2")
COMMANDS = {
    "report": ("report", "../inputs/results.csv", "--out", "out"),
    "predict": ("predict", "../inputs/out/model", "../inputs/fr.conllu", "--out", "out.conllu", *CPU),
    "compare": ("compare", "../inputs/encoder", "--pairs", "en-fr", "--export", "vectors", "--out", "out", *CPU),
    "data": ("data", "get", "xnli", "--languages", "fr", "--into", "out", "--url"),
    "adapt": ("adapt", "../inputs/encoder", "--text", "wo=../inputs/fr.txt", *SMALL, "--out", "out", *CPU),
    "pretrain": ("pretrain", "../inputs/pretrain.yaml", "--save-every", "2", "--out", "out", *CPU),
    "finetune": (*FINETUNE, "--keep-model", "--predictions", "predicted", "--save-every", "2", "--out", "out", *CPU),
    "run": ("run", "../inputs/study.yaml", "--executor", "serial", "--out", "out", *CPU),
}
KILLED = {**COMMANDS, "demo": ("demo", "--out", "out", "--cache", "cache")}
PRETRAINING = "corpora: {en: ../inputs/fr.txt}\nsteps: 4\nvocabulary: {size: 60}\nbatch: 2\nvalidation: {lines: 6}\n"
STUDY = """
name: toy
encoder: ../inputs/encoder
data: {parallel: ud/pud, tasks: {pos: {en: {train: ud/en_toy, tests: [ud/fr_pud]}}}}
conditions: [none, "1-2"]
seeds: 1
recipe: small
set: {batch: 2, epochs: 1}
"""
DEMO = "import tiny_demo; tiny_demo.shrink()"
SHAPE = "shape: {layers: 1, width: 8, heads: 2, positions: 16}\n"


def files_of(folder):
    """The files below a folder and their content, without what tells the time."""
    files = {str(path.relative_to(folder)): path for path in folder.rglob("*") if path.is_file()}
    return {
        name: b"" if path.name == "log.txt" else re.sub(TIMES, b"", path.read_bytes()) for name, path in files.items()
    }


TIMES = rb'"seconds": ?"?[0-9.]+|[0-9a-f]{64}(?=  crosslens.json\n)|"log":"([^"\\]|\\.)*"|[0-9]+ minutes in'
"""What a second try changes: how long it took, the digest of the file that says so, and logs in a page."""


@dataclass
class Bench:
    """Folders where commands are tried: inputs, and a new working folder for every try."""

    root: Path
    commands: Commands
    url: str
    tries: int = 0
    expected: dict = field(default_factory=dict)

    def words(self, name):
        return (*KILLED[name], *([self.url] if name == "data" else []))

    def new_folder(self):
        self.tries += 1
        folder = self.root / f"{self.tries:05}"
        folder.mkdir()
        return folder

    def call(self, name, folder, fault=None):
        return self.commands(self.words(name), folder, below=self.root, fault=fault)

    def repeat(self, name, folder, fault=None):
        done = self.call(name, folder, fault)
        if f"{FIRST.get(name)} exists already" in done.said:
            shutil.rmtree(folder / FIRST[name])  # as the hint says
            done = self.call(name, folder, fault)
        return done

    def expect(self, name):
        """A command that nothing disturbs, and its files."""
        if name in self.expected:
            return self.expected[name]
        folder = self.new_folder()
        done = self.call(name, folder)
        assert done.status == 0, done.said
        self.expected[name] = done, files_of(folder)
        assert self.expected[name][1]
        return self.expected[name]

    def attempt(self, name, *faults):
        """What is wrong with a command that meets faults one after another, or at last none; None if nothing is."""
        _, expected = self.expect(name)
        folder = self.new_folder()
        for fault in faults:
            done = self.repeat(name, folder, fault)
            assert done.met or fault.after is not None, f"{name}: no call for {fault}"
            if wrong := self.wrong(name, folder, fault, done):
                return f"{fault}: {wrong}"
            if done.status == 0:
                return None
        again = self.repeat(name, folder)
        left = files_of(folder)
        if " exists already" in again.said and expected.items() <= left.items():
            # Killed at the very end: the output is complete, and what it would have resumed from is still there.
            left = {path: left[path] for path in left if path in expected or not path.startswith(RESUMED.get(name, ()))}
        elif again.status:
            return f"the same command afterwards: {again.said}"
        wrong = _difference(left, expected)
        shutil.rmtree(folder)
        return wrong and f"afterwards {wrong}"

    def wrong(self, name, folder, fault, done):
        """What is wrong with the end of a command that met a fault."""
        _, expected = self.expect(name)
        left = {path: content for path, content in files_of(folder).items() if not _is_removed_later(path, fault)}
        if done.status == 0:
            return _difference(left, expected)
        if fault.reason is None and done.status != -9:
            return f"ended with status {done.status}"
        if fault.reason is not None and (unclear := _unclear(done)):
            return unclear
        resumed = RESUMED.get(name, ())
        wrong = [path for path in left if not path.startswith(resumed) and left[path] != expected.get(path)]
        return f"left {wrong}" if wrong else None


def _is_removed_later(path, fault):
    """Whether the next writer removes a file: after a kill, and where a folder could not be opened to empty it."""
    removable = any(part.startswith(".") and part.endswith(UNFINISHED) for part in Path(path).parts)
    return removable and (fault.reason is None or "open" in fault.kinds)


def _unclear(done):
    sentences = re.findall(r"^crosslens: |^to retry: ", done.said, re.MULTILINE)  # the second of a run of a study
    if done.status not in (1, 2) or "Traceback" in done.said or len(sentences) != 1:
        return f"status {done.status}: {done.said[-2500:]}"
    if "damaged" in done.said or re.search("hint: (fine-tune|remove)", done.said):
        return f"an intact file is called damaged: {done.said[-2500:]}"
    return None


def _difference(files, expected):
    changed = sorted(path for path in files.keys() | expected.keys() if files.get(path) != expected.get(path))
    return f"other files: {changed}" if changed else None


@pytest.fixture(scope="module")
def bench(tmp_path_factory, treebanks, tiny_bert):
    root = tmp_path_factory.mktemp("bench")
    inputs = root / "inputs"
    shutil.copytree(treebanks, inputs / "data")
    shutil.copytree(tiny_bert, inputs / "encoder")
    (inputs / "fr.txt").write_text("\n".join(SENTENCES["fr"] * 4) + "\n", "utf-8")
    (inputs / "fr.conllu").write_text(conllu_text("fr"), "utf-8")
    (inputs / "pretrain.yaml").write_text(PRETRAINING + SHAPE, "utf-8")
    (inputs / "study.yaml").write_text(STUDY, "utf-8")
    Results.of(SCORES[:2]).write(inputs / "results.csv")
    other = tmp_path_factory.mktemp("other")
    environment = {
        "CROSSLENS_DATA": str(inputs / "data"),
        "CROSSLENS_OFFLINE": "0",
        "HF_HUB_OFFLINE": "0",
        "HOME": str(other),
        "NO_PROXY": "*",
        "OMP_NUM_THREADS": "1",
        "TMPDIR": str(other),
        "XDG_CACHE_HOME": str(other / "cache"),
    }
    with serving() as server, closing(Commands(other, prepare=DEMO, **environment)) as commands:
        serve_xnli(server)
        made = Bench(root, commands, server.url)
        done = commands((*FINETUNE, "--keep-model", "--out", "out", *CPU), inputs)
        assert done.status == 0, done.said
        before = files_of(inputs)
        yield made
        assert files_of(inputs) == before


def spread(total, count):
    """So many numbers from 1 to the total, evenly spread."""
    return sorted({1 + round(place * (total - 1) / max(1, count - 1)) for place in range(min(count, total))})


def sweep(bench, name, tries):
    """Try a command under each series of faults; print how many there were, and fail with all that went wrong."""
    wrong = {}
    for number, faults in enumerate(tries):
        if reason := bench.attempt(name, *faults):
            wrong[number] = f"{', '.join(map(str, faults))}: {reason}"
    print(f"{name}:", dict(Counter(fault.reason or "SIGKILL" for faults in tries for fault in faults)))
    assert tries
    assert all(tries)
    assert not wrong, f"{len(wrong)} of {len(tries)}\n" + "\n".join(f"== {reason}" for reason in wrong.values())


@pytest.mark.parametrize("name", COMMANDS)
def test_a_full_disk_then_a_kill(bench, name):
    """In the middle of a command's writes, and early in its repetition."""
    calls = bench.expect(name)[0].calls
    sweep(bench, name, [[Fault(("write",), (1 + calls["write"]) // 2, "ENOSPC"), Fault(CHANGING, 3, None)]])


@pytest.mark.slow
@pytest.mark.timeout(0)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", COMMANDS)
def test_every_fault(bench, name, kind):
    calls = bench.expect(name)[0].calls
    if not calls[kind]:
        pytest.skip(f"{name} has no {kind}")
    numbers = spread(calls[kind], int(os.environ.get("CROSSLENS_FAULTS", calls[kind])))
    sweep(bench, name, [[Fault((kind,), nth, reason)] for reason in REASONS[kind] for nth in numbers])


@pytest.mark.slow
@pytest.mark.timeout(0)
@pytest.mark.parametrize("name", KILLED)
def test_kills(bench, name):
    """Half at a random one of the calls that change the disk, half at a random time."""
    (done, _), chosen = bench.expect(name), random.Random(name)
    count = int(os.environ.get("CROSSLENS_FAULTS", 100))
    total = sum(done.calls[kind] for kind in CHANGING)
    at_calls = [Fault(CHANGING, 1 + chosen.randrange(total)) for _ in range(count - count // 2)]
    at_times = [Fault(after=chosen.uniform(0, done.seconds)) for _ in range(count // 2)]
    sweep(bench, name, [[fault] for fault in (*at_calls, *at_times)])
