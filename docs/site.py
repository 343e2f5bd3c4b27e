"""Pages of the documentation site that are made from other files (hooks of mkdocs.yml).

The home page is README.md, with the changelog and the guide for contributors from the root of the repository, and the
Python reference lists all public names. Links to files that are not pages lead to the repository.
"""

import ast
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
MOVED = {"README.md": "index.md", "CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md"}
"""File in the root of the repository -> page."""

WITHOUT_SIDEBAR = "---\nhide: [navigation]\n---\n"

GROUPS = {
    "Encoders": ("encoders",),
    "Corpora": ("data", "corpora"),
    "Training and evaluation": ("training", "runs"),
    "Representations": ("similarity", "alignment", "probes"),
    "Pretraining and unseen languages": ("mlm", "unseen"),
    "Results and studies": ("results", "studies"),
    "Progress and errors": ("progress", "errors"),
}
"""Heading of the Python reference -> packages."""

LINK = re.compile(r"(?P<before>\]\(|(?:src|srcset|href)=\")(?P<target>[^)\s\"#:]+)(?P<anchor>#[^)\s\"]*)?(?P<after>[)\"])")

NOTE = re.compile(r"\] \[(?P<number>\d+)\]")
"""The number of a note behind an interval, which would be read as a link."""


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the pages that are not files of docs/."""
    for name, page in MOVED.items():
        text = linked((ROOT / name).read_text("utf-8"), "", config.repo_url)
        files.append(File.generated(config, page, content=WITHOUT_SIDEBAR + text if page == "index.md" else text))
    files.append(File.generated(config, "api.md", content=python_reference()))
    return files


def on_page_markdown(markdown: str, *, page, config: MkDocsConfig, files: Files) -> str:  # noqa: ANN001
    """Let links to files outside docs/, and to folders, lead to the repository."""
    source = page.file.src_uri
    if page.file.generated_by:
        return markdown
    return linked(markdown, f"docs/{source}".rpartition("/")[0], config.repo_url, page=source)


def linked(markdown: str, folder: str, repository: str | None, *, page: str | None = None) -> str:
    """Rewrite the relative links of a page.

    Args:
        markdown: the page.
        folder: its folder in the repository.
        repository: address of the repository.
        page: its path below docs/; None: it moves there from the root.
    """

    def moved(match: re.Match[str]) -> str:
        path = (ROOT / folder / match["target"]).resolve().relative_to(ROOT).as_posix()
        anchor = match["anchor"] or ""
        if path in MOVED:
            up = "../" * page.count("/") if page else ""
            target = up + MOVED[path]
        elif path.startswith("docs/") and (ROOT / path).is_file() and not path.endswith((".py", ".yaml", ".ipynb")):
            target = match["target"] if page else path.removeprefix("docs/")
        else:
            target = f"{repository}/{'tree' if (ROOT / path).is_dir() else 'blob'}/main/{path}"
        return f"{match['before']}{target}{anchor}{match['after']}"

    markdown = NOTE.sub(r"] \\[\g<number>\\]", markdown)
    parts = re.split(r"(^```.*?^```$)", markdown, flags=re.MULTILINE | re.DOTALL)
    return "".join(part if part.startswith("```") else LINK.sub(moved, part) for part in parts)


def python_reference() -> str:
    """The page of all public names, by package, with their docstrings."""
    home = public_names()
    lines = ["# Python reference", "", "`import crosslens as xl`. All names of the package, from their docstrings.", ""]
    for heading, packages in GROUPS.items():
        names = [name for name, module in home.items() if module.split(".")[0] in packages]
        lines += [f"## {heading}", ""]
        for name in sorted(names, key=lambda name: (not name[0].islower(), name)):
            lines += [f"::: crosslens.{home[name]}.{name}"]
            lines += ["    options:", f"      heading: xl.{name}", f"      toc_label: {name}", ""]
    return "\n".join(lines)


def public_names() -> dict[str, str]:
    """Public name -> module that defines it, read from the package without importing it."""
    tree = ast.parse((ROOT / "src/crosslens/__init__.py").read_text("utf-8"))
    tables = [
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", None) == "_HOME"
    ]
    return ast.literal_eval(tables[0])
