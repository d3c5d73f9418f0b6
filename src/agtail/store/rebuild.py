"""Making the store anew: nothing that cannot be read again is lost, nothing answers half."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from agtail.agents.base import Unit
from agtail.errors import SourceError, StoreError, StoreMissingError
from agtail.model import Session, Wire
from agtail.records import open_source
from agtail.store.blocks import Block
from agtail.store.catalogue import Catalogue, Source
from agtail.store.forgotten import leave_out
from agtail.store.refresh import Packed, writing
from agtail.store.settled import unsettle
from agtail.store.upkeep import Refreshed, sign


class Begun(NamedTuple):
    """How a rebuild begins.

    Attributes:
        kept: sources that cannot be read again and stay as they are.
        last_block: the newest block of before the rebuild.
    """

    kept: int
    last_block: int


class Rebuilt(Wire, kw_only=True):
    """What a rebuild did.

    Attributes:
        kept: sources that could not be read again and stayed as they were.
        lost: sources that could not be saved out of a damaged store.
        refresh: what was read.
    """

    kept: int
    lost: int
    refresh: Refreshed


def saved(folder: Path, warn: Callable[[str], None]) -> int:
    """Put a store that is damaged inside in place of itself; return how many sources were lost.

    What only stores have that were moved aside earlier is taken over as well, as far as it can
    still be understood. What can be read again is left to the next refresh.

    Args:
        folder: where the store lies.
        warn: told in one line when the damaged store was moved aside.

    Raises:
        StoreError: the folder cannot be used.
    """
    damaged = _damaged(folder, warn)
    with contextlib.closing(Catalogue(folder, warn)) as catalogue:
        lost = rescue(damaged, catalogue) if damaged else 0
        for old in sorted(folder.glob("catalogue.sqlite.*.old"), reverse=True):
            if old != damaged:
                rescue(old, catalogue)
    return lost


def is_sound(catalogue: Catalogue) -> bool:
    """Tell whether the database itself is whole."""
    try:
        found = catalogue.connection.execute("PRAGMA quick_check(1)").fetchall()
    except sqlite3.Error:
        return False
    return found == [("ok",)]


def distrust(catalogue: Catalogue, units: Iterable[Unit]) -> Begun:
    """Mark all that can be read again to be read again by the next refresh.

    Nothing is removed before its new reading is stored: whatever happens in between, the store
    answers, and no session is lost whose file vanishes meanwhile.

    Args:
        catalogue: the store.
        units: the sources that there are now.
    """
    with writing(catalogue.folder, wait=True), catalogue.transaction() as connection:
        known = catalogue.sources()
        again = [
            (known[key].id,)
            for unit in units
            if (key := (unit.agent, unit.path)) in known and _readable(unit)
        ]
        connection.executemany(
            "UPDATE sources SET readers = 0, checkpoint = NULL WHERE id = ?", again
        )
        unsettle(catalogue)
        (last,) = connection.execute("SELECT IFNULL(MAX(id), 0) FROM blocks").fetchone()
    return Begun(len(known) - len(again), last)


def rescue(aside: Path, catalogue: Catalogue) -> int:
    """Copy what cannot be read again out of a database that was moved aside.

    What is known already or was forgotten is left out. Returns how many sources could not be
    copied.

    Args:
        aside: the database.
        catalogue: the store to copy to.
    """
    lost = 0
    with (
        writing(catalogue.folder, wait=True),
        contextlib.closing(sqlite3.connect(aside)) as old,
    ):
        _take_over_forgotten(old, catalogue)
        known = catalogue.sources()
        for source in _whole_sources(old):
            if source is None:
                lost += 1
                continue
            unit = source.unit
            if (unit.agent, unit.path) in known or not leave_out(catalogue, [unit], known):
                continue
            if not source.gone and _readable(unit):
                continue
            try:
                packed = _packed(old, source)
            except Exception:  # noqa: BLE001 - whatever damage makes go wrong, it is lost
                lost += 1
                continue
            with catalogue.transaction() as connection:
                catalogue.put(unit, source.readers, source.due, None, packed.sessions)
                if source.gone:
                    connection.execute(
                        "UPDATE sources SET gone = 1 WHERE agent = ? AND path = ?",
                        (unit.agent, unit.path),
                    )
    return lost


def _damaged(folder: Path, warn: Callable[[str], None]) -> Path | None:
    """Move a store aside that is damaged inside, and return where it lies then."""
    try:
        catalogue = Catalogue(folder, warn, existing=True)
    except (StoreMissingError, StoreError):
        return None  # there is none, or opening it to write moves it aside
    if is_sound(catalogue):
        catalogue.close()
        return None
    damaged = catalogue.move_aside()
    warn(f"{damaged}: damaged and moved aside; what only the store has is taken over")
    return damaged


def _take_over_forgotten(old: sqlite3.Connection, catalogue: Catalogue) -> None:
    """Remember what was forgotten before."""
    try:
        rows = old.execute("SELECT agent, path, place, size, touched FROM forgotten").fetchall()
    except sqlite3.Error:
        return
    with catalogue.transaction() as connection:
        connection.executemany("INSERT OR IGNORE INTO forgotten VALUES (?, ?, ?, ?, ?)", rows)


def _readable(unit: Unit) -> bool:
    try:
        for path in unit.parts or (unit.path,):
            open_source(path).close()
    except SourceError:
        return False
    return True


def _whole_sources(old: sqlite3.Connection) -> Iterator[Source | None]:
    """Yield the sources of a damaged database as far as they can be read, ``None`` for others."""
    try:
        ids = [row[0] for row in old.execute("SELECT id FROM sources ORDER BY id")]
    except sqlite3.Error:
        return
    for number in ids:
        try:
            row = old.execute(
                "SELECT id, root, readers, unit, due, gone FROM sources WHERE id = ?", (number,)
            ).fetchone()
            source = Source(*row)
            assert source.unit.path  # it can be decoded
            yield source
        except Exception:  # noqa: BLE001 - whatever damage makes go wrong, it is lost
            yield None


def _packed(old: sqlite3.Connection, source: Source) -> Packed:
    """Read a source out of a database, as if it had just been read from its file."""
    sessions = []
    for row, record in old.execute(
        "SELECT id, record FROM sessions WHERE source = ? ORDER BY place", (source.id,)
    ).fetchall():
        blocks = [
            Block._make((*columns, b""))
            for columns in old.execute(
                "SELECT first, count, kinds, time_min, time_max, hay, rest FROM blocks"
                " WHERE session = ? ORDER BY first",
                (row,),
            )
        ]
        session = msgspec.msgpack.decode(record, type=Session)
        sessions.append((session, blocks, [sign(block.hay) for block in blocks]))
    return Packed(source.unit, sessions, [])
