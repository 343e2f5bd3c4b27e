"""The page as text."""

import base64
import hashlib
import html.parser
import json
import re
from dataclasses import replace

import pytest

from crosslens.encoders.condition import Condition
from crosslens.errors import RequestError
from crosslens.report.findings import findings
from crosslens.report.page import TAIL, known_runs, make_page
from crosslens.results.record import Record, Results
from crosslens.runs.store import Store
from made_records import HOSTILE, similarity
from made_runs import FRENCH, answers, asked, publish


def embedded(page):
    return json.loads(re.search(r'<script type="application/json" id="records">(.*?)</script>', page, re.S)[1])


def rows(columns):
    names = list(columns)
    cells = zip(*([columns[name]["of"][place] for place in columns[name]["at"]] for name in names), strict=True)
    return [dict(zip(names, row, strict=True)) for row in cells]


def test_the_page_holds_every_record(page, page_records):
    data = embedded(page)
    frame = page_records.to_pandas()
    scores = rows(data["scores"])
    assert [row["value"] for row in scores] == frame[frame["measure"].isna()]["value"].tolist()
    assert {row["condition"] for row in scores} == {"reference", "1-2"}
    similar = rows(data["similarities"])
    assert len(similar) == frame["measure"].notna().sum()
    assert {row["state"] for row in similar} == {"pretrained", "untrained"}
    assert data["runs"]["a" * 16]["facts"] == {"train": "ud/en_ewt:train"}


def test_nothing_outside_is_named_and_no_name_is_markup(page):
    assert "://" not in page.replace("http://www.w3.org/2000/svg", "")
    assert "<img" not in page
    assert "<b>done" not in page
    assert page.count("</script>") == 2


def test_no_script_or_style_but_the_page_s_own_may_run(page):
    policy = re.search(r'http-equiv="Content-Security-Policy" content="(.*?)"', page)[1]
    assert "default-src 'none'" in policy
    for pattern in (r"<style>(.*?)</style>", r"<script>(.*?)</script>"):
        digest = hashlib.sha256(re.search(pattern, page, re.DOTALL)[1].encode()).digest()
        assert f"'sha256-{base64.b64encode(digest).decode()}'" in policy


def test_findings_are_folded_below_the_headline(page):
    assert page.index('id="headline"') < page.index("<details") < page.index('id="heat"')
    assert "Read the findings" in page


