"""Registries of tasks, measures, probes and executors: built-in ones, and plug-ins from entry points.

An installed distribution registers a plug-in in its ``pyproject.toml``::

    [project.entry-points."crosslens.tasks"]
    sentiment = "my_package.sentiment:Sentiment"

Entry points are looked up and plug-ins imported only on demand: for a name that is not built in, or for all names.
"""

import importlib.metadata
import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, TypeVar

from crosslens.errors import RequestError

Part = TypeVar("Part")


class Registry(Mapping[str, Part]):
    """Mapping from name to part: built-in parts first, then plug-ins by name.

    Args:
        kind: name of the kind of part, for errors and the entry point group ``crosslens.{kind}s``.
        built_in: name -> built-in part. Plug-ins may not reuse these names.
        contracts: required base classes and protocols of plug-ins.
        classes: whether the parts are classes; if not, a plug-in class is instantiated without arguments.
    """

    def __init__(
        self, kind: str, built_in: Mapping[str, Part], *, contracts: tuple[type, ...] = (), classes: bool = False
    ) -> None:
        self.kind = kind
        self.built_in = dict(built_in)
        self._contracts = contracts
        self._classes = classes

    @property
    def plugins(self) -> Mapping[str, importlib.metadata.EntryPoint]:
        """Name -> entry point, sorted by name.

        Raises:
            RequestError: for a plug-in with the name of a built-in part, or of another plug-in.
        """
        points: dict[str, importlib.metadata.EntryPoint] = {}
        for point in _entry_points(f"crosslens.{self.kind}s", tuple(sys.path)):
            if point.name in self.built_in:
                raise RequestError(
                    f"{_distribution(point)} registers the {self.kind} {point.name!r}, which is built in",
                    hint="uninstall it, or ask its authors to rename it",
                )
            if point.name in points:
                owners = f"{_distribution(points[point.name])} and {_distribution(point)}"
                raise RequestError(
                    f"both {owners} register the {self.kind} {point.name!r}", hint="uninstall one of them"
                )
            points[point.name] = point
        return points

    def __getitem__(self, name: str) -> Part:
        """Return a part by name.

        Raises:
            KeyError: for an unknown name.
            RequestError: for a plug-in that cannot be used, naming its distribution.
        """
        return self.built_in[name] if name in self.built_in else self._load(self.plugins[name])

    def __contains__(self, name: object) -> bool:
        """Whether there is such a part; nothing is imported."""
        return name in self.built_in or name in self.plugins

    def __iter__(self) -> Iterator[str]:
        return iter((*self.built_in, *self.plugins))

    def __len__(self) -> int:
        return len(self.built_in) + len(self.plugins)

    def _load(self, point: importlib.metadata.EntryPoint) -> Any:
        part: Any = None
        try:
            part = point.load()
            part = part() if isinstance(part, type) and not self._classes else part
            reason = self._wrong(point.name, part)
        except Exception as error:  # importing a plug-in may raise anything
            reason = f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"
        if reason is not None:
            raise RequestError(f"the {self.kind} {point.name!r} of {_distribution(point)} cannot be used: {reason}")
        return part

    def _wrong(self, name: str, part: Any) -> str | None:
        """The reason why a plug-in breaks its contract; None if it does not."""
        if self._classes and not isinstance(part, type):
            return "it is not a class"
        for contract in self._contracts:
            if getattr(contract, "_is_protocol", False):
                missing = [member for member in vars(contract) if member[0] != "_" and member not in dir(part)]
                if missing:
                    return f"it has no {', '.join(missing)}"
            elif not isinstance(part, contract):
                return f"it is not a {contract.__name__}"
        part_name = getattr(part, "name", name)
        return None if part_name == name else f"it calls itself {part_name!r}"


@lru_cache
def _entry_points(group: str, path: tuple[str, ...]) -> tuple[importlib.metadata.EntryPoint, ...]:
    """Return the entry points of a group, sorted by name; ``path`` is part of the cache key."""
    return tuple(sorted(importlib.metadata.entry_points(group=group), key=lambda point: (point.name, point.value)))


def _distribution(point: importlib.metadata.EntryPoint) -> str:
    return f"the distribution {point.dist.name} {point.dist.version}" if point.dist else f"{point.value}"
