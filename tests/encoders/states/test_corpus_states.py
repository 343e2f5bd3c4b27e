"""States of a corpus that several interventions ask for."""

import torch

from crosslens.encoders.batch import make_batch
from crosslens.encoders.inputs import read_windows
from crosslens.encoders.states.corpus_states import CorpusStates
from crosslens.encoders.states.mean import place_means
from crosslens.encoders.states.sites import sites, states_at


def test_means_of_all_places_are_those_of_each_alone_in_one_pass(encoder, toy):
    windows = read_windows(encoder, toy("test")).windows
    clean = CorpusStates(encoder, windows)
    asked = {at: clean.means(sites(encoder, at)) for at in ("0", "1.output", "2")}
    passes = []
    hook = encoder.model.register_forward_pre_hook(lambda *_: passes.append(1))
    found = {at: means() for at, means in asked.items()}
    hook.remove()
    assert len(passes) == 1
    for at, means in found.items():
        expected = place_means(encoder, sites(encoder, at), windows)
        assert means.keys() == expected.keys()
        assert all(torch.equal(means[name], expected[name]) for name in means)
    later = clean.means(sites(encoder, "3.output"))()  # asked for too late for the pass, not for an answer
    assert torch.equal(later["3.output"], place_means(encoder, sites(encoder, "3.output"), windows)["3.output"])


def test_states_of_windows_are_those_of_their_batch_and_only_the_last_batch_is_held(encoder, toy):
    windows = read_windows(encoder, toy("test")).windows
    clean = CorpusStates(encoder, windows)
    low, high = (clean.at(sites(encoder, at)) for at in ("1.output", "3.output"))
    with torch.no_grad():
        for part in (windows[:2], windows[2:]):
            batch, states = high(part)
            assert low(part)[1] is states
            alone = make_batch(part, padding=encoder.padding, device=encoder.device)
            assert torch.equal(batch.ids, alone.ids)
            for name in ("1.output", "3.output"):
                assert torch.equal(states[name], states_at(encoder, sites(encoder, name), alone)[0])
        assert low(windows[:2])[1] is not states
        later = clean.at(sites(encoder, "2.output"))  # asked for after the states of this batch were computed
        alone = make_batch(windows[:2], padding=encoder.padding, device=encoder.device)
        assert torch.equal(later(windows[:2])[1]["2.output"], states_at(encoder, sites(encoder, "2.output"), alone)[0])


def test_states_of_other_windows_are_computed_again_though_there_are_as_many(encoder, toy):
    windows = read_windows(encoder, toy("test")).windows
    (place,) = sites(encoder, "1.output")
    asked = CorpusStates(encoder, windows).at([place])
    with torch.no_grad():
        for pair in (windows[:2], windows[2:4], windows[1:3]):
            batch, states = asked(pair)
            alone = make_batch(pair, padding=encoder.padding, device=encoder.device)
            assert torch.equal(batch.ids, alone.ids)
            assert torch.equal(states[place.name], states_at(encoder, [place], alone)[0])
