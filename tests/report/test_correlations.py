"""Tables of correlations: coefficients and p-values, beside the published ones."""

import statistics
from dataclasses import replace

import pytest

from crosslens.encoders.condition import Condition
from crosslens.errors import RequestError
from crosslens.report.correlations import correlation, overlap
from crosslens.report.papers import find_paper
from crosslens.results.record import Record, Results
from made_records import score, similarity

SCORES = {"en": 96.0, "fr": 88.0, "sv": 80.0, "de": 84.0}
SIMILAR = {"fr": 0.8, "sv": 0.5, "de": 0.6}
SHARED = {"fr": 40.0, "sv": 25.0, "de": 33.0}

POS = Results.of(score(target, value, split="test") for target, value in SCORES.items())
ALIKE = Results.of(similarity("cka", value, target=target) for target, value in SIMILAR.items())


def overlaps(measure, values):
    return Results.of(
        Record(encoder="e", source="en", target=target, measure=measure, metric="overlap", value=value, split="test")
        for target, value in values.items()
    )


def values(row):
    return [cell.value for cell in row.cells]


def test_similarity_correlates_over_ranks_with_its_p():
    assert correlation(POS) == []
    (table,) = correlation(POS + ALIKE)
    assert table.head == ("POS tagging, source en",)
    (row,) = table.groups["cka"]
    assert row.label == "pretrained"
    assert values(row) == pytest.approx([-1.0])  # the more alike, the smaller the gap
    assert table.notes[row.cells[0].note - 1].startswith("p = ")
    assert table.notes[row.cells[0].note - 1].endswith(
        "permutation test over 3 languages; 3 languages are too few to say anything"
    )


@pytest.mark.parametrize(
    ("setting", "named"),
    [({"precision": "bfloat16"}, "precision=bfloat16"), ({"checkpoint": "500"}, "step 500")],
)
def test_references_of_one_precision_or_checkpoint_are_correlated_with_their_similarities(setting, named):
    condition = Condition(**setting)
    (plain,) = correlation(POS + ALIKE)
    others = (POS + ALIKE).with_columns(condition=condition.text)
    (table,) = correlation(others)
    assert table.head == (f"POS tagging, {named}, source en",)
    assert [values(row) for row in table.groups["cka"]] == [values(row) for row in plain.groups["cka"]]
    (both,) = correlation(POS + ALIKE + others)
    assert both.head == (*plain.head, *table.head)
    assert correlation(POS + ALIKE.with_columns(condition=condition.text)) == []  # of other encoders than the scores


def test_published_correlations_stand_below_ours():
    (table,) = correlation(POS + ALIKE, beside=find_paper("muller2021"))
    ours, theirs, difference = table.groups["cka"]
    assert values(theirs) == [-0.82]  # printed without the sign that the definition of the gap gives it
    assert values(difference) == pytest.approx([values(ours)[0] + 0.82])


def test_published_correlations_of_another_source_stand_below_nothing():
    scores = POS.filter(target=list(SIMILAR)) + POS.filter(target="en").with_columns(target="it")
    (table,) = correlation((scores + ALIKE).with_columns(source="it"), beside=find_paper("muller2021"))
    assert len(table.groups["cka"]) == 1


@pytest.mark.parametrize(
    ("train", "published"),
    [
        ("ud/en_ewt:train", True),
        ("ud/en_ewt:train+ud/en_gum:train", False),  # joined, in English alone
        ("ud/en_partut:train", False),  # which the paper trains on by its own name
    ],
)
def test_published_correlations_are_of_models_of_the_corpus_that_the_paper_trains_on(train, published):
    (table,) = correlation(POS.with_columns(train=train) + ALIKE, beside=find_paper("muller2021"))
    assert len(table.groups["cka"]) == (3 if published else 1)


def test_partial_correlations_stand_in_the_column_of_their_models():
    """A second encoder has too few languages for them."""
    more = {"ru": (70.0, 0.4), "hi": (60.0, 0.45), "tr": (50.0, 0.2)}
    confounds = {
        "fr": (1.1, 1.5),
        "sv": (0.9, 1.2),
        "de": (1.0, 2.0),
        "ru": (0.8, 1.4),
        "hi": (1.3, 1.9),
        "tr": (0.7, 2.1),
    }
    scores = Results.of(score(target, gap, split="test") for target, (gap, _) in more.items())
    similar = SIMILAR | {target: value for target, (_, value) in more.items()}
    alike = [
        replace(
            similarity("cka", value, target=target), length_ratio=confounds[target][0], fertility=confounds[target][1]
        )
        for target, value in similar.items()
    ]
    others = (POS + Results.of(alike[:3])).with_columns(encoder="another", encoder_digest=None)
    (table,) = correlation(POS + scores + Results.of(alike) + others)
    ours, controlled = table.groups["cka"]
    assert table.head == ("POS tagging, source en, e", "POS tagging, source en, another")
    assert [cell.value is None for cell in controlled.cells] == [False, True]
    assert None not in values(ours)


def test_overlap_correlates_linearly_types_and_tokens_apart():
    assert overlap(POS) == []
    tokens = {target: 90.0 - value for target, value in SHARED.items()}
    (table,) = overlap(POS + overlaps("overlap_types", SHARED) + overlaps("overlap_tokens", tokens))
    by_hand = statistics.correlation([SCORES[target] for target in SHARED], list(SHARED.values()))
    assert table.head == ("types", "tokens")
    ((row,),) = table.groups.values()
    assert row.label == "POS tagging, source en"
    assert values(row) == pytest.approx([by_hand, -by_hand])
    assert all("3 languages" in table.notes[cell.note - 1] for cell in row.cells)
    assert [(cell.interval.over, cell.interval.marked) for cell in row.cells] == [("languages", False)] * 2


