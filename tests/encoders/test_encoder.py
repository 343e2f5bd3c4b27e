"""The loaded encoder: its digests, its states and the outputs of its layers."""

from itertools import permutations
from threading import Thread

import pytest
import torch
from transformers import PhobertTokenizer

from crosslens.encoders.encoder import layer_outputs
from crosslens.encoders.freeze import freeze
from crosslens.encoders.load import load_encoder
from crosslens.encoders.reinit import random_init
from crosslens.encoders.represent import represent
from crosslens.errors import RequestError
from crosslens.similarity.compare import compare
from crosslens.training.finetune import finetune
from crosslens.training.intervene import intervene
from crosslens.training.predict import predict
from toy_architectures import IDS, MASK, fresh
from toy_trainings import FAST
from toys import word_piece


def test_an_encoder_is_recognised_whatever_its_vocabulary_was_trimmed_to(encoder, tiny_bert):
    from crosslens.encoders.reinit import random_init

    trimmed = load_encoder(tiny_bert)
    trimmed.model.resize_token_embeddings(50)
    assert trimmed.digest != encoder.digest
    assert trimmed.body_digest == encoder.body_digest
    assert random_init(encoder, 1, seed=1).body_digest != encoder.body_digest


def test_what_the_tokenizer_was_last_asked_for_is_not_part_of_an_encoder(encoder, tiny_bert):
    used = load_encoder(tiny_bert, device="cpu")
    used.tokenizer(["one", "two of them"], padding=True, truncation=True, max_length=3)
    assert used.digest == encoder.digest


def test_the_subwords_of_a_tokenizer_in_python_are_part_of_an_encoder_in_their_order(tmp_path):
    digests = []
    for number, letters in enumerate(("abc", "abc", "bac")):
        vocabulary, merges = (tmp_path / f"{number}.{ending}" for ending in ("vocabulary", "merges"))
        vocabulary.write_text("".join(f"{letter}</w> 1\n" for letter in letters))
        merges.write_text("")
        tokenizer = PhobertTokenizer(str(vocabulary), str(merges))
        assert not tokenizer.is_fast
        fresh("bert", 0, tokenizer).save_pretrained(tmp_path / str(number))
        tokenizer.save_pretrained(tmp_path / str(number))
        digests.append(load_encoder(tmp_path / str(number), device="cpu").digest)
    assert digests[0] == digests[1] != digests[2]


def test_threads_that_read_with_one_encoder_do_not_disturb_one_another(encoder, toy):
    tagger = finetune(encoder, "pos", train=toy(), recipe=FAST)
    ablated = intervene(tagger, "1:zero")
    readings = [
        lambda: represent(tagger.encoder, toy("test")).vectors.tobytes(),
        lambda: [sentence.upos for sentence in predict(ablated, toy("test")).sentences],
        lambda: [sentence.upos for sentence in predict(tagger, toy("test")).sentences],
    ]
    for one, other in permutations(readings, 2):
        expected, found, others = (one(), other()), [], []

        def other_thread(*_, other=other, found=found, others=others):
            if not others:
                others.append(Thread(target=lambda: found.append(other())))
                others[0].start()
                others[0].join(timeout=0.1)

        with tagger.encoder.layers[1].register_forward_pre_hook(other_thread):
            found.append(one())
            others[0].join()
        assert sorted(map(repr, found)) == sorted(map(repr, expected))


def test_layer_outputs_are_raw_and_line_up(loaded):
    ids, mask = IDS, MASK
    with torch.inference_mode():
        outputs = layer_outputs(loaded, ids, mask)
        last = loaded.states(ids, mask)
        reported = loaded.model(input_ids=ids, attention_mask=mask, output_hidden_states=True).hidden_states
        for highest in range(loaded.depth + 1):
            lower = layer_outputs(loaded, ids, mask, highest=highest)
            assert len(lower) == highest + 1
            for mine, its in zip(lower, outputs, strict=False):  # XLM empties padding behind each layer
                assert torch.equal(mine[mask.bool()], its[mask.bool()])
    assert [tuple(o.shape) for o in outputs] == [(2, 5, loaded.width)] * (loaded.depth + 1)
    real = mask.bool()
    for ours, theirs in zip(outputs[:-1], reported[:-1], strict=True):
        torch.testing.assert_close(ours[real], theirs[real])
    finals = ("norm", "final_norm", "final_layer_norm", "encoder.final_layer_norm", "encoder.LayerNorm")
    normed = outputs[-1]
    for path in finals:
        module = dict(loaded.model.named_modules()).get(path)
        if module is not None and loaded.family.name not in ("deberta-v2", "bert"):
            with torch.inference_mode():
                normed = module(outputs[-1])
    torch.testing.assert_close(normed[real], last[real], rtol=1e-4, atol=1e-5)


@pytest.mark.rounding
def test_padding_does_not_move_a_sentence(loaded):
    short = torch.tensor([[2, 9, 7, 3]])
    long = torch.tensor([[2, 9, 7, 3, 0, 0, 0], [2, 9, 10, 11, 12, 13, 3]])
    with torch.inference_mode():
        usual = random_init(loaded, "0,all", seed=1)  # weights of the usual size, so that rounding stays small
        alone = usual.states(short, torch.ones_like(short))
        padded = usual.states(long, (torch.arange(7) < torch.tensor([[4], [7]])).long())
    torch.testing.assert_close(padded[:1, :4], alone, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("kind", "padding", "longest"), [("bert", 0, 20), ("roberta", 0, 19), ("roberta", 1, 18)])
def test_positions_limit_the_input_and_may_start_behind_the_padding_id(kind, padding, longest, tmp_path):
    """Of 20 rows; those of XLM-R are 514 for inputs of up to 512 subwords."""
    tokenizer = word_piece()
    fresh(kind, 0, tokenizer, max_position_embeddings=20, pad_token_id=padding).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    small = load_encoder(tmp_path, device="cpu")
    assert small.capacity == longest
    ids = torch.full((1, longest), 7)
    with torch.inference_mode():
        assert small.states(ids, torch.ones_like(ids)).shape == (1, longest, small.width)


def test_it_shows_its_size_and_what_was_changed(encoder):
    lines = repr(encoder).splitlines()
    assert lines[0] == f"Encoder {encoder.name}"
    assert lines[1].strip().startswith("bert, 4 layers × 32 dimensions")
    assert lines[2].strip() == f"vocabulary of {len(encoder.tokenizer)} subwords; inputs of up to {encoder.capacity}"
    changed = freeze(random_init(encoder, "1-2"), "0")
    assert repr(changed).splitlines()[:3] == lines
    (last,) = repr(changed).splitlines()[3:]
    assert last.strip() == "re-initialised: 32 tensors of layers 1-2; frozen: 5 tensors of layers 0"


def test_a_name_or_a_model_in_its_place_is_refused_with_what_to_write(encoder, toy):
    model = finetune(encoder, "pos", train=toy(), recipe=FAST)
    calls = (
        lambda given: random_init(given, "1-2"),
        lambda given: freeze(given, "0"),
        lambda given: compare(given, "sample/test", pairs=["en-fr"]),
        lambda given: finetune(given, "pos", train=toy()),
    )
    for call in calls:
        with pytest.raises(RequestError, match=r"'my-bert' is a str and not an encoder \(xl.load_encoder loads one"):
            call("my-bert")
        with pytest.raises(RequestError, match=r"is a TaskModel and not an encoder \(.*of a model it is model.encoder"):
            call(model)
