"""How many small mistakes in the source the tests notice: a seeded sample from every package.

    make mutants
    python tests/mutants.py training mlm --each 20 --seed 1

A mistake is one change of a copy of the source: another operator, number or branch, an argument left out, two
exchanged, a statement left out, None returned. The test file of the module runs first, and where it passes, all tests
of the package and the examples. What they miss is printed: it needs a test, changes nothing that a user could see, or
is needless code.
"""

import argparse
import ast
import copy
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from shutil import copy2, copytree, ignore_patterns

ROOT = Path(__file__).parents[1]
SOURCE = Path("src/crosslens")
MINUTES = 20
"""After so many minutes, tests have failed."""

WORDS = {"hint", "help", "description", "title", "metavar", "strict", "frozen"}
"""Keyword arguments that are words for people, or guard against what does not happen."""

OPERATORS = {
    **dict(
        zip((ast.Lt, ast.Gt, ast.Eq, ast.In, ast.Is), (ast.LtE, ast.GtE, ast.NotEq, ast.NotIn, ast.IsNot), strict=True)
    ),
    **dict(zip((ast.And, ast.Add, ast.Mult, ast.BitOr), (ast.Or, ast.Sub, ast.Div, ast.BitAnd), strict=True)),
}
OPERATORS |= {other: one for one, other in OPERATORS.items()}
FUNCTIONS = {"any": "all", "argmax": "argmin", "max": "min", "mean": "sum", "ones": "zeros"}
FUNCTIONS |= {other: one for one, other in FUNCTIONS.items()} | {"sorted": "list"}


def changed(node: ast.AST, **fields: object) -> ast.AST:
    other = copy.copy(node)
    for name, value in fields.items():
        setattr(other, name, value)
    return other


def mistakes(node: ast.AST) -> Iterator[ast.AST]:
    """What could stand in the place of a part of the code by mistake."""
    match node:
        case ast.Compare(ops=[op, *others]) if type(op) in OPERATORS:
            yield changed(node, ops=[OPERATORS[type(op)](), *others])
        case ast.BinOp(op=op) | ast.BoolOp(op=op) if type(op) in OPERATORS:
            yield changed(node, op=OPERATORS[type(op)]())
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield operand
        case ast.Constant(value=bool(value)):
            yield changed(node, value=not value)
        case ast.Constant(value=int() | float() as value):
            yield changed(node, value=value + 1)
        case ast.IfExp(body=body, orelse=orelse):
            yield from (body, orelse, changed(node, body=orelse, orelse=body))
        case ast.Call(func=func, args=arguments, keywords=keywords):
            for number, keyword in enumerate(keywords):
                if keyword.arg not in {None, *WORDS}:
                    yield changed(node, keywords=keywords[:number] + keywords[number + 1 :])
            field = "id" if isinstance(func, ast.Name) else "attr"
            name = getattr(func, field, None)
            if name in FUNCTIONS:
                yield changed(node, func=changed(func, **{field: FUNCTIONS[name]}))
            elif len(arguments) > 1 and not any(isinstance(argument, ast.Starred) for argument in arguments):
                yield changed(node, args=[arguments[1], arguments[0], *arguments[2:]])
        case ast.Slice(lower=lower, upper=upper):
            yield from [changed(node, lower=None)] * bool(lower) + [changed(node, upper=None)] * bool(upper)
        case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
            first, *others = node.generators
            if first.ifs:
                yield changed(node, generators=[changed(first, ifs=[]), *others])
        case ast.If(test=test):
            yield changed(node, test=ast.UnaryOp(ast.Not(), test))
        case ast.Return(value=ast.expr()):
            yield changed(node, value=None)
        case ast.AugAssign() | ast.Continue() | ast.Break() | ast.Expr(value=ast.Call()) | ast.Raise():
            yield ast.Pass()
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield ast.Pass()