def test_with_one_measure_the_other_column_is_empty():
    (table,) = overlap(POS + overlaps("overlap_tokens", SHARED))
    ((row,),) = table.groups.values()
    assert row.cells[0].value is None
    assert row.cells[1].value is not None


def test_a_constant_side_leaves_the_cell_empty_with_the_reason():
    (table,) = overlap(POS + overlaps("overlap_types", dict.fromkeys(SHARED, 30.0)))
    ((row,),) = table.groups.values()
    assert row.cells[0].value is None
    few = "3 languages are too few to say anything"
    assert table.notes == (f"no coefficient: all overlaps are equal; {few}",)
    even = Results.of(score(target, 90.0, split="test") for target in SCORES)
    (table,) = correlation(even + ALIKE, beside=find_paper("muller2021"))
    ours, _, difference = table.groups["cka"]
    assert values(ours) == values(difference) == [None]
    assert f"no coefficient: all transfer gaps are equal; {few}" in table.notes


def test_published_correlations_are_of_cka_and_stand_below_no_other_measure():
    other = Results.of(similarity("rsa", value, target=target) for target, value in SIMILAR.items())
    (table,) = correlation(POS + ALIKE + other, beside=find_paper("muller2021"))
    assert {measure: [row.kind for row in rows] for measure, rows in table.groups.items()} == {
        "cka": ["plain", "beside", "beside"],
        "rsa": ["plain"],
    }


def test_published_correlations_stand_below_models_of_one_kind_only():
    """The paper has one recipe: of two, nothing says which one is its own."""
    recipes = [POS.with_columns(recipe=name) for name in ("small", "long")]
    (table,) = correlation(sum(recipes, ALIKE), beside=find_paper("muller2021"))
    assert table.head == ("POS tagging, small, source en", "POS tagging, long, source en")
    assert [row.kind for row in table.groups["cka"]] == ["plain"]


def test_the_corpora_of_the_source_language_are_named_once_for_all_tasks():
    two = [score("en", 96.0, corpus=corpus, split="test") for corpus in ("ud/en_a", "ud/en_b")]
    parsing = [replace(each, task="parsing", metric="las") for each in (*POS.filter(target=list(SIMILAR)), *two[::-1])]
    (table,) = correlation(POS.filter(target=list(SIMILAR)) + Results.of([*two, *parsing]) + ALIKE)
    assert table.head == ("POS tagging, source en", "Dependency parsing, source en")
    assert table.caption.endswith(" Same-language scores are means over ud/en_a and ud/en_b.")
    (single,) = correlation(POS.filter(target=list(SIMILAR)) + Results.of(two[:1]) + ALIKE)
    assert single.caption == table.caption.removesuffix(" Same-language scores are means over ud/en_a and ud/en_b.")


def test_the_corpora_of_the_source_language_are_named_with_the_tasks_that_have_several():
    two = [score("en", 96.0, corpus=corpus, split="test") for corpus in ("ud/en_a", "ud/en_b")]
    parsing = [replace(each, task="parsing", metric="las") for each in POS]
    (table,) = correlation(POS.filter(target=list(SIMILAR)) + Results.of([*two, *parsing]) + ALIKE)
    assert table.caption.endswith(" are means over ud/en_a and ud/en_b (POS tagging, source en).")


def test_only_similarities_of_layers_are_means_over_layers():
    for compared, words in ((ALIKE, "similarity (mean over layers)."), (overlaps("overlap_types", SHARED), "texts.")):
        (table,) = correlation(POS + compared)
        assert table.caption.endswith(words)


def test_test_corpora_that_are_files_count_to_the_split_of_the_others():
    """As in tables of scores, which have means over both."""
    files = [replace(each, split=None) if each.target in ("fr", "en") else each for each in POS]
    assert correlation(Results.of(files) + ALIKE) == correlation(POS + ALIKE)
    (table,) = correlation(Results.of(files) + ALIKE)
    (row,) = table.groups["cka"]
    assert "over 3 languages" in table.notes[row.cells[0].note - 1]


def test_two_versions_of_a_parallel_corpus_are_not_to_be_selected_by_a_column_that_scores_have_too():
    other = [replace(each, corpus_digest="b" * 64) for each in ALIKE]
    with pytest.raises(RequestError, match=r"several corpora: ud/pud .*give only one of the files of similarities"):
        correlation(POS + ALIKE.with_columns(corpus_digest="a" * 64) + Results.of(other))


def test_a_task_of_too_few_languages_has_no_column_and_a_reason():
    parsing = [replace(each, task="parsing", metric="las") for each in POS.filter(target=["en", "fr"])]
    reasons = []
    assert correlation(POS + ALIKE + Results.of(parsing), skipped=reasons.append) == correlation(POS + ALIKE)
    (reason,) = reasons
    assert "parsing" in reason


def test_a_task_whose_overlaps_cannot_be_correlated_is_named():
    reasons = []
    parsing = [replace(row, task="parsing", metric="las") for row in POS if row.target in ("en", "fr")]
    shared = POS + overlaps("overlap_types", SHARED)
    assert overlap(shared + Results.of(parsing), skipped=reasons.append) == overlap(shared)
    assert [reason.partition(":")[0] for reason in reasons] == ["parsing, source en"]
