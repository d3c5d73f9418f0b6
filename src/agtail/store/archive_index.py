"""What the raw archive holds, in one small SQLite database that the files can replace."""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from agtail.errors import ArchiveError
from agtail.store.database import open_own, transaction
from agtail.store.frames import Frame, survey

VERSION = 1
"""Version of the tables; another one is moved aside, and the index made anew from the files."""

_TABLES = """
CREATE TABLE copies (
  agent TEXT NOT NULL, path BLOB NOT NULL, generation INTEGER NOT NULL, number INTEGER NOT NULL,
  raw INTEGER NOT NULL, stored INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, mark BLOB NOT NULL,
  kept INTEGER NOT NULL, frames BLOB NOT NULL,
  PRIMARY KEY (agent, path, generation))
"""
_COLUMNS = "agent, path, generation, number, raw, stored, mtime_ns, mark, kept, frames"
_FRAMES = msgspec.msgpack.Decoder(tuple[Frame, ...])


class Copy(msgspec.Struct, frozen=True, kw_only=True):
    """One writing of a source, as it is kept.

    Attributes:
        agent: id of the agent.
        path: absolute path of the source.
        generation: 1 for the first writing, one more for each that did not go on from the last.
        number: of the file, one more whenever it is written anew.
        raw: bytes of the source that are kept.
        stored: bytes of the file that count; what lies behind them is left from a broken write.
        mtime_ns: change time of the source that these bytes are, -1 when that is not certain.
        mark: digest of the beginning and the end of the bytes, empty when it is not certain.
        kept: when bytes were last added, milliseconds since 1970.
        frames: where the bytes lie.
    """

    agent: str
    path: str
    generation: int
    number: int
    raw: int = 0
    stored: int = 0
    mtime_ns: int = -1
    mark: bytes = b""
    kept: int = 0
    frames: tuple[Frame, ...]

    @property
    def file(self) -> str:
        """Name of the file in the folder of the archive."""
        return f"{key(self.agent, self.path)}-{self.number}.zst"


def key(agent: str, path: str) -> str:
    """Return the name under which a source is kept."""
    return hashlib.sha256(agent.encode() + b"\0" + os.fsencode(path)).hexdigest()


class ArchiveIndex:
    """The open index of an archive.

    Raises:
        ArchiveError: by each method: the database cannot be read or written.
    """

    def __init__(self, folder: Path, warn: Callable[[str], None]) -> None:
        self._folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._connection = open_own(
                folder / "index.sqlite",
                version=VERSION,
                tables=_TABLES,
                warn=warn,
                fill=self._fill,
            )
        except (OSError, sqlite3.Error) as error:
            raise ArchiveError(str(folder), str(error)) from error

    def close(self) -> None:
        """Close the database."""
        self._connection.close()

    def is_current(self, agent: str, path: str, size: int, mtime_ns: int) -> bool:
        """Tell whether the newest copy of a source is of this size and change time."""
        rows = self._ask(
            "SELECT raw, mtime_ns FROM copies WHERE agent = ? AND path = ?"
            " ORDER BY generation DESC LIMIT 1",
            agent,
            os.fsencode(path),
        )
        return rows == [(size, mtime_ns)]

    def of(self, agent: str, path: str) -> list[Copy]:
        """Return all copies of a source, the newest first."""
        rows = self._ask(
            f"SELECT {_COLUMNS} FROM copies WHERE agent = ? AND path = ? ORDER BY generation DESC",  # noqa: S608 - constant text
            agent,
            os.fsencode(path),
        )
        return list(map(_copy, rows))

    def all(self) -> Iterator[Copy]:
        """Yield all copies: by agent and path, the newest of each first."""
        statement = f"SELECT {_COLUMNS} FROM copies ORDER BY agent, path, generation DESC"  # noqa: S608 - constant text
        yield from map(_copy, self._ask(statement))

    def sums(self) -> tuple[int, int]:
        """Return raw and stored bytes of all copies."""
        [(raw, stored)] = self._ask("SELECT total(raw), total(stored) FROM copies")
        return int(raw), int(stored)

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Be the only writer of the archive, and change all or nothing in the index."""
        try:
            with transaction(self._connection):
                yield
        except sqlite3.Error as error:
            raise ArchiveError(str(self._folder), str(error)) from error

    def put(self, copy: Copy) -> None:
        """Add a copy, or replace what is known of it. Call while writing."""
        _insert(self._connection, copy)

    def drop(self, copy: Copy) -> None:
        """Remove a copy. Call while writing."""
        self._ask(
            "DELETE FROM copies WHERE agent = ? AND path = ? AND generation = ?",
            copy.agent,
            os.fsencode(copy.path),
            copy.generation,
        )

    def wipe(self) -> None:
        """Leave nothing of what was removed in the log beside the database."""
        self._ask("PRAGMA wal_checkpoint(TRUNCATE)")

    def _ask(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        try:
            return self._connection.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise ArchiveError(str(self._folder), str(error)) from error

    def _fill(self, connection: sqlite3.Connection) -> None:
        """Take up what the files say of themselves; of one writing, the last file counts."""
        found: dict[tuple[str, str, int], Copy] = {}
        for file in self._folder.glob("*-*.zst"):
            with open(file, "rb") as stream:
                surveyed = survey(stream)
            name, _, number = file.stem.rpartition("-")
            if surveyed is None or not number.isdecimal():
                continue
            label, frames, end = surveyed
            if name != key(label.agent, label.path):
                continue
            copy = Copy(
                agent=label.agent,
                path=label.path,
                generation=label.generation,
                number=int(number),
                raw=sum(frame.raw_length for frame in frames),
                stored=end,
                kept=file.stat().st_mtime_ns // 1_000_000,
                frames=tuple(frames),
            )
            writing = (copy.agent, copy.path, copy.generation)
            if writing not in found or found[writing].number < copy.number:
                found[writing] = copy
        for copy in found.values():
            _insert(connection, copy)


def _insert(connection: sqlite3.Connection, copy: Copy) -> None:
    connection.execute(
        f"INSERT OR REPLACE INTO copies ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608 - constant text
        (
            copy.agent,
            os.fsencode(copy.path),
            copy.generation,
            copy.number,
            copy.raw,
            copy.stored,
            copy.mtime_ns,
            copy.mark,
            copy.kept,
            msgspec.msgpack.encode(copy.frames),
        ),
    )


def _copy(row: tuple[Any, ...]) -> Copy:
    agent, path, generation, number, raw, stored, mtime_ns, mark, kept, frames = row
    return Copy(
        agent=agent,
        path=os.fsdecode(path),
        generation=generation,
        number=number,
        raw=raw,
        stored=stored,
        mtime_ns=mtime_ns,
        mark=mark,
        kept=kept,
        frames=_FRAMES.decode(frames),
    )
