"""Sessions out of the store: their events, read block by block when they are asked for."""

from __future__ import annotations

import sqlite3
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterator
from typing import NamedTuple

from agtail.errors import StoreError
from agtail.event_log import EventSequence
from agtail.model import Event
from agtail.store.blocks import Hay, read_events, read_hay
from agtail.store.catalogue import Catalogue

_KEPT = 4
"""Blocks whose events stay decoded: neighbours are asked for together."""


class BlockRow(NamedTuple):
    """What is known of a block without opening it; ``time_min`` is absent when unsure."""

    id: int
    first: int
    events: int
    kinds: int
    time_min: int | None
    time_max: int | None


class StoredEvents(EventSequence):
    """The events of one stored session; its catalogue stays open as long as they do."""

    def __init__(self, catalogue: Catalogue, session: int) -> None:
        self._catalogue = catalogue
        rows = catalogue.connection.execute(
            "SELECT id, first, count, kinds, time_min, time_max FROM blocks"
            " WHERE session = ? ORDER BY first",
            (session,),
        )
        self.blocks = [BlockRow(*row) for row in rows]
        self._firsts = [block.first for block in self.blocks]
        self._open: OrderedDict[int, list[Event]] = OrderedDict()

    def __len__(self) -> int:
        return self.blocks[-1].first + self.blocks[-1].events if self.blocks else 0

    def _at(self, index: int) -> Event:
        block = self.blocks[bisect_right(self._firsts, index) - 1]
        return self.events(block)[index - block.first]

    def __iter__(self) -> Iterator[Event]:
        for block in self.blocks:
            yield from self.events(block)

    def hay(self, block: BlockRow) -> Hay:
        """Open the searchable half of a block."""
        (data,) = self._row("hay", block)
        return read_hay(data)

    def events(self, block: BlockRow, hay: Hay | None = None) -> list[Event]:
        """Return the events of a block; ``hay`` spares opening that again."""
        events = self._open.get(block.id)
        if events is None:
            if hay is None:
                data, rest = self._row("hay, rest", block)
                hay = read_hay(data)
            else:
                (rest,) = self._row("rest", block)
            events = self._open[block.id] = read_events(hay, rest)
            if len(self._open) > _KEPT:
                self._open.popitem(last=False)
        return events

    def _row(self, columns: str, block: BlockRow) -> tuple[bytes, ...]:
        try:
            row: tuple[bytes, ...] | None = self._catalogue.connection.execute(
                f"SELECT {columns} FROM blocks WHERE id = ?",  # noqa: S608 - constant text
                (block.id,),
            ).fetchone()
        except sqlite3.Error as error:
            raise StoreError("store", f"{error}; agtail index verify says more") from error
        if row is None:
            raise StoreError("store", f"block {block.id} is missing: agtail index verify says more")
        return row
