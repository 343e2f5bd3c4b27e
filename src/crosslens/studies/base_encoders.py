"""What a study's trainings begin with: its encoder, or one that runs of the study make first."""

from pathlib import Path

from crosslens.corpora.catalogue import cache_folder
from crosslens.encoders.condition import Condition
from crosslens.encoders.layers import scale_layers
from crosslens.encoders.models.bilstm import bilstm_digest
from crosslens.errors import RequestError
from crosslens.lab.laboratory import DEFAULT_PRESET
from crosslens.lab.presets import find_laboratory
from crosslens.mlm.adapt_settings import Adaptation
from crosslens.mlm.factors import find_factor
from crosslens.mlm.lab_encoder import pretrained_laboratory
from crosslens.mlm.pretrain_settings import Pretraining, replaced
from crosslens.progress import Listener
from crosslens.runs.corpora import Corpora
from crosslens.runs.make import digest_and_depth
from crosslens.runs.question import CorpusRef
from crosslens.runs.run import AdaptRun, EncoderRef, PretrainRun
from crosslens.runs.store import Store
from crosslens.settings import replace_settings
from crosslens.studies.pretrainings import WRITTEN_FOR, digests_of, find_pretraining
from crosslens.studies.study import PRETRAIN, Source, Study
from crosslens.training.recipe import BILSTM


class BaseEncoders:
    """The encoders of a study, and the runs that make them.

    Args:
        study: the study.
        store: where finished runs are.
        corpora: keeps what was read.
        cache: folder of encoders that are pretrained on artificial languages; None: the user's.
        progress: hears how far the pretraining of such an encoder is.
    """

    def __init__(self, study: Study, store: Store, corpora: Corpora, cache: str | Path | None, progress: Listener):
        self.study, self.store, self.corpora = study, store, corpora
        self.settings, self.home = (None, ".")
        self.given: EncoderRef | None = None
        self._pretrainings: dict[tuple[str | None, int | None, str | None], PretrainRun] = {}
        if study.pretrains:
            self.settings, self.home = find_pretraining(study.encoder.removeprefix(PRETRAIN))
            self.depth = self.settings.shape.layers
        else:
            encoder = _find_encoder(study.encoder, cache, progress)
            digest, self.depth = digest_and_depth(encoder, "cpu")
            self.given = EncoderRef(encoder, study.encoder, digest)

    def base(
        self,
        condition: Condition,
        seed: int,
        source: Source | None = None,
        partner: str | None = None,
        *,
        limit: int | None = None,
    ) -> EncoderRef | None:
        """What a training under a condition begins with; None while a run that makes it is not done.

        Args:
            condition: of the training.
            seed: of the training.
            source: whose raw text the encoder is adapted to, or is made from.
            partner: the other language of a bilingual encoder.
            limit: sentences that are trained on, of which a BiLSTM is made; None: all.
        """
        if condition.start == "bilstm":
            assert source is not None
            train = self.corpora.corpus(source.train, split="train")
            return EncoderRef(BILSTM, self.study.encoder, bilstm_digest(train.limited(limit)), made=True, shared=False)
        if condition.start != "encoder":
            assert source is not None
            run = self.making(condition, seed, source, partner)
            alike = run.base.shared if isinstance(run, AdaptRun) else True
            return run and self._made(run, shared=alike and self.study.starts == "one")
        return self.given or self._made(
            self.pretraining(condition, seed, partner), shared=self.study.pretrained == "one"
        )

    def making(
        self, condition: Condition, seed: int, source: Source, partner: str | None = None
    ) -> PretrainRun | AdaptRun | None:
        """The run that makes what a training begins with, where that is not the study's encoder; None: there is none,
        or what it begins with itself is not done.

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
        # A file says no language; it is that of what is tested.
        language = text.language or self.corpora.corpus(self.corpora.matching(source.tests)[0]).language or "und"
        if condition.start == "scratch":
            whole = {"corpora": {language: source.text}, **SCRATCH, **self.study.scratch, **seeded}
            settings: Pretraining = replace_settings(
                Pretraining(corpora={language: source.text}), whole, what="scratch"
            )
            return PretrainRun(
                settings, ".", {language: text.digest}, condition.up_to("pretraining", "start"), self.study.encoder
            )
        base = self.base(condition.up_to("pretraining"), seed, partner=partner)
        if base is None:
            return None
        chosen = {**self.study.adaptation, **seeded}
        adaptation: Adaptation = replace_settings(Adaptation(), chosen, what="an adaptation")
        made = condition.up_to("pretraining", "start")
        return AdaptRun(base, adaptation, language, CorpusRef(source.text, text.digest), made, partner)

    def pretraining(self, condition: Condition, seed: int, partner: str | None) -> PretrainRun:
        """The run that pretrains the encoder of a condition."""
        key = (condition.factor, seed if self.study.pretrained == "each" else None, partner)
        if key not in self._pretrainings:
            assert self.settings is not None
            settings = self.settings
            if partner is not None:
                settings = settings.between(next(iter(settings.corpora)), partner)
            if condition.factor is not None:
                changes = dict(find_factor(condition.factor, self.study.factors))
                if "separate" in changes:
                    changes["separate"] = scale_layers(str(changes["separate"]), WRITTEN_FOR, settings.shape.layers)
                settings = replaced(settings, changes)
            if self.study.pretrained == "each":
                settings = replaced(settings, {"seed": seed})
            texts = digests_of(settings, self.home, self.corpora)
            self._pretrainings[key] = PretrainRun(
                settings, self.home, texts, condition.up_to("pretraining"), self.study.encoder, partner
            )
        return self._pretrainings[key]

    def _made(self, run: PretrainRun | AdaptRun, *, shared: bool) -> EncoderRef | None:
        """The encoder that a run made; None while it is not done."""
        folder = self.store.path(run.id)
        if not folder.is_dir():
            return None
        known = self.store.describe(run.id)["encoder_digest"]
        return EncoderRef(str((folder / "encoder").resolve()), self.study.encoder, known, made=True, shared=shared)


SCRATCH = {"validation": {"lines": 50, "every": 250, "select": "mean"}, "reading": "lines"}
"""How an encoder is made from a language's own text where the study does not say otherwise: little text is learnt by
heart soon, so the best weights are kept."""


def _find_encoder(name: str, cache: str | Path | None, progress: Listener) -> str:
    """Where an encoder is loaded from; one of a laboratory is pretrained when it is not there yet."""
    kind, colon, preset = name.partition(":")
    if kind != "lab":
        return name
    laboratory = find_laboratory(preset if colon else DEFAULT_PRESET)
    return str(pretrained_laboratory(laboratory, cache or cache_folder().parent / "demo", progress=progress))
