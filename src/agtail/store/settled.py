"""Settled: what an agent's files looked like when all that is in them was stored.

A refresh that finds them so again is over before it has told one session from another.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Mapping, Sequence

import msgspec

from agtail.agents.base import Place
from agtail.store.catalogue import Catalogue, marks
from agtail.store.changes import READERS, is_online


def look_of(places: Sequence[Place], roots: Sequence[str]) -> bytes:
    """Return what tells whether an agent's files are as they were.

    It is empty when they have to be looked at each time: one has a name that the store cannot
    hold.
    """
    try:
        known = msgspec.msgpack.encode((READERS, roots, list(map(is_online, roots)), places))
    except UnicodeEncodeError:
        return b""
    # Two sums and a length: files do not change so that all three stay, and hashlib takes longer
    # to load than this takes.
    return b"%d:%d:%d" % (zlib.crc32(known), zlib.adler32(known), len(known))


def looks(catalogue: Catalogue, roots: Sequence[str]) -> dict[str, bytes]:
    """Return what the files of each agent looked like; those with something due are left out."""
    rows = catalogue.connection.execute(
        f"""
        SELECT agent, look FROM settled WHERE agent NOT IN (
          SELECT agent FROM sources WHERE due <= ? AND gone = 0 AND root IN ({marks(roots)}))
        """,  # noqa: S608 - only question marks are put in
        (time.time() * 1000, *roots),
    )
    return dict(rows.fetchall())


def settle(catalogue: Catalogue, seen: Mapping[str, bytes]) -> None:
    """Note what the files of agents looked like, now that all of them is stored."""
    rows = [(agent, look) for agent, look in seen.items() if look]
    if rows:
        with catalogue.transaction() as connection:
            connection.executemany("INSERT OR REPLACE INTO settled VALUES (?, ?)", rows)


def unsettle(catalogue: Catalogue) -> None:
    """Have all files looked at again. Call within a transaction."""
    catalogue.connection.execute("DELETE FROM settled")


def version(catalogue: Catalogue) -> int:
    """Return a number that changes when another connection has changed the store."""
    (number,) = catalogue.connection.execute("PRAGMA data_version").fetchone()
    return int(number)
