"""An atlas: a folder of files, a page and a ranking, which grows by submissions."""

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner

from crosslens.cli import cli
from crosslens.errors import DataError
from crosslens.report.atlas.encoder_file import encoder_files
from crosslens.report.atlas.folder import INTRODUCTION, read_submissions, write_atlas
from crosslens.results.record import Results
from made_records import PLAIN


def encoder(name, loss=0.0):
    return Results.of(
        replace(record, encoder=name, value=record.value - loss * bool(record.layers)) for record in PLAIN
    )


@pytest.fixture
def atlas(tmp_path):
    def atlas(name, results):
        (tmp_path / name).mkdir()
        write_atlas(results, tmp_path / name, title="Atlas")
        return tmp_path / name

    return atlas


def test_an_atlas_has_a_file_for_each_encoder(atlas):
    folder = atlas("a", encoder("google/mt5-small") + encoder("e5") + encoder("E5", 1.0))
    listed = json.loads((folder / "atlas.json").read_text("utf-8"))["encoders"]
    assert {each["encoder"]: each["file"] for each in listed} == {
        "google/mt5-small": "encoders/google--mt5-small.json",
        "e5": "encoders/e5.json",
        "E5": "encoders/E5-2.json",
    }
    assert all((folder / each["file"]).is_file() for each in listed)
    assert json.loads((folder / "schema.json").read_text("utf-8"))["title"] == "Encoder of an atlas of crosslens"
    assert (folder / "encoders.csv").read_text("utf-8").splitlines()[0].startswith("group,row,In-language")
    page = (folder / "index.html").read_text("utf-8")
    assert "<title>Atlas</title>" in page
    assert INTRODUCTION in page


def test_the_list_of_encoders_can_be_read_without_a_program(atlas):
    text = (atlas("a", encoder("العربية") + encoder("e5")) / "atlas.json").read_text("utf-8")
    assert '      "encoder": "العربية",\n      "file": "encoders/العربية.json"\n' in text


def test_encoders_of_an_atlas_are_read_by_name_whatever_the_order_of_its_files(atlas):
    folder = atlas("a", Results.of([]))
    names = [f"encoder{place}" for place in range(20)]
    for name in sorted(names, reverse=True):
        text = encoder_files(encoder(name))[name]
        (folder / "encoders" / f"{name}.json").write_text(text, "utf-8")
    read = read_submissions([str(folder)])
    assert [name for (name,), _ in read.groups("encoder")] == sorted(names)


def test_a_submission_joins_an_atlas_and_the_same_records_give_the_same_bytes(atlas):
    host, guest = atlas("host", encoder("e5")), atlas("guest", encoder("mine", 2.0))
    joined = atlas("joined", read_submissions([str(host), str(guest / "encoders" / "mine.json")]))
    assert sorted(path.name for path in (joined / "encoders").iterdir()) == ["e5.json", "mine.json"]
    again = atlas("again", read_submissions([str(joined)]))
    for file in ("encoders/e5.json", "encoders/mine.json", "index.html", "atlas.json"):
        assert (joined / file).read_bytes() == (again / file).read_bytes()


def test_records_that_an_atlas_has_already_are_not_added_again(atlas):
    host = atlas("host", encoder("e5"))
    again = atlas("again", read_submissions([str(host), str(host / "encoders" / "e5.json")]))
    assert (again / "encoders" / "e5.json").read_bytes() == (host / "encoders" / "e5.json").read_bytes()


def test_the_command_refuses_a_changed_mean_and_writes_nothing(atlas, tmp_path):
    guest = atlas("guest", encoder("mine"))
    file = guest / "encoders" / "mine.json"
    file.write_text(file.read_text("utf-8").replace('"cross": 80.0', '"cross": 99.0'), "utf-8")
    ran = CliRunner().invoke(cli, ["atlas", str(file), "--out", str(tmp_path / "out")])
    assert isinstance(ran.exception, DataError)
    assert "cross is 99.0, and its records give 80.0" in ran.exception.message
    assert not (tmp_path / "out").exists()


def test_the_command_writes_and_prints_the_ranking(atlas, tmp_path):
    folder = atlas("both", encoder("e5") + encoder("mine", 2.0))
    ran = CliRunner().invoke(cli, ["atlas", str(folder), "--out", str(tmp_path / "out")])
    assert ran.exit_code == 0, ran.output
    assert ran.output.index("mine (12 layers") < ran.output.index("e5 (12 layers")
    assert (tmp_path / "out" / "index.html").is_file()


def test_results_files_of_several_encoders_join_an_atlas(atlas, tmp_path):
    host, files = atlas("host", encoder("e5")), [tmp_path / "one.csv", tmp_path / "two.csv"]
    for file in files:
        encoder(file.stem).write(file)
    joined = atlas("joined", read_submissions([str(host), *map(str, files)]))
    assert sorted(path.stem for path in (joined / "encoders").iterdir()) == ["e5", "one", "two"]
