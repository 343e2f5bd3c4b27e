import signal

import pytest

FINETUNE = ("finetune", "pos", "@", "--train", "ud/en_toy", "--test", "ud/fr_pud")

WRONG = {
    "an unknown task": (["finetune", "poss", "@", "--train", "ud/en_toy", "--test", "ud/fr_pud"], "did you mean 'pos'"),
    "an unknown corpus": (["finetune", "pos", "@", "--train", "ud/en_tyo", "--test", "ud/fr_pud"], "'ud/en_toy'"),
    "an unknown test corpus": (["finetune", "pos", "@", "--train", "ud/en_toy", "--test", "ud/fr_pdu"], "'ud/fr_pud'"),
    "no dev split": (["finetune", "pos", "@", "--train", "ud/fr_pud:test", "--test", "ud/fr_pud"], "has no dev split"),
    "an unknown layer": ([*FINETUNE, "--random-init", "5"], "layer 5 does not exist"),
    "unknown components": (
        [*FINETUNE, "--random-init", "1", "--components", "x"],
        "components: input should be 'all', 'attention'",
    ),
    "an unknown setting": ([*FINETUNE, "--set", "epoch=1"], "mean 'epochs'"),
    "a setting that is none": ([*FINETUNE, "--set", "epochs"], "not key=value"),
    "an unknown recipe": ([*FINETUNE, "--recipe", "x"], "no recipe 'x'"),
    "an unknown encoder": (
        ["finetune", "pos", "./none", "--train", "ud/en_toy", "--test", "ud/fr_pud"],
        "folder ./none not found",
    ),
    "an encoder of the hub, offline": (
        ["finetune", "pos", "no/such", "--train", "ud/en_toy", "--test", "ud/fr_pud"],
        "the network is switched off",
    ),
    "an unknown language": (["compare", "@", "--pairs", "en-xx"], "does not contain language 'xx'"),
    "a pair that is none": (["compare", "@", "--pairs", "enfr"], "is not a language pair"),
    "an unknown measure": (["compare", "@", "--pairs", "en-fr", "--measures", "ckaa"], "did you mean 'cka'"),
    "an unknown baseline": (["compare", "@", "--pairs", "en-fr", "--baseline", "shuffle"], "did you mean 'shuffled'"),
    "an unknown pooling": (["compare", "@", "--pairs", "en-fr", "--pooling", "max"], "'max' is not one of 'mean'"),
    "no language of origin": (["compare", "@", "--pairs", "en-fr", "--original", "de"], "written in 'de'"),
    "a parallel corpus that is none": (
        ["compare", "@", "--corpus", "flores/dev", "--pairs", "en-fr"],
        "is not the name of a parallel corpus",
    ),
    "a model that is none": (["evaluate", "@", "--test", "ud/fr_pud"], "has no crosslens.json"),
    "an unknown encoder to get": (["encoders", "get", "e5-large"], "known: e5-small, minilm"),
    "an encoder that cannot be trimmed": (
        ["encoders", "get", "minilm", "--trim-to", "fr.conllu", "--out", "x"],
        "--trim-to applies only to e5-small",
    ),
    "characters of an encoder that is not trimmed": (
        ["encoders", "get", "e5-small", "--characters", "all", "--out", "x"],
        "--characters all needs --trim-to",
    ),
    "unknown data": (["data", "get", "udd", "--release", "2.14", "--into", "x"], "no data called 'udd'"),
    "a device that is not there": ([*FINETUNE, "--device", "cudaa"], "no device 'cudaa' on this machine"),
    "a device without numbers": ([*FINETUNE, "--device", "meta"], "known: cpu"),
    "a data folder that is not there": ([*FINETUNE, "--data", "nowhere"], "--data: 'nowhere' is not a folder"),
    "a data folder that is not needed": (
        ["overlap", "@", "--train", "lab/src", "--test", "lab/adj", "--data", "nowhere"],
        "--data: 'nowhere' is not a folder",
    ),
    "predictions in the folder of the results": (
        [*FINETUNE, "--predictions", "out"],
        "predictions (--predictions): out and the folder of the results (--out out) are the same",
    ),
    "predictions inside the folder of the results": (
        [*FINETUNE, "--predictions", "out/x"],
        "choose another folder for",
    ),
    "vectors instead of the current folder": (
        ["compare", "@", "--corpus", "lab/all", "--pairs", "src-adj", "--export", "."],
        "--export: . is the current folder",
    ),
    "vectors in the folder of the results": (
        ["compare", "@", "--corpus", "lab/all", "--pairs", "src-adj", "--export", "./out"],
        "--export: ./out and the folder of the results (--out out) are the same",
    ),
    "predictions of a model in the folder of its results": (
        ["evaluate", "@", "--test", "ud/fr_pud", "--predictions", "out/x"],
        "--predictions: out/x and the folder of the results (--out out)",
    ),
    "no training data": (["finetune", "pos", "@", "--train", "", "--test", "ud/fr_pud"], "training data is empty"),
    "a seed that records cannot hold": ([*FINETUNE, "--seed", str(2**63)], "is not in the range 0"),
    "layers of many digits": ([*FINETUNE, "--random-init", f"1-{'9' * 5000}"], "invalid layers '1-999"),
    "layers in other digits": ([*FINETUNE, "--random-init", "١"], "invalid layers '١'"),
    "no layers": ([*FINETUNE, "--freeze", ""], "invalid layers ''"),
    "invalid YAML of a setting": (
        ["plan", "smoke", "--set", "seeds=[1,2"],
        "(--set) seeds=[1,2: invalid YAML",
    ),
    "more seeds than anyone has": (["plan", "smoke", "--set", "seeds=200000"], "`seeds: [200000]` is the one seed"),
    "seeds that are none": (["plan", "smoke", "--set", "seeds=true"], "seeds"),
    "a search over nothing": (["plan", "smoke", "--set", "grid={batch: []}"], "grid.batch"),
    "a command that is none": (["finetun"], "did you mean 'finetune'"),
    "an encoder without a name": (["overlap", "", "--train", "lab/src", "--test", "lab/adj"], "encoder is empty"),
    "a line break behind a name": (
        ["overlap", "@", "--train", "lab/src\n", "--test", "lab/adj"],
        "'lab/src\\n' not found",
    ),
    **{
        f"the language {language!r}": (
            ["advise", language, "--text", "x.txt", "--encoder", "@"],
            f"{language!r} is not a language tag",
        )
        for language in ("", "../..", "english", "w o")
    },
    "a command by another name": (["train"], "did you mean 'finetune'"),
    "a setting as an option": ([*FINETUNE, "--learning-rate", "1"], "it is a setting: --set learning_rate=VALUE"),
    "a misspelt setting as an option": ([*FINETUNE, "--epochz", "1"], "did you mean --set epochs=VALUE?"),
    "a setting by another name": ([*FINETUNE, "--batchsize", "1"], "--batchsize (did you mean --set batch=VALUE?)"),
    "an option that resembles an option and a setting": (
        ["run", "smoke", "--dat", "1"],
        "--dat (did you mean --data or --set data=VALUE?)",
    ),
    "an abbreviated setting as an option": ([*FINETUNE, "--lr", "1"], "it is a setting: --set learning_rate=VALUE"),
    "an option that resembles nothing": (["run", "smoke", "--zzz", "1"], "No such option '--zzz'."),
    "a setting of a study as an option": (["run", "smoke", "--seeds", "1"], "it is a setting: --set seeds=VALUE"),
    "an invalid setting of a study": (
        ["plan", "smoke", "--set", "grid={epoch: [1]}"],
        "(--set) grid.epoch: unknown",
    ),
    "a settings file that is not there": (["pretrain", "x.yaml"], "no settings file x.yaml"),
}


