"""The classes of languages, read from a store."""

import json
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from crosslens.encoders.condition import Condition
from crosslens.errors import RequestError
from crosslens.report.typology import in_order, typology_table
from crosslens.results.record import Results
from crosslens.runs.store import Store
from crosslens.studies.study import Grid
from crosslens.studies.typology import NothingToCompare, read_typology, typology_of
from made_typology import STARTS, languages, scored
from toy_studies import run


def test_a_store_without_a_baseline_has_no_typology(folder):
    with pytest.raises(RequestError, match="no language on which an encoder and a BiLSTM"):
        read_typology(Store(folder / "runs"))


def test_records_alone_give_the_classes_and_what_is_known_of_the_languages():
    frame = typology_of(Results.of([*languages(), scored("wo", "scratch", 30.0)])).set_index("language")
    assert dict(frame["class"]) == {"gsw": "easy", "wo": "intermediate", "ug": "hard"}
    assert dict(frame["published class"]) == {"gsw": "easy", "wo": "intermediate", "ug": "hard"}
    assert list(frame.loc["wo", ["name", "script", "family"]]) == ["Wolof", "Latin", "Niger-Congo"]
    assert frame.loc["wo", "from scratch"] == 30.0
    assert frame.loc["gsw", "encoder - BiLSTM"] == pytest.approx(10.06)
    assert list(frame["seeds"]) == [3, 3, 3]
    assert frame["adapted encoders"].isna().all()  # the records do not tell them apart
    assert list(frame.columns[-2:]) == ["published text", "published class"]  # what was measured comes first


def test_one_seed_and_scores_without_intervals_are_shown_but_not_tested():
    for records in (languages(seeds=(1,)), languages(half=None)):
        frame = typology_of(Results.of(records))
        assert frame["class"].isna().all()
        assert frame["by means"].isna().all()
        assert list(frame["encoder - BiLSTM"].round()) == [10, -40, -8]


def test_classes_need_differences_beyond_the_variation_over_sentences():
    narrow, wide = (typology_of(Results.of(languages(half=half))) for half in (1.0, 60.0))
    assert set(narrow["class"]) == {"easy", "intermediate", "hard"}
    assert set(wide["class"]) == {"undecided"}
    assert wide["by means"].tolist() == narrow["by means"].tolist()


def test_scores_of_no_value_or_of_unknown_data_are_left_out():
    unknown = [
        replace(scored("wo", start, 10.0, seed=4), **{column: None})
        for start in ("encoder", "bilstm")
        for column in ("value", "train", "corpus")
    ]
    assert typology_of(Results.of([*unknown, *languages()])).equals(typology_of(Results.of(languages())))


def test_languages_outside_the_slides_are_named_from_the_table_of_languages():
    def of(target):
        return [scored(target, start, value) for start, value in (("encoder", 80.0), ("bilstm", 70.0))]

    frame = typology_of(Results.of([*of("se"), *of("ug-Latn"), *of("sov-Cyrl")])).set_index("language")
    assert list(frame.loc["se", ["name", "script", "family"]]) == ["Northern Sami", "Latin", "Uralic"]
    assert list(frame.loc["ug-Latn", ["name", "script", "published class"]]) == ["Uyghur", "Latin", ""]
    assert list(frame.loc["ug-Latn", ["family", "published text"]]) == ["Turkic", "105K"]
    assert list(frame.loc["sov-Cyrl", ["name", "script", "family"]]) == ["sov-Cyrl", "Cyrillic", ""]


def test_rows_of_a_language_stand_by_training_data_then_by_test_data():
    def of(train, corpus):
        starts = (("encoder", 80.0), ("bilstm", 70.0))
        return [replace(scored("wo", start, value), train=train, corpus=corpus) for start, value in starts]

    frame = typology_of(Results.of([*of("b", "a:test"), *of("a", "b:test"), *of("a", "a:test")]))
    assert list(zip(frame["train"], frame["corpus"], strict=True)) == [
        ("a", "a:test"),
        ("a", "b:test"),
        ("b", "a:test"),
    ]


@pytest.mark.parametrize("target", [None, "a language of mine"])
def test_a_language_that_is_unknown_is_a_row_without_family(target):
    mine = [
        replace(scored("wo", start, value, seed=seed), target=target, train="mine", corpus="my.conllu")
        for start, value in (("encoder", 80.0), ("bilstm", 70.0))
        for seed in (1, 2)
    ]
    frame = typology_of(Results.of([*languages(), *mine])).set_index("corpus")
    assert list(frame.loc["my.conllu", ["language", "name", "script", "family"]]) == [target or "?"] * 2 + ["", ""]
    assert frame.loc["my.conllu", "encoder - BiLSTM"] == pytest.approx(10.0)
    for order in ("score", "family", "script", "name"):
        assert len(in_order(frame.reset_index(), order)) == 4
    assert typology_table(frame.reset_index()).groups


def test_models_that_something_else_was_done_to_are_left_out():
    """A BiLSTM is compared with the encoder as it is, not with an ablation of it."""
    ablated = [
        replace(scored("wo", start, 5.0, seed=seed), condition=json.dumps({"layers": "1-2", **keys}))
        for start, keys in (("encoder", {}), ("adapted", {"start": "adapted"}))
        for seed in (1, 2, 3)
    ]
    whole = typology_of(Results.of(languages()))
    assert typology_of(Results.of([*ablated, *languages(), *ablated])).equals(whole)


