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
from agtail.store.refresh import Packed, writing
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

    What can be read again is left to the next refresh; nothing happens to a sound store.

    Args:
        folder: where the store lies.
        warn: told in one line when the damaged store was moved aside.

    Raises:
        StoreError: the folder cannot be used.
    """
    try:
        catalogue = Catalogue(folder, warn, existing=True)
    except (StoreMissingError, StoreError):
        return 0  # there is nothing to be had from it
    if is_sound(catalogue):
        catalogue.close()
        return 0
    damaged = catalogue.move_aside()
    warn(f"{damaged}: damaged and moved aside; what only the store has is taken over")
    new = Catalogue(folder, warn)
    try:
        return rescue(damaged, new)
    finally:
        new.close()


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
        (last,) = connection.execute("SELECT IFNULL(MAX(id), 0) FROM blocks").fetchone()
    return Begun(len(known) - len(again), last)


def rescue(damaged: Path, catalogue: Catalogue) -> int:
    """Copy what cannot be read again out of a damaged database into a new store.

    Returns how many sources could not be copied.

    Args:
        damaged: the database, moved aside.
        catalogue: the new store.
    """
    lost = 0
    with (
        writing(catalogue.folder, wait=True),
        contextlib.closing(sqlite3.connect(damaged)) as old,
    ):
        for source in _whole_sources(old):
            if source is None:
                lost += 1
                continue
            unit = source.unit
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
        with contextlib.suppress(sqlite3.Error), catalogue.transaction() as connection:
            connection.executemany(
                "INSERT OR REPLACE INTO forgotten VALUES (?, ?, ?, ?, ?)",
                old.execute("SELECT agent, path, place, size, touched FROM forgotten").fetchall(),
            )
    return lost


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
