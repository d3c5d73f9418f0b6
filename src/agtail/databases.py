"""SQLite databases of agents: opened beside a live writer, and left as they were to the byte."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from agtail.errors import SourceError
from agtail.records import open_source, reason_of

if TYPE_CHECKING:
    import sqlite3


@contextlib.contextmanager
def open_database(path: str | Path) -> Iterator[sqlite3.Connection]:
    """Open an agent's SQLite database without changing a byte in or beside it.

    No side file: opened as immutable. A log with its shared memory, so that a writer may be
    alive: opened read-only, the shared memory too. A log alone, or the journal of a write that
    has not ended: a private copy is opened. Text that is not UTF-8 comes with U+FFFD.

    Raises:
        SourceError: missing, locked, damaged or not a database, now or during a query.
    """
    import sqlite3  # noqa: PLC0415 - only some agents need it, and not every Python has it

    with contextlib.ExitStack() as stack:
        try:
            open_source(path).close()
            uri = _database_uri(Path(path), stack)
        except OSError as error:
            raise SourceError(str(path), reason_of(error)) from error
        try:
            connection = stack.enter_context(
                contextlib.closing(sqlite3.connect(uri, uri=True, timeout=1.0))
            )
            connection.row_factory = sqlite3.Row
            connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
            connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchall()
            yield connection
        except (sqlite3.Error, UnicodeDecodeError) as error:  # the latter from a damaged schema
            raise SourceError(str(path), str(error)) from error


def _database_uri(path: Path, stack: contextlib.ExitStack) -> str:
    """Choose how to open a database; a private copy lives as long as the stack."""
    uri = path.absolute().as_uri()
    log, memory, journal = (f"{path}-{kind}" for kind in ("wal", "shm", "journal"))
    if os.path.exists(log) and os.path.exists(memory):
        return f"{uri}?mode=ro&readonly_shm=1"
    copied = [side for side in (log, journal) if os.path.exists(side)]
    if not copied:
        return f"{uri}?immutable=1"
    import shutil  # noqa: PLC0415 - start-up time
    import tempfile  # noqa: PLC0415 - start-up time

    private = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="agtail-")))
    copy = private / "copy.sqlite"
    for source in (str(path), *copied):
        shutil.copyfile(source, f"{copy}{source.removeprefix(str(path))}")
    return copy.as_uri()
