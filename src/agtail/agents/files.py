"""Adapters of agents that keep each session in a file of its own, or in a folder of its own.

:class:`FileAdapter` is the adapter but for what a record means; :func:`file_adapter` makes one of
a few options when nothing else is special. A mistake in either is an error when the adapter is
defined, not when somebody searches.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

from agtail.agents.base import (
    TITLE_NAMED,
    Checkpoint,
    Item,
    Meta,
    Place,
    Prompt,
    Retention,
    Surroundings,
    Title,
    Unit,
    expand,
    look_into,
)
from agtail.errors import RegistrationError
from agtail.instants import parse_instant
from agtail.model import Event, Integrity
from agtail.records import Found, Record, Report, last_timestamp, read_json, read_jsonl


class Context(NamedTuple):
    """What a parser gets to know beside the records.

    Attributes:
        unit: the session that is read.
        health: counts what cannot be kept.
    """

    unit: Unit
    health: Integrity

    @property
    def id(self) -> str:
        """Name of the file or folder, without extension."""
        return self.unit.id

    @property
    def path(self) -> str:
        """The file or folder."""
        return self.unit.path


def build_session(
    context: Context,
    events: Iterable[Event],
    extra: Meta | None = None,
    title: str | None = None,
) -> Iterator[Item]:
    """Make a session of plain events: title, times, models and counts are derived from them.

    Args:
        context: what is read.
        events: in order; ``Event.model`` adds to the models.
        extra: what is known better than the events tell.
        title: a name that counts more than the first prompt.
    """
    if extra is not None:
        yield extra
    yield Meta(id=context.id)
    if title:
        yield Title(title, TITLE_NAMED)
    yield from events


class FileAdapter:
    """An adapter for one session a file (``unit = "file"``) or a folder (``unit = "dir"``).

    A subclass sets the attributes, says with :meth:`match` which names count, and has one way to
    read: :meth:`parse` (JSON Lines), :meth:`parse_json` (one document), or :meth:`read_unit`.

    Raises:
        RegistrationError: a subclass lacks something, or has too much of it.
    """

    agent: str = ""
    name: str = ""
    deletes_history: bool = False
    root: ClassVar[str] = ""
    """Folder of the sessions, ``~`` for home."""
    archived_root: ClassVar[str] = ""
    """A second folder, whose sessions were put aside by the user."""
    unit: ClassVar[str] = "file"
    glued: ClassVar[bytes] = b""
    """How a record begins that may stand behind a torn one, see ``records.read_jsonl``."""
    import_store: ClassVar[bool] = True
    """Look into collections of imported sessions, too."""
    skip_empty: ClassVar[bool] = True
    """Leave out sessions in which nothing was said."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        _check(cls)

    def __init__(self, surroundings: Surroundings) -> None:
        self.surroundings = surroundings

    # What a subclass fills in

    def match(self, relative: str) -> bool:
        """Whether a name counts: the path relative to the root, or the name of a folder."""
        del relative
        return True

    def transfer_match(self, relative: str) -> bool:
        """Whether a file travels in an export, by its path relative to the root."""
        return self._wanted(relative)

    def parse(self, records: Iterator[Record], context: Context) -> Iterable[Item]:
        """Map the records of a JSON Lines file."""
        raise NotImplementedError

    def parse_json(self, data: Any, context: Context) -> Iterable[Item]:
        """Map a file that is one JSON document."""
        raise NotImplementedError

    def read_unit(self, context: Context) -> Iterable[Item]:
        """Map anything else, by its path."""
        raise NotImplementedError

    def describe_tool(self, tool: str, tool_input: object) -> str | None:
        """Use the shared rule."""
        del tool, tool_input
        return None

    def retention(self) -> Retention | None:
        """Nothing is deleted."""
        return None

    def prompts(self) -> Iterator[Prompt]:
        """There is no list of prompts."""
        yield from ()

    def default_root(self) -> Path:
        """Return the folder of sessions when none was asked for."""
        return expand(self.root, self.surroundings)

    def peek(self, path: str) -> tuple[Any, ...]:
        """Look into a file at discovery; a row of plain values, the first the latest instant."""
        latest = last_timestamp(path)
        return (parse_instant(latest.decode()) if latest else None,)

    # What is the same for all

    def roots(self) -> list[Path]:
        """The folder of sessions, and that of archived ones."""
        here = self.surroundings
        if here.root is not None or not self.archived_root:
            return [here.root or self.default_root()]
        return [self.default_root(), expand(self.archived_root, here)]

    def find(self, report: Report) -> list[Place]:
        """Find the files of all sessions."""
        imported = self.surroundings.imported if self.import_store else {}
        return look_into(self.roots(), imported, self._wanted, report)

    def units(self, places: Sequence[Place], report: Report) -> Iterator[Unit]:
        """Tell one session a file or folder."""
        del report
        for place in places:
            for path, files in self._sessions(place):
                yield self.unit_of(place, path, files)

    def unit_of(self, place: Place, path: str, files: list[Found]) -> Unit:
        """Describe one session; a subclass may know more."""
        changed = max(file.mtime_ns for file in files)
        latest = self.look(files[-1])[0] if self.unit == "file" else None
        return Unit(
            agent=self.agent,
            id=_stem(path),
            path=path,
            root=place.path,
            parts=tuple(file.path for file in files),
            size=sum(file.size for file in files),
            mtime_ns=changed,
            touched=changed // 1_000_000 if latest is None else latest,
            archived=bool(self.archived_root) and place.path == str(self.roots()[-1]),
            imported_from=place.imported_from,
            keep_empty=not self.skip_empty,
        )

    def look(self, file: Found) -> tuple[Any, ...]:
        """Return what :meth:`peek` sees in a file, without opening one that is as it was."""
        return self.surroundings.peeks.look(file, self.peek)

    def read(self, unit: Unit, health: Integrity) -> Iterator[Item]:
        """Map the records of one session."""
        context = Context(unit, health)
        match _modes(type(self)):
            case ["parse"]:
                yield from self.parse(read_jsonl(unit.path, health, glued=self.glued), context)
            case ["parse_json"]:
                yield from self.parse_json(read_json(unit.path, health), context)
            case _:
                yield from self.read_unit(context)

    def read_on(
        self, unit: Unit, health: Integrity, checkpoint: Checkpoint
    ) -> Iterator[Item] | None:
        """Read all again."""
        del unit, health, checkpoint
        return None

    def transfer_files(self) -> Iterable[str]:
        """All files of the sessions of this machine that travel."""
        places = look_into(self.roots(), {}, self.transfer_match, _ignored)
        return [file.path for place in places for file in place.files]

    def _wanted(self, relative: str) -> bool:
        return self.unit == "dir" or self.match(relative)

    def _sessions(self, place: Place) -> Iterator[tuple[str, list[Found]]]:
        if self.unit == "file":
            for file in place.files:
                yield file.path, [file]
            return
        folders: dict[str, list[Found]] = {}
        for file in place.files:
            name, inside, _ = os.path.relpath(file.path, place.path).partition(os.sep)
            if inside and self.match(name) and not os.path.isdir(file.path):
                folders.setdefault(os.path.join(place.path, name), []).append(file)
        yield from folders.items()


