"""Adapters of agents that keep many sessions in one SQLite database.

:class:`SqliteAdapter` is the adapter but for the two queries: which sessions there are, and what
is in one; :func:`sqlite_adapter` makes one of two functions. The database is only ever opened by
``databases.py``: read-only, beside a live writer, and only when it or its log has changed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from agtail.agents.base import (
    Checkpoint,
    Item,
    Place,
    Prompt,
    Retention,
    Surroundings,
    Unit,
    expand,
)
from agtail.agents.files import Context
from agtail.databases import open_database, side_files
from agtail.errors import RegistrationError, SourceError
from agtail.model import Integrity
from agtail.records import Found, Report, reason_of

if TYPE_CHECKING:
    import sqlite3


class Row(NamedTuple):
    """A session, as the list of a database tells it.

    Attributes:
        id: its id.
        touched: milliseconds since 1970 of its latest change.
        size: what it holds, in bytes or in records: it grows with the session.
        stamp: anything else that changes when the session does.
        parent_id: the session it belongs to.
        archived: put aside by the user.
    """

    id: str
    touched: int = 0
    size: int = 0
    stamp: str = ""
    parent_id: str | None = None
    archived: bool = False


class SqliteAdapter:
    """An adapter for sessions that are rows of a database.

    A subclass sets the attributes and has :meth:`list_sessions` and :meth:`read_session`.
    The path of a session is that of the database, ``#`` and its id.

    Raises:
        RegistrationError: a subclass lacks something.
    """

    agent: str = ""
    name: str = ""
    deletes_history: bool = False
    db: ClassVar[str] = ""
    """The database, ``~`` for home; others beside it count as :meth:`is_database` says."""
    import_store: ClassVar[bool] = True
    """Look into collections of imported sessions, too."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        _check(cls)

    def __init__(self, surroundings: Surroundings) -> None:
        self.surroundings = surroundings

    # What a subclass fills in

    def list_sessions(self, database: sqlite3.Connection) -> Iterable[Row]:
        """Tell which sessions there are, without reading them."""
        raise NotImplementedError

    def read_session(self, database: sqlite3.Connection, context: Context) -> Iterable[Item]:
        """Map one session, ``context.id``; ``Source.table`` and ``row`` of events say where."""
        raise NotImplementedError

    def is_database(self, name: str) -> bool:
        """Whether a file in the folder is such a database."""
        return name == os.path.basename(self.db)

    def default_folders(self) -> list[Path]:
        """Return the folders that a database may lie in when none was asked for."""
        return [expand(self.db, self.surroundings).parent]

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

    # What is the same for all

    def roots(self) -> list[Path]:
        """The folders of databases; one database may be asked for as well."""
        root = self.surroundings.root
        return self.default_folders() if root is None else [root]

    def find(self, report: Report) -> list[Place]:
        """Find databases, each with its log and journal behind it."""
        folders: list[tuple[str, str | None]] = [(str(root), None) for root in self.roots()]
        if self.import_store:
            folders += [(str(path), name) for name, path in self.surroundings.imported.items()]
        seen: set[tuple[int, int]] = set()
        places = []
        for folder, collection in folders:
            files = [
                found
                for path in self._databases(folder, report)
                for found in _with_sides(path, seen, report)
            ]
            places.append(Place(folder, files, collection))
        return places

    def units(self, places: Sequence[Place], report: Report) -> Iterator[Unit]:
        """Tell the sessions of each database; one that cannot be listed is reported."""
        for place in places:
            for files in _families(place.files):
                try:
                    rows = self._rows(files)
                except SourceError as error:
                    report(error)
                    continue
                for row in rows:
                    yield self.unit_of(place, files[0].path, row)

    def unit_of(self, place: Place, path: str, row: Row) -> Unit:
        """Describe one session; a subclass may know more."""
        return Unit(
            agent=self.agent,
            id=row.id,
            path=f"{path}#{row.id}",
            root=place.path,
            parts=(path,),
            size=row.size,
            mtime_ns=row.touched * 1_000_000,
            touched=row.touched,
            stamp=row.stamp,
            parent_id=row.parent_id,
            archived=row.archived,
            imported_from=place.imported_from,
        )

    def read(self, unit: Unit, health: Integrity) -> Iterator[Item]:
        """Map one session.

        What was read before a damaged page is kept, and the loss is counted.

        Raises:
            SourceError: nothing can be read.
        """
        begun = False
        try:
            with open_database(unit.parts[0]) as database:
                for item in self.read_session(database, Context(unit, health)):
                    begun = True
                    yield item
        except SourceError:
            if not begun:
                raise
            health.dropped += 1
            health.truncated = True

    def read_on(
        self, unit: Unit, health: Integrity, checkpoint: Checkpoint
    ) -> Iterator[Item] | None:
        """Read all again."""
        del unit, health, checkpoint
        return None

    def transfer_files(self) -> Iterable[str]:
        """A session of a database has no file of its own."""
        return ()

    def _databases(self, folder: str, report: Report) -> list[str]:
        """Return the databases in a folder; not below it, where agents keep much else."""
        try:
            names = sorted(os.listdir(folder))
        except NotADirectoryError:
            return [folder]
        except FileNotFoundError:
            return []
        except OSError as error:
            report(SourceError(folder, reason_of(error)))
            return []
        return [os.path.join(folder, name) for name in names if self.is_database(name)]

    def _rows(self, files: Sequence[Found]) -> list[Row]:
        """Return the list of a database, without opening one that is as it was.

        Raises:
            SourceError: it cannot be read.
        """
        path = files[0].path
        size = sum(file.size for file in files)
        if not size:
            return []  # made, and not used so far
        whole = Found(path, size, max(file.mtime_ns for file in files))

        def look(_path: str) -> tuple[Any, ...]:
            with open_database(path) as database:
                return tuple(self.list_sessions(database))

        return [Row(*row) for row in self.surroundings.peeks.look(whole, look)]


