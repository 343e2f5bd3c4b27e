"""Zero, mean, resample, noise and rotate: closed forms, and independence of batches."""

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch

from crosslens.data.windows import Window
from crosslens.encoders.batch import make_batch, reading_budget
from crosslens.encoders.condition import Condition
from crosslens.encoders.encoder import layer_outputs
from crosslens.encoders.inputs import read_windows
from crosslens.encoders.states.corpus_states import CorpusStates
from crosslens.encoders.states.mean import place_means
from crosslens.encoders.states.resample import partners, resampled
from crosslens.encoders.states.rotate import rotation_matrix
from crosslens.encoders.states.sites import replacing, sites, states_at
from crosslens.encoders.states.state_intervention import Inputs
from crosslens.errors import DataError, EncoderError, RequestError

TURN = {"rotate": "1.output", "degrees": 40}


@pytest.fixture
def windows(encoder, toy):
    return read_windows(encoder, toy("test")).windows


def batch_of(encoder, windows):
    return make_batch(windows, padding=encoder.padding, device=encoder.device)


def states(encoder, windows):
    batch = batch_of(encoder, windows)
    with torch.no_grad():
        return encoder.states(batch.ids, batch.mask)[batch.mask.bool()]


def edited(encoder, windows, **keys):
    return Condition(**keys).interventions[0].apply(encoder, seed=1).prepared(windows)


def test_a_layer_of_a_network_with_normalisation_first_passes_on_what_it_reads(encoder, windows):
    """Zeroing attention and feed-forward part leaves only the two normalisations of a BERT layer."""
    layer = encoder.layers[1]
    batch = batch_of(encoder, windows)
    zeroed = edited(encoder, windows, zero="2")
    with torch.no_grad():
        before = states_at(encoder, sites(encoder, "1.output"), batch)[0]
        expected = layer.output.LayerNorm(layer.attention.output.LayerNorm(before))
        with zeroed._editing(batch.ids, batch.mask, None):
            found = states_at(encoder, sites(encoder, "2.output"), batch)[0]
    torch.testing.assert_close(found[batch.mask.bool()], expected[batch.mask.bool()], rtol=1e-5, atol=1e-5)


