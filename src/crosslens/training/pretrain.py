"""Pretraining a masked language model from raw text: the encoder that all questions are asked of.

Streams and language sampling as in Conneau, Wu et al. (2020, section 3): each language's text is one stream, cut into
sequences of one length, so there is no padding; a step reads one language, drawn with probability n^exponent.
"""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import torch
from pydantic import BaseModel, ConfigDict, Field, model_validator
from torch.nn import functional
from transformers import BertConfig, BertForMaskedLM, PreTrainedTokenizerFast

from crosslens import __version__
from crosslens.data.text import read
from crosslens.encoders.load import quiet
from crosslens.errors import RequestError
from crosslens.files import new_folder, write_text
from crosslens.identity import digest, stream_seed
from crosslens.training.loop import Loop, Optimiser, parameter_groups
from crosslens.training.streams import Masker, cut_streams, sort_lines
from crosslens.training.vocabulary import SPECIALS, VOCABULARIES

Count = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(ge=0, lt=1)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
SEMANTICS = 1
"""Raised by hand whenever the same settings give other weights than before."""


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Vocabulary(_Strict):
    """Which subwords.

    Attributes:
        kind: ``bpe``, ``wordpiece``, or ``words`` for whole words between spaces.
        size: pieces, special tokens included.
    """

    kind: Literal["bpe", "wordpiece", "words"] = "bpe"
    size: Annotated[int, Field(ge=50)] = 8000


class Shape(_Strict):
    """How large an encoder.

    Attributes:
        layers: how many.
        width: of a state.
        heads: of attention; they share the width.
        feedforward: width inside a layer; None: four times the width.
        positions: longest sequence.
        dropout: in pretraining, and what fine-tuning finds in the checkpoint.
        embedding_range: standard deviation of fresh word embeddings; None: as all weights.
        initializer_range: standard deviation of fresh weights; None: 0.55 / sqrt(width). BERT's 0.02 belongs to width
            768; a narrow encoder that starts so close to nothing trains slowly, and a layer drawn anew is close to no
            layer at all.
    """

    layers: Count = 4
    width: Count = 128
    heads: Count = 4
    feedforward: Count | None = None
    positions: Annotated[int, Field(ge=8)] = 128
    dropout: Share = 0.0
    initializer_range: Positive | None = None
    embedding_range: Positive | None = None

    @model_validator(mode="after")
    def _heads_share_the_width(self) -> "Shape":
        if self.width % self.heads:
            raise ValueError(f"a width of {self.width} cannot be shared by {self.heads} heads")
        return self


class Masking(_Strict):
    """What is hidden.

    Attributes:
        share: of the subwords, to be predicted.
        masked: of those, shown as the mask.
        replaced: of those, shown as a random subword; the rest is shown as it is.
    """

    share: Annotated[float, Field(gt=0, lt=1)] = 0.15
    masked: Annotated[float, Field(ge=0, le=1)] = 0.8
    replaced: Annotated[float, Field(ge=0, le=1)] = 0.1

    @model_validator(mode="after")
    def _no_more_than_all(self) -> "Masking":
        if self.masked + self.replaced > 1 + 1e-9:
            raise ValueError("masked and replaced are more than all together")
        return self


class Pretraining(_Strict):
    """The settings of `pretrain`: what a settings file holds.

    Attributes:
        corpora: language -> text file, relative to the settings file.
        exponent: of language sampling; 1 is by size, 0 all alike.
        vocabulary: which subwords.
        shape: how large an encoder.
        steps: of the optimiser.
        reading: ``streams``: each language's text is one stream, cut into sequences of all positions, and a step reads
            one language; ``lines``: a sequence is a line, and a step reads lines of one length, of all languages.
        batch: sequences a step; of lines as many as have that many positions together.
        masking: what is hidden.
        learning_rate: the peak.
        embedding_learning_rate: the peak for word embeddings; None: the same.
        warmup: share of the steps.
        betas: AdamW's decay rates.
        weight_decay: on matrices.
        clip: largest norm of a gradient.
        seed: of everything.
    """

    corpora: Annotated[dict[str, str], Field(min_length=1)]
    exponent: Annotated[float, Field(ge=0, le=1)] = 0.7
    vocabulary: Vocabulary = Vocabulary()
    shape: Shape = Shape()
    steps: Count = 2000
    reading: Literal["streams", "lines"] = "streams"
    batch: Count = 16
    masking: Masking = Masking()
    learning_rate: Positive = 1e-3
    embedding_learning_rate: Positive | None = None
    warmup: Share = 0.05
    betas: tuple[Share, Share] = (0.9, 0.98)
    weight_decay: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.01
    clip: Positive | None = 1.0
    seed: int = 1


