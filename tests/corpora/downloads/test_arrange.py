import pytest

from crosslens.corpora.downloads.arrange import choose, place, treebanks, xnli
from crosslens.errors import DownloadError, RequestError


@pytest.mark.parametrize(
    ("languages", "codes", "chosen"),
    [
        (None, ["fra", "deu"], ["deu", "fra"]),
        (["fr"], ["fra", "deu"], ["fra"]),
        (["zh"], ["zh", "zh-yue", "zh-classical"], ["zh"]),
        (["zh"], ["cmn", "yue"], ["cmn"]),  # the language that the tag of a macrolanguage means
        (["zh"], ["zho_Hans", "zho_Hant", "yue_Hant"], ["zho_Hans", "zho_Hant"]),
        (["zho_Hant", "en"], ["zho_Hans", "zho_Hant", "eng_Latn"], ["eng_Latn", "zho_Hant"]),
        (["ar"], ["arb_Arab", "eng_Latn"], ["arb_Arab"]),
        (["ms"], ["msa", "zsm", "deu"], ["msa"]),  # a macrolanguage's language only where its own code is missing
        (["ms"], ["zsm", "deu"], ["zsm"]),
        (["fr-en"], ["fr-en", "fr-de", "en-fr"], ["fr-en"]),
    ],
)
def test_languages_are_chosen_by_code_or_tag(languages, codes, chosen):
    assert choose(languages, codes) == chosen


@pytest.mark.parametrize("language", ["de", "fra", "", "not a tag"])
def test_a_language_without_data(language):
    with pytest.raises(RequestError, match="no data in language"):
        choose(["en", language], ["en", "sw"])


def test_an_archive_without_treebanks(tmp_path):
    (tmp_path / "a" / "ud" / "UD_X").mkdir(parents=True)
    with pytest.raises(DownloadError, match=r"no treebank, such as ud/UD_English-EWT \(check the address"):
        treebanks(tmp_path / "a", tmp_path / "b", None)
    (tmp_path / "a" / "ud" / "UD_X" / "x-ud-test.conllu").touch()
    (tmp_path / "b").mkdir()
    treebanks(tmp_path / "a", tmp_path / "b", None)
    assert (tmp_path / "b" / "UD_X" / "x-ud-test.conllu").is_file()


def test_files_that_are_not_the_expected_ones(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "index.html").write_text("x")
    with pytest.raises(DownloadError, match=r"none of the expected files.*--url"):
        place(r"(\w+\.txt)", r"\1")(tmp_path / "a", tmp_path / "b", None)


def test_files_of_the_chosen_languages_get_their_new_paths(tmp_path):
    for name in ("x/data_en_test.txt", "x/data_fr_test.txt", "x/data_de_test.txt", "x/README.md"):
        (tmp_path / "a" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "a" / name).write_text(name)
    place(r"x/data_(?P<language>\w\w)_(\w+)\.txt", r"\1/\2.txt")(tmp_path / "a", tmp_path / "b", ["fr", "en"])
    moved = {file.relative_to(tmp_path / "b").as_posix(): file.read_text() for file in tmp_path.glob("b/**/*.*")}
    assert moved == {f"{code}/test.txt": f"x/data_{code}_test.txt" for code in ("en", "fr")}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "has no file xnli.dev.tsv"),
        (b"a\tb\nc\td\n", "xnli.dev.tsv is not in the published format"),
        (b"language\nf\xff\n", "xnli.dev.tsv is not in the published format"),
    ],
)
def test_another_archive_is_not_taken_for_xnli(tmp_path, content, message):
    (tmp_path / "XNLI-1.0").mkdir()
    if content is not None:
        (tmp_path / "XNLI-1.0" / "xnli.dev.tsv").write_bytes(content)
    with pytest.raises(DownloadError, match=message):
        xnli(tmp_path, tmp_path / "new", None)


def test_blanks_around_the_texts_of_xnli_are_no_part_of_them(tmp_path):
    """A training pair with a text of blanks alone lacks that text."""
    header = "language\tgold_label\tsentence1\tsentence2\n"
    files = {f"XNLI-1.0/xnli.{split}.tsv": f"{header}fr\tneutral\t A. \tB. \n" for split in ("dev", "test")}
    pairs = " A. \tB.\tneutral \nC.\t \tneutral\n"
    files["XNLI-MT-1.0/multinli/multinli.train.fr.tsv"] = f"premise\thypo\tlabel\n{pairs}"
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    (tmp_path / "new").mkdir()
    xnli(tmp_path, tmp_path / "new", None)
    for split in ("train", "dev", "test"):
        assert (tmp_path / "new" / f"{split}-fr.tsv").read_text("utf-8") == "A.\tB.\tneutral\n"
