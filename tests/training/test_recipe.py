import pytest
from pydantic import ValidationError

from crosslens.data.corpus import Corpus
from crosslens.errors import RequestError
from crosslens.tasks import TASKS, find_task
from crosslens.training.recipe import RECIPES, Recipe, default_recipe, differing, find_recipe, overrides, recipe_columns


def test_the_first_papers_settings():
    """Muller et al. (2021), Table 3."""
    recipe = RECIPES["muller2021.pos"]
    assert (recipe.batch, recipe.learning_rate, recipe.epochs, recipe.warmup) == (16, 5e-5, 6, 0.1)


_WU = {"batch": 32, "learning_rate": 3e-5, "epochs": 3, "weight_decay": 0.01, "clip": None}
PUBLISHED = {
    "muller2021.pos": {"batch": 16, "learning_rate": 5e-5, "epochs": 6, "clip": 1.0},
    "muller2021.parsing": {"batch": 32, "learning_rate": 5e-5, "epochs": 15, "clip": 1.0},
    "muller2021.ner": {"batch": 16, "learning_rate": 3.5e-5, "epochs": 6, "clip": 1.0},
    "muller2021-ref.ner": {"batch": 16, "learning_rate": 3.5e-5, "epochs": 6, "clip": None, "epsilon": 1e-6},
    **{f"wu2019.{task}": {**_WU, "window": None} for task in ("pos", "ner", "parsing")},
    **{f"wu2019.{task}": {**_WU, "window": 128, "task": {}} for task in ("document", "nli")},
    **{f"wu2019-ref.{task}": {**_WU, "window": 128, "context": 64} for task in ("pos", "ner", "parsing")},
    "wu2019-ref.document": {**_WU, "window": 128, "task": {"sentences": 2}},
    "conneau2020.ner": {"batch": 32, "learning_rate": 3e-5, "epochs": 10},
    "conneau2020.parsing": {"batch": 32, "learning_rate": 3e-5, "epochs": 10},
    "conneau2020.nli": {
        "batch": 8,
        "learning_rate": 2.5e-6,
        "head_learning_rate": 2.5e-5,
        "epochs": 200,
        "window": 128,
    },
}
"""Recipe of a paper -> settings as it prints them: Table 3; section 5 and appendix; section 3.2."""


@pytest.mark.parametrize("name", PUBLISHED)
def test_recipes_of_papers_have_the_settings_of_the_paper(name):
    recipe = RECIPES[name]
    assert {setting: getattr(recipe, setting) for setting in PUBLISHED[name]} == PUBLISHED[name]
    assert recipe.warmup == 0.1


@pytest.mark.parametrize(
    ("encoder", "head", "either"), [("off", 0.0, False), ("off", 0.1, True), ("trained", 0.0, True)]
)
def test_training_may_drop_out_in_the_encoder_or_in_the_head(encoder, head, either):
    assert Recipe(encoder_dropout=encoder, head_dropout=head).may_drop_out == either


def test_settings_replace_and_none_is_none():
    recipe = find_recipe(
        "muller2021.pos", "pos", {"epochs": "1", "clip": "none", "learning_rate": "1e-4", "betas": "0.9,0.98"}
    )
    assert (recipe.epochs, recipe.clip, recipe.learning_rate, recipe.betas) == (1, None, 1e-4, (0.9, 0.98))


def test_settings_of_the_task():
    recipe = find_recipe("wu2019-ref", "parsing", {"arc_size": "64", "relations": "full", "root": "learnt"})
    assert recipe.task == {
        "arc_size": 64,
        "relation_size": 128,
        "relations": "full",
        "metric": "las_nopunct",
        "words": "wu2019",
    }
    with pytest.raises(RequestError, match=r"neither recipes nor ner have a setting 'relations'"):
        find_recipe("small", "ner", {"relations": "full"})
    with pytest.raises(RequestError, match="relations=some"):
        find_recipe("small", "parsing", {"relations": "some"})


def test_profiles_say_what_they_change():
    """The switches of the first paper's code, and of Wu & Dredze's, against the usual recipe of the task."""
    changed = {"clip": None, "epsilon": 1e-6, "select_by": "uas", "relations": "full", "decode": "greedy"}
    assert (
        differing(RECIPES["muller2021-ref.parsing"], find_task("parsing", RECIPES["muller2021-ref.parsing"].task))
        == changed
    )
    wu = find_recipe("wu2019-ref", "parsing")
    its = differing(wu, find_task("parsing", wu.task))
    assert {
        "root": "wu2019-masked",
        "arc_size": 512,
        "relation_size": 128,
        "window": 128,
        "context": 64,
    }.items() <= its.items()
    for task in TASKS:
        assert differing(find_recipe("muller2021", task), find_task(task)) == {}
        for profile in ("wu2019", "wu2019-ref", "wu2019-features"):
            assert find_recipe(profile, task)


