"""The catalogue: sources, sessions and blocks in one SQLite database, private to the user.

It is a cache of the truth plus an archive: it may be deleted at any time, and a newer or damaged
one is moved aside with one line and built anew, never trusted.
"""

from __future__ import annotations

import contextlib
import copy
import os
import sqlite3
import time
import unicodedata
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from agtail.agents.base import Unit
from agtail.errors import StoreError, StoreMissingError
from agtail.model import Session
from agtail.store.blocks import Block

if TYPE_CHECKING:
    from agtail.store.append import Amendment

SCHEMA = 1
"""Version of the tables and of what is in them; another one is moved aside and rebuilt."""

_TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE sources (
  id INTEGER PRIMARY KEY, agent TEXT NOT NULL, path TEXT NOT NULL, root TEXT NOT NULL,
  readers INTEGER NOT NULL, due INTEGER, unit BLOB NOT NULL, checkpoint BLOB,
  gone INTEGER NOT NULL DEFAULT 0, kept INTEGER NOT NULL DEFAULT 0,
  UNIQUE (agent, path));
CREATE INDEX sources_due ON sources (due) WHERE due IS NOT NULL;
CREATE TABLE settled (agent TEXT PRIMARY KEY, look BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE sessions (
  id INTEGER PRIMARY KEY, source INTEGER NOT NULL, place INTEGER NOT NULL,
  session_id TEXT NOT NULL, touched INTEGER NOT NULL, record BLOB NOT NULL);
CREATE INDEX sessions_by_source ON sessions (source);
CREATE INDEX sessions_by_name ON sessions (session_id);
CREATE TABLE blocks (
  id INTEGER PRIMARY KEY AUTOINCREMENT, session INTEGER NOT NULL, first INTEGER NOT NULL,
  count INTEGER NOT NULL, kinds INTEGER NOT NULL, time_min INTEGER, time_max INTEGER,
  hay BLOB NOT NULL, rest BLOB NOT NULL);
CREATE INDEX blocks_by_session ON blocks (session, first);
CREATE TABLE fresh (block INTEGER PRIMARY KEY, bits BLOB NOT NULL);
CREATE TABLE segments (
  first INTEGER PRIMARY KEY, count INTEGER NOT NULL, file TEXT NOT NULL, ids BLOB NOT NULL);
CREATE TABLE forgotten (
  agent TEXT NOT NULL, path TEXT NOT NULL, place BLOB NOT NULL, size INTEGER NOT NULL,
  touched INTEGER NOT NULL, PRIMARY KEY (agent, path)) WITHOUT ROWID;
CREATE TABLE peeks (path TEXT PRIMARY KEY, stamp TEXT NOT NULL, seen BLOB NOT NULL) WITHOUT ROWID;
"""

_VERSION = f"{SCHEMA}.{zlib.crc32(_TABLES.encode()):x}/{unicodedata.unidata_version}"
"""The tables as they are, and the Unicode version: signatures are of folded text."""

_CHUNK = 500
"""Values put into one statement: SQLite takes at most 999 in old versions."""

_UNIT = msgspec.msgpack.Decoder(Unit)
_SESSION = msgspec.msgpack.Decoder(Session)


class Source(NamedTuple):
    """A stored source.

    Attributes:
        id: its row.
        root: the folder of sessions that it was found below.
        readers: version of the adapters that it was read with.
        packed: where it lies, and what tells whether it has changed, encoded; see ``unit``.
        due: when it has to be read again even so, in milliseconds since 1970: what it says of
            its last turn or line was not settled yet.
        gone: the agent deleted it.
    """

    id: int
    root: str
    readers: int
    packed: bytes
    due: int | None
    gone: int

    @property
    def unit(self) -> Unit:
        """The source as it was found when it was read."""
        return _UNIT.decode(self.packed)


class StoredSession:
    """A stored session: its row, and what is known of it, decoded when it is asked for."""

    __slots__ = ("_gone", "_record", "id", "source")

    def __init__(self, row: int, source: int, record: bytes, gone: int) -> None:
        self.id = row
        self.source = source
        self._record = record
        self._gone = gone

    @property
    def session(self) -> Session:
        """The session, without its events."""
        session = _SESSION.decode(self._record)
        session.source_gone = bool(self._gone)
        return session


class Catalogue:
    """One open connection to the catalogue.

    Args:
        folder: where the store lies; made when missing.
        warn: told in one line when a damaged store had to be moved aside.
        existing: nothing is to be made or moved: a store that is there is opened, or none.

    Raises:
        StoreMissingError: there is no store, and none is to be made.
        StoreError: the folder cannot be used; the message says why.
    """

    def __init__(
        self, folder: Path, warn: Callable[[str], None], *, existing: bool = False
    ) -> None:
        self.folder = folder
        self._path = folder / "catalogue.sqlite"
        try:
            if existing:
                self.connection = self._open_as_it_is()
                return
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self.connection = self._open(warn)
        except (OSError, sqlite3.Error) as error:
            raise StoreError(str(folder), str(error)) from error

    def __del__(self) -> None:
        # A connection refers to itself (its cache of statements), so it would stay open, and what
        # it reads would stay locked, until some later collection.
        if hasattr(self, "connection"):
            with contextlib.suppress(sqlite3.Error):
                self.close()

    def close(self) -> None:
        """Close the connection."""
        self.connection.close()

    def snapshot(self) -> Catalogue:
        """Return another, which goes on seeing the store as it is at this moment."""
        other = copy.copy(self)
        other.reopen()
        return other

    def reopen(self) -> None:
        """Take another connection, which goes on seeing the store as it is at this moment.

        Also for a forked process, since one must not be used on both sides.
        """
        self.connection = self._connect()
        # For who reads alone: what a writer has mapped would count as its own memory.
        self.connection.execute("PRAGMA mmap_size = 1073741824")
        self.connection.execute("BEGIN")
        self.connection.execute("SELECT 1 FROM meta").fetchone()  # the first look is the moment

    def state(self) -> tuple[int, int]:
        """Return what tells two states of the store apart: the newest block, and how many."""
        row = self.connection.execute("SELECT max(id), count(*) FROM blocks").fetchone()
        return (row[0] or 0, row[1])

    @contextlib.contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Run a batch of changes: all of them or none.

        Raises:
            StoreError: such as a full disk; nothing of the batch was kept.
        """
        try:
            self.connection.execute("BEGIN IMMEDIATE")
            yield self.connection
            self.connection.execute("COMMIT")
        except sqlite3.Error as error:
            with contextlib.suppress(sqlite3.Error):
                self.connection.execute("ROLLBACK")
            raise StoreError(str(self._path), str(error)) from error
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                self.connection.execute("ROLLBACK")
            raise

    def sources(self, agents: Iterable[str] | None = None) -> dict[tuple[str, str], Source]:
        """Return the sources of some agents, or of all, by agent and path."""
        names = None if agents is None else list(agents)
        where = "" if names is None else f" WHERE agent IN ({marks(names)})"
        rows = self.connection.execute(
            f"SELECT agent, path, id, root, readers, unit, due, gone FROM sources{where}",  # noqa: S608 - only question marks are put in
            names or (),
        )
        return {(agent, path): Source(*rest) for agent, path, *rest in rows}

    def sessions(
        self, roots: Iterable[str], agents: Iterable[str], only: set[int] | None = None
    ) -> list[StoredSession]:
        """Return the sessions below some roots, in the order of search: newest first.

        Args:
            roots: folders of sessions.
            agents: agents whose sessions they are.
            only: rows to choose from; ``None`` for all.
        """
        if only is not None and not only:
            return []
        wanted, names = list(roots), list(agents)
        few = list(only) if only is not None and len(only) <= _CHUNK else []
        rows = self.connection.execute(
            f"""
            SELECT sessions.id, sessions.source, record, gone FROM sessions
            CROSS JOIN sources ON sources.id = sessions.source -- in this order, whatever it thinks
            WHERE root IN ({marks(wanted)}) AND agent IN ({marks(names)})
              {f"AND sessions.id IN ({marks(few)})" if few else ""}
            ORDER BY touched DESC, agent, path, place
            """,  # noqa: S608 - only question marks are put in
            (*wanted, *names, *few),
        )
        return [StoredSession(*row) for row in rows if only is None or row[0] in only]

    def sessions_of(self, blocks: Iterable[int]) -> set[int]:
        """Return the rows of the sessions that some blocks belong to."""
        numbers = list(blocks)
        found: set[int] = set()
        for start in range(0, len(numbers), _CHUNK):
            chunk = numbers[start : start + _CHUNK]
            rows = self.connection.execute(
                f"SELECT session FROM blocks WHERE id IN ({marks(chunk)})",  # noqa: S608 - only question marks are put in
                chunk,
            )
            found.update(row[0] for row in rows)
        return found

    def put(
        self,
        unit: Unit,
        readers: int,
        due: int | None,
        checkpoint: bytes | None,
        sessions: Iterable[tuple[Session, list[Block], list[bytes]]],
    ) -> None:
        """Store a source, in place of what was known of it. Call within a transaction.

        Args:
            unit: the source.
            readers: version of the adapters that it was read with.
            due: when it has to be read again even so.
            checkpoint: what it takes to go on reading where it ended.
            sessions: its sessions, each with its blocks and their signatures.
        """
        run = self.connection.execute
        self.drop(unit.agent, unit.path)
        run("DELETE FROM forgotten WHERE agent = ? AND path = ?", (unit.agent, unit.path))
        source = run(
            "INSERT INTO sources (agent, path, root, readers, due, checkpoint, unit)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                unit.agent,
                unit.path,
                unit.root,
                readers,
                due,
                checkpoint,
                msgspec.msgpack.encode(unit),
            ),
        ).lastrowid
        for place, (session, blocks, signatures) in enumerate(sessions):
            row = run(
                "INSERT INTO sessions (source, place, session_id, touched, record)"
                " VALUES (?, ?, ?, ?, ?)",
                (source, place, session.id, unit.touched, msgspec.msgpack.encode(session)),
            ).lastrowid
            for block, bits in zip(blocks, signatures, strict=True):
                self._add(row or 0, block, bits)

    def checkpoint(self, source: int) -> bytes | None:
        """Return what it takes to go on reading a source where it ended."""
        row = self.connection.execute(
            "SELECT checkpoint FROM sources WHERE id = ?", (source,)
        ).fetchone()
        return row[0] if row and row[0] else None

    def rows_of(self, source: int) -> list[int]:
        """Return the rows of the sessions of a source, in their order."""
        rows = self.connection.execute(
            "SELECT id FROM sessions WHERE source = ? ORDER BY place", (source,)
        )
        return [row[0] for row in rows]

    def amend(self, source: int, change: Amendment, readers: int, due: int | None) -> None:
        """Store how a session has grown. Call within a transaction."""
        run = self.connection.execute
        for block in change.removed:
            run("DELETE FROM fresh WHERE block = ?", (block,))
            run("DELETE FROM blocks WHERE id = ?", (block,))
        for added, bits in change.blocks:
            self._add(change.row, added, bits)
        run(
            "UPDATE sessions SET touched = ?, record = ? WHERE id = ?",
            (change.unit.touched, msgspec.msgpack.encode(change.session), change.row),
        )
        run(
            "UPDATE sources SET readers = ?, due = ?, unit = ?, kept = 0, gone = 0,"
            " checkpoint = COALESCE(?, checkpoint) WHERE id = ?",
            (readers, due, msgspec.msgpack.encode(change.unit), change.checkpoint, source),
        )

    def distrust(self, sources: Iterable[Source]) -> None:
        """Have sources read again, whatever becomes of this process. Call within a transaction."""
        ids = [(source.id,) for source in sources]
        self.connection.executemany("UPDATE sources SET due = 0 WHERE id = ?", ids)

    def _add(self, session: int, block: Block, bits: bytes) -> None:
        run = self.connection.execute
        number = run(
            "INSERT INTO blocks (session, first, count, kinds, time_min, time_max, hay, rest)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (session, *block[:7]),
        ).lastrowid
        run("INSERT INTO fresh (block, bits) VALUES (?, ?)", (number, bits))

    def drop(self, agent: str, path: str) -> bool:
        """Remove a source with all that it brought. Call within a transaction."""
        run = self.connection.execute
        row = run("SELECT id FROM sources WHERE agent = ? AND path = ?", (agent, path)).fetchone()
        if row is None:
            return False
        sessions = "SELECT id FROM sessions WHERE source = ?"
        blocks = f"SELECT id FROM blocks WHERE session IN ({sessions})"  # noqa: S608 - constant text
        run(f"DELETE FROM fresh WHERE block IN ({blocks})", row)  # noqa: S608 - constant text
        run(f"DELETE FROM blocks WHERE session IN ({sessions})", row)  # noqa: S608 - constant text
        run("DELETE FROM sessions WHERE source = ?", row)
        run("DELETE FROM sources WHERE id = ?", row)
        return True

    def move_aside(self) -> Path:
        """Close the catalogue and put it out of the way; return where it lies then."""
        self.close()
        return self._move_aside()

    def _open_as_it_is(self) -> sqlite3.Connection:
        if not self._path.is_file():
            raise StoreMissingError(str(self.folder))
        reason = self._unusable()
        if reason:
            raise StoreError(str(self._path), f"{reason}; agtail index rebuild makes it anew")
        connection = self._connect()
        if not connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone():
            connection.close()
            raise StoreMissingError(str(self.folder))
        return connection

    def _open(self, warn: Callable[[str], None]) -> sqlite3.Connection:
        known = self._path.exists()
        if known:
            reason = self._unusable()
            if reason:
                warn(f"{self._path}: {reason}; moved aside and built anew")
                self._move_aside()
        # The files beside the database get the mode that it has when it is first written.
        os.close(os.open(self._path, os.O_CREAT | os.O_RDWR, 0o600))
        connection = self._connect()
        if not connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone():
            self._create(connection)
        return connection

    def _unusable(self) -> str | None:
        """Say what is wrong with an existing database, or nothing."""
        try:
            with contextlib.closing(self._connect()) as connection:
                if not connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone():
                    return None
                row = connection.execute("SELECT value FROM meta WHERE key = 'schema'").fetchone()
        except sqlite3.OperationalError as error:
            # A table that is not there; a lock, a full disk or a refusal to write is no damage.
            if error.sqlite_errorcode != sqlite3.SQLITE_ERROR:
                raise
            return "damaged store"
        except sqlite3.DatabaseError:
            return "damaged store"
        version = row[0] if row else "?"
        return None if version == _VERSION else f"store of version {version}, not {_VERSION}"

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, timeout=10.0, isolation_level=None)
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchone()
            connection.execute("PRAGMA synchronous = NORMAL")
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def _create(self, connection: sqlite3.Connection) -> None:
        connection.execute("BEGIN IMMEDIATE")
        if not connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone():
            for statement in _TABLES.split(";\n"):
                if statement.strip():
                    connection.execute(statement)
            connection.execute("INSERT INTO meta VALUES ('schema', ?)", (_VERSION,))
        connection.execute("COMMIT")

    def _move_aside(self) -> Path:
        stamp = time.strftime("%Y%m%d-%H%M%S")
        for suffix in ("", "-wal", "-shm"):
            part = Path(f"{self._path}{suffix}")
            if part.exists():
                part.rename(f"{self._path}.{stamp}.old{suffix}")
        return Path(f"{self._path}.{stamp}.old")


def is_text(path: str) -> bool:
    """Whether a path can be stored: names of files may be bytes that are no UTF-8."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def marks(values: Sequence[object]) -> str:
    """Return as many question marks as there are values."""
    return ", ".join("?" * len(values))
