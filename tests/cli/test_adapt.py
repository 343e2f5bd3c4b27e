"""``crosslens adapt``: what is printed, written and refused."""

import pytest

from crosslens.encoders.load import load_encoder
from toys import SENTENCES


def test_adapt_says_what_it_read(run, folder, tiny_bert):
    words = ("adapt", tiny_bert, "--text", "wo=fr.txt", "--set", "epochs=2", "--set", "length=16")
    status, _, err = run(*words, "--out", "adapted")
    assert status == 0, err
    head, before = err.index(f"{tiny_bert} has no masked language modelling head"), err.index("before adapting")
    assert head < before  # training takes hours
    assert "first train it alone, on languages that the encoder knows (freeze=0-4)" in err[head:before]
    assert f"wo: {20 * sum(len(s.split()) for s in SENTENCES['fr'])} words, 0.0 % of them unknown" in err
    assert "perplexity" in err
    assert load_encoder("adapted").digest != load_encoder(tiny_bert).digest
    assert not (folder / "adapted.partial").exists()


def test_adapt_says_its_numbers_by_their_names(run, folder, monkeypatch):
    names = ("words", "unknown", "broken", "fertility", "perplexity before", "perplexity")
    facts = {f"{name} wo": float(place) for place, name in enumerate(names, start=1)} | {"words wo": 1}
    monkeypatch.setattr("crosslens.mlm.adapt.adapt", lambda *_, **__: facts)
    status, _, err = run("adapt", "nowhere", "--text", "wo=fr.txt", "--out", "adapted")
    assert status == 0, err
    assert err.splitlines()[-1] == (
        "wo: 1 words, 2.0 % of them unknown, 3.0 % split, 4.00 subwords per word; perplexity 5.0 before, 6.0 after"
    )


@pytest.mark.parametrize(
    ("words", "status", "reason"),
    [
        (("--text", "wo=missing.txt"), 2, "missing.txt"),
        (("--text", "wo=fr.txt", "--text", "wo=fr.txt"), 2, "two texts have the language 'wo'"),
        (("--text", "no=fr.txt", "--text", "nb=fr.txt"), 2, "two texts have the language 'no' or 'nb'"),
        (("--text", "wo=fr.txt", "--set", "epoch=2"), 2, "an adaptation has no setting 'epoch'"),
        (("--text", "wo=fr.txt", "--set", "freeze=0-99"), 2, "99"),
        (("--text", "wo=odd.txt"), 2, "no letter of any known script"),
        (("--text", "raw/wol"), 2, "raw text 'raw/wol' not found"),
    ],
)
def test_adapt_refuses(run, folder, tiny_bert, words, status, reason):
    (folder / "odd.txt").write_text("12 34\n5\n", "utf-8")
    found, _, err = run("adapt", tiny_bert, *words, "--out", "adapted")
    assert found == status, err
    assert reason in err
    assert not (folder / "adapted").exists()
    assert "Traceback" not in err


def test_adapt_reads_one_language_in_two_scripts(handed, folder):
    words = ("adapt", "nowhere", "--text", "sr=fr.txt", "--text", "sr-Cyrl=fr.txt", "--out", "adapted")
    arguments, _ = handed("crosslens.mlm.adapt.adapt", *words)
    assert list(arguments[1]) == ["sr", "sr-Cyrl"]
