"""Scores before and after transliteration, as a table and a figure."""

from dataclasses import replace

import pytest

from crosslens.errors import RequestError
from crosslens.report.script_pairs import script_figure, script_pairs, scripts
from crosslens.results.record import Results
from made_results import SCORES, score

UYGHUR = "ud/ug_udt:test"


def uyghur(value, *, scheme="", train="ud/en_ewt:train", source="en", **more):
    target = "ug-Latn" if scheme else "ug"
    corpus = UYGHUR + scheme
    made = score(target, value, corpus=corpus, train=train, **more)
    return type(made)(**{name: getattr(made, name) for name in made.__slots__} | {"source": source})


ZERO_SHOT = [uyghur(40.0 + seed, seed=seed) for seed in (1, 2, 3)]
ZERO_SHOT += [uyghur(50.0 + 2 * seed, scheme="@uyghur-latin", seed=seed) for seed in (1, 2, 3)]
OWN = [
    uyghur(80.0, train="ud/ug_udt:train", source="ug"),
    uyghur(85.0, scheme="@uroman", train="ud/ug_udt:train@uroman", source="ug-uroman"),
]


def test_a_corpus_stands_beside_its_transliteration_within_seeds():
    (pair,) = script_pairs(Results.of(ZERO_SHOT))
    assert pair.group == "pos, accuracy, zero-shot from en"
    assert pair.label == "Uyghur, ud/ug_udt:test, uyghur-latin"
    assert pair.difference.by_seed == {1: 11.0, 2: 12.0, 3: 13.0}
    (table,) = scripts(Results.of(ZERO_SHOT))
    assert table.head == ("original script", "transliterated", "Δ", "low", "high")
    ((row,),) = table.groups.values()
    original, latin, difference, low, high = (cell.value for cell in row.cells)
    assert (original, latin, difference) == pytest.approx((42.0, 54.0, 12.0))
    half = 4.302652729911275 / 3**0.5  # Student's t with two degrees of freedom, standard deviation 1
    assert (low, high) == pytest.approx((12.0 - half, 12.0 + half))
    assert table.caption.endswith(" Low, high: 95 % confidence interval of the difference over seeds.")


def test_the_interval_grows_with_the_standard_deviation_of_the_differences():
    transliterated = [uyghur(50.0 + 5 * seed, scheme="@uyghur-latin", seed=seed) for seed in (1, 2, 3)]
    (table,) = scripts(Results.of([*ZERO_SHOT[:3], *transliterated]))
    ((row,),) = table.groups.values()
    difference, low, high = (cell.value for cell in row.cells[2:])
    half = 4.302652729911275 * 4.0 / 3**0.5  # differences of 14, 18 and 22: their standard deviation is 4
    assert (difference, low, high) == pytest.approx((18.0, 18.0 - half, 18.0 + half))


def test_models_trained_on_the_language_are_a_group_of_their_own():
    (table,) = scripts(Results.of([*ZERO_SHOT[:1], *ZERO_SHOT[3:4], *OWN]))
    assert list(table.groups) == ["pos, accuracy, zero-shot from en", "pos, accuracy, trained on the language"]
    assert (table.head[-1], "interval" in table.caption) == ("Δ", False)  # one seed has no interval
    assert scripts(Results.of([*ZERO_SHOT, *OWN]))[0].notes == ()  # each group has all of its seeds
    (lacking,) = scripts(Results.of([*ZERO_SHOT[:-1], *OWN]))
    assert len(lacking.notes) > 0
    (row,) = table.groups["pos, accuracy, trained on the language"]
    assert [cell.value for cell in row.cells] == [80.0, 85.0, 5.0]


def test_models_of_another_language_in_both_scripts_are_zero_shot():
    """A model of Kazakh and one of transliterated Kazakh are tested on Uyghur in the script of each."""
    kazakh = [
        uyghur(60.0, train="ud/kk_ktb:train", source="kk"),
        uyghur(50.0, scheme="@uroman", train="ud/kk_ktb:train@uroman", source="kk-Latn"),
    ]
    for records in (kazakh, [*kazakh, *OWN]):
        pair, *own = script_pairs(Results.of(records))
        assert pair.group == "pos, accuracy, zero-shot from kk in each script"
        assert pair.difference.by_seed == {1: -10.0}
        assert [each.group for each in own] == ["pos, accuracy, trained on the language"] * (len(records) > 2)


