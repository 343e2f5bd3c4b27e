"""Strict settings files in YAML 1.2. Errors list every invalid setting with file, line, path and a suggestion."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from crosslens.errors import RequestError, suggest

Settings = TypeVar("Settings", bound=BaseModel)

Count = Annotated[int, Field(ge=1)]
"""A positive integer."""

Seed = Annotated[int, Field(ge=0, lt=2**63)]
"""A random seed, as records can hold it."""

Share = Annotated[float, Field(ge=0, lt=1)]
"""A fraction from 0, below 1."""

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
"""A finite number above 0."""


class Strict(BaseModel):
    """Immutable settings that reject unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def read_settings(path: str | Path, model: type[Settings], *, overrides: Mapping[str, str] | None = None) -> Settings:
    """Read and validate a settings file.

    In YAML 1.2, ``no`` and ``on`` are strings, so that ``no`` can stand for Norwegian.

    Args:
        path: the file.
        model: class of the settings.
        overrides: dotted setting -> value as YAML, such as ``{"shape.layers": "6"}``.

    Raises:
        RequestError: for a missing file or invalid YAML; for unknown, missing or invalid settings, with one line for
            each, its file and line number.
    """
    file = Path(path)
    yaml = YAML(typ="rt")
    try:
        document = yaml.load(file.read_text("utf-8"))
    except FileNotFoundError:
        raise RequestError(f"there is no settings file {path}") from None
    except (IsADirectoryError, UnicodeDecodeError) as error:
        raise RequestError(f"{path} is not a settings file: {error}") from None
    except MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise RequestError(f"{path}:{line}: invalid YAML: {error.problem}") from None
    except YAMLError as error:
        raise RequestError(f"{path}: invalid YAML: {str(error).splitlines()[0]}") from None
    if not isinstance(document, CommentedMap):
        raise RequestError(f"{path}: expected settings of the form `name: value`")
    for setting, value in (overrides or {}).items():
        try:
            parsed = YAML(typ="safe", pure=True).load(value)
        except (YAMLError, RecursionError) as error:
            reason = str(getattr(error, "problem", None) or error).splitlines()[0]
            raise RequestError(f"--set {setting}={value}: invalid YAML: {reason}") from None
        _override(document, setting, parsed)
    try:
        return model.model_validate(_plain(document))
    except ValidationError as error:
        raise RequestError("\n".join(_explain(path, document, model, problem) for problem in error.errors())) from None


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
    if name not in among:
        raise RequestError(f"there is no {kind} {name!r}", hint=suggest(name, among))
    return replace_settings(among[name], settings, what=f"the {kind} {name}")


def replace_settings(current: Settings, settings: Mapping[str, Any], *, what: str) -> Settings:
    """Copy settings with some values replaced, and validate them.

    Args:
        current: the settings.
        settings: setting -> value; strings are converted to the setting's type, and ``none`` to None.
        what: name of the settings, for errors.

    Raises:
        RequestError: for an unknown setting; with every invalid value.
    """
    model = type(current)
    replaced: dict[str, Any] = current.model_dump()
    for setting, value in settings.items():
        if setting not in model.model_fields:
            raise RequestError(f"{what} has no setting {setting!r}", hint=suggest(setting, model.model_fields))
        if isinstance(value, str):
            is_tuple = isinstance(replaced[setting], tuple)
            value = None if value.lower() == "none" else value.split(",") if is_tuple else value
        replaced[setting] = value
    try:
        return model.model_validate(replaced)
    except ValidationError as error:
        problems = [(str(problem["loc"][0]), problem["msg"]) for problem in error.errors()]
        lines = [f"{setting}={settings.get(setting, '')}: {message}" for setting, message in problems]
        raise RequestError("; ".join(dict.fromkeys(lines))) from None


def _override(document: dict, setting: str, value: Any) -> None:
    *parents, last = setting.split(".")
    for name in parents:
        document = document.setdefault(name, {})
        if not isinstance(document, dict):
            raise RequestError(f"--set {setting}: {name} has no settings of its own")
    document[last] = value


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    return [_plain(inner) for inner in value] if isinstance(value, list) else value


def _explain(path: str | Path, document: CommentedMap, model: type[BaseModel], error: Any) -> str:
    location, reason = error["loc"], error["msg"]
    where, setting = f"{path}:{_line_of(document, location)}", ".".join(map(str, location))
    if error["type"] == "extra_forbidden":
        return f"{where}: there is no setting {setting}; {suggest(location[-1], _settings_of(model, location[:-1]))}"
    return f"{where}: {setting}: {reason[0].lower()}{reason[1:]}"


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


def _settings_of(model: Any, location: tuple) -> list[str]:
    for name in location:
        field = getattr(model, "model_fields", {}).get(name)
        model = field.annotation if field else None
    return list(getattr(model, "model_fields", {}))
