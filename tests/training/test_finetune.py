import copy
import dataclasses

import numpy as np
import pytest
import torch

from crosslens.data.corpus import Corpus
from crosslens.data.sentence import Sentence
from crosslens.encoders.freeze import freeze
from crosslens.encoders.inputs import read_windows
from crosslens.encoders.load import load_encoder
from crosslens.encoders.reinit import random_init
from crosslens.errors import DataError, RequestError, TrainingError
from crosslens.tasks import TASKS, find_task
from crosslens.training import epochs as module
from crosslens.training.checkpoint import load_model, save_model
from crosslens.training.evaluate import evaluate
from crosslens.training.finetune import finetune
from crosslens.training.predict import predict
from crosslens.training.recipe import Recipe, find_recipe
from crosslens.training.sparse_embeddings import restrict_embeddings
from gradients import assert_same_gradients, assert_same_losses, recorded_gradients
from toy_architectures import bits, changed, inside
from toy_trainings import FAST, RECIPE, run


def weights(model):
    return {**model.encoder.model.state_dict(), **{f"head.{n}": t for n, t in model.head.state_dict().items()}}


def equal(a, b):
    return all(torch.equal(x, y) for x, y in zip(weights(a).values(), weights(b).values(), strict=True))


def test_it_learns(encoder, toy):
    losses = []
    recipe = Recipe(batch=2, learning_rate=5e-3, epochs=20, select="last")
    model = finetune(encoder, "pos", train=toy(), recipe=recipe, stepped=lambda step, loss: losses.append(loss))
    assert losses[-1] < 0.3 * losses[0]
    assert evaluate(model, [toy("test")]).records["value"][0].as_py() > 90
    assert len(losses) == model.facts["steps"] == 60


def test_the_same_seed_gives_the_same_bits_and_moves_nothing_of_the_callers(encoder, toy, tagger):
    before = {name: t.clone() for name, t in encoder.model.state_dict().items()}
    state = torch.random.get_rng_state()
    again = finetune(encoder, "pos", train=toy(), recipe=FAST, seed=1)
    other = finetune(encoder, "pos", train=toy(), recipe=FAST, seed=2)
    assert equal(tagger, again)
    assert not equal(tagger, other)
    assert torch.equal(torch.random.get_rng_state(), state)
    for without_gradients in (torch.no_grad(), torch.inference_mode()):
        with without_gradients:
            assert equal(tagger, finetune(encoder, "pos", train=toy(), recipe=FAST, seed=1))
    assert all(torch.equal(before[name], t) for name, t in encoder.model.state_dict().items())


def test_a_recipe_can_be_what_differs_from_the_default(encoder, toy):
    model = finetune(encoder, "pos", train=toy(), recipe={"epochs": 1, "select": "last", "batch": 2})
    assert model.recipe == find_recipe("default", "pos", {"epochs": 1, "select": "last", "batch": 2})


def test_ablated_and_reference_share_head_and_order(encoder, toy, monkeypatch):
    """R7: one seed, and they differ in the re-initialised layers alone; another seed has another head and order."""
    seen = []

    original = module.task_batch
    monkeypatch.setattr(
        module, "task_batch", lambda *given: seen.append([w.sentence for w in given[-1]]) or original(*given)
    )
    heads = []
    drawn = find_task("pos")

    class Spy(type(drawn)):
        def head(self, *args, **settings):
            heads.append(super().head(*args, **settings))
            return heads[-1]

        def loss(self, head, states, batch, targets):
            if len(first) < len(heads):
                first.append({name: t.clone() for name, t in head.state_dict().items()})
            return super().loss(head, states, batch, targets)

    first = []
    for model, seed in ((encoder, 1), (random_init(encoder, "1-2", seed=1), 1), (encoder, 2)):
        finetune(model, Spy(), train=toy(), recipe=FAST, seed=seed)
    same, again, other = [torch.cat([t.flatten() for t in tensors.values()]) for tensors in first]
    assert torch.equal(same, again)
    assert not torch.equal(same, other)
    steps = len(seen) // 3
    assert seen[:steps] == seen[steps : 2 * steps] != seen[2 * steps :]


