"""Toy studies as tests run them, and where their results are."""

from crosslens.studies.run_study import run_study


def results_of(folder, study="toy"):
    return folder / "studies" / study / "results.csv"


def run(study, folder, treebanks, **more):
    return run_study(study, folder, **{"executor": "serial", "data": str(treebanks), "device": "cpu", **more})
