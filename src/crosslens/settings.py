"""Strict settings files in YAML 1.2. Errors list every invalid setting with file, line, path and a suggestion."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from crosslens.errors import RequestError, require_known, suggest, suggest_beside

Settings = TypeVar("Settings", bound=BaseModel)


def _no_boolean(value: Any) -> Any:
    """Refuse ``true``, which Python counts as 1."""
    if isinstance(value, bool):
        raise ValueError("expected an integer")
    return value


Count = Annotated[int, Field(ge=1), BeforeValidator(_no_boolean)]
"""A positive integer."""

Seed = Annotated[int, Field(ge=0, lt=2**63), BeforeValidator(_no_boolean)]
"""A random seed, as records can hold it."""

MOST_VALUES = 100_000
"""Most values of a settings file."""

Share = Annotated[float, Field(ge=0, lt=1)]
"""A fraction from 0, below 1."""

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
"""A finite number above 0."""


class Strict(BaseModel):
    """Immutable settings that reject unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def __init__(self, /, **settings: Any) -> None:
        """Make settings in Python.

        Raises:
            RequestError: naming every invalid setting.
        """
        try:
            super().__init__(**settings)
        except ValidationError as error:
            reasons = "; ".join(map(str, problems_of(error, type(self))))
            raise RequestError(f"invalid settings of {type(self).__name__}: {reasons}") from None

    __init__.__pydantic_base_init__ = True  # pyright: ignore[reportFunctionMemberAccess]  # not used by model_validate


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with one setting.

    Attributes:
        location: keys and list indices that lead to the setting in its file; empty: several settings together.
    """

    location: tuple[str | int, ...]
    reason: str

    @property
    def setting(self) -> str:
        """Dotted name of the setting: ``conditions.0.layers``."""
        return ".".join(map(str, self.location))

    def __str__(self) -> str:
        return f"{self.setting}: {self.reason}" if self.location else self.reason


class InvalidSettings(ValueError):
    """Raised by a validator of several settings to say which of them are wrong.

    Args:
        problems: the problems, at locations relative to the validated settings.
    """

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("; ".join(map(str, problems)))
        self.problems = tuple(problems)


def unknown_setting(*location: str | int, known: Iterable[str]) -> Problem:
    """The problem of a setting that does not exist, with a suggestion."""
    return Problem(location, f"unknown setting; {suggest(str(location[-1]), known)}")


def problems_of(error: ValidationError, model: type[BaseModel]) -> list[Problem]:
    """Describe every invalid setting in the words of a settings file.

    Args:
        error: raised by the validation of ``model``.
        model: class of the settings.

    Returns:
        One problem per location, in the order of validation. Where parts of a setting are invalid, the setting itself
        is left out.
    """
    problems: list[Problem] = []
    for detail in error.errors():
        location, settings = _in_file(detail["loc"], model)
        cause = detail.get("ctx", {}).get("error")
        if detail["type"] == "extra_forbidden":
            problems.append(unknown_setting(*location, known=settings))
        elif isinstance(cause, InvalidSettings):
            problems += [Problem((*location, *problem.location), problem.reason) for problem in cause.problems]
        else:
            message = detail["msg"]
            reason = str(cause) if detail["type"] == "value_error" else _EXPECTED.get(detail["type"], message)
            problems.append(Problem(location, reason[:1].lower() + reason[1:]))
    locations = [problem.location for problem in problems]
    innermost = [
        problem
        for problem in problems
        if not any(other[: len(problem.location)] == problem.location != other for other in locations)
        or not problem.location
    ]
    return [
        Problem(
            location, " or ".join(dict.fromkeys(problem.reason for problem in group)).replace(" or expected", " or")
        )
        for location, group in groupby(innermost, key=lambda problem: problem.location)
    ]


def read_settings(path: str | Path, model: type[Settings], *, overrides: Mapping[str, Any] | None = None) -> Settings:
    """Read and validate a settings file.

    In YAML 1.2, ``no`` and ``on`` are strings, so that ``no`` can stand for Norwegian.

    Args:
        model: class of the settings.
        overrides: dotted setting -> value, such as ``{"shape.layers": 6}``; strings are read as YAML.

    Raises:
        RequestError: for a missing file or invalid YAML; for unknown, missing or invalid settings, with one line for
            each, its file and line number.
    """
    file = Path(path)
    yaml = YAML(typ="rt")
    try:
        document = yaml.load(file.read_text("utf-8"))
    except FileNotFoundError:
        hint = suggest_beside(path, otherwise="check the path")
        raise RequestError(f"there is no settings file {path}", hint=hint) from None
    except (IsADirectoryError, UnicodeDecodeError) as error:
        raise RequestError(f"{path} is not a settings file: {error}") from None
    except MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise RequestError(f"{path}:{line}: invalid YAML: {error.problem}") from None
    except YAMLError as error:
        raise RequestError(f"{path}: invalid YAML: {str(error).splitlines()[0]}") from None
    except RecursionError:
        raise RequestError(f"{path}: invalid YAML: nested too deeply") from None
    if not isinstance(document, CommentedMap):
        raise RequestError(f"{path}: expected settings of the form `name: value`")
    if _size(document) > MOST_VALUES:
        raise RequestError(f"{path}: more than {MOST_VALUES:,} values", hint="aliases (*) repeat what they refer to")
    values = _plain(document)  # copies the values of aliases (*), so that an override changes only what it names
    for setting, value in (overrides or {}).items():
        try:
            parsed = _plain(YAML(typ="safe", pure=True).load(value) if isinstance(value, str) else value)
        except (YAMLError, RecursionError) as error:
            reason = str(getattr(error, "problem", None) or error).splitlines()[0]
            raise RequestError(f"override (--set) {setting}={value}: invalid YAML: {reason}") from None
        _override(values, setting, parsed)
    try:
        return model.model_validate(values)
    except ValidationError as error:
        lines = [_explain(path, document, problem, overrides or {}) for problem in problems_of(error, model)]
        raise RequestError("\n".join(lines)) from None


def choose(name: str, among: Mapping[str, Any], settings: Mapping[str, Any], *, kind: str) -> Any:
    """Look up a value by name, and replace some of its settings.

    Args:
        name: one of ``among``.
        among: name -> value with its default settings.
        settings: setting -> value, as in `replace_settings`.
        kind: name of the kind of value, for errors.

    Raises:
        RequestError: for an unknown name, or an unknown or invalid setting.
    """
    require_known(name, among, f"there is no {kind}")
    return replace_settings(among[name], settings, what=f"the {kind} {name}")


def replace_settings(current: Settings, settings: Mapping[str, Any], *, what: str) -> Settings:
    """Copy settings with some values replaced, and validate them.

    Args:
        settings: setting, dotted if it is part of another (``masking.share``) -> value; strings are converted to the
            setting's type, and ``none`` to None.
        what: name of the settings, for errors.

    Raises:
        RequestError: for an unknown setting; with every invalid value.
    """
    if not isinstance(settings, Mapping):
        raise RequestError(
            f"the settings of {what} cannot be a {type(settings).__name__}", hint='write {"name": value, …}'
        )
    model = type(current)
    replaced: dict[str, Any] = current.model_dump()
    for setting, value in settings.items():
        *parents, last = setting.split(".")
        group: Any = replaced
        for name in parents:
            group = group.get(name) if isinstance(group, dict) else None
        if not isinstance(group, dict) or last not in group:
            known = [".".join([*parents, name]) for name in group] if isinstance(group, dict) else model.model_fields
            raise RequestError(f"{what} has no setting {setting!r}", hint=suggest(setting, known))
        if isinstance(value, str):
            is_tuple = isinstance(group[last], tuple)
            value = None if value.lower() == "none" else value.split(",") if is_tuple else value
        group[last] = value
    try:
        return model.model_validate(replaced)
    except ValidationError as error:
        lines = []
        for problem in problems_of(error, model):
            given = [name for name in settings if f"{problem.setting}.".startswith(f"{name}.")]
            place = f"{given[0]}={settings[given[0]]}" if given else problem.setting or what
            lines.append(f"{place}: {problem.reason}")
        raise RequestError("; ".join(dict.fromkeys(lines))) from None


def _override(document: dict, setting: str, value: Any) -> None:
    *parents, last = setting.split(".")
    for name in parents:
        document = document.setdefault(name, {})
        if not isinstance(document, dict):
            raise RequestError(f"override (--set) {setting}: {name} has no settings of its own")
    document[last] = value


def _size(value: Any, known: dict[int, int] | None = None) -> int:
    """Number of values with aliases written out, without writing them out."""
    if not isinstance(value, dict | list):
        return 1
    known = {} if known is None else known
    if id(value) not in known:
        known[id(value)] = MOST_VALUES + 1  # of a value inside itself
        known[id(value)] = 1 + sum(
            _size(inner, known) for inner in (value.values() if isinstance(value, dict) else value)
        )
    return known[id(value)]


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    return [_plain(inner) for inner in value] if isinstance(value, list) else value


def _explain(path: str | Path, document: CommentedMap, problem: Problem, overrides: Mapping[str, Any]) -> str:
    """Say what is wrong and where it was written: the line of the file, or the option that overrode it."""
    if any(problem.setting == name or problem.setting.startswith(f"{name}.") for name in overrides):
        return f"override (--set) {problem}"
    return f"{path}:{_line_of(document, problem.location)}: {problem}" if problem.location else f"{path}: {problem}"


def _line_of(node: Any, location: tuple) -> int:
    """Return the line of a setting, or of the innermost enclosing setting in the file."""
    line = node.lc.line
    for key in location:
        try:
            line = (node.lc.key(key) if isinstance(node, CommentedMap) else node.lc.item(key))[0]
            node = node[key]
        except (KeyError, IndexError, TypeError, AttributeError):
            break
    return line + 1


_EXPECTED = {
    **dict.fromkeys(("tuple_type", "list_type"), "expected a list, as in [a, b]"),
    **dict.fromkeys(("dict_type", "mapping_type", "model_type"), "expected settings of the form `name: value`"),
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), "expected an integer"),
    **dict.fromkeys(("float_type", "float_parsing"), "expected a number"),
    **dict.fromkeys(("bool_type", "bool_parsing"), "expected true or false"),
    "string_type": "expected text",
    "string_pattern_mismatch": "expected small letters and digits, joined by hyphens, as in my-study",
    "too_short": "is empty",
}
"""Type of an error of pydantic, which speaks of Python's types -> what a settings file should hold."""