def test_first_inner_and_last_subwords_have_the_mean_of_their_own_places(encoder, windows):
    alone = [states_at(encoder, sites(encoder, "2.output"), batch_of(encoder, [window]))[0][0] for window in windows]
    first, last = (torch.stack([rows[place] for rows in alone]).mean(0) for place in (0, -1))
    inner = torch.cat([rows[1:-1] for rows in alone]).mean(0)
    edit = edited(encoder, windows, mean="2.output").edits[0]
    mask = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]])
    values = edit.replacement(Inputs(mask, mask, None))(edit.places[0], torch.zeros(2, 5, encoder.width))
    torch.testing.assert_close(values[0], torch.stack([first, inner, inner, inner, last]), rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(values[1, :3], torch.stack([first, inner, last]), rtol=1e-5, atol=1e-5)


def test_the_mean_of_constant_states_changes_no_bit(encoder, windows):
    constant = replace(encoder, model=copy.deepcopy(encoder.model))
    with torch.no_grad():
        constant.layers[1].output.dense.weight.zero_()
        constant.layers[1].output.dense.bias.copy_(torch.linspace(-1, 1, encoder.width))
    assert torch.equal(states(edited(constant, windows, mean="2.ffn"), windows), states(constant, windows))
    assert not torch.equal(states(edited(constant, windows, mean="1.ffn"), windows), states(constant, windows))


def test_a_sentence_resampled_by_itself_is_the_same(encoder, windows):
    itself = resampled(CorpusStates(encoder, windows), "1-2", range(len(windows)))
    batch = batch_of(encoder, windows)
    before = states(encoder, windows)
    with replacing(itself.places, itself.replacement(Inputs(batch.ids, batch.mask, None))):
        assert torch.equal(states(encoder, windows), before)


def test_a_sentence_that_takes_over_all_embeddings_is_the_other_sentence(encoder, windows):
    chosen = partners(windows, seed=3)
    pairs = [(i, j) for i, j in enumerate(chosen) if len(windows[i]) == len(windows[j])]
    assert pairs
    resample = Condition(resample="0").interventions[0].apply(encoder, seed=3).prepared(windows)
    for i, j in pairs:
        torch.testing.assert_close(states(resample, [windows[i]]), states(encoder, [windows[j]]), rtol=1e-5, atol=1e-5)


def test_of_a_shorter_sentence_the_last_word_is_repeated(encoder, windows):
    short, *_, long = sorted(windows, key=len)
    assert 4 < len(short) < len(long) - 1
    edit = resampled(CorpusStates(encoder, [long, short]), "0", [1, 0])
    (long_states,), (short_states,) = (states_at(encoder, edit.places, batch_of(encoder, [w])) for w in (long, short))
    batch = batch_of(encoder, [long])
    replaced = edit.replacement(Inputs(batch.ids, batch.mask, None))(edit.places[0], long_states)
    repeated = [len(short) - 2] * (len(long) - len(short))
    places = [*range(len(short) - 1), *repeated, len(short) - 1]  # the last subword is that of the end
    torch.testing.assert_close(replaced[0], short_states[0, places])


def test_partners_are_other_sentences_of_like_length(windows):
    chosen = partners(windows, seed=1)
    assert len(chosen) == len(windows) > 2
    assert all(windows[i].sentence != windows[j].sentence for i, j in enumerate(chosen))
    assert partners(windows, seed=1) == chosen
    with pytest.raises(DataError, match="needs two different sentences"):
        partners(windows[:1], seed=1)


@pytest.mark.parametrize("seed", range(3))
def test_where_no_length_repeats_the_partner_is_the_next_longer_and_of_the_longest_the_next_shorter(windows, seed):
    lengths = (7, 4, 9, 5, 6)
    made = [replace(windows[0], sentence=number, ids=np.arange(length)) for number, length in enumerate(lengths)]
    assert partners(made, seed=seed) == [2, 3, 0, 4, 0]


@pytest.mark.parametrize("seed", range(5))
def test_a_sentence_that_occurs_twice_is_not_resampled_by_itself(windows, seed):
    twice = [replace(window, sentence=2 * window.sentence + again) for window in windows for again in (0, 1)]
    chosen = partners(twice, seed=seed)
    assert not any(twice[i].ids.tolist() == twice[j].ids.tolist() for i, j in enumerate(chosen))
    with pytest.raises(DataError, match="needs two different sentences"):
        partners(twice[:2], seed=seed)


@pytest.mark.parametrize("keys", [{"noise": "1.output", "noise_dose": 0.5}, {"resample": "1"}, {"mean": "1.ffn"}])
def test_states_depend_on_the_seed_and_not_on_the_batch(encoder, windows, keys):
    one = edited(encoder, windows, **keys)
    together = states(one, windows)
    alone = torch.cat([states(one, [window]) for window in windows])
    torch.testing.assert_close(together, alone, rtol=1e-4, atol=1e-4)
    assert torch.equal(together, states(edited(encoder, windows, **keys), windows))


def test_the_noise_does_not_depend_on_the_default_number_format_of_the_caller(encoder, windows):
    keys = {"noise": "1.output", "noise_dose": 0.5}
    expected = states(edited(encoder, windows, **keys), windows)
    torch.set_default_dtype(torch.float64)
    try:
        assert torch.equal(states(edited(encoder, windows, **keys), windows), expected)
    finally:
        torch.set_default_dtype(torch.float32)


def test_the_dose_is_the_size_of_the_noise_relative_to_the_states(encoder, windows):
    batch = batch_of(encoder, windows)
    edit = edited(encoder, windows, noise="1.output", noise_dose=0.5).edits[0]
    clean = states_at(encoder, edit.places, batch)[0].detach()
    noisy = edit.replacement(Inputs(batch.ids, batch.mask, None))(edit.places[0], clean)
    sizes = [values[batch.mask.bool()].pow(2).mean().sqrt() for values in (noisy - clean, clean)]
    assert float(sizes[0] / sizes[1]) == pytest.approx(0.5, rel=0.1)


@pytest.mark.parametrize("width", [6, 7])
def test_a_rotation_keeps_lengths_turns_by_its_angle_and_is_undone_by_its_opposite(width):
    matrix = rotation_matrix(width, 60, seed=1)
    torch.testing.assert_close(matrix @ matrix.T, torch.eye(width), rtol=0, atol=1e-6)
    torch.testing.assert_close(matrix @ rotation_matrix(width, -60, seed=1), torch.eye(width), rtol=0, atol=1e-6)
    assert float(torch.trace(matrix)) == pytest.approx(width // 2 * 2 * 0.5 + width % 2, abs=1e-5)


def test_another_seed_turns_other_planes(encoder, windows):
    def turned(seed):
        rotation = Condition(rotate="1.output", degrees=40).interventions[0]
        return states(rotation.apply(encoder, seed=seed).prepared(windows), windows)

    assert torch.equal(turned(1), turned(1))
    assert not torch.allclose(turned(1), turned(2), atol=1e-2)


def test_opposite_rotations_at_one_place_change_nothing(encoder, windows):
    both = Condition.read([{"rotate": "1.output", "degrees": 40}, {"rotate": "1.output", "degrees": -40}])
    turned = encoder
    for part in both.interventions:
        turned = part.apply(turned, seed=5)
    torch.testing.assert_close(
        states(turned.prepared(windows), windows), states(encoder, windows), rtol=1e-4, atol=1e-4
    )


def test_interventions_at_one_place_act_in_their_order(encoder, windows):
    """The mean of turned states is the mean, and the turned mean is another one."""
    mean, rotate = (Condition(**keys).interventions[0] for keys in ({"mean": "1.output"}, TURN))
    batch = batch_of(encoder, windows)

    def after(*parts):
        changed = encoder
        for part in parts:
            changed = part.apply(changed, seed=3)
        with torch.no_grad():
            return layer_outputs(changed.prepared(windows), batch.ids, batch.mask)[1][batch.mask.bool()]

    means = after(mean)
    turned = means @ rotation_matrix(encoder.width, TURN["degrees"], seed=3)
    torch.testing.assert_close(after(mean, rotate), turned, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(after(rotate, mean), means, rtol=1e-4, atol=1e-5)
    assert not torch.allclose(turned, means, atol=1e-2)


def test_the_noise_of_two_places_is_not_the_same(encoder, windows):
    batch = batch_of(encoder, windows)
    edit = edited(encoder, windows, noise="1-2.output", noise_dose=0.5).edits[0]
    ones = torch.ones(*batch.ids.shape, encoder.width)
    low, high = (edit.replacement(Inputs(batch.ids, batch.mask, None))(site, ones) - 1 for site in edit.places)
    for row, window in enumerate(windows):
        pair = low[row, : len(window)].flatten(), high[row, : len(window)].flatten()
        assert abs(float(torch.cosine_similarity(*pair, dim=0))) < 0.5


def test_a_window_is_known_by_its_subwords_and_segments_without_padding():
    """Pairs of texts may differ only in where the second text begins."""
    ids, mask = torch.tensor([[2, 7, 8, 3], [2, 7, 8, 3], [2, 7, 3, 0]]), torch.ones(3, 4, dtype=torch.long)
    mask[2, 3] = 0
    segments = torch.tensor([[0, 0, 1, 1], [0, 1, 1, 1], [0, 0, 0, 0]])
    assert len(set(Inputs(ids, mask, segments).windows())) == 3
    one, same, other = Inputs(ids, mask, None).windows()
    assert one == same != other
    (alone,) = Inputs(ids[2:, :3], mask[2:, :3], None).windows()
    assert alone == other


def test_means_of_a_corpus_of_many_batches_weigh_every_subword_alike(encoder, windows):
    (place,) = sites(encoder, "1.output")
    once, often = (place_means(encoder, [place], times * list(windows))[place.name] for times in (1, 30))
    assert sum(map(len, windows)) * 30 > reading_budget(encoder.device)
    torch.testing.assert_close(often, once, rtol=1e-5, atol=1e-6)


def test_states_are_not_replaced_before_the_corpus_is_known(encoder, windows):
    with pytest.raises(EncoderError, match="need the corpus first"):
        states(Condition(mean="1").interventions[0].apply(encoder, seed=1), windows)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"zero": "1.norms"}, "invalid address"),
        ({"noise": "1"}, "noise_dose"),
        ({"noise": "1", "noise_dose": -1}, "0"),
        ({"rotate": "1"}, "degrees"),
    ],
)
def test_invalid_interventions_are_refused(keys, message):
    with pytest.raises(RequestError, match=message):
        Condition.read(keys)


