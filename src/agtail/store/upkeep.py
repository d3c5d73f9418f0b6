"""Upkeep of the store: what is in it and what it takes, tidying up, and removing for good."""

from __future__ import annotations

import contextlib
import os
import re
import sqlite3
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from agtail.agents.base import Unit
from agtail.errors import StoreError
from agtail.model import Wire
from agtail.store import forgotten
from agtail.store.archive import Archive
from agtail.store.blocks import folded, read_hay
from agtail.store.catalogue import Catalogue, Source, StoredSession
from agtail.store.changes import Change
from agtail.store.refresh import seal, writing
from agtail.store.settled import unsettle
from agtail.store.signatures import SEGMENT_BLOCKS, Segment, signature

KEEP_OLD = 30 * 24 * 3600.0
"""Seconds that a store which was moved aside is kept."""

_SLACK = 0.1
"""Share of empty pages from which on a database is worth writing anew."""

_SESSIONS = """
SELECT sessions.id, sessions.source, record, gone FROM sessions
JOIN sources ON sources.id = sessions.source
"""

_OLD = re.compile(r"catalogue\.sqlite\.(\d{8}-\d{6})\.old(?:-wal|-shm)?")


class Status(Wire, kw_only=True):
    """What the store holds and what it takes.

    Attributes:
        folder: where it lies.
        schema: version of its tables, with that of the Unicode rules.
        sources: files and databases that were read.
        present: those of them that are still where they were.
        gone: those of them that the agent deleted; what they held is kept.
        offline: folders of sessions that are not there at the moment, with their sources.
        sessions: sessions, without empty ones.
        unreadable: those of them whose source could not be read.
        events: all events.
        blocks: pieces that the text is stored in.
        source_bytes: of all sources, as they were when they were read.
        catalogue_bytes: of the database and its log.
        segment_bytes: of the signatures beside it.
        ratio: what these two take, as a share of the sources.
        archive_bytes: of the raw archive, which counts for itself.
        old_bytes: of stores that were moved aside.
    """

    folder: str
    schema: str
    sources: int
    present: int
    gone: int
    offline: dict[str, int]
    sessions: int
    unreadable: int
    events: int
    blocks: int
    source_bytes: int
    catalogue_bytes: int
    segment_bytes: int
    ratio: float | None = None
    archive_bytes: int
    old_bytes: int


class Refreshed(Wire, kw_only=True):
    """What a refresh did.

    Attributes:
        sources: those that were read.
        bytes: what these hold.
        vanished: sources that are no more; what they held is kept.
        moved: sources that were found in another place.
        seconds: how long it took.
    """

    sources: int
    bytes: int
    vanished: int
    moved: int
    seconds: float

    @classmethod
    def of(cls, change: Change) -> Refreshed:
        """Say what a refresh did, for those who asked for it."""
        return cls(
            sources=change.read,
            bytes=change.bytes,
            vanished=change.vanished,
            moved=change.moved,
            seconds=round(change.seconds, 3),
        )


class Savings(Wire, kw_only=True):
    """What tidying up did.

    Attributes:
        resealed: files of signatures that were written anew.
        signed: blocks that had no signature, or none to be trusted, and got one.
        files: files that belonged to nothing.
        rows: rows that belonged to nothing.
        peeks: notes on files that are no more.
        old_stores: stores that were moved aside long ago.
        vacuumed: the database was written anew without its holes.
        bytes: what all that won on the disk; less than nothing when signatures were missing.
    """

    resealed: int
    signed: int
    files: int
    rows: int
    peeks: int
    old_stores: int
    vacuumed: bool
    bytes: int


def status(catalogue: Catalogue) -> Status:
    """Look at the store, without changing anything."""
    one = catalogue.connection.execute
    sources = catalogue.sources()
    offline: dict[str, int] = {}
    for source in sources.values():
        root = source.unit.root
        if not source.gone and root and not os.path.isdir(root):
            offline[root] = offline.get(root, 0) + 1
    gone = sum(source.gone for source in sources.values())
    sessions = [StoredSession(*row).session for row in one(_SESSIONS)]
    raw = sum(source.unit.size for source in sources.values())
    folder = catalogue.folder
    own = _bytes(folder, lambda name: name.startswith("catalogue.") and not _is_old(name))
    segments = _bytes(folder / "segments")
    return Status(
        folder=str(folder),
        schema=one("SELECT value FROM meta WHERE key = 'schema'").fetchone()[0],
        sources=len(sources),
        present=len(sources) - gone - sum(offline.values()),
        gone=gone,
        offline=offline,
        sessions=len(sessions),
        unreadable=sum(
            bool(session.integrity and session.integrity.unreadable) for session in sessions
        ),
        events=sum(session.event_count for session in sessions),
        blocks=one("SELECT COUNT(*) FROM blocks").fetchone()[0],
        source_bytes=raw,
        catalogue_bytes=own,
        segment_bytes=segments,
        ratio=round((own + segments) / raw, 4) if raw else None,
        archive_bytes=_bytes(folder / "archive"),
        old_bytes=_bytes(folder, _is_old),
    )