@pytest.mark.rounding
def test_training_only_the_rows_that_occur_changes_nothing_else(encoder, toy, monkeypatch):
    """Exact but for rounding; rows that never occur keep their very bits."""
    from contextlib import contextmanager

    from crosslens.training import finetune as module

    few = dataclasses.replace(toy(), items=toy().items[:2])
    recipe = FAST.model_copy(update={"weight_decay": 0.1, "select": "best", "clip": None})
    sizes = []

    @contextmanager
    def all_rows(encoder, *readings):
        sizes.append(len(encoder.model.get_input_embeddings().weight))
        yield readings

    trainings = []
    for rows in (None, all_rows):
        if rows is not None:
            monkeypatch.setattr(module, "restrict_embeddings", rows)
        losses = []
        with recorded_gradients() as steps:
            model = finetune(
                encoder, "pos", train=few, dev=few, recipe=recipe, stepped=lambda _, loss, to=losses: to.append(loss)
            )
        trainings.append((model, steps[0], losses))
    (small, few_rows, few_losses), (whole, every_row, losses) = trainings
    used = np.unique(np.concatenate([w.ids for w in read_windows(encoder, few).windows]))
    rest = np.setdiff1d(np.arange(sizes[0]), used)
    assert len(rest) > len(used)
    tables = [place for place, gradient in enumerate(every_row) if gradient is not None and len(gradient) == sizes[0]]
    assert len(tables) == 1
    assert not every_row[tables[0]][rest].any()
    every_row[tables[0]] = every_row[tables[0]][np.union1d(used, encoder.padding)]
    assert_same_gradients(few_rows, every_row)
    assert_same_losses(few_losses, losses)
    table = small.encoder.model.get_input_embeddings().weight
    assert torch.equal(table[rest], encoder.model.get_input_embeddings().weight[rest])
    assert small.facts["dev_score"] == whole.facts["dev_score"]
    assert [s.upos for s in predict(small, toy("test")).sentences] == [
        s.upos for s in predict(whole, toy("test")).sentences
    ]


def test_every_layer_of_the_encoder_learns_from_every_task(encoder, task, toy):
    model = run(encoder, task, toy, RECIPE.model_copy(update={"epochs": 1, "select": "last"}))
    moved = changed(bits(encoder), bits(model.encoder))
    assert all(moved & inside(encoder, layer) for layer in range(encoder.depth + 1))


def test_frozen_layers_stay_and_others_move(encoder, toy):
    frozen = freeze(encoder, "0-2")
    model = finetune(frozen, "pos", train=toy(), recipe=FAST.model_copy(update={"weight_decay": 0.1}))
    before, after = encoder.model.state_dict(), model.encoder.model.state_dict()
    moved = {name for name in before if not torch.equal(before[name], after[name])}
    assert not moved & set(frozen.changes[-1].tensors)
    assert any(name.startswith("encoder.layer.3") for name in moved)


def test_the_best_epoch_is_selected_on_dev_and_every_epoch_is_looked_at(encoder, toy):
    """R15."""
    seen = []
    recipe = Recipe(batch=2, learning_rate=5e-3, epochs=15)
    model = finetune(
        encoder,
        "pos",
        train=toy(),
        dev=toy("dev"),
        recipe=recipe,
        seed=3,
        validated=lambda step, scores: seen.append(scores["accuracy"]),
    )
    assert len(seen) == 15
    assert model.facts["dev_score"] == max(seen)
    assert model.facts["epoch"] == int(np.argmax(seen)) + 1
    assert evaluate(model, [toy("dev")]).records["value"][0].as_py() == pytest.approx(max(seen))


def test_looking_at_dev_changes_nothing_in_training(encoder, toy):
    recipe = FAST.model_copy(update={"encoder_dropout": "checkpoint"})
    assert equal(
        finetune(encoder, "pos", train=toy(), recipe=recipe),
        finetune(encoder, "pos", train=toy(), dev=toy("dev"), recipe=recipe),
    )


def test_every_word_of_every_sentence_is_predicted_in_order(tagger, toy):
    """R2, R3: 200 words, words without subwords, words of many pieces."""
    long = Sentence(tuple(f"word{i}" for i in range(200)))
    odd = Sentence(("the", "\u200b", "x" * 300, "\x00", "10 000"))
    corpus = Corpus((*toy().items, long, odd, Sentence(("\u200b",))), "odd", "en")
    predicted = predict(tagger, corpus)
    assert [s.words for s in predicted.sentences] == [s.words for s in corpus.sentences]
    assert all(len(s.upos) == len(s.words) for s in predicted.sentences)
    backwards = predict(tagger, dataclasses.replace(corpus, items=corpus.items[::-1]))
    assert [s.upos for s in backwards.sentences[::-1]] == [s.upos for s in predicted.sentences]
    alone = [predict(tagger, dataclasses.replace(corpus, items=(item,)))[0].upos for item in corpus]
    assert [s.upos for s in predicted.sentences] == alone


def test_a_sentence_longer_than_the_encoder_is_trained_on_and_scored(encoder):
    words = tuple(["the", "cat", "sees", "a", "dog", "."]) * 40
    corpus = Corpus((Sentence(words, upos=("X",) * len(words)),), "long", "en")
    assert len(read_windows(encoder, corpus).windows) > 3
    model = finetune(encoder, "pos", train=corpus, recipe=FAST)
    assert model.facts["train_split_sentences"] == 1
    assert evaluate(model, [corpus]).records["n"][0].as_py() == 240