def _in_file(location: tuple, model: Any) -> tuple[tuple, list[str]]:
    """Translate a location of pydantic, which names the member of a union, to that in the settings file.

    Returns:
        The location in the file, and the known names at its last key.
    """
    in_file: list[str | int] = []
    settings: list[str] = []
    for key in location:
        members = {getattr(member, "__name__", str(member)): member for member in _members(model)}
        if len(members) > 1 and key in members:
            model = members[key]
            continue
        in_file.append(key)
        model = next(iter(members.values()), None)
        fields = getattr(model, "model_fields", {})
        settings = list(fields)
        model = fields[key].annotation if key in fields else next(reversed(_inner(model)), None)
    return tuple(in_file), settings


def _members(annotation: Any) -> list[Any]:
    """The types that a setting may be of, without None and without constraints."""
    if get_origin(annotation) is Annotated:
        return _members(get_args(annotation)[0])
    if isinstance(annotation, UnionType) or get_origin(annotation) is Union:
        return [member for inner in get_args(annotation) for member in _members(inner)]
    return [] if annotation in (None, NoneType) else [annotation]


def _inner(annotation: Any) -> list[Any]:
    """The types of the items of a list, or of the keys and values of a mapping."""
    return [inner for inner in get_args(annotation) if inner is not Ellipsis]
