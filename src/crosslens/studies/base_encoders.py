"""Encoders that the runs of a study start from: an existing one, or encoders that other runs of the study produce."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from crosslens.encoders.condition import Condition
from crosslens.encoders.interventions.checkpoints import Checkpoint, kept_steps
from crosslens.encoders.load import TOKENIZERS
from crosslens.encoders.models.bilstm import bilstm_digest
from crosslens.errors import EncoderError, RequestError
from crosslens.lab.laboratory import DEFAULT_PRESET
from crosslens.mlm.adapt_settings import Adaptation
from crosslens.mlm.lab_encoder import encoder_folder
from crosslens.mlm.pretrain_settings import Pretraining, replaced
from crosslens.progress import Listener
from crosslens.runs.corpora import Corpora
from crosslens.runs.make import describe_encoder
from crosslens.runs.question import CorpusRef
from crosslens.runs.run import AdaptRun, EncoderRef, PretrainRun
from crosslens.runs.store import Store
from crosslens.settings import replace_settings
from crosslens.studies.pretrainings import digests_of, find_pretraining, settings_under
from crosslens.studies.study import PRETRAIN, Source, Study
from crosslens.training.recipe import BILSTM


class BaseEncoders:
    """The encoders of a study, and the runs that produce them.

    Args:
        cache: folder of encoders pretrained on artificial languages; None: the user's cache.
        progress: listener for the pretraining of such an encoder.

    Attributes:
        existing: the encoder that the study names; None: the study pretrains its own.
        checkpoints: steps of pretraining that are studied; None stands for the last weights.
        depth: number of layers.
        heads: number of attention heads of a layer.
    """

    def __init__(self, study: Study, store: Store, corpora: Corpora, cache: str | Path | None, progress: Listener):
        self.study, self.store, self.corpora = study, store, corpora
        self.settings, self.home = (None, ".")
        self.existing: EncoderRef | None = None
        self._pretrainings: dict[tuple[str | None, int | None, str | None], PretrainRun] = {}
        if study.pretrains:
            self.settings, self.home = find_pretraining(study.encoder.removeprefix(PRETRAIN))
            self.depth, self.heads = self.settings.shape.layers, self.settings.shape.heads
            kept: Sequence[int | str] = self.settings.kept_steps
        else:
            encoder = _find_encoder(study.encoder, cache, progress)
            try:
                described = describe_encoder(encoder, "cpu", condition=study.computed(Condition()))
            except EncoderError as error:
                another = "--set encoder=FOLDER (or lab:good) takes another encoder"
                raise EncoderError(error.message, hint="; ".join(filter(None, (error.hint, another)))) from None
            self.depth, self.heads = described.depth, described.heads
            specific = described.language_specific
            self.existing = EncoderRef(encoder, study.encoder, described.digest, language_specific=specific)
            kept = kept_steps(encoder)
        if study.checkpoints == "all" and not kept:
            raise RequestError(
                f"{study.name}: no checkpoint of {study.encoder} is kept",
                hint="list revisions, or pretrain the encoder with checkpoints (`checkpoints: STEPS` in its settings)",
            )
        named = tuple(Checkpoint(name=str(step)) for step in kept) if study.checkpoints == "all" else study.checkpoints
        self.checkpoints: tuple[Checkpoint | None, ...] = named or (None,)

    def base(
        self,
        condition: Condition,
        seed: int,
        source: Source | None = None,
        partner: str | None = None,
        *,
        limit: int | None = None,
    ) -> EncoderRef | None:
        """Return the encoder that a run starts from; None while the run that produces it is unfinished.

        Args:
            source: source whose raw text the encoder is adapted to or pretrained on.
            partner: second language of a bilingual encoder.
            limit: number of training sentences, which determine a BiLSTM; None: all.
        """
        if condition.start == "bilstm":
            assert source is not None
            train = self.corpora.corpus(source.train, split="train")
            return EncoderRef(BILSTM, self.study.encoder, bilstm_digest(train.limited(limit)), made=True, shared=False)
        if condition.start != "encoder":
            assert source is not None
            run = self.producer_run(condition, seed, source, partner)
            base_shared = run.base.shared if isinstance(run, AdaptRun) else True
            return run and self._produced(run, shared=base_shared and self.study.starts == "one")
        checkpoint = condition.checkpoint
        if self.existing is None:
            run = self.pretraining(condition, seed, partner)
            return self._produced(run, shared=self.study.pretrained == "one", checkpoint=checkpoint)
        if checkpoint is None:
            return self.existing
        path = f"{self.existing.path}@{checkpoint.name}"
        digest = describe_encoder(path, "cpu", condition=condition).digest
        return replace(self.existing, path=path, digest=digest)

    def producer_run(
        self, condition: Condition, seed: int, source: Source, partner: str | None = None
    ) -> PretrainRun | AdaptRun | None:
        """Return the run that adapts an encoder to raw text, or pretrains one from scratch, for a condition.

        Returns:
            None if the condition needs no such run, or if the encoder to adapt is not finished.

        Raises:
            RequestError: when the source has no raw text.
        """
        if condition.start in ("encoder", "bilstm"):
            return None
        if source.text is None:
            raise RequestError(
                f"{self.study.name}: {condition.label} needs raw text, and a source that trains on {source.train} has"
                " none",
                hint="name it: text: raw/wol, or a file",
            )
        text = self.corpora.text(source.text)
        seeded = {"seed": seed} if self.study.starts == "each" else {}
        # A plain file has no language; the language of the test corpora applies.
        language = text.language or self.corpora.corpus(self.corpora.matching(source.tests)[0]).language or "und"
        if condition.start == "scratch":
            corpora = {language: source.text}
            overrides = {"corpora": corpora, **SCRATCH, **self.study.scratch, **seeded}
            settings: Pretraining = replace_settings(Pretraining(corpora=corpora), overrides, what="scratch")
            return PretrainRun(
                settings, ".", {language: text.digest}, condition.up_to("pretraining", "start"), self.study.encoder
            )
        base = self.base(condition.up_to("pretraining"), seed, partner=partner)
        if base is None:
            return None
        overrides = {**self.study.adaptation, **seeded}
        adaptation: Adaptation = replace_settings(Adaptation(), overrides, what="an adaptation")
        adapted = condition.up_to("pretraining", "start")
        return AdaptRun(base, adaptation, language, CorpusRef(source.text, text.digest), adapted, partner)

    def pretraining(self, condition: Condition, seed: int, partner: str | None) -> PretrainRun:
        """Return the run that pretrains the encoder of a condition."""
        key = (condition.factor, seed if self.study.pretrained == "each" else None, partner)
        if key not in self._pretrainings:
            assert self.settings is not None
            settings = settings_under(self.settings, self.study, condition, partner)
            if self.study.pretrained == "each":
                settings = replaced(settings, {"seed": seed})
            if self.checkpoints != (None,) and self.study.checkpoints != "all":
                settings = replaced(settings, {"checkpoints": [each.step for each in self.checkpoints if each]})
            texts = digests_of(settings, self.home, self.corpora)
            self._pretrainings[key] = PretrainRun(
                settings, self.home, texts, condition.up_to("pretraining").at(None), self.study.encoder, partner
            )
        return self._pretrainings[key]

    def _produced(
        self, run: PretrainRun | AdaptRun, *, shared: bool, checkpoint: Checkpoint | None = None
    ) -> EncoderRef | None:
        """Return the encoder that a run produced, or a checkpoint of it; None while the run is unfinished."""
        folder = self.store.path(run.id)
        if not folder.is_dir():
            return None
        described, encoder = self.store.describe(run.id), str(self.store.encoder(run.id).resolve())
        digest = described["encoder_digest"]
        if checkpoint is not None:
            encoder, digest = f"{encoder}@{checkpoint.name}", described["checkpoints"][checkpoint.name]
        specific = (self.store.encoder(run.id) / TOKENIZERS).is_dir()
        return EncoderRef(encoder, self.study.encoder, digest, made=True, shared=shared, language_specific=specific)


SCRATCH = {"validation": {"lines": 50, "every": 250, "select": "mean"}, "reading": "lines"}
"""Default settings for pretraining from scratch on the text of one language. Small texts are soon overfitted, so the
weights with the best validation score are kept."""


def _find_encoder(name: str, cache: str | Path | None, progress: Listener) -> str:
    """Return the name or path of an encoder; the encoder of a laboratory is pretrained if it is not in the cache."""
    return encoder_folder(f"lab:{DEFAULT_PRESET}" if name == "lab" else name, cache, progress=progress)
