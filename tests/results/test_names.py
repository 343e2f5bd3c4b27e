"""Short names of encoders: paths become names, and two encoders never become one."""

from crosslens.encoders.condition import Condition
from crosslens.report.blocks import score_blocks
from crosslens.results.cells import disambiguated, encoders_apart
from crosslens.results.chart import by_state
from crosslens.results.names import short_names
from crosslens.results.record import Record, Results


def test_two_encoders_keep_two_names():
    alike = ["a/b/e5", "c/d/e5"]
    assert short_names({name: set() for name in alike}) == dict(zip(alike, alike, strict=True))
    assert short_names({"a/b/e5": {"1"}, "c/d/e5": set()}) == dict(zip(alike, alike, strict=True))
    assert set(short_names({"a/b/e5": {"1"}, "c/d/e5": {"2"}}).values()) == {"e5"}
    columns = {"task": "pos", "source": "en", "target": "fr", "metric": "accuracy", "corpus": "ud/fr", "value": 80.0}
    records = [
        Record(encoder=name, encoder_digest=digest * 16, **columns) for name, digest in zip(alike, "ab", strict=True)
    ]
    assert [block.encoder for block in score_blocks(Results.of(records))] == ["e5 (aaaaaaaa)", "e5 (bbbbbbbb)"]
    again = encoders_apart(encoders_apart(Results.of(records)))
    assert again.records["encoder"].to_pylist() == ["e5 (aaaaaaaa)", "e5 (bbbbbbbb)"]


def test_one_encoder_at_two_paths_is_one():
    paths = ["a/b/e5", "c/d/e5"]
    assert set(short_names({path: {"1"} for path in paths}).values()) == {"e5"}
    columns = {"task": "pos", "source": "en", "target": "fr", "metric": "accuracy", "corpus": "ud/fr", "seed": 1}
    reference = Record(encoder=paths[0], encoder_digest="a" * 64, value=80.0, **columns)
    changed = Record(encoder=paths[1], encoder_digest="a" * 64, value=70.0, **columns, **Condition(layers="1").columns)
    assert [block.encoder for block in score_blocks(Results.of([reference, changed]))] == ["e5"]


def test_the_encoder_of_the_second_language_is_named_alike():
    columns = {"source": "en", "target": "fr", "metric": "similarity", "measure": "cka", "layer": 0, "depth": 2}
    record = Record(
        encoder="s/runs/7b39fe0b48780766/encoder",
        settings="against=/data/encoders/mono-fr method=cosine",
        value=0.5,
        state="pretrained",
        **columns,
    )
    (named,) = disambiguated(Results.of([record]))
    assert named["settings"] == "against=mono-fr method=cosine"
    other = Record(encoder="x", value=0.4, state="pretrained", **columns)
    ((state, _), _) = by_state(Results.of([record, other]))
    assert state.encoder == "run 7b39fe0b and mono-fr"
