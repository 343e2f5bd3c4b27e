"""Settings files: YAML 1.2, strict, and every mistake at once with its file, line, path and a suggestion."""

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
"""A number of things, at least one."""

Share = Annotated[float, Field(ge=0, lt=1)]
"""A fraction below 1."""

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
"""A finite number above 0."""


class Strict(BaseModel):
    """Immutable settings that reject unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def read_settings(path: str | Path, model: type[Settings], *, overrides: Mapping[str, str] | None = None) -> Settings:
    """Read and validate a settings file.

    YAML 1.2: ``no`` and ``on`` are strings, so that Norwegian is a language.

    Args:
        path: the file.
        model: what it must fit.
        overrides: dotted setting -> value as YAML, such as ``{"shape.layers": "6"}``.

    Raises:
        RequestError: for a file that is missing or no YAML, or for settings that are unknown, missing or wrong: all
            of them, one a line, each with its place.
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
        _override(document, setting, YAML(typ="safe", pure=True).load(value))
    try:
        return model.model_validate(_plain(document))
    except ValidationError as error:
        raise RequestError("\n".join(_explain(path, document, model, e) for e in error.errors())) from None


def choose(name: str, among: Mapping[str, Any], settings: Mapping[str, Any], *, kind: str) -> Any:
    """One of several values by its name, with some settings replaced.

    Args:
        name: one of ``among``.
        among: name -> value with its default settings.
        settings: setting -> value, as `replace_settings` takes them.
        kind: what errors call them.

    Raises:
        RequestError: when there is none of that name; as `replace_settings`.
    """
    if name not in among:
        raise RequestError(f"there is no {kind} {name!r}", hint=suggest(name, among))
    return replace_settings(among[name], settings, what=f"the {kind} {name}")


def replace_settings(usual: Settings, settings: Mapping[str, Any], *, what: str) -> Settings:
    """A value with some of its settings replaced, and validated again.

    Args:
        usual: the value.
        settings: setting -> value; text is read as the setting's type, and ``none`` is None.
        what: what errors call the value.

    Raises:
        RequestError: naming every setting that is unknown or has a value that does not fit.
    """
    model = type(usual)
    replaced: dict[str, Any] = usual.model_dump()
    for setting, value in settings.items():
        if setting not in model.model_fields:
            raise RequestError(f"{what} has no setting {setting!r}", hint=suggest(setting, model.model_fields))
        if isinstance(value, str):
            several = isinstance(replaced[setting], tuple)
            value = None if value.lower() == "none" else value.split(",") if several else value
        replaced[setting] = value
    try:
        return model.model_validate(replaced)
    except ValidationError as error:
        wrong = [f"{e['loc'][0]}={settings.get(str(e['loc'][0]), '')}: {e['msg']}" for e in error.errors()]
        raise RequestError("; ".join(dict.fromkeys(wrong))) from None


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
    """The line of a setting, or of the nearest thing around it that is in the file."""
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
