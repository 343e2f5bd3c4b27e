"""The file of an encoder: it holds its records, and is checked by schema and by its means."""

import json

import pytest

from crosslens.errors import DataError
from crosslens.report.atlas.encoder_file import EncoderFile, encoder_files, means_of, read_encoder
from crosslens.results.record import Results
from made_records import PLAIN, score, similarity

RECORDS = Results.of([*PLAIN, similarity("cka", 0.5), score("fr", 70.0, encoder="/home/me/encoders/العربية")])


@pytest.fixture
def document():
    return json.loads(encoder_files(RECORDS)["e"])


@pytest.fixture
def refused(tmp_path):
    def refused(document):
        (tmp_path / "e.json").write_text(json.dumps(document), "utf-8")
        with pytest.raises(DataError) as error:
            read_encoder(tmp_path / "e.json")
        return error.value.message.removeprefix(f"{tmp_path}/e.json: ")

    return refused


def test_each_encoder_has_a_file_under_its_name_and_no_folder_of_the_machine():
    files = encoder_files(RECORDS)
    assert list(files) == ["e", "العربية"]
    assert "/home/me" not in files["العربية"]


def test_a_file_is_read_as_the_records_it_was_written_from(tmp_path):
    (tmp_path / "e.json").write_text(encoder_files(RECORDS)["e"], "utf-8")
    assert list(read_encoder(tmp_path / "e.json")) == list(RECORDS.filter(encoder="e"))


@pytest.mark.parametrize("targets", [["en"], ["fr", "de"]])
def test_a_file_of_scores_in_the_source_language_only_or_in_others_only_is_read(tmp_path, targets):
    results = RECORDS.filter(encoder="e", target=targets, measure=None)
    (tmp_path / "e.json").write_text(encoder_files(results)["e"], "utf-8")
    assert list(read_encoder(tmp_path / "e.json")) == list(results)
    same, cross = ([95.0, 94.0], [None, None]) if targets == ["en"] else ([None, None], [80.0, 60.0])
    means = json.loads((tmp_path / "e.json").read_text("utf-8"))["means"]
    assert ([mean["same"] for mean in means], [mean["cross"] for mean in means]) == (same, cross)


def test_a_file_holds_what_is_known_of_a_record_in_its_own_letters():
    text = encoder_files(RECORDS)["العربية"]
    (record,) = json.loads(text)["records"]
    assert None not in record.values()
    assert '"encoder": "العربية"' in text


def test_means_are_those_of_the_scores(document):
    reference, reinitialised = document["means"]
    assert (reference["same"], reference["cross"], reference["corpora"]) == (95.0, 80.0, 2)
    assert (reinitialised["same"], reinitialised["cross"]) == (94.0, 60.0)
    assert [mean.model_dump() for mean in means_of(RECORDS.filter(encoder="e"))] == document["means"]


def test_means_that_do_not_follow_from_the_records_are_refused(document, refused):
    document["means"][1]["cross"] += 0.01
    assert refused(document).startswith("means of pos, accuracy, en, 1-2: cross is 60.01, and")
    del document["means"][1]
    assert refused(document).endswith("missing")
    document = json.loads(encoder_files(RECORDS)["e"])
    fewer = {**document, "means": [{**document["means"][0], "corpora": 1}, *document["means"][1:]]}
    assert refused(fewer).endswith("corpora is 1, and its records give 2")
    document["means"] += [{**document["means"][0], "source": "fr"}]
    assert refused(document) == "means of pos, accuracy, fr, reference: no records"


def test_what_the_schema_does_not_allow_is_refused_with_its_place(document, refused):
    assert refused(document | {"version": 2}).startswith("version: Input should be 1")
    assert refused(document | {"more": 1}).startswith("more: Extra inputs are not permitted")
    document["records"][3]["value"] = "94"
    assert refused(document) == "records.3.value: Input should be a valid number"
    document["records"][3] = {"value": 94.0, "score": 1}
    assert refused(document).startswith("records.3.score: Extra inputs")
    document["records"][3] = {"encoder": "f", "value": 94.0}
    assert refused(document) == "records of 'f' in the file of 'e'"
    document["records"][3] = {"value": "94", "score": 1}
    assert refused(document).endswith(" (and 1 more)")


def test_a_file_that_is_not_there_or_not_json_is_named(tmp_path):
    with pytest.raises(DataError, match=r"e\.json: No such file"):
        read_encoder(tmp_path / "e.json")
    (tmp_path / "e.json").write_text("{")
    with pytest.raises(DataError, match=r"e\.json: the file: Invalid JSON"):
        read_encoder(tmp_path / "e.json")


def test_the_schema_describes_the_file(document):
    jsonschema = pytest.importorskip("jsonschema", reason="no jsonschema here")
    schema = EncoderFile.model_json_schema()
    jsonschema.validate(document, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document | {"means": [{}]}, schema)


def test_a_file_has_a_line_for_each_record_and_ends_with_a_line():
    text = encoder_files(RECORDS)["e"]
    assert text.endswith("}\n")
    lines = text[text.index('"records"') :].splitlines()[1:-1]
    assert [json.loads(line.removesuffix(","))["value"] for line in lines] == [
        record.value for record in RECORDS.filter(encoder="e")
    ]
