"""Checksums of encoders' and models' folders: every flipped bit is refused by the name of its file."""

import shutil
import subprocess

import pytest

import crosslens as xl
from crosslens.checksums import CHECKSUMS, check_checksums, write_checksums
from crosslens.errors import EncoderError


@pytest.fixture
def saved(encoder, tmp_path):
    xl.save_encoder(encoder, tmp_path / "saved")
    return tmp_path / "saved"


def test_every_file_is_checked_and_sha256sum_agrees(saved):
    names = {line.split("  ")[1] for line in (saved / CHECKSUMS).read_text().splitlines()}
    assert names == {path.name for path in saved.iterdir()} - {CHECKSUMS}
    assert "model.safetensors" in names
    check_checksums(saved)
    if shutil.which("sha256sum"):
        subprocess.run(["sha256sum", "--check", "--quiet", CHECKSUMS], cwd=saved, check=True)


def test_a_flipped_bit_is_refused_by_name_in_every_file(saved):
    files = sorted(saved.iterdir())
    assert len(files) > 3
    for path in files:
        content = path.read_bytes()
        path.write_bytes(content[:-9] + bytes([content[-9] ^ 1]) + content[-8:])
        named = path.name if path.name != CHECKSUMS else r"saved/\S+"  # the file that its line names
        with pytest.raises(EncoderError, match=rf"{named} is (damaged|missing)"):
            xl.load_encoder(saved, device="cpu")
        path.write_bytes(content)
    assert xl.load_encoder(saved, device="cpu").depth == 4


def test_a_missing_file_and_one_outside_are_refused(saved):
    text = (saved / CHECKSUMS).read_text()
    (saved / CHECKSUMS).write_text(text.replace("config.json", "../config.json", 1))
    with pytest.raises(EncoderError, match=f"{CHECKSUMS} is damaged"):
        check_checksums(saved)
    (saved / CHECKSUMS).write_text(text)
    (saved / "tokenizer.json").unlink()
    with pytest.raises(EncoderError, match=r"tokenizer.json is missing"):
        xl.load_encoder(saved, device="cpu")


def test_folders_of_other_programs_have_none_and_model_cards_may_be_edited(saved):
    (saved / "README.md").write_text("mine")
    write_checksums(saved)
    (saved / "README.md").write_text("mine, edited")
    check_checksums(saved)
    (saved / CHECKSUMS).unlink()
    (saved / "config.json").write_text((saved / "config.json").read_text() + "\n")
    assert xl.load_encoder(saved, device="cpu").depth == 4


def test_a_model_with_a_flipped_bit_in_its_head_is_refused(toy, encoder, tmp_path):
    recipe = xl.find_recipe("small", "pos", {"epochs": 1, "select": "last"})
    xl.save_model(xl.finetune(encoder, "pos", train=toy(), recipe=recipe), tmp_path / "model")
    head = tmp_path / "model" / "head.safetensors"
    content = head.read_bytes()
    head.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(EncoderError, match=r"head.safetensors is damaged, or was changed") as caught:
        xl.load_model(tmp_path / "model")
    assert "remove its SHA256SUMS" in str(caught.value)