def test_runs_that_cannot_be_told_apart_are_an_error():
    again = [scored("wo", "encoder", 60.0, study="again")]
    with pytest.raises(RequestError, match=r"ud/wo:train was trained on in several ways"):
        typology_of(Results.of([*languages(), *again]))
    longer = scored("wo", "encoder", 60.0, seed=9, settings="epochs=9")
    with pytest.raises(RequestError, match="in several ways"):
        typology_of(Results.of([*languages(), longer]))


@pytest.mark.parametrize(
    ("other", "named"),
    [
        ({"encoder": "b"}, "encoder: encoder b differs"),
        ({"encoder_digest": "b" * 64}, "encoder: encoder a (bbbbbbbb) differs"),
    ],
)
def test_encoders_are_not_averaged_where_their_seeds_differ(other, named):
    """Seeds 1 to 3 are of one encoder, and seeds 4 to 6 of another one or of another revision of it."""
    mine = {"encoder": "a", "encoder_digest": "a" * 64}
    more = [scored("wo", "encoder", 10.0, seed=seed, **{**mine, **other}) for seed in (4, 5, 6)]
    more += [scored("wo", "bilstm", 78.0, seed=seed, encoder="a") for seed in (4, 5, 6)]
    with pytest.raises(RequestError, match=f"in several ways .*{re.escape(f'({named})')}"):
        typology_of(Results.of([*languages(**mine), *more]))


def test_training_data_of_one_name_are_not_averaged_where_their_seeds_differ():
    more = [scored("wo", start, 10.0, seed=4, train_digest="b" * 64) for start in ("encoder", "bilstm")]
    frame = typology_of(Results.of([*languages(train_digest="a" * 64), *more]))
    of_wolof = frame[frame["language"] == "wo"]
    assert sorted(zip(of_wolof["seeds"], of_wolof["encoder"].round(1), strict=True)) == [(1, 10.0), (3, 70.2)]


def test_an_adapted_encoder_has_the_recipe_of_the_encoder_and_other_models_may_have_their_own():
    def of(**settings):
        starts = ("encoder", "adapted", "scratch", "bilstm")
        return Results.of(
            scored("wo", start, 50.0, seed=seed, settings=settings.get(start, "limit=300"))
            for start in starts
            for seed in (1, 2)
        )

    assert len(typology_of(of(scratch="limit=300 epochs=9", bilstm="limit=300 epochs=30"))) == 1
    with pytest.raises(RequestError, match="in several ways"):
        typology_of(of(adapted="limit=300 epochs=9"))
    for start, settings, said in (("bilstm", "epochs=30", "all"), ("adapted", "limit=9", "9"), ("scratch", "", "all")):
        with pytest.raises(RequestError, match=rf"\({start}: {said} sentences, not 300\)"):  # other data
            typology_of(of(**{start: settings}))


def test_a_language_without_a_baseline_is_left_out_and_the_rows_of_others_stay():
    alone = [scored("fo", start, 50.0, seed=seed) for start in ("encoder", "adapted") for seed in (1, 2, 3)]
    assert typology_of(Results.of([*alone, *languages()])).equals(typology_of(Results.of(languages())))


@pytest.mark.parametrize("missing", ["encoder", "bilstm"])
def test_records_without_both_have_no_typology(missing):
    with pytest.raises(NothingToCompare):
        typology_of(Results.of([scored("wo", start, 50.0) for start in STARTS if start != missing]))


def test_a_corpus_of_one_sentence_of_a_store_is_left_out():
    """Nothing is known of its variation over sentences; two sentences are enough."""
    records = [
        replace(scored(target, start, 50.0, seed=seed), run=f"{target} {start} {seed}", question=target)
        for target in ("wo", "fo")
        for start in ("encoder", "bilstm")
        for seed in (1, 2)
    ]
    sentences = {"wo": 2, "fo": 1}
    counts = {target: np.array([[1] * size, [2] * size]) for target, size in sentences.items()}
    store = SimpleNamespace(
        folder="runs",
        studies=lambda: {"s": {}},
        collect=lambda study: Results.of(records),
        counts=lambda run: {f"{run[:2]} accuracy": counts[run[:2]]},
        describe=lambda run: {"identity": {"recipe": {}, "settings": {}, "encoder": None}},
        ids=list,
    )
    assert read_typology(store)["language"].tolist() == ["wo"]


def test_the_scores_of_the_best_settings_are_averaged(study, treebanks, tmp_path):
    conditions = (Condition(), Condition(start="bilstm"))
    searched = study.model_copy(update={"conditions": conditions, "grid": Grid(best=2, epochs=(1, 2))})
    assert not run(searched, tmp_path, treebanks).failed
    frame = read_typology(Store(tmp_path), data=str(treebanks)).set_index("language")
    scores = Store(tmp_path).collect(study.name).filter(metric="accuracy").to_pandas()
    means = scores.groupby(["target", scores["start"].fillna("encoder")])["value"].mean()
    for language in ("en", "fr"):
        found = frame.loc[language, ["encoder", "BiLSTM", "seeds"]].tolist()
        assert found == pytest.approx([means[language, "encoder"], means[language, "bilstm"], 2])
