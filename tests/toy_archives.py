"""Archives made of a few small files, in the layout of published ones."""

import io
import tarfile
import zipfile


def tar(files):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            content = content if isinstance(content, bytes) else content.encode()
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return stream.getvalue()


def zipped(files, compression=zipfile.ZIP_DEFLATED):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


def names(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


XNLI_HEADER = "language\tgold_label\tsentence1_binary_parse\tsentence2_binary_parse\tsentence1\tsentence2\tpairID"


def serve_xnli(server):
    """The two archives of XNLI, with the columns that are read, and files that are not."""
    rows = [
        f'{language}\t{label}\t\t\t{language} says "so"\t{language} {label}\t{number}'
        for language in ("en", "fr", "zh")
        for number, label in enumerate(("entailment", "neutral", "contradiction"))
    ]
    text = "\n".join([XNLI_HEADER, *rows]) + "\n"
    files = {f"XNLI-1.0/xnli.{split}.{end}": text for split in ("dev", "test") for end in ("tsv", "jsonl")}
    server.files["/XNLI-1.0.zip"] = zipped(files | {"__MACOSX/XNLI-1.0/._xnli.dev.tsv": "x"})
    train = "premise\thypo\tlabel\na\tb\tcontradictory\nc\t\tneutral\nd\te\tentailment\n"
    server.files["/XNLI-MT-1.0.zip"] = zipped(
        {f"XNLI-MT-1.0/multinli/multinli.train.{language}.tsv": train for language in ("en", "fr", "zh")}
        | {"XNLI-MT-1.0/xnli/xnli.test.fr.en.tsv": "x"}
    )