def test_models_of_joined_training_data_with_the_language_are_not_zero_shot():
    joined = [
        uyghur(value, scheme=scheme, train="ud/en_ewt:train+ud/ug_udt:train")
        for scheme, value in (("", 80.0), ("@uroman", 70.0))
    ]
    for source, group in (("en+ug", "trained on en+ug"), ("en+kk", "zero-shot from en+kk"), ("ug", "trained on ug")):
        (pair,) = script_pairs(Results.of(replace(each, source=source) for each in joined))
        assert pair.group == f"pos, accuracy, {group}"


def test_models_trained_on_other_data_are_not_paired():
    assert scripts(Results.of([ZERO_SHOT[0], OWN[1]])) == []
    assert scripts(Results.of(SCORES)) == []
    with pytest.raises(RequestError, match="no corpus in two scripts"):
        script_figure(Results.of(SCORES))


def test_models_trained_in_another_script_than_they_are_tested_in_are_not_paired():
    """Neither the original text read by a model of transliterated text, nor the text of another scheme."""
    original, transliterated = OWN
    assert len(script_pairs(Results.of([original, transliterated]))) == 1
    other = uyghur(60.0, scheme="@uyghur-latin", train="ud/ug_udt:train@uroman", source="ug-uroman")
    unread = uyghur(50.0, train="ud/ug_udt:train@uroman", source="ug-uroman")
    assert script_pairs(Results.of([original, other, unread])) == []


def test_both_scripts_are_points_of_the_figure():
    drawn = script_figure(Results.of([*ZERO_SHOT, *OWN])).to_dict()["datasets"].values()
    points = sorted(sorted((row["script"], row["score"]) for row in rows) for rows in drawn)
    assert points == [
        [("original script", 42.0), ("transliterated", 54.0)],
        [("original script", 80.0), ("transliterated", 85.0)],
    ]


def test_schemes_are_named_in_the_order_in_which_they_were_applied():
    twice = uyghur(60.0, scheme="@uyghur-latin@uroman")
    (pair,) = script_pairs(Results.of([ZERO_SHOT[0], twice]))
    assert pair.label == "Uyghur, ud/ug_udt:test, uyghur-latin then uroman"


def test_models_trained_on_several_amounts_have_a_pair_each_by_name():
    """In the figure, pairs of one name would be one line."""
    few = [
        uyghur(value, scheme=scheme, train=f"ud/ug_udt:train[:100]{scheme}", source="ug")
        for value, scheme in ((30.0, ""), (40.0, "@uroman"))
    ]
    pairs = script_pairs(Results.of([*OWN, *few]))
    assert {pair.label: (pair.original.mean, pair.transliterated.mean) for pair in pairs} == {
        "Uyghur, ud/ug_udt:test, uroman, trained on ud/ug_udt:train": (80.0, 85.0),
        "Uyghur, ud/ug_udt:test, uroman, trained on ud/ug_udt:train[:100]": (30.0, 40.0),
    }


def test_versions_of_a_corpus_are_not_dropped_in_silence():
    """Nothing tells of which version a corpus is the transliteration."""
    versions = [replace(each, corpus_digest=digest * 64) for each in ZERO_SHOT for digest in "ab"]
    with pytest.raises(RequestError, match=r"cannot be paired .*: ud/ug_udt:test \(aaaaaaaa\), .* \(bbbbbbbb\)"):
        scripts(Results.of(versions))
    other = [replace(each, target="hi", corpus=f"ud/hi_hdtb:test{each.corpus[len(UYGHUR) :]}") for each in ZERO_SHOT]
    (table,) = scripts(Results.of([*versions, *other]))
    assert [len(rows) for rows in table.groups.values()] == [1]
    assert "cannot be paired: ud/ug_udt:test (aaaaaaaa), ud/ug_udt:test (bbbbbbbb)." in table.caption
    (table,) = scripts(Results.of(other))
    assert "paired" not in table.caption
