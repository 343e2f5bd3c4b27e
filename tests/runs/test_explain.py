"""What a run has that the nearest finished run has not."""

from crosslens.runs.explain import differences, nearest

PLAIN = {"task": "pos", "seed": 1, "recipe": {"batch": 16, "epochs": 2}}
LIMITED = {"task": "pos", "seed": 1, "recipe": {"batch": 16, "epochs": 3, "limit": 5}}
ABLATED = {"task": "pos", "seed": 1, "recipe": {"batch": 16, "epochs": 2}, "condition": {"layers": "1-2"}}


def test_a_setting_that_only_one_of_two_runs_has_is_a_difference_from_either_side():
    assert differences(PLAIN, LIMITED) == {"recipe.epochs": (2, 3), "recipe.limit": (None, 5)}
    assert differences(LIMITED, PLAIN) == {"recipe.epochs": (3, 2), "recipe.limit": (5, None)}
    assert differences(PLAIN, ABLATED) == {"condition.layers": (None, "1-2")}
    assert differences(PLAIN, PLAIN) == {}


def test_the_nearest_run_is_of_the_same_kind_and_has_the_fewest_differences():
    pretraining = {"pretraining": {}, "seed": 1}
    finished = {"a": pretraining, "b": LIMITED, "c": ABLATED, "d": PLAIN}
    assert nearest(PLAIN, finished, besides="d") == ("c", {"condition.layers": (None, "1-2")})
    assert nearest(PLAIN, {"a": pretraining}) is None
