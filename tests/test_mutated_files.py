"""Every reader is fed with damaged files: it reads them or refuses them in one sentence, whatever the damage.

Each file is valid before it is damaged. ``-m slow`` tries 10,000 damaged files instead of some hundreds.
"""

import json
import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import pytest

import crosslens as xl
from crosslens.alignment.vectors import read_vectors
from crosslens.corpora.catalogue import load_corpus, load_text
from crosslens.data import dictionary
from crosslens.data.links import read_links
from crosslens.data.transliteration import read_table, shipped_tables
from crosslens.encoders.load import load_encoder
from crosslens.errors import CrosslensError
from crosslens.mlm.pretrain_settings import Pretraining
from crosslens.results.record import read_results
from crosslens.runs.store import Store
from crosslens.settings import read_settings
from crosslens.studies.study import read_study
from crosslens.training.checkpoint import load_model
from crosslens.unseen.rule import read_rule
from made_records import made_up
from toys import conllu_text, iob_text, pairs_text, topics_text

PIECES = [
    b"\t",
    b"\n",
    b"\n\n",
    b"\r\n",
    b"\0",
    b"\xff",
    b"\xef\xbb\xbf",
    b'"',
    b"'",
    b"[",
    b"]",
    b"{",
    b"}",
    b":",
    b"-",
]
PIECES += [b",", b" ", b"null", b"nan", b"1e999", b"-1", b"9" * 30, b"99999", b"1-2", b"1.1", b"_", b"#", b"&a ", b"*a"]
PIECES += ["é".encode(), "ـ".encode(), "\u2028".encode(), b"true", b"B-", b"I-X", b"\xf0\x9f\x98\x80"]


def damaged(content: bytes, chance: random.Random) -> bytes:
    """A copy with one to four changes: bits flipped, pieces put in, taken out, repeated or moved, or cut off."""
    changed = bytearray(content)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(changed) + 1)
        length = chance.choice((1, 1, 2, 8, 64))
        match chance.randrange(6):
            case 0 if at < len(changed):
                changed[at] ^= 1 << chance.randrange(8)
            case 1:
                changed[at:at] = chance.choice(PIECES)
            case 2:
                del changed[at : at + length]
            case 3:
                changed[at:at] = changed[at : at + length]
            case 4:
                other = chance.randrange(len(changed) + 1)
                changed[at : at + length], changed[other:other] = b"", changed[at : at + length]
            case _:
                if chance.random() < 0.2:
                    del changed[at:]
    return bytes(changed)


@dataclass(frozen=True)
class Case:
    """A valid file, and what reads it.

    Attributes:
        path: the file.
        read: reads it, or what it belongs to.
        cost: number of default cases that one reading is worth.
    """

    path: Path
    read: Callable[[], object]
    cost: int = 1


