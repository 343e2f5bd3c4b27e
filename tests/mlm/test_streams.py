"""Streams and lines of subwords: how often each language is drawn, and what is masked."""

from collections import Counter

import numpy as np
import pytest

from crosslens.errors import RequestError
from crosslens.mlm.pretrain_settings import Masking
from crosslens.mlm.streams import Masker, cut_stream, cut_streams, sort_lines
from crosslens.mlm.vocabulary import VOCABULARIES
from toys import SENTENCES


def test_languages_are_drawn_by_size_to_the_exponent_and_rounds_are_complete(texts):
    text = {language: SENTENCES[language] * times for language, times in (("en", 40), ("fr", 10))}
    tokenizer = VOCABULARIES["bpe"]([line for lines in text.values() for line in lines], size=120, positions=24)
    streams = cut_streams(text, dict.fromkeys(text, tokenizer), length=24, steps=4000, exponent=0.5, seed=1)
    sizes = np.asarray([len(rows) for rows in streams.sequences])
    expected = sizes**0.5 / (sizes**0.5).sum()
    share = np.bincount(streams.order) / 4000
    assert np.abs(share - expected).max() < 4 * (0.25 / 4000) ** 0.5
    for language in (0, 1):
        steps = np.flatnonzero(streams.order == language)
        seen = np.concatenate([streams.batch(int(s), size=4) for s in steps[:150]])
        rows = {tuple(row) for row in streams.sequences[language]}
        first = [tuple(row) for row in seen[: sizes[language]]]
        assert set(first) == rows  # a round holds every sequence
        size = sizes[language]
        rounds = [sorted(map(tuple, seen[n * size : (n + 1) * size])) for n in range(len(seen) // size)]
        assert len(rounds) > 1
        assert all(each == rounds[0] for each in rounds)  # also where a step begins in one round and ends in the next
    for rows in streams.sequences:
        assert (rows[:, 0] == tokenizer.cls_token_id).all()
        assert (rows[:, -1] == tokenizer.sep_token_id).all()


def test_of_as_many_lines_the_language_of_longer_ones_is_drawn_more_often():
    text = {"short": ["a b"] * 100, "long": ["a b " * 4] * 100}
    tokenizer = VOCABULARIES["words"](text["long"], size=10, positions=24)
    streams = cut_streams(text, dict.fromkeys(text, tokenizer), length=11, steps=4000, exponent=1.0, seed=1)
    # A line of eight words and its end is three times as long as one of two.
    assert (streams.order == 1).mean() == pytest.approx(0.75, abs=4 * (0.25 / 4000) ** 0.5)


def test_masking_hides_the_shares_asked_for_and_never_a_special():
    tokenizer = VOCABULARIES["bpe"](SENTENCES["en"], size=100, positions=24)
    generator = np.random.default_rng(0)
    ids = np.full((200, 50), tokenizer.convert_tokens_to_ids("▁the"))
    ids[:, 0] = tokenizer.cls_token_id
    shown, chosen = Masker.of(tokenizer, Masking(share=0.2, masked=0.7, replaced=0.2)).hide(ids, generator)
    n = chosen[:, 1:].sum()
    assert not chosen[:, 0].any()
    assert abs(n / 9800 - 0.2) < 0.02
    assert (shown[~chosen] == ids[~chosen]).all()
    masked = (shown[chosen] == tokenizer.mask_token_id).mean()
    same = (shown[chosen] == ids[chosen]).mean()
    assert abs(masked - 0.7) < 0.04
    assert abs(same - 0.1) < 0.03
    assert not np.isin(shown[chosen], [i for i in tokenizer.all_special_ids if i != tokenizer.mask_token_id]).any()
    replaced = shown[chosen & (shown != tokenizer.mask_token_id) & (shown != ids)]
    counts = np.unique(replaced, return_counts=True)[1]  # any subword, each about as often
    assert len(counts) > 0.8 * (len(tokenizer) - len(set(tokenizer.all_special_ids)))
    assert counts.max() < 5 * counts.mean()
    _, one = Masker.of(tokenizer, Masking(share=0.0001, masked=0.8, replaced=0.1)).hide(ids[:1, :3], generator)
    assert one.sum() == 1


def test_a_step_reads_lines_of_one_length_and_an_epoch_reads_every_line_once(texts):
    text = {language: (texts / f"{language}.txt").read_text().split("\n") for language in ("en", "fr")}
    tokenizer = VOCABULARIES["words"]([line for lines in text.values() for line in lines], size=200, positions=24)
    lines = sort_lines(text, dict.fromkeys(text, tokenizer), length=24, budget=60, seed=1)
    expected = Counter(tuple(tokenizer(line)["input_ids"]) for its in text.values() for line in its if line)
    steps = sum(-(-len(rows) // (60 // rows.shape[1])) for rows in lines.sequences)
    epochs = []
    for epoch in range(2):
        batches = [lines.batch(epoch * steps + step, size=0) for step in range(steps)]
        assert all(batch.size <= 60 for batch in batches)
        assert Counter(tuple(row.tolist()) for batch in batches for row in batch) == expected
        epochs.append([batch.tolist() for batch in batches])
    assert epochs[0] != epochs[1]
    assert lines.subwords(steps, size=0) == sum(len(ids) * times for ids, times in expected.items())
    read = [lines.batch(step, size=0).size for step in range(3 * steps)]
    assert [lines.subwords(step, size=0) for step in range(3 * steps + 1)] == [0, *np.cumsum(read)]
    again = sort_lines(text, dict.fromkeys(text, tokenizer), length=24, budget=60, seed=1)
    np.testing.assert_array_equal(again.batch(5, size=0), lines.batch(5, size=0))


def test_text_without_a_known_subword_is_refused():
    tokenizer = VOCABULARIES["words"](SENTENCES["en"], size=60, positions=24)
    unknown = ["ߊߟߎ ߞߊ ߘߌ ߓߐ"] * 20
    with pytest.raises(RequestError, match=r"nqo has nothing to predict: .*crosslens transliterate"):
        cut_stream("nqo", unknown, tokenizer, length=16)
    for lines in ([""], unknown):
        text = {"en": SENTENCES["en"], "nqo": lines}
        with pytest.raises(RequestError, match="nqo has nothing to predict"):
            sort_lines(text, dict.fromkeys(text, tokenizer), length=24, budget=60, seed=1)
    assert len(cut_stream("nqo", ["the cat", *unknown], tokenizer, length=16)) > 1


def test_a_longer_line_is_cut_between_its_special_tokens():
    text = {"en": ["the cat sees the dog " * times for times in (1, 2, 8)]}
    tokenizer = VOCABULARIES["words"](text["en"], size=40, positions=24)
    lines = sort_lines(text, {"en": tokenizer}, length=9, budget=60, seed=1)
    rows = [row for sequence in lines.sequences for row in sequence.tolist()]
    assert sorted(map(len, rows)) == [7, 9, 9]
    for row in rows:
        assert (row[0], row[-1]) == (tokenizer.cls_token_id, tokenizer.sep_token_id)
        assert row[1:-1] == tokenizer(text["en"][2], add_special_tokens=False)["input_ids"][: len(row) - 2]


@pytest.mark.parametrize("together", ["all", "one"])
def test_lines_of_a_batch_change_from_epoch_to_epoch_and_languages_mix_as_asked(together):
    text = {language: [f"{language}{number} ." for number in range(40)] for language in ("en", "fr")}
    tokenizer = VOCABULARIES["words"]([line for lines in text.values() for line in lines], size=200, positions=8)
    lines = sort_lines(text, dict.fromkeys(text, tokenizer), length=8, budget=40, seed=1, together=together)
    epochs = []
    for first in (0, 8):
        batches = [lines.batch(step, size=0) for step in range(first, first + 8)]
        epochs.append({frozenset(batch[:, 1].tolist()) for batch in batches})
        for step, batch in enumerate(batches, start=first):
            languages = {word[:2] for word in tokenizer.convert_ids_to_tokens(batch[:, 1])}
            assert languages == ({"en", "fr"} if together == "all" else {lines.language(step)})
    assert not epochs[0] & epochs[1]


def test_languages_with_equally_much_text_are_read_in_orders_of_their_own():
    lines = [f"w{number} ." for number in range(120)]
    text = {"en": lines, "fr": lines}
    tokenizer = VOCABULARIES["words"](lines, size=200, positions=8)
    streams = cut_streams(text, dict.fromkeys(text, tokenizer), length=8, steps=40, exponent=1.0, seed=1)
    orders = []
    for language in (0, 1):
        steps = np.flatnonzero(streams.order == language)[:10]
        orders.append(np.concatenate([streams.batch(int(step), size=4) for step in steps])[:, 1].tolist())
    assert len(orders[0]) == len(orders[1]) == 40
    assert orders[0] != orders[1]


def test_a_stream_marks_the_end_of_every_line():
    """A model must not take the end of a line and the beginning of the next for one sentence."""
    lines = SENTENCES["en"] * 5
    tokenizer = VOCABULARIES["words"](lines, size=60, positions=16)
    rows = cut_stream("en", lines, tokenizer, length=16)
    read = rows[:, 1:-1].ravel().tolist()
    expected = [i for line in lines for i in (*tokenizer(line, add_special_tokens=False)["input_ids"], rows[0, -1])]
    assert read == expected[: len(read)]
    assert len(expected) - len(read) < 14


def test_unknown_words_are_neither_predicted_nor_hidden():
    tokenizer = VOCABULARIES["words"](SENTENCES["en"], size=60, positions=24)
    ids = np.asarray([tokenizer(["the cat zzz"] * 50, add_special_tokens=False)["input_ids"]])[0]
    shown, chosen = Masker.of(tokenizer, Masking(share=0.9, masked=0.8, replaced=0.2)).hide(
        ids, np.random.default_rng(0)
    )
    unknown = ids == tokenizer.unk_token_id
    assert unknown.sum() == 50
    assert not chosen[unknown].any()
    assert (shown[unknown] == tokenizer.unk_token_id).all()
    assert chosen[~unknown].mean() > 0.8