def test_noise_is_as_large_as_each_state_asks_for(encoder, windows):
    """A special token may have a state a hundred times as large as those of words."""
    batch = batch_of(encoder, windows)
    edit = edited(encoder, windows, noise="1.output", noise_dose=0.5).edits[0]
    sizes = torch.logspace(-2, 2, batch.ids.shape[1])
    clean = torch.ones(*batch.ids.shape, encoder.width) * sizes[:, None]
    noise = edit.replacement(Inputs(batch.ids, batch.mask, None))(edit.places[0], clean) - clean
    relative = (noise.pow(2).mean(2).sqrt() / sizes)[batch.mask.bool()]
    assert relative.min() > 0.25
    assert relative.max() < 0.75
    assert not noise[~batch.mask.bool()].any()


def test_a_subword_alone_in_its_window_counts_as_the_first_only(encoder):
    """It would pull the mean of the last subwords towards its own."""
    longer, alone = (
        Window(0, 0, 1, np.array(ids), np.array([0]), np.array([0, len(ids)]), 0) for ids in ([2, 7, 8, 3], [9])
    )
    means, without = (
        place_means(encoder, sites(encoder, "1.output"), windows)["1.output"] for windows in ([longer, alone], [longer])
    )
    torch.testing.assert_close(means[1:], without[1:])
    assert not torch.allclose(means[0], without[0])
