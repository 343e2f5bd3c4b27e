"""Known holes of pinned versions: what pip-audit finds, or ``tests/advisories.txt`` where it reaches no data.

    make audit
    python tests/audit.py constraints.txt --strict

It exits with 1 if a version has a known hole; with ``--strict``, also if pip-audit could not look every version up.
"""

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

try:
    from packaging.specifiers import SpecifierSet
except ImportError:  # the environment has nothing but pip
    from pip._vendor.packaging.specifiers import SpecifierSet

ADVISORIES = Path(__file__).with_name("advisories.txt")
PIP_AUDIT = (sys.executable, "-m", "pip_audit")


def pinned(path):
    """Package -> version."""
    return dict(re.findall(r"^([\w.-]+)==(\S+)$", Path(path).read_text("utf-8"), re.M))


def listed_holes(pins):
    """Advisories of the list that concern one of these versions."""
    rows = [line.split() for line in ADVISORIES.read_text("utf-8").splitlines() if not line.startswith("#")]
    return sorted(
        f"{package} {pins[package]}: {advisory}"
        for advisory, package, versions in rows
        if package in pins and pins[package] in SpecifierSet(versions)
    )


def looked_up(path, command=PIP_AUDIT):
    """What pip-audit found: package -> its advisories. Versions that it could not look up are missing."""
    options = ["--no-deps", "--disable-pip", "--format", "json", "--requirement", str(path)]
    ended = subprocess.run([*command, *options], capture_output=True, text=True)
    try:
        packages = json.loads(ended.stdout)["dependencies"]
    except ValueError:
        return {}
    return {entry["name"]: [hole["id"] for hole in entry["vulns"]] for entry in packages if "vulns" in entry}


def audit(path, *, strict=False, command=PIP_AUDIT):
    """Print the holes of the pinned versions; return the exit status."""
    pins = pinned(path)
    known = looked_up(path, command)
    rest = {package: version for package, version in pins.items() if package not in known}
    holes = [f"{package} {pins[package]}: {hole}" for package, found in known.items() for hole in found]
    print(f"{len(known)} of {len(pins)} versions looked up by pip-audit")
    if rest:
        print(f"{len(rest)} versions compared with {ADVISORIES.name} alone, which is not complete")
        holes += listed_holes(rest)
    print("\n".join(holes) or "no known holes")
    return 1 if holes or (strict and rest) else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("constraints")
    parser.add_argument("--strict", action="store_true")
    chosen = parser.parse_args()
    sys.exit(audit(chosen.constraints, strict=chosen.strict))


if __name__ == "__main__":
    main()