def test_a_recipe_cannot_be_changed():
    with pytest.raises(ValidationError):
        RECIPES["muller2021.pos"].epochs = 3  # type: ignore[misc]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"epoch": "1"}, "a setting 'epoch'.*did you mean 'epochs'"),
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
        find_recipe("muller2021", "pos", settings)


def test_an_unknown_recipe():
    with pytest.raises(RequestError, match=r"no recipe 'muler2021' for pos .did you mean 'muller2021'"):
        find_recipe("muler2021", "pos")


def test_defaults_are_valid():
    assert Recipe() == Recipe.model_validate(Recipe().model_dump())


def test_a_recipe_keeps_its_name_and_says_what_was_replaced():
    recipe = find_recipe("wu2019", "parsing", {"epochs": "9", "decode": "greedy"})
    assert recipe.name == "wu2019.parsing"
    assert overrides(recipe, find_task("parsing", recipe.task)) == {"epochs": 9, "decode": "greedy"}
    lab = find_recipe("lab", "pos")
    assert (lab.name, overrides(lab, find_task("pos"))) == ("lab", {})
    assert differing(lab, find_task("pos"))["limit"] == 1000  # the default is Muller et al.'s
    assert overrides(Recipe(epochs=2), find_task("ner", {"repair": "strict"})) == {"epochs": 2, "repair": "strict"}
    assert overrides(Recipe(name="of-another-version", epochs=2), find_task("ner")) == {"epochs": 2}
    with pytest.raises(RequestError, match="neither recipes nor pos have a setting 'name'"):
        find_recipe("lab", "pos", {"name": "mine"})


def test_every_named_recipe_has_its_name_and_overrides_nothing():
    for name, recipe in RECIPES.items():
        assert recipe.name == name
        task = next((task for task in TASKS.built_in if name.endswith(f".{task}")), "pos")
        assert overrides(find_recipe(name, task), find_task(task, recipe.task)) == {}


@pytest.mark.parametrize(
    ("trained", "dev", "oracle"),
    [
        ("en", "en", False),
        ("en", "fr", True),
        ("en+fr", "fr", False),
        ("en+fr", "fr+en", False),
        ("fr", "en+fr", True),
        ("en+fr", "de", True),
        (None, "fr", False),
        ("en", None, False),
    ],
)
def test_dev_data_of_a_language_that_is_not_trained_on_are_an_oracle(trained, dev, oracle):
    """Of joined data, those of each part are none."""
    train, theirs = Corpus((), "train", trained), Corpus((), "theirs", dev)
    for recipe, chosen in (
        (Recipe(select="best"), "oracle theirs" if oracle else "best"),
        (Recipe(select="last"), "last"),
        (Recipe(select="average", schedule="plateau"), "average, oracle theirs" if oracle else "average"),
    ):
        assert recipe.selection(train=train, dev=theirs) == chosen
        assert recipe.selection(train=train, dev=None) == recipe.select


def test_the_default_recipe_is_the_task_s_own():
    assert default_recipe(find_task("ner")) == RECIPES["muller2021.ner"]
    for task in TASKS.built_in:
        assert find_recipe("default", task) == find_recipe("muller2021", task) == default_recipe(find_task(task))
    assert find_recipe("muller2021", "nli").name == "wu2019.nli"


def test_the_column_of_settings_has_what_was_replaced_but_selection_and_values_that_were_searched():
    task = find_task("pos")
    recipe = find_recipe("muller2021", "pos", {"select": "last", "epochs": "9", "batch": "8"})
    name = "muller2021.pos"
    assert recipe_columns(find_recipe("muller2021", "pos"), task) == {"recipe": name, "settings": None}
    assert set(recipe_columns(recipe, task)["settings"].split()) == {"epochs=9", "batch=8"}
    assert set(recipe_columns(recipe, task, tuned=["batch"])["settings"].split()) == {"epochs=9", "batch=tuned"}
    assert overrides(recipe, task)["select"] == "last"


def test_a_limit_stands_in_the_column_of_settings_though_it_is_the_recipes():
    """Without one, training is on all sentences."""
    for settings, text in (({}, "limit=1000"), ({"limit": 9, "batch": 8}, "batch=8 limit=9"), ({"limit": None}, None)):
        assert recipe_columns(find_recipe("lab", "pos", settings), find_task("pos"))["settings"] == text


def test_a_given_setting_of_the_task_replaces_the_recipes():
    by_recipe = RECIPES["wu2019-ref.parsing"].task
    assert by_recipe["arc_size"] != 32
    assert find_recipe("wu2019-ref", "parsing", {"arc_size": "32"}).task == {**by_recipe, "arc_size": 32}
