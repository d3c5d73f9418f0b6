"""What the user had removed for good: remembered, so that it does not come back."""

from __future__ import annotations

import sqlite3
from collections.abc import Container
from typing import NamedTuple

import msgspec

from agtail.agents.base import Unit
from agtail.records import is_there
from agtail.store.catalogue import Catalogue


class _Mark(NamedTuple):
    """A source that was forgotten: where it lay, how large it was, when it was last added to."""

    path: str
    size: int
    touched: int


def remember(connection: sqlite3.Connection, unit: Unit) -> None:
    """Note that a source is to stay away. Call within a transaction."""
    touched = max(unit.touched, unit.mtime_ns // 1_000_000)
    connection.execute(
        "INSERT OR REPLACE INTO forgotten (agent, path, place, size, touched)"
        " VALUES (?, ?, ?, ?, ?)",
        (unit.agent, unit.path, _place(unit), unit.size, touched),
    )


def leave_out(
    catalogue: Catalogue, units: list[Unit], known: Container[tuple[str, str]]
) -> list[Unit]:
    """Return the units without those that were forgotten and have nothing new to say.

    A forgotten source comes back when its file grows. One that only moved (it was archived or
    compressed) is told by its session, and comes back with its next record.

    Args:
        catalogue: the store.
        units: all that was found.
        known: agent and path of what is stored: that is back already.
    """
    rows = catalogue.connection.execute("SELECT agent, place, path, size, touched FROM forgotten")
    here: dict[tuple[str, str], _Mark] = {}
    elsewhere: dict[tuple[str, bytes], list[_Mark]] = {}
    for agent, place, *rest in rows:
        mark = _Mark(*rest)
        here[agent, mark.path] = mark
        elsewhere.setdefault((agent, place), []).append(mark)
    if not here:
        return units

    def hidden(unit: Unit) -> bool:
        if (unit.agent, unit.path) in known:
            return False
        mark = here.get((unit.agent, unit.path))
        if mark is not None:
            return unit.size <= mark.size
        return any(
            unit.touched <= mark.touched and not is_there(mark.path)
            for mark in elsewhere.get((unit.agent, _place(unit)), ())
        )

    return [unit for unit in units if not hidden(unit)]


def _place(unit: Unit) -> bytes:
    """Return what stays the same when a source moves."""
    return msgspec.msgpack.encode((unit.id, unit.imported_from, unit.parent_id))