def sqlite_adapter(
    *,
    agent: str,
    db: str,
    list_sessions: Callable[[sqlite3.Connection], Iterable[Row]],
    read_session: Callable[[sqlite3.Connection, Context], Iterable[Item]],
    name: str = "",
    import_store: bool = True,
) -> type[SqliteAdapter]:
    """Make an adapter of two functions; see :class:`SqliteAdapter` for what they mean.

    Raises:
        RegistrationError: something is missing.

    >>> adapter = sqlite_adapter(
    ...     agent="notes", db="~/notes.db", list_sessions=lambda _: [], read_session=lambda *_: []
    ... )
    >>> adapter.agent
    'notes'
    """
    options = {
        "agent": agent,
        "name": name or agent,
        "db": db,
        "import_store": import_store,
        "list_sessions": staticmethod(list_sessions),
        "read_session": staticmethod(read_session),
        "__doc__": f"Adapter of {agent}.",
    }
    return type(f"SqliteAdapter[{agent}]", (SqliteAdapter,), options)


def _check(cls: type[SqliteAdapter]) -> None:
    """Find mistakes in the definition of an adapter.

    Raises:
        RegistrationError: there is one.
    """
    faults = {
        "has no agent id": not cls.agent,
        "has no database": not cls.db,
        "has no list_sessions": cls.list_sessions is SqliteAdapter.list_sessions,
        "has no read_session": cls.read_session is SqliteAdapter.read_session,
    }
    for fault, found in faults.items():
        if found:
            raise RegistrationError(f"adapter {cls.agent or cls.__name__} {fault}")


def _with_sides(path: str, seen: set[tuple[int, int]], report: Report) -> list[Found]:
    """Return a database with its log and journal, nothing when it was met before."""
    log, _, journal = side_files(path)
    found = []
    for each in (path, log, journal):
        try:
            state = os.stat(each)
        except OSError as error:
            if each == path:
                report(SourceError(path, reason_of(error)))
                return []
            continue
        if each == path:
            if (key := (state.st_dev, state.st_ino)) in seen:
                return []
            seen.add(key)
        found.append(Found(each, state.st_size, state.st_mtime_ns))
    return found


def _families(files: Sequence[Found]) -> Iterator[list[Found]]:
    """Yield each database with what belongs to it."""
    family: list[Found] = []
    for file in files:
        if family and file.path not in side_files(family[0].path):
            yield family
            family = []
        family.append(file)
    if family:
        yield family