def tidy(catalogue: Catalogue, *, distrusted: int = 0) -> Savings:
    """Remove what is of no use any more, and write anew what has become mostly holes.

    Args:
        catalogue: the store.
        distrusted: blocks up to this one get a new signature in any case.

    Raises:
        StoreError: the store cannot be written.
    """
    folder = catalogue.folder
    with writing(folder, wait=True):
        before = _all_bytes(folder)
        rows = _drop_orphans(catalogue)
        signed = _sign_again(catalogue, distrusted)
        resealed = _reseal(catalogue, distrusted)
        signed += _sign_unsigned(catalogue)
        try:
            seal(catalogue)
            files = _remove_strays(catalogue)
            peeks = _drop_peeks(catalogue)
            old = _remove_old(folder)
        except OSError as error:
            raise StoreError(str(folder), str(error)) from error
        if (folder / "archive").is_dir():
            with contextlib.closing(Archive(folder / "archive")) as archive:
                archive.tidy()
        vacuumed = _vacuum(catalogue)
        after = _all_bytes(folder)
    return Savings(
        resealed=resealed,
        signed=signed,
        files=files,
        rows=rows,
        peeks=peeks,
        old_stores=old,
        vacuumed=vacuumed,
        bytes=before - after,
    )


def forget(catalogue: Catalogue, sources: Iterable[Source]) -> None:
    """Remove sources with their sessions for good, from the raw archive too.

    Their text is overwritten in the database. They are remembered, so that a file that is still
    there does not bring them back before it grows.

    Raises:
        AgtailError: the store or the archive cannot be written.
    """
    units = [source.unit for source in sources]
    folder = catalogue.folder
    with writing(folder, wait=True):
        catalogue.connection.execute("PRAGMA secure_delete = ON").fetchone()
        with catalogue.transaction() as connection:
            for unit in units:
                catalogue.drop(unit.agent, unit.path)
                forgotten.remember(connection, unit)
                connection.executemany(
                    "DELETE FROM peeks WHERE path = ?",
                    [(path,) for path in _files(unit) if not os.path.exists(path)],
                )
        _checkpoint(catalogue)
        if (folder / "archive").is_dir():
            with contextlib.closing(Archive(folder / "archive")) as archive:
                for unit in units:
                    for path in _files(unit):
                        archive.forget(unit.agent, path)


def sign(hay: bytes) -> bytes:
    """Return the signature of a stored block, from its text."""
    return signature(folded(text.decode() for _, _, text in read_hay(hay).haystacks()))


def _files(unit: Unit) -> tuple[str, ...]:
    return tuple(dict.fromkeys((unit.path, *unit.parts, *unit.sidecars)))


def _drop_orphans(catalogue: Catalogue) -> int:
    """Remove rows whose owner is not there; only damage leaves such."""
    removed = 0
    with catalogue.transaction() as connection:
        unsettle(catalogue)
        for table, column, owner in (
            ("sessions", "source", "sources"),
            ("blocks", "session", "sessions"),
            ("fresh", "block", "blocks"),
        ):
            removed += connection.execute(
                f"DELETE FROM {table} WHERE {column} NOT IN (SELECT id FROM {owner})"  # noqa: S608 - constant text
            ).rowcount
    return removed


def _reseal(catalogue: Catalogue, distrusted: int) -> int:
    """Take apart segments that are damaged, or mostly about blocks that are no more."""
    connection = catalogue.connection
    live = {row[0] for row in connection.execute("SELECT id FROM blocks")}
    folder = catalogue.folder / "segments"
    resealed = 0
    for first, count, file, packed in connection.execute("SELECT * FROM segments").fetchall():
        ids = msgspec.msgpack.decode(packed, type=list[int])
        alive = [block for block in ids if block in live]
        segment = Segment(str(folder / file), count)
        fine = not segment.damaged and 2 * len(alive) >= count
        segment.close()
        if fine and not any(block <= distrusted for block in alive):
            continue
        with catalogue.transaction():
            _sign(catalogue, alive)
            connection.execute("DELETE FROM segments WHERE first = ?", (first,))
        resealed += 1
    return resealed


