"""Similarity and transfer along pretraining, from made-up records with a known order."""

from dataclasses import replace

import pytest

from crosslens.report.conditions.pretraining_steps import last_checkpoints, onset, pretraining_steps
from crosslens.report.tables import all_tables
from crosslens.results.record import Record, Results
from made_records import score, similarity

STEPS = (0, 100, 200, 400)
CKA = (0.2, 0.4, 0.8, 1.0)  # half of the change at step 150
ZERO_SHOT = (40.0, 41.0, 42.0, 50.0)  # at step 275


def made(seeds=(1, 2, 3), noise=0.0, zero_shot=ZERO_SHOT):
    """Records of an encoder whose similarity rises before the zero-shot score."""
    records = []
    for seed in seeds:
        for step, cka, transferred in zip(STEPS, CKA, zero_shot, strict=True):
            at = {"condition": {"checkpoint": step}}
            text = f'{{"checkpoint": "{step}"}}'
            wobble = noise * (-1) ** seed * (step == STEPS[-1])
            records += [
                similarity("cka", value, seed=seed, layer=layer, target=target, condition=text)
                for layer, value in ((0, 5.0), (1, cka - 0.1), (2, cka + 0.1))
                for target in ("fr", "de")
            ]
            records.append(similarity("cka_shuffled", 0.1, seed=seed, layer=1, condition=text))
            records += [score("en", 90.0 + wobble, seed=seed, **at)]
            records += [score(target, transferred + seed, seed=seed, **at) for target in ("fr", "de")]
            records += [
                Record(
                    encoder="e",
                    measure="probe langid",
                    metric=metric,
                    value=value,
                    layer=1,
                    seed=seed,
                    condition=text,
                    state="pretrained",
                )
                for metric, value in (("accuracy", 70.0 - step / 100), ("accuracy_shuffled", 25.0))
            ]
    return Results.of(records)


def rows(table):
    ((title, printed),) = table.groups.items()
    assert title == "e"
    return {row.label: list(row.cells) for row in printed}


def test_onset_is_where_straight_lines_first_cross_half_of_the_change():
    assert onset([0, 10, 20], [0.0, 0.0, 1.0]) == 15.0
    assert onset([0, 10, 20], [1.0, 0.0, 0.0]) == 5.0  # a fall
    assert onset([0, 10, 20, 30], [0.0, 0.6, 0.2, 1.0]) == pytest.approx(10 * 0.5 / 0.6)  # the first of several
    assert onset([0, 10], [0.0, 1.0]) == 5.0


def test_steps_are_columns_and_quantities_are_rows():
    by_step, _ = pretraining_steps(made())
    assert by_step.head == ("0", "100", "200", "400")
    shown = {label: [cell.value for cell in cells] for label, cells in rows(by_step).items()}
    assert shown == {
        "CKA, mean of 2 pairs, mean of 2 layers": pytest.approx(list(CKA)),
        "cka_shuffled, en–fr, mean of 1 layer": pytest.approx([0.1] * 4),
        "probe langid, mean of 1 layer": pytest.approx([70.0, 69.0, 68.0, 66.0]),
        "POS tagging, accuracy, source en: en": [90.0] * 4,
        "zero-shot POS tagging, accuracy, source en, mean of 2 languages": [value + 2 for value in ZERO_SHOT],
    }


def test_what_comes_first_has_a_negative_lag():
    _, onsets = pretraining_steps(made())
    assert onsets.head == ("change", "onset", "lag to zero-shot pos")
    printed = rows(onsets)
    change, at, lag = printed["CKA, mean of 2 pairs, mean of 2 layers"]
    assert (change.value, at.value, lag.value) == (pytest.approx(0.8), pytest.approx(150.0), pytest.approx(-125.0))
    assert (lag.interval.low, lag.interval.over) == (pytest.approx(-125.0), "seeds")
    change, at, lag = printed["zero-shot POS tagging, accuracy, source en, mean of 2 languages"]
    assert (change.value, at.value, lag.value) == (pytest.approx(10.0), pytest.approx(275.0), None)
    assert "cka_shuffled, en–fr, mean of 1 layer" not in printed  # a baseline


def test_a_lag_is_to_the_transfer_of_the_same_encoder():
    """One encoder transfers at step 275, after its similarity; the other at step 50, before it."""
    early = [replace(each, encoder="f") for each in made(zero_shot=(40.0, 50.0, 50.0, 50.0))]
    _, onsets = pretraining_steps(made() + Results.of(early))
    lags = {title: printed[0].cells[2].value for title, printed in onsets.groups.items()}
    assert lags == {"e": pytest.approx(150.0 - 275.0), "f": pytest.approx(150.0 - 50.0)}
    assert onsets.head[-1] == "lag to zero-shot pos"
    for printed in onsets.groups.values():
        assert [row.label for row in printed if "zero-shot" in row.label] == [
            "zero-shot POS tagging, accuracy, source en, mean of 2 languages"
        ]