def test_what_cannot_be_trained_is_refused(encoder, toy):
    with pytest.raises(RequestError, match=r"no task 'poss'.*did you mean 'pos'"):
        finetune(encoder, "poss", train=toy())
    with pytest.raises(RequestError, match="selects the best epoch by dev scores, but there is no dev data"):
        finetune(encoder, "pos", train=toy())
    bare = Corpus((Sentence(("a", "b")),), "bare", "en")
    with pytest.raises(DataError, match="bare has no UPOS tags"):
        finetune(encoder, "pos", train=bare, recipe=FAST)
    with pytest.raises(RequestError, match="save_every=0 is not an integer of at least 1"):
        finetune(encoder, "pos", train=toy(), recipe=FAST, save_every=0)
    with pytest.raises(DataError, match="has no words"):
        finetune(encoder, "pos", train=Corpus((), "nothing", "en"), recipe=FAST)
    with pytest.raises(TrainingError, match=r"at step \d+ of 12; last losses: "):
        finetune(encoder, "pos", train=toy(), recipe=FAST.model_copy(update={"learning_rate": 1e30, "clip": None}))


def test_a_second_training_begins_with_the_saved_encoder(encoder, toy, tmp_path):
    """From the model in memory, it would have the id, condition and encoder digest of the first."""
    first = finetune(freeze(encoder, "0-1"), "pos", train=toy(), recipe=FAST)
    save_model(first, tmp_path / "first")
    for model in (first, load_model(tmp_path / "first", device="cpu")):
        for again in (model.encoder, random_init(model.encoder, "4"), freeze(model.encoder, "2")):
            with pytest.raises(RequestError, match="part of a model fine-tuned for pos"):
                finetune(again, "pos", train=toy(), recipe=FAST)
    loaded = load_encoder(tmp_path / "first", device="cpu")
    second = finetune(random_init(loaded, "4"), "pos", train=toy(), recipe=FAST)
    assert second.facts["encoder_digest"] == first.encoder.digest
    assert second.facts["run"] != first.facts["run"]
    assert second.encoder.condition.text == '{"layers": "4"}'


def test_nothing_is_left_of_a_training_where_all_weights_are_re_initialised(encoder, toy, tagger):
    untrained = (random_init(each, "0,all") for each in (tagger.encoder, encoder))
    models = [finetune(each, "pos", train=toy(), recipe=FAST) for each in untrained]
    assert equal(*models)
    assert models[0].facts["run"] == models[1].facts["run"]


def test_the_limit_is_spread_over_the_corpus(encoder, toy):
    model = finetune(encoder, "pos", train=toy(), recipe=FAST.model_copy(update={"limit": 3, "epochs": 1}))
    assert model.facts["train_sentences"] == 3
    some = dataclasses.replace(toy(), items=toy().items[::2])
    alone = finetune(encoder, "pos", train=some, recipe=FAST.model_copy(update={"epochs": 1}))
    assert model.facts["weights"] == alone.facts["weights"]
    assert model.facts["train_digest"] == toy().digest  # the limit is a setting, and the data are the whole corpus
    assert model.facts["run"] != alone.facts["run"]


def test_an_unknown_score_to_select_by_is_refused(encoder, toy):
    with pytest.raises(RequestError, match=r"parsing has no score 'laz' on ud/en_toy:dev .did you mean 'las'"):
        run(encoder, "parsing", toy, RECIPE.model_copy(update={"select_by": "laz"}))


def test_the_best_epoch_by_another_score(encoder, toy):
    model = run(encoder, "parsing", toy, RECIPE.model_copy(update={"select_by": "uas", "epochs": 4}))
    predicted = predict(model, toy("dev"))
    uas = next(s.value for s in TASKS["parsing"].score(toy("dev"), predicted) if s.metric == "uas")
    assert uas == model.facts["dev_score"]


def test_a_table_is_whole_where_another_one_is_looked_up_with_the_same_ids(encoder, toy):
    reading = read_windows(encoder, dataclasses.replace(toy(), items=toy().items[:2]))
    two = dataclasses.replace(encoder, model=copy.deepcopy(encoder.model))
    subwords = len(encoder.tokenizer)
    two.model.register_parameter("other", torch.nn.Parameter(torch.zeros(subwords, 2)))
    with restrict_embeddings(encoder, reading) as (inside,):
        assert len(encoder.model.get_input_embeddings().weight) < subwords
        assert inside is not reading
    with restrict_embeddings(two, reading) as (inside,):
        assert len(two.model.get_input_embeddings().weight) == subwords
        assert inside is reading


def test_frozen_embeddings_stay_where_few_of_them_occur(encoder, toy):
    few = dataclasses.replace(toy(), items=toy().items[:2])
    before = encoder.model.get_input_embeddings().weight.detach().clone()  # the model shares what is frozen
    model = finetune(freeze(encoder, "0"), "pos", train=few, recipe=FAST)
    table = model.encoder.model.get_input_embeddings().weight
    assert torch.equal(table, before)
    assert not table.requires_grad


def test_progress_begins_before_the_first_step_and_ends_after_the_last(encoder, toy):
    updates = []
    run(encoder, "pos", toy, FAST, progress=lambda update: updates.append((update.stage, update.done, update.total)))
    steps = [(done, total) for stage, done, total in updates if stage == "fine-tuning"]
    total = steps[-1][1]
    assert list(dict.fromkeys(steps)) == [(done, total) for done in range(total + 1)]
    assert total > 2