_MODES = ("parse", "parse_json", "read_unit")


def file_adapter(
    *,
    agent: str,
    root: str,
    name: str = "",
    unit: Literal["file", "dir"] = "file",
    match: Callable[[str], bool] | None = None,
    parse: Callable[[Iterator[Record], Context], Iterable[Item]] | None = None,
    parse_json: Callable[[Any, Context], Iterable[Item]] | None = None,
    read: Callable[[Context], Iterable[Item]] | None = None,
    archived_root: str = "",
    import_store: bool = True,
    skip_empty: bool = True,
    transfer_match: Callable[[str], bool] | None = None,
) -> type[FileAdapter]:
    """Make an adapter of functions; see :class:`FileAdapter` for what they mean.

    Raises:
        RegistrationError: something is missing, or there are two ways to read.

    >>> adapter = file_adapter(agent="notes", root="~/.notes", match=str, parse=lambda *_: [])
    >>> adapter.agent
    'notes'
    """
    given: dict[str, Callable[..., Any] | None]
    given = {
        "match": match,
        "parse": parse,
        "parse_json": parse_json,
        "read_unit": read,
        "transfer_match": transfer_match,
    }
    methods = {key: staticmethod(way) for key, way in given.items() if way is not None}
    options = {
        "agent": agent,
        "name": name or agent,
        "root": root,
        "unit": unit,
        "archived_root": archived_root,
        "import_store": import_store,
        "skip_empty": skip_empty,
        "__doc__": f"Adapter of {agent}.",
    }
    return type(f"FileAdapter[{agent}]", (FileAdapter,), {**options, **methods})


def _modes(cls: type[FileAdapter]) -> list[str]:
    """Return the ways to read that a class has."""
    return [mode for mode in _MODES if getattr(cls, mode) is not getattr(FileAdapter, mode)]


def _check(cls: type[FileAdapter]) -> None:
    """Find mistakes in the definition of an adapter.

    Raises:
        RegistrationError: there is one.
    """
    modes = _modes(cls)
    faults = {
        "has no agent id": not cls.agent,
        "has no root": not cls.root,
        f"has a unit that is neither file nor dir: {cls.unit}": cls.unit not in ("file", "dir"),
        "has no way to read: parse, parse_json or read": not modes,
        f"has more than one way to read: {', '.join(modes)}": len(modes) > 1,
        "reads folders, which only read can": cls.unit == "dir" and modes[:1] != ["read_unit"],
        "has no match, so that every file would be a session": (
            cls.unit == "file" and cls.match is FileAdapter.match
        ),
    }
    for fault, found in faults.items():
        if found:
            raise RegistrationError(f"adapter {cls.agent or cls.__name__} {fault}")


def _stem(path: str) -> str:
    name = os.path.basename(path)
    for extension in (".zst", ".jsonl", ".json"):
        name = name.removesuffix(extension)
    return name


def _ignored(_error: Exception) -> None:
    """Say nothing of what was told before."""
