"""Settings of a record, and the encoder of the second language among them."""

import pytest

from crosslens.report.layers.by_layer import retrieval_lines
from crosslens.results.cells import disambiguated, variants_of
from crosslens.results.record import Record, Results
from crosslens.results.record_settings import second_encoder, settings_of, settings_text

FRENCH = ("b" * 64, "c" * 64)


def test_settings_are_read_with_blanks_in_their_values():
    assert settings_of("against=my encoder method=csls") == {"against": "my encoder", "method": "csls"}
    assert settings_of("k=1") == {"k": "1"}
    assert settings_of(None) == settings_of("") == {}


@pytest.mark.parametrize("settings", [{}, {"k": "1"}, {"against": "my encoder (0123abcd)", "method": "csls"}])
def test_settings_are_read_as_they_were_written(settings):
    assert settings_of(settings_text(settings)) == settings


def test_the_second_encoder_has_a_digest_and_a_condition_where_they_are_known():
    assert second_encoder({"encoder": "wiki.vec"}) == {"against": "wiki.vec"}
    assert second_encoder({"encoder": "e", "encoder_digest": "d" * 64, "condition": "none"}) == {
        "against": "e",
        "against_digest": "d" * 64,
    }
    assert second_encoder({"encoder": "e", "encoder_digest": None, "condition": '{"layers": "1"}'}) == {
        "against": "e",
        "against_condition": '{"layers": "1"}',
    }
    assert second_encoder({"encoder": "e", "task": "pos"}) == {"against": "e", "against_task": "pos"}


def retrieved(value, french, *, reverse=False, **more):
    """Retrieval from English to French, by one English encoder and one of two French ones of the same name."""
    sides = [{"encoder": "lab/one/en", "encoder_digest": "a" * 64}, {"encoder": "lab/one/fr", "encoder_digest": french}]
    queries, candidates = reversed(sides) if reverse else sides
    languages = ("fr", "en") if reverse else ("en", "fr")
    columns = dict(zip(("source", "target"), languages, strict=True)) | queries | more
    return Record(
        **columns,
        measure="sentences procrustes",
        layer=0,
        depth=1,
        state="pretrained",
        metric="precision@1",
        value=value,
        corpus="tatoeba/fr",
        settings=settings_text(second_encoder(candidates) | {"method": "cosine"}),
    )


def test_two_second_encoders_of_one_name_are_two():
    records = [retrieved(20.0, FRENCH[0]), retrieved(30.0, FRENCH[1])]
    named = disambiguated(Results.of(records))
    assert [settings_of(row["settings"])["against"] for row in named] == ["fr (bbbbbbbb)", "fr (cccccccc)"]
    assert variants_of(named) == ["against=fr (bbbbbbbb)", "against=fr (cccccccc)"]


def test_a_second_encoder_that_is_alone_has_no_digest_in_its_name():
    (named,) = disambiguated(Results.of([retrieved(20.0, FRENCH[0])]))
    assert named["settings"] == "against=fr method=cosine"


def test_the_directions_of_retrieval_meet_though_two_encoders_have_one_name():
    records = [
        retrieved(value + 2 * place, french, reverse=reverse)
        for place, french in enumerate(FRENCH)
        for value, reverse in ((20.0, False), (21.0, True))
    ]
    lines = list(retrieval_lines(Results.of(records), "sentences"))
    assert sorted(line.label for line in lines) == ["en and fr (bbbbbbbb)", "en and fr (cccccccc)"]
