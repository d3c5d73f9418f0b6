"""SQLite databases of agents: opened beside a live writer, and left as they were to the byte."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agtail.errors import SourceError
from agtail.records import open_source, reason_of

if TYPE_CHECKING:
    import sqlite3


@contextlib.contextmanager
def open_database(path: str | Path) -> Iterator[sqlite3.Connection]:
    """Open an agent's SQLite database without changing a byte in or beside it.

    No side file, or an empty log: opened as immutable. A log with its shared memory, so that a
    writer may be alive: opened read-only, the shared memory too. A log alone, or the journal of a
    write that has not ended: a private copy is opened, and kept for the next time. Text that is
    not UTF-8 comes with U+FFFD.

    Raises:
        SourceError: missing, locked, damaged or not a database, now or during a query.
    """
    import sqlite3  # noqa: PLC0415 - only some agents need it, and not every Python has it

    with contextlib.ExitStack() as stack:
        try:
            try:
                open_source(path).close()
                uri = _uri(Path(path))
                opened = contextlib.closing(_connect(uri)) if uri else _private(str(path))
                connection = stack.enter_context(opened)
            except OSError as error:
                raise SourceError(str(path), reason_of(error)) from error
            yield connection
        except (sqlite3.Error, UnicodeDecodeError) as error:  # the latter from a damaged schema
            raise SourceError(str(path), str(error)) from error


def side_files(path: str) -> tuple[str, str, str]:
    """Return the names of a database's log, its shared memory, and its journal."""
    log, memory, journal = (f"{path}-{kind}" for kind in ("wal", "shm", "journal"))
    return log, memory, journal


def row_of(connection: sqlite3.Connection, table: str, row: str) -> dict[str, Any] | None:
    """Return a row as :class:`agtail.model.Source` names it: by the table's key, else its number.

    The key is the column that alone is the primary key, else one named ``key`` or ``id``.
    Bytes come as text when they are UTF-8, else as their hexadecimal digits.
    """
    name = table.replace('"', '""')
    columns = connection.execute(f'PRAGMA table_info("{name}")').fetchall()
    keys = [column["name"] for column in columns if column["pk"]]
    named = [column["name"] for column in columns if column["name"] in ("key", "id")]
    key = keys[0] if len(keys) == 1 else named[0] if named else "rowid"
    key = key.replace('"', '""')
    query = f'SELECT * FROM "{name}" WHERE CAST("{key}" AS TEXT) = ?'  # noqa: S608 - quoted above
    found = connection.execute(query, (row,)).fetchone()
    if found is None:
        return None
    return {column: _readable(value) for column, value in dict(found).items()}


def _readable(value: Any) -> Any:
    if not isinstance(value, bytes):
        return value
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.hex()


def _connect(uri: str) -> sqlite3.Connection:
    import sqlite3  # noqa: PLC0415 - only some agents need it, and not every Python has it

    connection = sqlite3.connect(uri, uri=True, timeout=1.0)
    try:
        connection.row_factory = sqlite3.Row
        connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
        connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchall()
    except BaseException:
        connection.close()
        raise
    return connection


def _uri(path: Path) -> str | None:
    """Say how to open a database where it is; ``None`` when only a copy can be."""
    uri = path.absolute().as_uri()
    log, memory, journal = side_files(str(path))
    if _size(journal) > 0:
        return None
    if _size(log) <= 0:
        return f"{uri}?immutable=1"
    return f"{uri}?mode=ro&readonly_shm=1" if os.path.exists(memory) else None


def _size(path: str) -> int:
    """Return the bytes of a file, -1 when there is none."""
    try:
        return os.stat(path).st_size
    except OSError:
        return -1


class _Copy:
    """A private copy, open: only the thread that made it may use it."""

    def __init__(self, path: str, made_of: tuple[object, ...]) -> None:
        self.made_of = made_of
        self.users = 0
        import shutil  # noqa: PLC0415 - start-up time
        import tempfile  # noqa: PLC0415 - start-up time

        self._folder = tempfile.TemporaryDirectory(prefix="agtail-")
        try:
            copy = os.path.join(self._folder.name, "copy.sqlite")
            for source in _parts(path):
                shutil.copyfile(source, f"{copy}{source.removeprefix(path)}")
            self.connection = _connect(Path(copy).as_uri())
        except BaseException:
            self._folder.cleanup()
            raise
        if os.name == "posix":  # what is open stays, and nothing is left when agtail is killed
            self._folder.cleanup()

    def close(self) -> None:
        """Give it up."""
        self.connection.close()
        self._folder.cleanup()


_copies: list[_Copy] = []
"""The latest copies: the sessions of a database are read one after the other."""


@contextlib.contextmanager
def _private(path: str) -> Iterator[sqlite3.Connection]:
    """Use a copy of a database and what belongs to it, made anew when one of these changed."""
    made_of = _made_of(path)
    copy = next((each for each in _copies if each.made_of == made_of), None)
    if copy is None:
        for old in [each for each in _copies if not each.users]:
            _copies.remove(old)
            old.close()
        copy = _Copy(path, made_of)
        _copies.append(copy)
    copy.users += 1
    try:
        yield copy.connection
    finally:
        copy.users -= 1


def _parts(path: str) -> list[str]:
    log, _, journal = side_files(path)
    return [each for each in (path, log, journal) if os.path.exists(each)]


def _made_of(path: str) -> tuple[object, ...]:
    """Tell one copy from another, and whose it is: a connection belongs to one thread."""
    import threading  # noqa: PLC0415 - start-up time

    parts = _parts(path)
    states = [os.stat(each) for each in parts]
    stamps = ((state.st_ino, state.st_size, state.st_mtime_ns) for state in states)
    return (os.getpid(), threading.get_ident(), *parts, *stamps)
