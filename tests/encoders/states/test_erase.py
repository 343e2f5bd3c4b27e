"""Erasing the language of states: equal means, no linear probe left, and the control of the same size."""

import numpy as np
import pytest
import torch

from crosslens.encoders.condition import Condition
from crosslens.encoders.inputs import read_windows
from crosslens.encoders.reinit import random_init
from crosslens.encoders.represent import represent
from crosslens.encoders.states.erase import Erase
from crosslens.encoders.states.mean import place_means, places_of
from crosslens.encoders.states.sites import replacing, sites, states_at
from crosslens.encoders.states.state_intervention import Inputs
from crosslens.errors import RequestError


@pytest.fixture
def corpora(treebanks):
    from crosslens.corpora.catalogue import load_corpus

    return tuple(load_corpus(f"ud/{name}_pud", data=treebanks) for name in ("en", "fr"))


def erased(encoder, source, *, at="2.output", seed=1, **keys):
    (part,) = Condition(erase=at, **keys).interventions
    return part.fit(encoder, part.source(encoder, source), seed=seed)


def states_of(encoder, corpus, at="2.output"):
    """States of all subwords at an address, with and without the encoder's interventions, and their places."""
    from crosslens.encoders.batch import make_batch

    windows = read_windows(encoder, corpus).windows
    batch = make_batch(windows, padding=encoder.padding, device=encoder.device)
    plain = states_at(encoder.prepared(windows), sites(encoder, at), batch)[0].detach() if not encoder.edited else None
    if plain is not None:
        return plain, batch.mask
    (edit,) = encoder.prepared(windows).edits
    clean = encoder.prepared(windows)
    read = {}
    replacement = edit.replacement(Inputs(batch.ids, batch.mask, None))

    def keep(site, states):
        read[site.name] = replacement(site, states).detach()
        return states

    from dataclasses import replace

    bare = replace(clean, changes=(), edits=())
    with replacing(edit.places, keep):
        bare.states(batch.ids, batch.mask)
    return read[at], batch.mask


def test_means_of_all_places_are_those_of_the_source_language(encoder, corpora):
    english, french = corpora
    expected = place_means(encoder, sites(encoder, "2.output"), read_windows(encoder, english).windows)["2.output"]
    moved, mask = states_of(erased(encoder, english), french)
    for place, rows in enumerate(places_of(mask)):
        torch.testing.assert_close(moved[rows].double().mean(0), expected[place], rtol=1e-4, atol=1e-5)


def test_differences_between_words_stay(encoder, corpora):
    english, french = corpora
    plain, mask = states_of(encoder, french)
    moved, _ = states_of(erased(encoder, english), french)
    inner = places_of(mask)[1]
    shift = (moved - plain)[inner]
    assert float(shift[0].norm()) > 0.01
    torch.testing.assert_close(shift, shift[:1].expand_as(shift), rtol=1e-3, atol=1e-5)


def test_no_linear_probe_tells_the_languages_apart_afterwards(encoder, corpora):
    """The least-squares direction between classes of equal means is 0; before it is not."""
    english, french = corpora
    source, mask = states_of(encoder, english)
    rows = source[places_of(mask)[1]].double()

    def direction(encoder):
        other, of_other = states_of(encoder, french)
        others = other[places_of(of_other)[1]].double()
        X = torch.cat([rows, others])
        y = torch.cat([torch.ones(len(rows)) / len(rows), -torch.ones(len(others)) / len(others)]).double()
        return float((X.T @ y).norm())

    assert direction(encoder) > 0.01
    assert direction(erased(encoder, english)) < 1e-5


def test_the_source_language_itself_and_erasing_twice_change_nothing(encoder, corpora):
    english, french = corpora
    once = erased(encoder, english)
    assert np.array_equal(represent(once, english).vectors, represent(encoder, english).vectors)
    moved, mask = states_of(once, french)
    mean = torch.stack([moved[rows].double().mean(0) for rows in places_of(mask)])
    expected = place_means(encoder, sites(encoder, "2.output"), read_windows(encoder, english).windows)["2.output"]
    assert float((expected - mean).norm()) < 1e-4  # a second shift


