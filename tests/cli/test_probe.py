"""The command ``probe``."""

from crosslens.report.layers.by_layer import probe_lines
from crosslens.runs.recorded import read_results
from made_corpora import texts, write_texts


def test_from_the_command_line(run, tiny_bert, tmp_path):
    write_texts(tmp_path / "data" / "langid", texts(6, seed=1), texts(6, seed=2))
    asked = ("probe", "langid", tiny_bert, "--train", "langid/all", "--test", "langid/all", "--data", tmp_path / "data")
    status, said, _ = run(*asked, "--out", tmp_path / "out")
    assert (status, "accuracy_shuffled" in said, "3 labels" in said) == (0, True, True)
    confusion = (tmp_path / "out" / "confusion.csv").read_text().splitlines()
    assert confusion[0] == "layer,answer,given,count"
    assert sum(int(line.rsplit(",", 1)[1]) for line in confusion[1:]) == 18 * 5
    status, _, said = run(*asked, "--out", tmp_path / "out")
    assert (status, "exists" in said) == (2, True)
    status, said, _ = run("list", "probes")
    assert "the language of a text" in said


def test_a_corpus_without_the_probed_annotation_is_refused_before_the_encoder_is_loaded(run, tmp_path):
    """Loading an encoder takes a while, and this one does not exist."""
    bare = "".join("1\tla\t_\t_\t_\t_\t0\troot\t_\t_\n\n" for _ in range(4))
    (tmp_path / "bare.conllu").write_text(bare)
    asked = (
        "probe",
        "upos",
        "no/such/encoder",
        "--train",
        tmp_path / "bare.conllu",
        "--test",
        tmp_path / "bare.conllu",
    )
    status, _, said = run(*asked, "--out", tmp_path / "out")
    assert (status, "has no UPOS tags" in said, "no/such/encoder" in said) == (2, True, False), said


def test_a_fine_tuned_model_is_recorded_as_one(run, tiny_bert, treebanks, tmp_path):
    trained = ("--train", "ud/en_toy", "--test", "ud/fr_pud", "--set", "epochs=1", "--random-init", "1-2")
    assert run("finetune", "pos", tiny_bert, *trained, "--keep-model", "--device", "cpu", "--out", "tagger")[0] == 0
    asked = ("--train", "ud/en_toy", "--test", "ud/fr_pud", "--device", "cpu")
    (run_id,) = set(read_results("tagger/results.csv").records["run"].to_pylist())
    described = {}
    for name, options in {"tuned": (), "untrained": ("--random-init", "0,all")}.items():
        status, _, said = run("probe", "upos", "tagger/model", *asked, *options, "--out", name)
        assert status == 0, said
        rows = read_results(f"{name}/results.csv").records.to_pylist()
        names = ("state", "task", "encoder", "layers", "run", "settings")
        described[name] = {tuple(row[key] for key in names) for row in rows}
    assert described == {
        "tuned": {("fine-tuned", "pos", str(tiny_bert), "1-2", run_id, f"inputs=scaled model={run_id}")},
        "untrained": {("untrained", None, str(tiny_bert), "1-2;0-4", None, "inputs=scaled")},
    }


def test_probes_of_two_fine_tuned_models_are_two_rows(run, tiny_bert, treebanks):
    for seed in ("1", "2"):
        trained = ("--train", "ud/en_toy", "--test", "ud/fr_pud", "--set", "epochs=1", "--seed", seed, "--keep-model")
        assert run("finetune", "pos", tiny_bert, *trained, "--device", "cpu", "--out", f"tagger{seed}")[0] == 0
        asked = ("--train", "ud/en_toy", "--test", "ud/fr_pud", "--seed", seed, "--device", "cpu")
        assert run("probe", "upos", f"tagger{seed}/model", *asked, "--out", f"probe{seed}")[0] == 0
    accuracies = [line for line in probe_lines(read_results("probe1", "probe2")) if not line.baseline]
    assert len({line.label for line in accuracies}) == 2
