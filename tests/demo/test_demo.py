import html.parser

import pytest

import crosslens.demo.demo as demo
from crosslens.data.records import Record, Results
from crosslens.demo.demo import run_demo
from crosslens.demo.finding import Estimate, describe, effects, similarity_means
from crosslens.demo.page import make_page
from crosslens.errors import RequestError

LAYERS = ("1-2", "3-4", "5-6", "1-6", "0-6")


def made_up(same, cross, seeds=1):
    """Records in which drawing layers anew changes the scores by so much."""
    records = []
    for task, metric in (("pos", "accuracy"), ("parsing", "las")):
        for seed in range(1, seeds + 1):
            for layers, here, there in zip((None, *LAYERS), (0, *same), (0, *cross), strict=True):
                for target, value in (("src", 90 + here), ("adj", 60 + there), ("sov", 50 + there - 0.5 * seed)):
                    records.append(
                        Record(task=task, encoder="e", source="src", target=target, ablation=layers, seed=seed,
                               metric=metric, value=float(value), tags={"corpus": f"lab/{target}"})
                    )  # fmt: skip
    for state, shift in ((None, 0.2), ("0-6", 0.0)):
        for measure in ("cka", "cka_shuffled", "cka_debiased"):
            for layer in range(7):
                records.append(
                    Record(encoder="e", source="src", target="adj", ablation=state, measure=measure, layer=layer,
                           metric="similarity", value=0.5 + shift - 0.01 * layer)
                )  # fmt: skip
    return Results.of(records)


def said(same, cross, **more):
    return [" ".join(describe(effect)) for effect in effects(made_up(same, cross, **more))]


def test_the_effect_is_told_when_it_appears():
    for text in said((-0.3, 0, 0, -1, -2), (-9, -2, 0.5, -12, -20)):
        assert "Drawing layers 1-2 anew changes the source by −0.3 and the others by −9.0" in text
        assert "So the lowest layers carry the transfer here" in text
        assert "embeddings kept, change the others by −12.0, everything drawn anew by −20.0" in text


@pytest.mark.parametrize(
    ("same", "cross", "words"),
    [
        ((0, 0, 0, 0, 0), (-1, 0, 0, 0, 0), "the effect did not appear here"),
        ((-8, 0, 0, 0, 0), (-9, 0, 0, 0, 0), "the effect did not appear here"),
        ((0, 0, 0, 0, 0), (-8, -12, 0, 0, 0), "but not in the lowest layers: 3-4 cost the most"),
        ((0, 0, 0, 0, 0), (-12, -3, -7, 0, 0), "but layers 5-6 matter as well"),
    ],
)
def test_what_happened_instead_is_told_too(same, cross, words):
    assert all(words in text for text in said(same, cross))


def test_several_seeds_have_an_interval():
    assert str(Estimate((-9.0, -11.0))) == "−10.0 ± 12.7"
    assert str(Estimate((-9.0,))) == "−9.0"
    effect = effects(made_up((0,) * 5, (-9, 0, 0, 0, 0), seeds=3))[0]
    assert effect.cross["1-2"].values == (-9.0,) * 3
    assert effect.reference == (90.0, pytest.approx(54.5))


class Checker(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.links = [], []

    def handle_starttag(self, tag, attrs):
        self.links += [value for name, value in attrs if name in ("src", "href")]
        if tag not in ("meta", "line", "rect", "polyline"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.mark.parametrize("cross", [(-9, -2, 0.5, -12, -20), (3, 4, 5, 6, 7)])
def test_the_page_is_whole_and_stands_alone(cross):
    page = make_page(made_up((0,) * 5, cross), preset="<good>", description="a & b")
    checker = Checker()
    checker.feed(page)
    assert checker.open == []
    assert checker.links == []
    assert "&lt;good&gt;" in page
    assert "a &amp; b" in page
    assert page.count("<svg") == 3
    assert "http" not in page.replace("http://www.w3.org", "")
    assert "cross-language mean" in page


def test_similarities_are_means_over_pairs():
    means = similarity_means(made_up((0,) * 5, (0,) * 5))
    assert means.loc[("pretrained", "cka")][0] == pytest.approx(0.7)
    assert means.loc[("untrained", "cka")][6] == pytest.approx(0.44)


@pytest.fixture
def small(monkeypatch):
    """A demonstration of seconds: few words, few steps, two conditions, one task."""
    from crosslens.lab.laboratory import LaboratorySettings
    from crosslens.lab.presets import LANGUAGES

    settings = LaboratorySettings(languages={k: LANGUAGES[k] for k in ("src", "sov")}, sentences=200)
    monkeypatch.setitem(__import__("crosslens.lab.presets", fromlist=["PRESETS"]).PRESETS, "good", settings)
    shape = {"layers": 6, "width": 16, "heads": 2, "feedforward": 16, "positions": 32}
    fewer = {**demo.PRETRAINING, "shape": shape, "steps": 5, "batch": 8}
    monkeypatch.setattr(demo, "PRETRAINING", fewer)
    monkeypatch.setattr("crosslens.lab.export.PRETRAINING", fewer)
    monkeypatch.setattr(demo, "TASKS", ("pos",))
    monkeypatch.setattr(demo, "CONDITIONS", ("", "1-2", "0,all"))
    monkeypatch.setattr(demo, "TESTED", 20)


def test_from_text_to_records_and_on_after_an_interruption(small, tmp_path):
    stages = []

    def told(stage, done, total, words):
        stages.append((stage, done, total))
        if stage == "fine-tuning" and done == 2 and not (tmp_path / "again").exists():
            raise KeyboardInterrupt

    arguments = {"seeds": 1, "cache": tmp_path / "cache", "processes": 1}
    with pytest.raises(KeyboardInterrupt):
        run_demo("good", tmp_path / "out", told=told, **arguments)
    assert not (tmp_path / "out" / "results.csv").exists()
    kept = sorted(path.name for path in (tmp_path / "out" / "runs").iterdir())
    assert len(kept) >= 2
    before = {name: (tmp_path / "out" / "runs" / name).read_bytes() for name in kept}
    (tmp_path / "again").touch()
    stages.clear()
    results = run_demo("good", tmp_path / "out", told=told, **arguments)
    assert ("pretraining", 5, 5) in stages
    assert ("fine-tuning", len(kept), 3) in stages
    assert {name: (tmp_path / "out" / "runs" / name).read_bytes() for name in kept} == before
    frame = results.filter(metric="accuracy").to_pandas()
    assert sorted(frame["ablation"].fillna("").unique()) == ["", "0-6", "1-2"]
    assert sorted(frame["target"].unique()) == ["sov", "src"]
    assert len(results.filter(metric="similarity")) == 2 * 3 * 7
    with pytest.raises(RequestError, match="holds a demonstration with other settings"):
        run_demo("good", tmp_path / "out", **{**arguments, "seeds": 2})


def test_a_folder_of_something_else_is_left_alone(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(RequestError, match="exists already"):
        run_demo("good", tmp_path, seeds=1, cache=tmp_path / "cache")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
    with pytest.raises(RequestError, match="no preset 'god'"):
        run_demo("god", tmp_path / "x", seeds=1, cache=tmp_path / "cache")
    assert not (tmp_path / "x").exists()