def test_the_control_moves_as_far_in_another_direction(encoder, corpora):
    english, french = corpora
    plain, mask = states_of(encoder, french)
    shifts = [
        (states_of(moved, french)[0] - plain)[places_of(mask)[1]][0]
        for moved in (
            erased(encoder, english),
            erased(encoder, english, erase_control="random"),
            erased(encoder, english, erase_control="random", seed=2),
        )
    ]
    sizes = [float(shift.norm()) for shift in shifts]
    assert sizes[1] == pytest.approx(sizes[0], rel=1e-3)
    assert sizes[2] == pytest.approx(sizes[0], rel=1e-3)
    for a, b in ((0, 1), (1, 2)):
        assert abs(float(torch.cosine_similarity(shifts[a], shifts[b], dim=0))) < 0.8


def test_the_directions_of_the_control_differ_between_places(encoder, corpora):
    english, french = corpora
    windows = read_windows(encoder, french).windows
    (edit,) = erased(encoder, english, at="1-2.output", erase_control="random").prepared(windows, french).edits
    mask = torch.ones(1, 5, dtype=torch.long)
    zeros = torch.zeros(1, 5, encoder.width)
    low, high = (edit.replacement(Inputs(mask, mask, None))(site, zeros)[0] for site in edit.places)
    shifts = [*low[[0, 2, 4]], *high[[0, 2, 4]]]
    for place, shift in enumerate(shifts):
        for other in shifts[:place]:
            assert abs(float(torch.cosine_similarity(shift, other, dim=0))) < 0.8


def test_a_seed_that_is_named_is_that_of_the_control_whatever_the_models_is(encoder, corpora):
    english, french = corpora
    named, own, other = (
        represent(erased(encoder, english, erase_control="random", **keys), french).vectors
        for keys in ({"erase_seed": 2, "seed": 1}, {"seed": 2}, {"seed": 1})
    )
    assert np.array_equal(named, own)
    assert not np.array_equal(named, other)


def test_of_a_large_corpus_sentences_spread_over_it_give_the_mean(encoder, corpora, monkeypatch):
    english, _ = corpora
    monkeypatch.setattr(Erase, "most", 3)
    (part,) = Condition(erase="2.output").interventions
    source = part.source(encoder, english)
    expected = read_windows(encoder, english.limited(3)).windows
    assert [window.ids.tolist() for window in source.windows] == [window.ids.tolist() for window in expected]
    assert len(source.windows) == 3 < len(english)
    assert source.corpus.digest == english.digest  # it is recorded


def test_the_dose_is_a_factor_of_the_shift(encoder, corpora):
    english, french = corpora
    plain, mask = states_of(encoder, french)
    whole, half, away, none = (
        (states_of(erased(encoder, english, erase_dose=dose), french)[0] - plain)[mask.bool()]
        for dose in (1, 0.5, -1, 0)
    )
    torch.testing.assert_close(half, whole / 2, rtol=1e-3, atol=1e-6)
    torch.testing.assert_close(away, -whole, rtol=1e-3, atol=1e-6)
    assert not none.any()
    assert Condition(erase="1", erase_dose=0.5, erase_control="random").label == "erase=0.5 random 1"


def test_what_is_recorded_names_the_corpus_and_its_content(encoder, corpora):
    english, _ = corpora
    (change,) = erased(encoder, english, erase_to="ud/en_pud").edited
    assert change.intervention.plain == {
        "erase": "2.output",
        "erase_to": "ud/en_pud",
        "erase_digest": english.digest[:12],
    }
    assert Condition(erase="5.output", erase_control="random").label == "erase=random 5.output"


def test_without_a_corpus_it_is_refused(encoder):
    (part,) = Condition(erase="2.output").interventions
    with pytest.raises(RequestError, match="needs a corpus of the source language"):
        part.apply(encoder, seed=1)
    with pytest.raises(RequestError, match=r"input should be .random"):
        Condition.read({"erase": "1", "erase_control": "other"})


def test_only_the_control_has_a_seed_that_is_not_the_models():
    """The means of the languages are the same under any seed."""
    for control, named in ((None, None), ("random", 2)):
        (part,) = Condition(erase="2.output", erase_control=control).interventions
        assert part.drawn_with(2, own=1).seed == named
        assert part.drawn_with(1, own=1).seed is None


def test_means_are_those_of_the_weights_that_the_encoder_has_now(encoder, corpora):
    """An untrained baseline of an encoder whose language is erased is erased with the means of untrained states."""
    english, french = corpora
    after = random_init(erased(encoder, english), "0,all", seed=3)
    before = erased(random_init(encoder, "0,all", seed=3), english)
    np.testing.assert_array_equal(represent(after, french).vectors, represent(before, french).vectors)
    frozen = random_init(erased(encoder, english), "1", seed=3)
    assert not np.array_equal(represent(frozen, french).vectors, represent(after, french).vectors)