def pretrain(
    settings: Pretraining,
    folder: str | Path,
    *,
    base: str | Path = ".",
    save_every: int = 200,
    device: str | torch.device | None = None,
    progress: Callable[[int, int, float, int], None] | None = None,
) -> dict[str, float]:
    """Pretrain an encoder, and write it as a Hugging Face masked language model that `load_encoder` reads.

    While it runs, ``FOLDER.partial`` holds its state; the same call after an interruption goes on from there, to the
    same bits on a CPU with the same number of threads.

    Args:
        settings: what to train.
        folder: to make.
        base: where the corpora's relative paths start.
        save_every: steps between two states kept.
        device: None: a GPU where there is one.
        progress: called after every step with steps done, steps in all, loss, and subwords read in this call.

    Returns:
        ``loss`` (the mean over the last hundred steps), ``subwords``, ``steps``.

    Raises:
        DataError: for text that cannot be read.
        RequestError: when the folder exists, or a partial training of other settings does.
        TrainingError: when the loss is no longer a number, or the state kept is damaged.
    """
    folder = Path(folder)
    device = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
    corpora = {language: read(Path(base) / file, language=language) for language, file in settings.corpora.items()}
    text = {language: [segment for item in c for segment in item.segments] for language, c in corpora.items()}  # pyright: ignore
    identity = digest(
        {"settings": settings.model_dump(mode="json", exclude={"corpora"}), "semantics": SEMANTICS,
         "text": {language: corpus.digest for language, corpus in corpora.items()}}
    )  # fmt: skip
    everything = [line for lines in text.values() for line in lines]
    tokenizer = VOCABULARIES[settings.vocabulary.kind](
        everything, size=settings.vocabulary.size, positions=settings.shape.positions
    )
    masking = settings.masking
    length = settings.shape.positions
    if settings.reading == "lines":
        streams = sort_lines(text, tokenizer, length=length, budget=settings.batch * length, seed=settings.seed)
    else:
        streams = cut_streams(
            text, tokenizer, length=length, steps=settings.steps, exponent=settings.exponent, seed=settings.seed
        )
    masker = Masker.of(tokenizer, share=masking.share, masked=masking.masked, replaced=masking.replaced)
    partial = folder.with_name(f"{folder.name}.partial")
    _claim(partial, identity)  # after all that can be wrong with the request

    model = fresh_model(settings, tokenizer)
    model.to(device).train()  # pyright: ignore[reportArgumentType]
    optimiser = Optimiser(
        steps=settings.steps, warmup=settings.warmup, betas=settings.betas, weight_decay=settings.weight_decay,
        clip=settings.clip,
    )  # fmt: skip
    groups = parameter_groups(model, learning_rate=settings.learning_rate, weight_decay=settings.weight_decay)
    if settings.embedding_learning_rate:
        table = model.get_input_embeddings().get_parameter("weight")
        groups = [{**group, "params": [p for p in group["params"] if p is not table]} for group in groups]
        groups.append({"params": [table], "peak": settings.embedding_learning_rate, "weight_decay": 0.0})
    loop: Loop[tuple[np.ndarray, np.ndarray, np.ndarray]] = Loop(
        model, groups, optimiser, seed=settings.seed, identity=identity
    )
    if (partial / "state.pt").exists():
        loop.load(partial / "state.pt")

    read_here = 0

    def batches(step: int) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        nonlocal read_here
        ids = streams.batch(step, size=settings.batch)
        read_here += ids.size
        generator = np.random.default_rng(stream_seed(settings.seed, "mask", step))
        return [(ids, *masker.hide(ids, generator))]

    def loss(item: tuple[np.ndarray, np.ndarray, np.ndarray]) -> tuple[torch.Tensor, int]:
        ids, shown, chosen = item
        states = model.bert(input_ids=torch.from_numpy(shown).to(device)).last_hidden_state
        places = torch.from_numpy(np.flatnonzero(chosen)).to(device)
        # The head, the widest matrix of a small encoder, reads the hidden places only.
        logits = model.cls(states.flatten(0, 1)[places])
        gold = torch.from_numpy(ids[chosen]).to(device)
        return functional.cross_entropy(logits.float(), gold, reduction="sum"), len(gold)

    def after_step(step: int, mean: float) -> None:
        if step % save_every == 0 and step < settings.steps:
            loop.save(partial / "state.pt")
        if progress is not None:
            progress(step, settings.steps, mean, read_here)

    loop.run(batches, loss, after_step=after_step)
    facts = {
        "loss": float(np.mean(loop.losses)), "steps": loop.step,
        "subwords": streams.subwords(settings.steps, size=settings.batch),
    }  # fmt: skip
    description = {
        "crosslens": __version__, "identity": identity, "settings": settings.model_dump(mode="json"), "facts": facts,
        "corpora": {language: corpus.digest for language, corpus in corpora.items()},
    }  # fmt: skip
    with new_folder(folder) as made, quiet():
        model.cpu().eval().save_pretrained(made)
        tokenizer.save_pretrained(made)
        text_of = json.dumps(description, indent=1, ensure_ascii=False, allow_nan=False)
        (made / "pretraining.json").write_text(text_of + "\n", "utf-8")
    for file in partial.iterdir():
        file.unlink()
    partial.rmdir()
    return facts


def fresh_model(settings: Pretraining, tokenizer: PreTrainedTokenizerFast) -> BertForMaskedLM:
    """A BERT of this shape, drawn from the settings' seed."""
    shape = settings.shape
    config = BertConfig(
        vocab_size=len(tokenizer), hidden_size=shape.width, num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads, intermediate_size=shape.feedforward or 4 * shape.width,
        max_position_embeddings=shape.positions, hidden_dropout_prob=shape.dropout,
        attention_probs_dropout_prob=shape.dropout, pad_token_id=tokenizer.get_vocab()[SPECIALS["pad_token"]],
        initializer_range=shape.initializer_range or 0.55 / math.sqrt(shape.width),
    )  # fmt: skip
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(stream_seed(settings.seed, "model"))
        model = BertForMaskedLM(config)
        if shape.embedding_range:
            table = model.get_input_embeddings().get_parameter("weight")
            with torch.no_grad():
                table.mul_(shape.embedding_range / config.initializer_range)
        return model


def _claim(partial: Path, identity: str) -> None:
    """Make the folder of the running training, or check that it is the same one's."""
    note = partial / "identity.txt"
    if note.exists():
        if note.read_text() != identity:
            raise RequestError(
                f"{partial} holds an unfinished training of other settings or other text",
                hint="remove it to start again, or name another folder",
            )
        return
    partial.mkdir(parents=True, exist_ok=True)
    if any(partial.iterdir()):
        raise RequestError(f"{partial} holds something that is no training of ours", hint="name another folder")
    write_text(note, identity)
