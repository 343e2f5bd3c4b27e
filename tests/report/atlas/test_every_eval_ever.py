"""Logs of Every Eval Ever follow its schema (0.3.0, kept beside this file), and its own validator where installed."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from jsonschema import Draft7Validator

from crosslens.cli import cli
from crosslens.encoders.condition import Condition
from crosslens.errors import RequestError
from crosslens.report.atlas.every_eval_ever import VERSION, evaluation_logs
from crosslens.results.record import Results
from made_records import PLAIN, made_up, score

SCHEMA = json.loads((Path(__file__).parent / "every_eval_ever" / "eval.schema.json").read_text("utf-8"))
REASON = "its validator is not installed: pip install every-eval-ever (Python 3.12; 3.11 with --ignore-requires-python)"


def logs(results, organization="Université de l'Exemple"):
    return evaluation_logs(results, organization=organization, retrieved=1_700_000_000)


def encoder(name, **columns):
    return Results.of(replace(record, encoder=name, low=record.value - 1, high=record.value + 1) for record in PLAIN)


MADE = (encoder("google/mt5-small") + encoder("e5")) + made_up({"1-2": 20.0}, noise=0.5)


def test_logs_follow_the_schema_and_stand_where_the_database_looks():
    assert SCHEMA["version"] == VERSION
    texts = logs(MADE)
    assert [place.rsplit("/", 1)[0] for place in texts] == [
        "data/crosslens/google/mt5-small",
        "data/crosslens/Université de l'Exemple/e5",
        "data/crosslens/Université de l'Exemple/e",
    ]
    for text in texts.values():
        assert not list(Draft7Validator(SCHEMA).iter_errors(json.loads(text)))


def test_an_organization_has_a_name():
    for organization in ("", " "):
        with pytest.raises(RequestError, match="has no name"):
            logs(MADE, organization)


def test_scores_are_those_of_encoders_to_which_nothing_was_done():
    log, *_ = map(json.loads, logs(MADE).values())
    scores = {each["source_data"]["dataset_name"]: each["score_details"] for each in log["evaluation_results"]}
    assert {name: details["score"] for name, details in scores.items()} == {
        "ud/en": 95.0,
        "ud/fr": 85.0,
        "ud/de": 75.0,
    }
    assert scores["ud/fr"]["uncertainty"]["confidence_interval"]["lower"] == 84.0
    assert log["source_metadata"]["evaluator_relationship"] == "third_party"
    (own, *_) = map(json.loads, logs(MADE, "google").values())
    assert own["source_metadata"]["evaluator_relationship"] == "first_party"


def test_a_mean_over_seeds_has_its_standard_error():
    (log,) = map(json.loads, logs(made_up({}, noise=0.5)).values())
    french = next(each for each in log["evaluation_results"] if each["source_data"]["dataset_name"] == "ud/fr")
    assert french["score_details"]["score"] == 86.0  # 85.5, 86 and 86.5
    assert french["score_details"]["uncertainty"]["standard_error"]["value"] == pytest.approx(0.5 / 3**0.5)
    assert french["score_details"]["details"]["seeds"] == "3"


def test_each_score_has_an_identifier_of_its_own():
    """Files of one name in several languages, models trained on translations, and splits of own files."""
    ours = [replace(each, corpus="own", condition="none", ablation=None) for each in PLAIN[:3]]
    kinds = [{}, {"translated_from": "de"}, {"split": "dev"}, {"partner": "fr"}, {"metric": "las", "task": "parsing"}]
    (log,) = map(json.loads, logs(Results.of(replace(each, **kind) for kind in kinds for each in ours)).values())
    named = [each["evaluation_result_id"] for each in log["evaluation_results"]]
    assert len(set(named)) == len(named) == 3 * len(kinds)


def test_a_score_has_a_name_and_what_is_known_of_it():
    """Nothing that is not known stands there as a word."""
    (plain,) = json.loads(*logs(Results.of([score("fr", 85.0)])).values())["evaluation_results"]
    assert plain["evaluation_name"] == "POS tagging, en to fr"
    assert plain["evaluation_result_id"] == "pos; accuracy; en; fr; ud/fr"
    assert plain["source_data"] == {"dataset_name": "ud/fr", "source_type": "other", "additional_details": {}}
    assert plain["score_details"] == {
        "score": 85.0,
        "details": {"source": "en", "target": "fr", "seeds": "1"},
    }
    known = {"translated_from": "de", "split": "dev", "train": "ud/de_gsd", "corpus_digest": "abc", "n": 7}
    more = score("fr", 85.0, **known, low=80.0)
    (full,) = json.loads(*logs(Results.of([more])).values())["evaluation_results"]
    assert full["evaluation_result_id"] == "pos; accuracy; en; translated from de; fr; ud/fr; dev"
    assert full["source_data"]["additional_details"] == {"sha256": "abc"}
    assert full["score_details"]["details"] == {
        "source": "en",
        "split": "dev",
        "translated_from": "de",
        "target": "fr",
        "trained on": "ud/de_gsd",
        "scored units": "7",
        "seeds": "1",
    }
    assert "uncertainty" not in full["score_details"]  # one end is no interval


def test_an_encoder_has_its_owner_its_digests_and_the_versions_that_scored_it():
    (log,) = map(json.loads, logs(encoder("e5")).values())
    assert log["source_metadata"]["evaluator_relationship"] == "other"
    assert "sha256" not in log["model_info"]["additional_details"]
    assert log["eval_library"]["version"] == "unknown"
    columns = [{"seed": 1, "encoder_digest": "aa"}, {"seed": 2, "encoder_digest": "aa"}, {"seed": 3}]
    versions = ["1.0", "1.1", "1.0"]
    records = [
        replace(score("fr", 85.0, **each), tags={"crosslens": version})
        for each, version in zip(columns, versions, strict=True)
    ]
    (log,) = map(json.loads, logs(Results.of(records)).values())
    assert log["model_info"]["additional_details"]["sha256"] == "aa"
    assert log["eval_library"]["version"] == "1.0, 1.1"


@pytest.mark.parametrize(
    "columns", [Condition(layers="1-2").columns, {"encoder": None}, {"task": "unheard of"}, {"metric": None}]
)
def test_there_is_no_log_without_scores_of_a_named_encoder_in_a_known_task(columns):
    assert logs(Results.of([replace(score("fr", 85.0), **columns)])) == {}
    assert len(logs(Results.of([score("fr", 85.0)]))) == 1


def test_the_atlas_writes_them(tmp_path):
    MADE.write(tmp_path / "results.parquet")
    ran = CliRunner().invoke(
        cli,
        ["atlas", str(tmp_path / "results.parquet"), "--out", str(tmp_path / "out"), "--every-eval-ever", "Example"],
    )
    assert ran.exit_code == 0, ran.output
    assert len(list((tmp_path / "out" / "data" / "crosslens").glob("*/*/*.json"))) == 3


def test_its_own_validator_finds_no_fault(tmp_path):
    core = pytest.importorskip("every_eval_ever.validator.validation_core", reason=REASON)
    texts = logs(MADE)
    for place, text in texts.items():
        (tmp_path / place).parent.mkdir(parents=True)
        (tmp_path / place).write_text(text, "utf-8")
        report = core.validate_file(tmp_path / place, repo_path=place, run_semantic_checks=True)
        assert (report.valid, report.errors, report.warnings) == (True, [], [])
    assert len(texts) == 3
