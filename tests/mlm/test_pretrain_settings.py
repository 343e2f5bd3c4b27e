"""The settings of a pretraining, as files and overrides write them."""

import pytest

from crosslens.errors import RequestError
from crosslens.mlm.adapt_settings import Adaptation
from crosslens.mlm.pretrain_settings import Masking, Pretraining
from crosslens.settings import read_settings

SETTINGS = """\
corpora:
  no: no.txt
  en: en.txt
vocabulary:
  kind: bpe
  size: many
shape: {layers: 4, width: 30, heads: 4}
steps: 0
learning_rate: 1e-3
lerning_rate: 2
"""


def test_every_mistake_in_a_settings_file_is_told_with_its_line(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text(SETTINGS)
    with pytest.raises(RequestError) as caught:
        read_settings(path, Pretraining)
    lines = caught.value.message.splitlines()
    assert [line.split(": ")[0].rpartition(":")[2] for line in lines] == ["6", "7", "8", "10"]
    assert "vocabulary.size" in lines[0]
    assert "a width of 30 is not divisible by 4 heads" in lines[1]
    assert "lerning_rate: unknown setting; did you mean 'learning_rate'" in lines[3]


def test_settings_are_yaml_1_2_and_can_be_overridden(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text("corpora: {no: no.txt}\nlearning_rate: 1e-4\n")
    settings = read_settings(path, Pretraining, overrides={"shape.layers": "6", "masking.share": "0.3"})
    assert settings.corpora == {"no": "no.txt"}
    assert (settings.learning_rate, settings.shape.layers, settings.masking.share) == (1e-4, 6, 0.3)
    for text, message in (
        ("", "expected settings"),
        ("- a\n", "expected settings"),
        ("a: [", r"c.yaml:\d: invalid YAML"),
        ("a: 1\na: 2\n", "invalid YAML"),
        ("steps: 3\n", "c.yaml:1: corpora: field required"),
    ):
        path.write_text(text)
        with pytest.raises(RequestError, match=message):
            read_settings(path, Pretraining)
    with pytest.raises(RequestError, match="there is no settings file"):
        read_settings(tmp_path / "x.yaml", Pretraining)


@pytest.mark.parametrize(("masked", "replaced"), [(0.9, 0.1), (0.7, 0.3), (1.0, 0.0), (0.0, 1.0), (0.0, 0.0)])
def test_all_chosen_subwords_may_be_hidden(masked, replaced):
    assert Masking(masked=masked, replaced=replaced).masked == masked


@pytest.mark.parametrize(("masked", "replaced"), [(0.9, 0.11), (1.0, 0.01), (0.6, 0.6)])
def test_no_more_than_all_chosen_subwords_can_be_hidden(masked, replaced):
    with pytest.raises(RequestError, match="add up to more than 1"):
        Masking(masked=masked, replaced=replaced)


def test_a_dictionary_is_of_two_languages():
    corpora = {"en": "en.txt", "fr": "fr.txt"}
    settings = Pretraining(corpora=corpora, dictionaries={"fr-en": "fr-en.txt"})
    assert (settings.sides("fr-en"), settings.sides("fr-de"), settings.sides("en-en")) == (("fr", "en"), (), ())
    with pytest.raises(RequestError, match="'en-en' is not a pair of these languages"):
        Pretraining(corpora=corpora, dictionaries={"en-en": "en-en.txt"})


@pytest.mark.parametrize(
    ("checkpoints", "kept"), [(4, (0, 4, 8, 10)), (5, (0, 5, 10)), (99, (0, 10)), ((), ()), ((9, 1, 8, 1), (1, 8, 9))]
)
def test_checkpoints_end_with_the_last_step_and_ascend(checkpoints, kept):
    assert Pretraining(corpora={"en": "en.txt"}, steps=10, checkpoints=checkpoints).kept_steps == kept


def test_a_single_layer_may_be_a_number():
    """As YAML reads it."""
    assert Pretraining(corpora={"en": "a", "fr": "b"}, separate=0).separate_layers == (0,)
    assert Adaptation(freeze=1) == Adaptation(freeze="1")
    with pytest.raises(RequestError, match="layer"):
        Adaptation(freeze="upper")
