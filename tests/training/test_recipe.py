import pytest
from pydantic import ValidationError

from crosslens.errors import RequestError
from crosslens.training.recipe import RECIPES, Recipe, find_recipe


def test_the_first_papers_settings():
    """Muller et al. (2021), Table 3."""
    recipe = RECIPES["muller2021.pos"]
    assert (recipe.batch, recipe.learning_rate, recipe.epochs, recipe.warmup) == (16, 5e-5, 6, 0.1)


def test_settings_replace_and_none_is_none():
    recipe = find_recipe(
        "muller2021.pos", {"epochs": "1", "clip": "none", "learning_rate": "1e-4", "betas": "0.9,0.98"}
    )
    assert (recipe.epochs, recipe.clip, recipe.learning_rate, recipe.betas) == (1, None, 1e-4, (0.9, 0.98))


def test_a_recipe_cannot_be_changed():
    with pytest.raises(ValidationError):
        RECIPES["muller2021.pos"].epochs = 3  # type: ignore[misc]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"epoch": "1"}, "no setting 'epoch'.*did you mean 'epochs'"),
        ({"epochs": "many"}, "epochs=many"),
        ({"epochs": "0"}, "epochs=0"),
        ({"learning_rate": "-1"}, "learning_rate=-1"),
        ({"learning_rate": "nan"}, "learning_rate=nan"),
        ({"warmup": "1.5"}, "warmup=1.5"),
        ({"select": "oracle"}, "select=oracle"),
        ({"epochs": "x", "batch": "y"}, "epochs=x.*batch=y|batch=y.*epochs=x"),
    ],
)
def test_wrong_settings_are_named(settings, message):
    with pytest.raises(RequestError, match=message):
        find_recipe("muller2021.pos", settings)


def test_an_unknown_recipe():
    with pytest.raises(RequestError, match=r"no recipe 'muller2021.poss'.*did you mean 'muller2021.pos'"):
        find_recipe("muller2021.poss")


def test_defaults_are_valid():
    assert Recipe() == Recipe.model_validate(Recipe().model_dump())