def test_an_interrupted_command_says_whether_it_resumes(run, tiny_bert, monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("crosslens.runs.finetuning.finetune_and_evaluate", interrupted)
    monkeypatch.setattr("crosslens.encoders.load.load_encoder", interrupted)
    status, _, said = run(*(str(tiny_bert) if word == "@" else word for word in FINETUNE), "--out", "out")
    assert (status, said) == (1, "stopped; the same command resumes\n")  # what resumes is not also "Aborted!"
    status, _, said = run("encoders", "show", str(tiny_bert))
    assert (status, "resumes" in said) == (1, False)


def test_an_interrupt_while_a_class_is_defined_is_an_interrupt(run, tiny_bert, monkeypatch):
    class Interrupting:
        def __set_name__(self, owner, name):
            raise KeyboardInterrupt

    def importing(*arguments, **options):
        type("Imported", (), {"field": Interrupting()})

    monkeypatch.setattr("crosslens.encoders.load.load_encoder", importing)
    status, _, said = run("encoders", "show", str(tiny_bert))
    assert (status, "Aborted!" in said) == (1, True)


def test_the_usage_of_the_command_stands_above_the_advice_on_its_settings(run):
    assert run(*FINETUNE, "--learning-rate", "1")[2].startswith("Usage: crosslens finetune [OPTIONS]")


def test_a_fault_of_the_program_keeps_its_traceback(run, monkeypatch):
    """Nothing else says where it is."""
    monkeypatch.setattr("crosslens.cli._columns.hanging", lambda line, indent: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        run("list", "tasks")


@pytest.mark.parametrize(("arguments", "message"), WRONG.values(), ids=WRONG.keys())
def test_wrong_requests_are_one_sentence_and_exit_2(run, tiny_bert, tmp_path, arguments, message):
    arguments = [str(tiny_bert) if a == "@" else a for a in arguments]
    out = [] if arguments[0] in ("data", "advise") else ["--out", "out"]
    status, shown, said = run(*arguments, *out)
    assert status == 2, said
    assert message in said
    assert shown == ""
    assert "Traceback" not in said
    assert list(tmp_path.iterdir()) == []  # nothing half-written


def test_words_of_thousands_of_letters_are_shortened(run, tmp_path):
    (tmp_path / "x.conllu").write_text(f"1\ta\ta\tNOUN\t_\t_\t{'9' * 5000}\troot\t_\t_\n\n")
    status, _, error = run("score", "pos", "x.conllu", "x.conllu")
    assert status == 2
    assert "x.conllu:1: head 999" in error
    assert len(error) < 400
    status, _, error = run("encoders", "show", "x" * 5000)
    assert (status, "file name too long" in error.lower(), len(error) < 900) == (1, True, True)


def test_sigterm_interrupts_a_command_and_is_left_to_torchrun_where_that_started_it(run, monkeypatch):
    handlers = []
    monkeypatch.setattr("crosslens.cli.cli", lambda **_: handlers.append(signal.getsignal(signal.SIGTERM)))
    before = signal.getsignal(signal.SIGTERM)
    for processes in ("1", "2"):
        monkeypatch.setenv("WORLD_SIZE", processes)
        run("--version")
    assert [handler is before for handler in handlers] == [False, True]
    assert signal.getsignal(signal.SIGTERM) is before