class Checker(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.links = [], []

    def handle_starttag(self, tag, attrs):
        self.links += [value for name, value in attrs if name in ("src", "href")]
        if tag not in ("meta", "line", "rect", "polyline", "input"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_is_whole_and_stands_alone(page_records):
    page = make_page(page_records, title="<good>", introduction="a & b")
    checker = Checker()
    checker.feed(page)
    assert checker.open == []
    assert checker.links == []
    assert "&lt;good&gt;" in page
    assert "a &amp; b" in page


def test_the_same_records_give_the_same_page(page, page_records):
    runs = {"a" * 16: {"repeat": "crosslens run s.yaml --only aaaa", "log": "trained\n</script><b>done"}}
    assert (
        make_page(page_records, title=f"A {HOSTILE}", introduction="i", findings=findings(page_records), runs=runs)
        == page
    )


def test_what_there_is_none_of_has_no_section(page_records):
    assert 'id="curves"' not in make_page(page_records.filter(measure=None), title="t")
    assert 'id="heat"' not in make_page(page_records.filter(metric="similarity"), title="t")
    assert "Provenance" in make_page(Results.of([]), title="t")


def score(value, *, target="fr", seed=1, condition="none", **columns):
    made = {"task": "pos", "encoder": "e", "source": "en", "metric": "accuracy", "corpus": f"ud/{target}_pud:test"}
    return Record(
        target=target, seed=seed, value=value, **{**made, **Condition.model_validate(condition).columns, **columns}
    )


def heads(page):
    return [[column["head"] for column in table["columns"]] for table in embedded(page)["tables"]]


def values(page, place=0):
    table = embedded(page)["tables"][place]
    return {row["name"]: [cell.get("value") for cell in row["cells"]] for row in table["rows"]}


def test_features_stand_beside_the_reference_though_their_settings_differ():
    frame = [
        score(80.0, condition=condition, settings=words)
        for condition, words in (
            ("none", "limit=9"),
            ({"freeze": "0-3"}, "limit=9"),
            ({"use": "features"}, "limit=9 schedule=plateau"),
        )
    ]
    page = make_page(Results.of(frame), title="t")
    assert heads(page) == [["reference", "Δ features", "Δ frozen 0-3"]]
    more = replace(frame[-1], settings="schedule=plateau")  # trained on all sentences
    page = make_page(Results.of([*frame[:-1], more]), title="t")
    assert heads(page) == [["reference, limit=9", "Δ frozen 0-3, limit=9", "features"]]


def test_conditions_are_in_the_order_of_layers_and_each_is_compared_with_its_own_reference():
    layers = ("10-12", "9", "1-2", "1-12", "2", "11-12", "3-4")
    frame = [score(80.0 - place, condition=each) for place, each in enumerate(("none", *layers))]
    page = make_page(Results.of(frame), title="t")
    listed = {row["place"]: row["condition"] for row in rows(embedded(page)["scores"])}
    assert [listed[place] for place in sorted(listed)][:4] == ["reference", "2", "9", "1-2"]
    assert heads(page) == [["reference", *(f"Δ {each}" for each in ("2", "9", "1-2", "3-4", "11-12", "10-12", "1-12"))]]
    others = [score(70.0, train="b"), score(69.0, condition="1-2", train="b"), score(50.0, condition="1-2", train="c")]
    page = make_page(
        Results.of([*(score(r.value, condition=Condition.parse(r.condition), train="a") for r in frame[:1]), *others]),
        title="t",
    )
    assert heads(page) == [["reference, a", "reference, b", "Δ 1-2, b", "1-2, c"]]
    assert values(page)["ud/fr_pud:test"] == [80.0, 70.0, -1.0, 50.0]


def test_no_number_is_a_mean_of_two_records_of_one_seed():
    """Duplicates count once, contradictions are refused, and what differs has a row or a table of its own."""
    page = make_page(Results.of([score(80.0, study="a"), score(80.0, study="b"), score(70.0, seed=2)]), title="t")
    assert values(page) == {"ud/fr_pud:test": [75.0]}
    assert len(rows(embedded(page)["scores"])) == 2
    with pytest.raises(RequestError, match="contradict one another"):
        make_page(Results.of([score(80.0), score(70.0)]), title="t")
    page = make_page(Results.of([score(80.0, partner="fr"), score(70.0, partner="de")]), title="t")
    assert values(page) == {
        "ud/fr_pud:test with de": [70.0],
        "ud/fr_pud:test with fr": [80.0],
        "cross-language mean of 2": [75.0],
    }
    page = make_page(Results.of([score(80.0, encoder_digest="a" * 9), score(70.0, encoder_digest="b" * 9)]), title="t")
    assert [table["encoder"] for table in embedded(page)["tables"]] == ["e (aaaaaaaa)", "e (bbbbbbbb)"]
    page = make_page(Results.of([score(80.0, split="test"), score(70.0, split="dev")]), title="t")
    assert [table["source"] for table in embedded(page)["tables"]] == ["en (test)", "en (dev)"]
    page = make_page(Results.of([score(80.0), score(70.0, translated_from="de")]), title="t")
    assert [table["source"] for table in embedded(page)["tables"]] == ["en", "en (translated from de)"]


def test_similarities_of_a_line_have_one_record_a_pair_layer_and_seed():
    def similarity(value, measure="cka", **columns):
        described = {"encoder": "e", "source": "en", "target": "fr", "metric": "similarity", "layer": 0, "depth": 2}
        return Record(value=value, measure=measure, state="pretrained", **{**described, **columns})

    records = [
        similarity(0.5),
        similarity(0.5, study="b"),
        similarity(0.4, encoder_digest="b" * 9),
        similarity(0.3, encoder_digest="a" * 9),
        similarity(0.2, "cka_shuffled"),
        similarity(1.0, target="en"),
        similarity(0.1, **Condition(layers="0-1").columns),
        similarity(0.7, partner="de"),
    ]
    data = embedded(make_page(Results.of(records), title="t"))
    lines = [
        (row["state"], row["sentences"], row["pair"], row["different"], row["value"])
        for row in rows(data["similarities"])
    ]
    assert sorted(lines) == [
        ("e (aaaaaaaa): pretrained", "translations", "en-fr", True, 0.3),
        ("e (bbbbbbbb): pretrained", "translations", "en-fr", True, 0.4),
        ("e: pretrained", "translations", "en-en", False, 1.0),
        ("e: pretrained", "translations", "en-fr", True, 0.5),
        ("e: pretrained", "translations", "en-fr with de", True, 0.7),
        ("e: pretrained", "unrelated", "en-fr", True, 0.2),
        ("e: pretrained, layers 0-1 re-initialised", "translations", "en-fr", True, 0.1),
    ]
    with pytest.raises(RequestError, match="contradict"):
        make_page(Results.of([similarity(0.5), similarity(0.4)]), title="t")


def test_numbers_are_rounded_only_as_they_are_shown():
    """Of 70.37498, 70.375 would be shown as 70.38; means of similarities are taken in the page."""
    similar = Record(value=0.4374996, metric="similarity", measure="cka", layer=0, source="en", target="fr", depth=2)
    data = embedded(make_page(Results.of([score(80.0, low=70.37498, high=90.0), similar]), title="t"))
    assert [row["low"] for row in rows(data["scores"])] == [70.37]
    assert [row["value"] for row in rows(data["similarities"])] == [0.4374996]


def test_means_are_over_corpora_that_all_have_a_score_and_say_how_many():
    frame = [
        score(80.0),
        score(60.0, target="de"),
        score(50.0, target=None, corpus="unknown"),
        score(70.0, condition="1-2"),
    ]
    page = make_page(Results.of(frame), title="t")
    assert values(page) == {
        "ud/de_pud:test": [60.0, None],
        "ud/fr_pud:test": [80.0, -10.0],
        "cross-language mean of 2": [70.0, None],
        "unknown": [50.0, None],
    }


def test_corpora_of_one_name_have_rows_and_lines_of_their_own():
    losses = {"en": 1.0, "fr": 5.0, "de": 9.0}
    page = make_page(
        Results.of(
            score(80.0 - (loss if layers else 0.0), target=target, corpus="own", condition=layers or "none", depth=2)
            for target, loss in losses.items()
            for layers in (None, "1")
        ),
        title="t",
    )
    assert list(values(page))[:3] == ["own, en", "own, de", "own, fr"]
    (overview,) = embedded(page)["tables"][0]["overviews"]
    assert overview["profile"][0]["targets"] == {"own, fr": -5.0, "own, de": -9.0}


def test_checkpoints_of_pretraining_are_listed_and_the_last_is_shown():
    steps = (0, 100, 200)
    at = {step: f'{{"checkpoint": "{step}"}}' for step in steps}
    scored = [
        score(60.0 + step / 100, target=target, condition={"checkpoint": step})
        for step in steps
        for target in ("en", "fr")
    ]
    similar = [similarity("cka", 0.5, layer=layer, condition=at[step]) for step in steps for layer in (0, 1)]
    data = embedded(make_page(Results.of([*scored, *similar]), title="t"))
    (table,) = data["tables"]
    assert [column["name"] for column in table["columns"]] == ["reference, step 200"]
    assert table["overviews"][0]["same"]["mean"] == 62.0
    assert {row["state"] for row in rows(data["similarities"])} == {"pretrained, step 200"}
    assert len(rows(data["scores"])) == len(scored)


def test_a_score_without_a_value_is_left_out_and_the_others_keep_their_runs():
    frame = [score(None, target="de", run="a"), score(80.0, run="b", n=7), score(70.0, target="ru", run="c", n=9)]
    listed = rows(embedded(make_page(Results.of(frame), title="t", sort="name"))["scores"])
    assert [(row["target"], row["run"], row["value"], row["n"]) for row in listed] == [
        ("fr", "b", 80.0, 7),
        ("ru", "c", 70.0, 9),
    ]


@pytest.mark.parametrize(("seeds", "shown"), [((1,), [(70.0, 90.0), (None, None)]), ((1, 2), [(None, None)] * 2)])
def test_the_interval_of_a_record_stands_beside_a_score_of_one_seed_only(seeds, shown):
    """A difference and a mean over seeds have other intervals than any record."""
    frame = [
        score(80.0 + seed, seed=seed, condition=each, low=70.0, high=90.0) for each in ("none", "1-2") for seed in seeds
    ]
    (row,) = embedded(make_page(Results.of(frame), title="t"))["tables"][0]["rows"]
    assert [(cell.get("low"), cell.get("high")) for cell in row["cells"]] == shown


def test_the_page_keeps_the_last_lines_of_the_log_of_a_run(tmp_path):
    store = Store(tmp_path / "store")
    publish(store, asked(), answers(FRENCH))
    (run,) = store.ids()
    store.finish(run, [f"line {number}" for number in range(TAIL + 5)])
    assert known_runs([store.folder])[run]["log"].splitlines() == [f"line {number}" for number in range(5, TAIL + 5)]


def test_time_and_machines_are_those_of_the_runs_on_the_page():
    runs = {name: {"seconds": "600.0", "machine": f"machine of {name}"} for name in ("a", "b", "c")}
    results = Results.of([score(80.0, run="a"), score(70.0, run="b", target="de")])
    page = make_page(results, title="t", runs=runs)
    assert "<dd>20 minutes in 2 runs</dd>" in page
    assert "<dd>machine of a, machine of b</dd>" in page
    assert "machine of c" not in page