def test_there_is_no_lag_to_a_change_that_ends_at_another_step():
    """Similarity is half way up at step 150, of 400; the score, of the 200 steps that it was measured at, at 100."""
    scored_to_200 = [each for each in made() if each.task is None or "400" not in (each.condition or "")]
    _, onsets = pretraining_steps(Results.of(scored_to_200))
    _, at, lag = rows(onsets)["CKA, mean of 2 pairs, mean of 2 layers"]
    assert (at.value, lag.value) == (pytest.approx(150.0), None)
    assert onsets.notes[lag.note - 1] == "no lag between changes over steps 0 to 400 and 0 to 200"


def test_a_change_that_may_be_chance_has_no_onset():
    _, onsets = pretraining_steps(made(noise=1.0))
    change, at, lag = rows(onsets)["POS tagging, accuracy, source en: en"]
    assert change.interval.low < 0 < change.interval.high
    assert (at.value, lag.value) == (None, None)


def test_one_seed_has_no_interval():
    _, onsets = pretraining_steps(made(seeds=(1,)))
    _, at, lag = rows(onsets)["CKA, mean of 2 pairs, mean of 2 layers"]
    assert (at.value, at.interval, lag.value) == (pytest.approx(150.0), None, pytest.approx(-125.0))


def test_other_tables_are_of_the_last_step():
    results = made()
    tables = {table.name: table for table in all_tables(results)}
    assert {"pretraining-steps", "onsets", "layer-sets", "similarity-cka"} <= set(tables)
    assert tables["layer-sets"].head == ("reference, step 400",)
    assert len(last_checkpoints(results)) == len(results) // 4
    without = Results.of([score("en", 90.0), score("fr", 80.0)])
    assert last_checkpoints(without) is without
    assert pretraining_steps(without) == []
    assert len(last_checkpoints(results + without)) == len(results) // 4 + 2


def test_scores_and_similarities_each_keep_their_own_last_checkpoint():
    kept = last_checkpoints(made().filter(condition='{"checkpoint": "200"}') + made().filter(measure="cka"))
    assert len(kept.filter(measure=None)) > 0
    assert set(kept.filter(measure=None).records["condition"].to_pylist()) == {'{"checkpoint": "200"}'}
    assert set(kept.filter(measure="cka").records["condition"].to_pylist()) == {'{"checkpoint": "400"}'}


def test_untrained_encoders_and_single_steps_are_in_no_row():
    """An untrained encoder has no steps; of a quantity at one step there is no course."""
    text = '{"checkpoint": "100"}'
    others = [
        *(similarity("cka", 0.9, seed=1, layer=1, target="fr", condition=text, state="untrained"),),
        similarity("rsa", 0.5, seed=1, layer=1, target="fr", condition=text),
    ]
    by_step, onsets = pretraining_steps(made())
    with_others, onsets_with_others = pretraining_steps(made() + Results.of(others))
    assert with_others == by_step
    assert onsets_with_others == onsets


def test_each_encoder_keeps_its_own_last_checkpoint():
    results = Results.of(
        score("fr", float(step), encoder=encoder, condition={"checkpoint": step})
        for encoder, steps in (("a", (100, 1000)), ("b", (100, 2000)))
        for step in steps
    )
    kept = last_checkpoints(results)
    assert list(zip(kept.records["encoder"].to_pylist(), kept.records["value"].to_pylist(), strict=True)) == [
        ("a", 1000.0),
        ("b", 2000.0),
    ]


def test_parallel_corpora_and_settings_of_probes_have_rows_of_their_own():
    """At one step too, where only one of them was measured."""
    others = [
        replace(each, value=each.value / 2, **({"corpus": "tatoeba"} if each.target else {"settings": "C=9"}))
        for each in made()
        if each.measure and each.layer and '"0"' not in (each.condition or "")
    ]
    table, onsets = pretraining_steps(Results.of([*made(), *others]))
    values = {label: [cell.value for cell in cells] for label, cells in rows(table).items()}
    first, second = "CKA, mean of 2 pairs, mean of 2 layers, ud/pud", "CKA, mean of 2 pairs, mean of 2 layers, tatoeba"
    assert values[first] == pytest.approx(CKA)
    assert values[second] == [None, *map(pytest.approx, (0.2, 0.4, 0.5))]
    assert values["probe langid, mean of 1 layer, C=9"] == [None, 34.5, 34.0, 33.0]
    assert values["probe langid, mean of 1 layer"] == [70.0, 69.0, 68.0, 66.0]
    assert {first, second} <= set(rows(onsets))


def test_similarities_over_other_numbers_of_sentences_have_rows_of_their_own():
    """From step 200 on, the same corpus was read further; each language pair has a digest of its own."""
    records = [
        replace(each, n=900 if late else 100, corpus_digest=f"{'b' if late else 'a'}{each.target}")
        if each.target and each.measure == "cka"
        else each
        for each in made()
        for late in [any(f'"{step}"' in (each.condition or "") for step in (200, 400))]
    ]
    table, _ = pretraining_steps(Results.of(records))
    values = {label: [cell.value for cell in cells] for label, cells in rows(table).items() if label.startswith("CKA")}
    assert values == {
        "CKA, mean of 2 pairs, mean of 2 layers, ud/pud n=100": [*map(pytest.approx, CKA[:2]), None, None],
        "CKA, mean of 2 pairs, mean of 2 layers, ud/pud n=900": [None, None, *map(pytest.approx, CKA[2:])],
    }


