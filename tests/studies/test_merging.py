"""Each run is done once, under the first of its names, with all that a study asks of it."""

from crosslens.encoders.condition import Condition
from crosslens.runs.question import CorpusRef, Perplexity, Score
from crosslens.runs.run import Asked, EncoderRef, EncoderRun
from crosslens.studies.plan import merged

FRENCH, GERMAN, RUSSIAN = (Score(CorpusRef(f"ud/{name}_pud:test", name * 32), {}) for name in ("fr", "de", "ru"))


def look(name="name", seed=1):
    return EncoderRun(EncoderRef("folder", name, "c" * 64), Condition(), seed)


def test_what_is_asked_of_one_run_in_two_places_is_asked_once_and_whole():
    other = Asked(look(seed=2), (RUSSIAN,))
    one, two = merged((Asked(look(), (FRENCH, GERMAN)), other, Asked(look("alias"), (GERMAN, RUSSIAN)), Asked(look())))
    assert one.run.base.name == "name"
    assert one.questions == (FRENCH, GERMAN, RUSSIAN)
    assert two == other


def test_a_run_of_which_nothing_is_asked_is_a_run():
    assert merged((Asked(look()),)) == (Asked(look()),)
    assert merged((Asked(look()), Asked(look(), (Perplexity(),)))) == (Asked(look(), (Perplexity(),)),)
    assert merged(()) == ()
