def test_pretraining(run, tmp_path):
    (tmp_path / "en.txt").write_text("the cat sees a dog .\n" * 60)
    (tmp_path / "c.yaml").write_text("corpora: {en: en.txt}\nsteps: 9\nvocabulary: {size: 60}\nbatch: 2\n")
    small = ("--set", "shape.layers=1", "--set", "shape.width=16", "--set", "shape.positions=16")
    status, _, said = run("pretrain", "c.yaml", "--out", "made", "--device", "cpu", *small)
    assert status == 0, said
    assert "subwords/s" in said
    status, shown, _ = run("encoders", "show", "made", "--device", "cpu")
    assert status == 0
    assert "layers      1" in shown


def test_shipped_settings_by_name(run, tmp_path):
    (tmp_path / "en.txt").write_text("the cat sees a dog .\n" * 60)
    small = ("steps=2", "batch=2", "shape.width=16", "shape.positions=16", "validation.lines=6")
    corpora = ("--set", "corpora={en: en.txt}")
    given = [part for setting in small for part in ("--set", setting)]
    status, _, said = run("pretrain", "lab-decoder", "--out", "made", "--device", "cpu", *corpora, *given)
    assert status == 0, said
    status, shown, _ = run("encoders", "show", "made", "--device", "cpu")
    assert (status, "llama" in shown) == (0, True)
    status, _, said = run("pretrain", "lab-encoders", "--out", "other", "--device", "cpu")
    assert (status, "lab-encoder" in said) == (2, True)