BOTH = "zero-shot POS tagging, accuracy, source en, mean of 2 languages"


def late(record):
    return record.task == "pos" and any(f'"{step}"' in (record.condition or "") for step in (200, 400))


def scored(records):
    table, onsets = pretraining_steps(Results.of(records))
    assert {label for label in rows(onsets) if "POS" in label} == {label for label in rows(table) if "POS" in label}
    return {label: [cell.value for cell in cells] for label, cells in rows(table).items() if "POS" in label}


@pytest.mark.parametrize("versions", [True, False])
def test_scores_on_other_corpora_have_rows_of_their_own(versions):
    """From step 200 on, the French test corpus is another one, in content or by name."""
    french = [{"corpus_digest": "a" * 64}, {"corpus_digest": "b" * 64}] if versions else [{}, {"corpus": "ud/fr2"}]
    records = [replace(each, **french[late(each)]) if each.target == "fr" and each.task else each for each in made()]
    first, second = ("ud/fr (aaaaaaaa)", "ud/fr (bbbbbbbb)") if versions else ("ud/fr", "ud/fr2")
    assert scored(records) == {
        "POS tagging, accuracy, source en: en": [90.0] * 4,
        f"{BOTH} with {first}": [42.0, 43.0, None, None],
        f"{BOTH} with {second}": [None, None, 44.0, 52.0],
    }


def test_similarities_of_other_pairs_have_rows_of_their_own():
    """From step 200 on, German was replaced by Hindi, whose similarity is another one."""
    records = [
        replace(each, target="hi", value=0.9) if each.measure == "cka" and each.target == "de" and late else each
        for each in made()
        for late in [any(f'"{step}"' in (each.condition or "") for step in (200, 400))]
    ]
    table, _ = pretraining_steps(Results.of(records))
    name = "CKA, mean of 2 pairs, mean of 2 layers with en–"
    shown = {label: [cell.value for cell in cells] for label, cells in rows(table).items() if "CKA" in label}
    assert shown == {
        f"{name}de": [pytest.approx(0.2), pytest.approx(0.4), None, None],
        f"{name}hi": [None, None, pytest.approx(0.85), pytest.approx(0.95)],
    }


def test_models_of_other_training_data_have_rows_of_their_own():
    records = [replace(each, train="mine", train_digest="ab"[late(each)] * 64) for each in made() if each.task]
    assert scored(records) == {
        f"{name}, reference, mine ({letter * 8})": values
        for letter, name, values in (
            ("a", "POS tagging, accuracy, source en: en", [90.0, 90.0, None, None]),
            ("a", BOTH, [42.0, 43.0, None, None]),
            ("b", "POS tagging, accuracy, source en: en", [None, None, 90.0, 90.0]),
            ("b", BOTH, [None, None, 44.0, 52.0]),
        )
    }


def test_a_language_that_some_steps_lack_is_in_no_mean_of_others():
    records = [each for each in made() if not (late(each) and each.target == "de")]
    assert scored(records) == {
        "POS tagging, accuracy, source en: en": [90.0] * 4,
        BOTH: [42.0, 43.0, None, None],
        "zero-shot POS tagging, accuracy, source en: fr": [None, None, 44.0, 52.0],
    }


def test_dev_and_test_sets_are_apart():
    results = Results.of(
        score(target, value + step, split=split, condition={"checkpoint": step})
        for split, value in (("test", 10.0), ("dev", 60.0))
        for step in (0, 10)
        for target in ("en", "fr")
    )
    by_step, _ = pretraining_steps(results)
    shown = [[cell.value for cell in row.cells] for rows in by_step.groups.values() for row in rows]
    assert sorted(shown) == [[10.0, 20.0], [10.0, 20.0], [60.0, 70.0], [60.0, 70.0]]


def test_seeds_that_lack_a_step_are_noted():
    """Seed 3 was not scored at step 100: the table by step has it elsewhere, change and onset nowhere."""
    lacking = Results.of(
        each for each in made() if (each.seed, each.task) != (3, "pos") or each.condition != '{"checkpoint": "100"}'
    )
    by_step, onsets = pretraining_steps(lacking)
    name = "zero-shot POS tagging, accuracy, source en, mean of 2 languages"
    assert [cell.value for cell in rows(by_step)[name]] == [42.0, 42.5, 44.0, 52.0]
    assert [cell.note for cell in rows(by_step)[name]] == [None, 1, None, None]
    assert by_step.notes == ("over fewer seeds: 2 of 3",)
    assert onsets.notes == ("number of seeds excluded for lack of a step: 1",)
    noted = {label: [cell.note for cell in cells] for label, cells in rows(onsets).items()}
    assert noted == {
        "CKA, mean of 2 pairs, mean of 2 layers": [None, None, 1],
        "probe langid, mean of 1 layer": [None, None, 1],
        "POS tagging, accuracy, source en: en": [1, None, None],
        name: [1, 1, None],
    }
    assert pretraining_steps(made())[1].notes == ()
