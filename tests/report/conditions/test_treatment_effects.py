"""Effects of treatments are the differences to the reference, by layer."""

from crosslens.report.conditions.comparison import comparisons
from crosslens.report.conditions.treatment_effects import treatment_effects
from crosslens.results.record import Results
from made_records import of_heads, score
from made_sections import LOSSES, frozen


def means(by_address):
    return {address: cell.mean for address, cell in by_address.items()}


def test_means_are_those_of_the_source_language_and_of_the_others():
    (effect,) = treatment_effects(comparisons(Results.of(frozen()))[0])
    assert (effect.treatment, effect.addresses) == ("frozen", tuple(LOSSES))
    assert means(effect.cross) == {address: -loss - 0.5 for address, loss in LOSSES.items()}
    assert means(effect.same) == {address: (-loss - 0.5) / 2 for address, loss in LOSSES.items()}
    assert {key[0]: means(cells)["0-6"] for key, cells in effect.by_target.items()} == dict.fromkeys(
        ("fr", "de", "fi", "hi", "zh", "ja"), -9.5
    )


def test_each_treatment_of_the_same_layers_has_its_own_effect():
    reverted = [
        score(target, 50.0 - loss, seed=seed, condition={"revert": layers})
        for layers, loss in LOSSES.items()
        for target in ("fr", "de")
        for seed in (0, 1)
    ]
    block, *_ = comparisons(Results.of([*(each for each in frozen() if each.target in ("fr", "de")), *reverted]))
    of_frozen, of_reverted = treatment_effects(block)
    assert [each.treatment for each in (of_frozen, of_reverted)] == ["frozen", "revert"]
    assert of_frozen.addresses == of_reverted.addresses == tuple(LOSSES)
    assert means(of_frozen.cross) == {address: -loss - 0.5 for address, loss in LOSSES.items()}
    assert means(of_reverted.cross) == {address: 50.0 - loss - 77.5 for address, loss in LOSSES.items()}


def test_without_scores_in_the_source_language_there_is_no_mean_in_it():
    results = Results.of(record for record in frozen() if record.target != "en")
    (effect,) = treatment_effects(comparisons(results)[0])
    assert effect.same == {}
    assert means(effect.cross)["0"] == -1.5


def test_single_heads_are_left_out():
    assert treatment_effects(comparisons(of_heads())[0]) == []