def _sign_again(catalogue: Catalogue, distrusted: int) -> int:
    """Sign blocks anew whose signature is not in a segment yet."""
    blocks = catalogue.connection.execute("SELECT block FROM fresh WHERE block <= ?", (distrusted,))
    with catalogue.transaction():
        return _sign(catalogue, [row[0] for row in blocks])


def _sign_unsigned(catalogue: Catalogue) -> int:
    """Sign blocks that no signature is known of."""
    connection = catalogue.connection
    known = {row[0] for row in connection.execute("SELECT block FROM fresh")}
    for (packed,) in connection.execute("SELECT ids FROM segments"):
        known.update(msgspec.msgpack.decode(packed, type=list[int]))
    missing = [row[0] for row in connection.execute("SELECT id FROM blocks") if row[0] not in known]
    signed = 0
    for start in range(0, len(missing), SEGMENT_BLOCKS):
        with catalogue.transaction():
            signed += _sign(catalogue, missing[start : start + SEGMENT_BLOCKS])
    return signed


def _sign(catalogue: Catalogue, blocks: list[int]) -> int:
    """Put signatures made from the blocks' text among the fresh ones; return how many."""
    run = catalogue.connection.execute
    signed = 0
    for block in blocks:
        (hay,) = run("SELECT hay FROM blocks WHERE id = ?", (block,)).fetchone()
        # A block that cannot be opened has no text to be found: verifying tells of it.
        with contextlib.suppress(Exception):
            run("INSERT OR REPLACE INTO fresh (block, bits) VALUES (?, ?)", (block, sign(hay)))
            signed += 1
    return signed


def _remove_strays(catalogue: Catalogue) -> int:
    """Remove files of signatures that the catalogue does not name."""
    named = {row[0] for row in catalogue.connection.execute("SELECT file FROM segments")}
    return _remove(catalogue.folder / "segments", lambda name: name not in named)


def _drop_peeks(catalogue: Catalogue) -> int:
    """Forget what was seen in files that are no more; a family of files is known by its paths."""
    connection = catalogue.connection
    dead = [
        (key,)
        for (key,) in connection.execute("SELECT path FROM peeks")
        if not all(map(os.path.exists, key.split("\n")))
    ]
    with catalogue.transaction():
        connection.executemany("DELETE FROM peeks WHERE path = ?", dead)
    return len(dead)


def _remove_old(folder: Path) -> int:
    """Remove stores that were moved aside long ago, with their logs."""
    limit = time.time() - KEEP_OLD

    def is_due(name: str) -> bool:
        old = _OLD.fullmatch(name)
        return old is not None and time.mktime(time.strptime(old[1], "%Y%m%d-%H%M%S")) < limit

    return _remove(folder, is_due)


def _vacuum(catalogue: Catalogue) -> bool:
    """Write the database anew when a good part of it is empty."""
    run = catalogue.connection.execute
    (pages,), (empty,) = (
        run("PRAGMA page_count").fetchone(),
        run("PRAGMA freelist_count").fetchone(),
    )
    worth = bool(empty > _SLACK * pages)
    try:
        if worth:
            run("VACUUM")
    except sqlite3.Error as error:
        raise StoreError(str(catalogue.folder), str(error)) from error
    _checkpoint(catalogue)
    return worth


def _checkpoint(catalogue: Catalogue) -> None:
    """Bring the log into the database and empty it, unless someone is reading."""
    run = catalogue.connection.execute
    (patience,) = run("PRAGMA busy_timeout").fetchone()
    run("PRAGMA busy_timeout = 0").fetchone()  # who reads may do so for long
    try:
        with contextlib.suppress(sqlite3.OperationalError):
            run("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    finally:
        run(f"PRAGMA busy_timeout = {patience}").fetchone()


def _all_bytes(folder: Path) -> int:
    return sum(_bytes(each) for each in (folder, folder / "segments", folder / "archive"))


def _bytes(folder: Path, wanted: Callable[[str], bool] = lambda _name: True) -> int:
    """Add up the files that lie in a folder, which may be missing."""
    total = 0
    with contextlib.suppress(FileNotFoundError), os.scandir(folder) as entries:
        for entry in entries:
            with contextlib.suppress(FileNotFoundError):
                # Shared memory is there only as long as someone has the database open.
                if entry.is_file() and not entry.name.endswith("-shm") and wanted(entry.name):
                    total += entry.stat().st_size
    return total


def _remove(folder: Path, wanted: Callable[[str], bool]) -> int:
    """Remove files that lie in a folder, which may be missing; return how many."""
    names = os.listdir(folder) if folder.is_dir() else []
    files = [folder / name for name in names if wanted(name)]
    for file in files:
        file.unlink()
    return len(files)


def _is_old(name: str) -> bool:
    return _OLD.fullmatch(name) is not None
