"""The documentation is a promise: what it shows is run, and what it links to is there."""

import importlib.util
import re
from importlib.metadata import version
from pathlib import Path

import click
import pytest

import crosslens
from crosslens.cli import COMMANDS, cli
from crosslens.probes import PROBES
from crosslens.results.record import COLUMNS, read_results
from crosslens.similarity.measures import MEASURES
from crosslens.studies.study import Study, data_sets
from crosslens.tasks import TASKS
from crosslens.training.recipe import RECIPES, Recipe
from tiny_studies import save_decoder

ROOT = Path(__file__).parents[1]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "docs/llms.txt",
    *sorted(ROOT.glob("docs/**/*.md")),
    ROOT / "benchmarks/README.md",
]


def fenced(page, language):
    return re.findall(rf"```{language}\n(.*?)```", page.read_text("utf-8"), flags=re.S)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_relative_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text("utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page}: {target}"


def commands_in(text):
    """Each ``crosslens …`` of a text: the command, and the options that are written behind it."""
    for line in re.findall(r"crosslens ([a-z][^`\n\"']*)", re.sub(r"\\\\?\n\s*", " ", text)):
        found, group = None, cli
        for word in line.split():
            group = group.get_command(click.Context(cli), word) if isinstance(group, click.Group) else None
            if group is None:
                break
            found = group
        if found is not None:
            yield found, re.findall(r"(?<![\w-])--[a-z][a-z-]*", line)


@pytest.mark.parametrize("folder", ["src", "docs"])
def test_every_option_that_is_written_behind_a_command_is_one_of_its(folder):
    """In hints, in help, in settings files, on pages and in the scripts behind tables."""
    suffixes = {".py", ".md", ".sh", ".yaml", ".ipynb"}
    files = [file for file in (ROOT / folder).rglob("*") if file.suffix in suffixes]
    written = 0
    for file in [*files, ROOT / "README.md"]:
        for command, options in commands_in(file.read_text("utf-8")):
            known = {"--help", *(name for parameter in command.params for name in parameter.opts)}
            assert known.issuperset(options), f"{file}: crosslens {command.name}"
            written += len(options)
    assert written > 50


def test_every_option_that_a_page_names_alone_is_one_of_some_command():
    known = set(re.findall(r"--[a-z][a-z-]*", (ROOT / "docs/cli.md").read_text("utf-8")))
    named = {
        (page.name, option) for page in PAGES for option in re.findall(r"`(--[a-z][a-z-]*)", page.read_text("utf-8"))
    }
    assert len(named) > 50
    assert {(page, option) for page, option in named if option not in known} == set()


def test_the_command_line_reference_is_fresh():
    if f"click=={version('click')}\n" not in (ROOT / "constraints.txt").read_text():
        pytest.skip("another version of click lays help out otherwise")
    spec = importlib.util.spec_from_file_location("make_cli", ROOT / "docs" / "make_cli.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.PAGE.read_text("utf-8") == module.page(), "run python docs/make_cli.py"


def test_everything_registered_is_in_the_reference():
    text = (ROOT / "docs/reference.md").read_text("utf-8")
    for name in (*COLUMNS, *TASKS.built_in, *MEASURES.built_in, *PROBES.built_in, *RECIPES, *Recipe.model_fields):
        assert f"`{name}`" in text, name
    for name in (*Study.model_fields, *data_sets()):
        assert f"`{name}`" in text, name
    for name in COMMANDS:
        assert f"## crosslens {name}\n" in (ROOT / "docs/cli.md").read_text("utf-8")
    for name in crosslens.__all__:
        assert f"`{name}`" in text, name


@pytest.fixture
def library(monkeypatch, tiny_bert, treebanks, tmp_path):
    """What the examples name, made small: the encoder, the treebanks and the recipe."""
    import shutil

    data = tmp_path / "data"
    train = ((name, "en_toy") for name in ("en_ewt", "fr_sequoia", "wo_wtb"))
    for name, source in (*train, ("en_pud", "en_pud"), ("fr_pud", "fr_pud")):
        for file in treebanks.glob(f"ud/*/{source}-ud-*.conllu"):
            folder = data / "ud" / f"UD_{name}"
            folder.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, folder / file.name.replace(source, name))
    monkeypatch.setenv("CROSSLENS_DATA", str(data))
    monkeypatch.chdir(tmp_path)
    shutil.copytree(tiny_bert, tmp_path / "bert-base-multilingual-cased")
    shutil.copytree(tiny_bert, tmp_path / "my-encoder")
    shutil.copytree(tiny_bert, tmp_path / "e5-small")
    save_decoder(tmp_path / "my-decoder")
    shutil.copy(next(treebanks.glob("ud/*/en_toy-ud-train.conllu")), tmp_path / "my_train.conllu")
    shutil.copy(next(treebanks.glob("ud/*/fr_pud-ud-test.conllu")), tmp_path / "my_test.conllu")
    (tmp_path / "raw").mkdir()
    for language in ("en", "fr"):
        (tmp_path / "raw" / f"{language}.txt").write_text("the cat sees a dog .\n" * 200)
    shutil.copytree(tmp_path / "raw", data / "raw")
    (data / "muse").mkdir()
    for file, pairs in (("en-fr.0-5000", "the the\ncat cat\n"), ("en-fr.5000-6500", "dog dog\nsees sees\n")):
        (data / "muse" / f"{file}.txt").write_text(pairs)


NOT_IN_DEV = r"from (peft|nnsight) "
"""Packages whose examples encoders/models/test_lora.py and encoders/test_interop.py test where they are installed."""


@pytest.mark.parametrize("page", ["README.md", "docs/how-to.md"])
def test_python_examples_run(page, library, capsys):
    blocks = [block for block in fenced(ROOT / page, "python") if not re.search(NOT_IN_DEV, block)]
    assert blocks
    names = {}
    for block in blocks:
        exec(compile(block, page, "exec"), names)
    if page == "README.md":
        shown = capsys.readouterr().out
        assert "cka_shuffled" in shown
        printed = fenced(ROOT / page, "text")[1].splitlines()[:-1]  # all but the dots
        assert len(printed) == 10
        places = [re.sub(r"[\d.+−-]+", "", row).split() for row in printed]  # processors round differently
        assert all(row in [re.sub(r"[\d.+−-]+", "", line).split() for line in shown.splitlines()] for row in places)


def test_the_tutorial_lists_studies_as_the_command_does(run):
    _, listed, _ = run("list", "studies")
    (shown,) = [text for text in fenced(ROOT / "docs/tutorial.md", "text") if text.startswith("domains ")]
    *studies, omitted = shown.splitlines()
    assert omitted == "…"
    assert len(studies) == 3
    assert studies == [line.rstrip() for line in listed.splitlines()][:3]


def test_the_table_of_what_splits_share_is_what_its_code_prints(capsys):
    page = ROOT / "docs/laboratory.md"
    (block,) = fenced(page, "python")
    exec(compile(block, page, "exec"), {})
    rows = capsys.readouterr().out
    assert rows.count("\n") == 12
    assert rows in page.read_text("utf-8")


def test_the_settings_files_in_the_how_to_are_valid(library, tmp_path):
    from crosslens.mlm.pretrain_settings import Pretraining
    from crosslens.runs.corpora import Corpora
    from crosslens.runs.store import Store
    from crosslens.settings import read_settings
    from crosslens.studies.plan import plan
    from crosslens.studies.study import read_study

    sources, amounts, study, pretraining = fenced(ROOT / "docs/how-to.md", "yaml")
    (tmp_path / "c.yaml").write_text(pretraining)
    assert read_settings(tmp_path / "c.yaml", Pretraining).corpora
    # the small treebanks are one, and have no 25 sentences: two sources share their runs, and two slices are all of it
    for text, runs in ((sources, 3), (amounts, 6), (study, 9)):
        (tmp_path / "s.yaml").write_text(text)
        assert len(plan(read_study(tmp_path / "s.yaml"), Store(tmp_path / "runs"), corpora=Corpora()).left) == runs


def test_commands_in_the_docs_exist():
    import click

    from crosslens.cli import cli

    root = click.Context(cli, info_name="crosslens")
    written = 0
    for page in PAGES:
        for line in "\n".join(fenced(page, "sh")).replace("\\\n", " ").splitlines():
            words = line.split()
            if words[:1] != ["crosslens"]:
                continue
            command = cli.get_command(root, words[1])
            assert command is not None, line
            if isinstance(command, click.Group):
                command = command.commands[words[2]]
            known = {option for parameter in command.params for option in parameter.opts} | {"--help"}
            assert {w.partition("=")[0] for w in words if w.startswith("--")} <= known, line
            written += 1
    assert written > 20


@pytest.fixture(scope="module")
def make_results():
    spec = importlib.util.spec_from_file_location("make_results", ROOT / "docs" / "make_results.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_figures_of_the_readme_and_the_gallery_are_drawn_from_the_records(make_results):
    """Other versions of the drawing library may place things differently, but write the same numbers and names."""
    pytest.importorskip("altair")
    drawn = make_results.images()
    assert {f"images/{name}" for name in drawn if "dark" not in name} == set(
        re.findall(r"\]\((images/[^)]+)\)", (ROOT / "docs/gallery.md").read_text("utf-8"))
    )
    for name, svg in drawn.items():
        texts = [
            re.findall(r">([^<>]+)</text>", each) for each in ((make_results.IMAGES / name).read_text("utf-8"), svg)
        ]
        assert len(texts[0]) > 10
        assert texts[0] == texts[1], f"{name}: run python docs/make_results.py"
    for ending, ink in make_results.ENDINGS.items():
        assert "−11.1" in drawn[f"layer-profile{ending}.svg"]
        assert ink.zero_shot.lower() in drawn[f"layer-profile{ending}.svg"].lower()


@pytest.fixture(scope="module")
def site():
    pytest.importorskip("mkdocs")
    spec = importlib.util.spec_from_file_location("docs_site", ROOT / "docs" / "site.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_python_reference_of_the_site_lists_every_public_name(site):
    listed = re.findall(r"heading: xl\.(\w+)$", site.python_reference(), flags=re.M)
    assert sorted([*listed, "__version__"]) == sorted(crosslens.__all__)


@pytest.mark.parametrize(
    ("page", "link", "target"),
    [
        (None, "docs/tutorial.md#a", "tutorial.md#a"),
        (None, "CITATION.cff", "REPO/blob/main/CITATION.cff"),
        (None, "benchmarks/README.md", "REPO/blob/main/benchmarks/README.md"),
        ("faq.md", "../CHANGELOG.md", "changelog.md"),
        ("results/README.md", "../../CONTRIBUTING.md", "../contributing.md"),
        ("results/README.md", "../statistics.md", "../statistics.md"),
        ("results/README.md", "unseen", "REPO/tree/main/docs/results/unseen"),
        ("results/README.md", "unseen.sh", "unseen.sh"),
        ("statistics.md", "../src/crosslens/scores", "REPO/tree/main/src/crosslens/scores"),
        ("faq.md", "https://aclanthology.org/", "https://aclanthology.org/"),
    ],
)
def test_links_of_the_site_lead_to_pages_or_to_the_repository(site, page, link, target):
    folder = f"docs/{page}".rpartition("/")[0] if page else ""
    assert site.linked(f"[a]({link})", folder, "REPO", page=page) == f"[a]({target})"
    block = f"```text\n[a]({link})\n```"
    assert site.linked(block, folder, "REPO", page=page) == block


def test_marked_tables_of_results_are_what_the_report_writes(make_results):
    filled = 0
    for page in sorted((ROOT / "docs" / "results").glob("*.md")):
        text = page.read_text("utf-8")
        assert make_results.filled(text) == text, f"{page.name}: run python docs/make_results.py"
        filled += len(make_results.MARKED.findall(text))
    assert filled > 20


def test_alignments_of_one_encoder_were_recorded_with_the_mapping_of_their_commands():
    """Without ``--against`` and ``--mapping``, nothing is mapped."""
    records = read_results(ROOT / "docs/results/alignment.parquet").filter(encoder="e5-small", state="pretrained")
    script = (ROOT / "docs/results/alignment.sh").read_text("utf-8")
    commands = re.findall(r"crosslens align (words|sentences) e5-small --pair en-(\w+)(.*)", script)
    assert len(commands) == 3
    for level, target, options in commands:
        mapped = "--mapping procrustes" in options
        names = ("procrustes", "procrustes_shuffled", "identity") if mapped else ("identity",)
        rows = records.filter(source="en", target=target).columns.together("measure")
        measures = {measure for (measure,) in rows.values if measure.startswith(level)}
        assert measures == {f"{level} {name}" for name in names}


def test_the_folder_of_make_demo_is_not_in_the_way_of_the_runs_of_the_pages():
    """A folder of runs must be new, empty or a store: in one that already holds another folder, `run` refuses."""
    demo = Path(re.findall(r"^OUT \?= (\S+)$", (ROOT / "Makefile").read_text("utf-8"), flags=re.M)[0])
    stores = {
        Path(store)
        for page in PAGES
        for store in re.findall(r"crosslens (?:plan|run) [^`\n]*--out (\S+)", page.read_text("utf-8"))
    }
    assert Path("runs") in stores
    assert not stores & {demo, *demo.parents}