@pytest.fixture(scope="module")
def cases(tmp_path_factory, tiny_bert, treebanks, tagger_folder, store_folder):
    folder = tmp_path_factory.mktemp("damaged")

    def case(name, content, read, cost=1):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return Case(path, lambda: read(path), cost)

    words = xl.load_corpus([["the", "cat", "sees"], ["a", "dog"], ["one"], ["it", "is", "so"]], language="en")
    results = made_up({"1-2": 10.0})
    for ending in ("csv", "json", "jsonl", "parquet"):
        results.write(folder / f"records.{ending}")
    rows = [dict(zip(("text", "label"), line.split("\t")[::-1], strict=True)) for line in ("a\tb", "c\td", "e\tf")]
    study = "name: s\nabout: x\nencoder: e\ndata: {tasks: {pos: {en: {train: ud/en_toy, tests: [ud/fr_pud]}}}}\n"
    study += (
        "conditions: [none, 1-2, {freeze: 0-1, recipe: small}, {noise: 1.output, noise_dose: 0.5}]\nseeds: [1, 2]\n"
    )
    study += "grid: {batch: [16, 32]}\nsimilarity: {of: [pretrained], measures: [cka]}\nset: {epochs: 1}\n"
    pretraining = "corpora: {en: raw/en.txt, fr: raw/fr.txt}\nvocabulary: {kind: bpe, size: 100}\nsteps: 5\n"
    encoder = folder / "encoder"
    shutil.copytree(tiny_bert, encoder)
    model = folder / "model"
    shutil.copytree(tagger_folder, model)
    (model / "SHA256SUMS").unlink()  # which would refuse every change
    store = folder / "store"
    shutil.copytree(store_folder, store)
    run = next((store / "runs").iterdir())
    planned = next((store / "studies").iterdir())
    return [
        case("a.conllu", conllu_text("en"), load_corpus),
        case("a.iob2", iob_text("en"), load_corpus),
        case("a.tsv", topics_text("en"), load_corpus),
        case("pairs.tsv", pairs_text("en"), load_corpus),
        case("a.csv", 'text,label\na,b\n"c, d",e\n', load_corpus),
        case("a.jsonl", "".join(json.dumps(row) + "\n" for row in rows), load_corpus),
        case("a.txt", "the cat sees a dog .\n\na dog\n" * 5, lambda path: load_text(path, language="en")),
        case("a.vec", "3 2\nthe 0.1 0.2\ncat 1 -1\ndog 3e-2 4\n", read_vectors),
        case("words.txt", "cat\tchat\ndog\tchien\n", dictionary.read),
        case("links.txt", "0-0 1-1\n0-1\n\n2-0\n", lambda path: read_links(path, words, words)),
        case("table.tsv", next(iter(shipped_tables().values())).read_bytes(), read_table),
        case("study.yaml", study, read_study, 3),
        case("pretraining.yaml", pretraining, lambda path: read_settings(path, Pretraining), 2),
        case("rule.csv", (resources.files("crosslens.unseen") / "measured.csv").read_bytes(), read_rule, 8),
        *(Case(path, lambda path=path: read_results(path).table()) for path in sorted(folder.glob("records.*"))),
        *(
            Case(encoder / name, lambda: load_encoder(encoder, device="cpu"), 8)
            for name in ("config.json", "tokenizer.json", "tokenizer_config.json", "model.safetensors")
        ),
        *(
            Case(model / name, lambda: load_model(model, device="cpu"), 12)
            for name in ("crosslens.json", "head.safetensors", "config.json", "trained_on.npy")
        ),
        *(
            Case(run / name, lambda: (Store(store).describe(run.name), Store(store).answers(run.name)), 3)
            for name in ("run.json", "records.parquet")
        ),
        Case(run / "counts.npz", lambda: Store(store).counts(run.name), 3),
        Case(planned / "plan.json", lambda: Store(store).planned(planned.name), 2),
    ]


@pytest.fixture(scope="module")
def tagger_folder(tiny_bert, treebanks, tmp_path_factory):
    encoder = load_encoder(tiny_bert, device="cpu")
    recipe = xl.find_recipe("small", "pos", {"epochs": 1})
    train = load_corpus("ud/en_toy:train", data=treebanks)
    folder = tmp_path_factory.mktemp("saved") / "model"
    xl.save_model(xl.finetune(encoder, "pos", train=train, recipe=recipe), folder)
    return folder


@pytest.fixture(scope="module")
def store_folder(study, treebanks, tmp_path_factory):
    from toy_studies import run

    folder = tmp_path_factory.mktemp("store") / "runs"
    run(study.model_copy(update={"seeds": (1,)}), folder, treebanks)
    return folder


def test_undamaged_files_are_read(cases):
    assert len(cases) > 25
    for case in cases:
        case.read()


@pytest.mark.parametrize("number", [8, pytest.param(400, marks=[pytest.mark.slow, pytest.mark.timeout(3600)])])
def test_damaged_files_are_read_or_refused_in_one_sentence(cases, number):
    tried = refused = 0
    for case in cases:
        content = case.path.read_bytes()
        chance = random.Random(case.path.name)
        try:
            for _ in range(max(2, number // case.cost) if number < 100 else number):
                case.path.write_bytes(bad := damaged(content, chance))
                tried += 1
                try:
                    case.read()
                except CrosslensError as error:
                    refused += bool(error.message.strip())
                except Exception as error:
                    raise AssertionError(
                        f"{case.path.name}: {type(error).__name__}: {error}\n{bad[:3000]!r}"
                    ) from error
        finally:
            case.path.write_bytes(content)
    assert refused > tried / 10
