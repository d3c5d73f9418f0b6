"""SQLite databases of our own: private, of a known version, moved aside when not to be trusted."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path


def open_own(
    path: Path,
    *,
    version: int,
    tables: str,
    warn: Callable[[str], None],
    fill: Callable[[sqlite3.Connection], None] = lambda _connection: None,
) -> sqlite3.Connection:
    """Open a database of ours in WAL mode, and make it when it is missing.

    Args:
        path: the file, in a folder that is there.
        version: of the tables; a database of another one is moved aside, like a damaged one.
        tables: the statements that make them, each ended by ``;`` and a line feed.
        warn: told in one line when a database was moved aside.
        fill: called once the tables are made, within the same transaction: either both are
            there or nothing.

    Raises:
        OSError: the file cannot be made or moved.
        sqlite3.Error: the database cannot be opened, for another reason than damage.
    """
    reason = _unusable(path, version) if path.exists() else None
    if reason:
        warn(f"{path}: {reason}; moved aside and built anew")
        _move_aside(path)
    # The side files get the mode that the database has when it is first written.
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    connection = _connect(path)
    try:
        if _is_empty(connection):
            with transaction(connection):
                if _is_empty(connection):
                    for statement in tables.split(";\n"):
                        connection.execute(statement)
                    connection.execute(f"PRAGMA user_version = {version}")
                    fill(connection)
    except BaseException:
        connection.close()
        raise
    return connection


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Run a batch of changes as the only writer: all of them or none."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=30.0, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode = WAL").fetchone()
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA secure_delete = ON")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _is_empty(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is None


def _unusable(path: Path, version: int) -> str | None:
    """Say what is wrong with an existing database, or nothing."""
    try:
        with contextlib.closing(_connect(path)) as connection:
            if _is_empty(connection):
                return None
            [found] = connection.execute("PRAGMA user_version").fetchone()
    except sqlite3.OperationalError:
        raise  # a lock, a full disk, a folder that may not be written: no damage
    except sqlite3.DatabaseError:
        return "damaged database"
    return None if found == version else f"database of version {found}, not {version}"


def _move_aside(path: Path) -> None:
    stamp = time.strftime("%Y%m%d-%H%M%S")
    for suffix in ("", "-wal", "-shm"):
        part = Path(f"{path}{suffix}")
        if part.exists():
            part.rename(f"{path}.{stamp}.old{suffix}")