def code(node: ast.AST) -> Iterator[ast.AST]:
    """All parts of the code without annotations, decorators, words for people and reports of progress."""
    match node:
        case ast.keyword(arg=str(name)) if name in WORDS:
            return
        case ast.JoinedStr() | ast.Call(func=ast.Attribute(value=ast.Name(id="listener"))):
            return
    yield node
    for name, value in ast.iter_fields(node):
        if name not in {"annotation", "returns", "decorator_list", "exc"}:
            for part in value if isinstance(value, list) else [value]:
                if isinstance(part, ast.AST):
                    yield from code(part)


def edits(text: bytes) -> Iterator[tuple[int, str, bytes]]:
    """Line, description and text of every file with one mistake."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for node in code(ast.parse(text)):
        for other in mistakes(node):
            begin, end = (
                starts[line - 1] + column
                for line, column in ((node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset))
            )
            words = ast.unparse(ast.fix_missing_locations(copy.deepcopy(other)))
            if isinstance(node, ast.stmt):
                words = words.replace("\n", "\n" + " " * node.col_offset)
            elif not isinstance(node, ast.Slice | ast.Constant):
                words = f"({words})"
            yield node.lineno, f"{ast.unparse(node)}  ->  {words}", text[:begin] + words.encode() + text[end:]


def noticed(root: Path, module: Path) -> bool:
    """Whether a test fails: one of the module's own, of its package's, or an example."""
    own = Path("tests") / module.relative_to(SOURCE).with_name(f"test_{module.name.lstrip('_')}")
    example = (
        "tests/test_examples.py::test_examples["
        + ".".join(module.with_suffix("").parts[1:]).removesuffix(".__init__")
        + "]"
    )
    package = [Path("tests") / module.relative_to(SOURCE).parts[0]] if module.parent != SOURCE else []
    for tests in ([own] if (root / own).exists() else [], [*package, example]):
        command = [sys.executable, "-B", "-m", "pytest", "-x", "-p", "no:cacheprovider", *map(str, tests)]
        try:
            if tests and subprocess.run(command, cwd=root, capture_output=True, timeout=60 * MINUTES).returncode:
                return True
        except subprocess.TimeoutExpired:
            return True
    return False


def main() -> None:
    packages = sorted({str(file.parent.relative_to(ROOT / SOURCE)) for file in (ROOT / SOURCE).rglob("*.py")})
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("packages", nargs="*", help=f"of {', '.join(packages)} [default: all]")
    parser.add_argument("--each", type=int, default=5, help="mistakes in each package [default: 5]")
    parser.add_argument("--seed", type=int, default=1, help="of the sample [default: 1]")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "copy"
        for part in ("src", "tests", "docs", "benchmarks"):
            copytree(ROOT / part, root / part, ignore=ignore_patterns("__pycache__"))
        for file in filter(Path.is_file, ROOT.iterdir()):
            copy2(file, root)
        os.environ["PYTHONPATH"] = str(root / "src")
        print("| package | mistakes | sampled | noticed |\n| --- | ---: | ---: | ---: |")
        for package in asked.packages or packages:
            files = sorted((root / SOURCE / package).glob("*.py"))
            every = [(file, *edit) for file in files for edit in edits(file.read_bytes())]
            chosen = random.Random(f"{asked.seed} {package}").sample(every, min(asked.each, len(every)))
            if noticed(root, files[0].relative_to(root)):
                sys.exit(f"tests of {package} fail without any mistake")
            missed = 0
            for file, line, words, text in chosen:
                before = file.read_bytes()
                file.write_bytes(text)
                if not noticed(root, file.relative_to(root)):
                    missed += 1
                    print(f"{file.relative_to(root)}:{line}: {words}", file=sys.stderr, flush=True)
                file.write_bytes(before)
            print(f"| {package} | {len(every)} | {len(chosen)} | {len(chosen) - missed} |", flush=True)


if __name__ == "__main__":
    main()
