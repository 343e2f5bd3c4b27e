"""Run the notebooks of docs/notebooks and keep their outputs: python docs/make_notebooks.py [NAME …].

They run in a temporary folder, with the installed crosslens. It takes some five minutes on one core.
"""

import os
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).with_name("notebooks")


def executed(path: Path, folder: str) -> nbformat.NotebookNode:
    """Run a notebook in a folder.

    Raises:
        nbclient.exceptions.CellExecutionError: for a cell that fails.
    """
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=600, resources={"metadata": {"path": folder}}).execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # times
    return notebook


if __name__ == "__main__":
    commands = Path(sys.executable).parent  # `!crosslens` in a cell is that of this environment
    os.environ["PATH"] = f"{commands}{os.pathsep}{os.environ['PATH']}"
    os.environ["PYTHONWARNINGS"] = "ignore:IProgress not found"  # tqdm's, in a kernel without widgets
    for path in sorted(FOLDER.glob("*.ipynb")):
        if path.stem in (sys.argv[1:] or [path.stem]):
            with tempfile.TemporaryDirectory() as folder:
                nbformat.write(executed(path, folder), path)
