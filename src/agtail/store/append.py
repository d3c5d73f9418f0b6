"""Appending: a transcript that has grown costs what was added to it, not what it holds."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import NamedTuple

import msgspec

from agtail.agents.base import Adapter, CannotGoOnError, Checkpoint, Unit
from agtail.assemble import go_on
from agtail.builder import Known
from agtail.errors import SourceError
from agtail.event_log import Events
from agtail.model import Event, Integrity, Session
from agtail.store.blocks import EVENTS, TEXT, Block, cut
from agtail.store.catalogue import Catalogue, Source
from agtail.store.signatures import signature
from agtail.store.stored import BlockRow, StoredEvents

STEP = 256 * 1024
"""Bytes behind a checkpoint after which a new one is worth its making."""

_SAVED = msgspec.msgpack.Decoder(tuple[Checkpoint, Known])


class Amendment(NamedTuple):
    """How a stored session changes.

    Attributes:
        unit: the source as it is now.
        row: the row of its session.
        session: what is known of that now.
        removed: blocks that others take the place of.
        blocks: the new blocks, each with its signature.
        added: the events that were not there before.
        checkpoint: where reading goes on another time; absent when that is where it did.
    """

    unit: Unit
    row: int
    session: Session
    removed: list[int]
    blocks: list[tuple[Block, bytes]]
    added: list[Event]
    checkpoint: bytes | None


Amend = Callable[[Source, Unit], Amendment | None]
"""Reads what was appended to a source; ``None`` when all has to be read again."""


class GrowingEvents(Events):
    """Stored events that are added to: what changes is kept aside until it is stored.

    Args:
        stored: the events as they are stored.
        count: so many of them are good; those behind were made up for the end of the file.
    """

    def __init__(self, stored: StoredEvents, count: int) -> None:
        self._stored = stored
        self._count = count
        self.added: list[Event] = []
        self.changed: dict[int, Event] = {}

    def __len__(self) -> int:
        return self._count + len(self.added)

    def _at(self, index: int) -> Event:
        if index >= self._count:
            return self.added[index - self._count]
        return self.changed.get(index) or self._stored[index]

    def append(self, event: Event) -> int:
        """Add an event."""
        event.seq = len(self)
        self.added.append(event)
        return event.seq

    def update(self, event: Event) -> None:
        """Note a change."""
        if event.seq < self._count:
            self.changed[event.seq] = event


def amend(catalogue: Catalogue, source: Source, unit: Unit, adapter: Adapter) -> Amendment | None:
    """Read what was appended to a stored source; ``None`` when all has to be read again."""
    saved = catalogue.checkpoint(source.id)
    rows = catalogue.rows_of(source.id)
    if saved is None or len(rows) != 1 or not _only_grew(source.unit, unit):
        return None
    checkpoint, known = _SAVED.decode(saved)
    stored = StoredEvents(catalogue, rows[0])
    events = GrowingEvents(stored, known.count)
    health = Integrity(dropped=checkpoint.dropped, invalid_bytes=checkpoint.invalid_bytes)
    try:
        items = adapter.read_on(unit, health, checkpoint)
        if items is None:
            return None
        transcript = go_on(
            unit,
            items,
            health,
            adapter.describe_tool,
            known=known,
            events=events,
            # What was changed before the old checkpoint would be changed a second time from it.
            rests=lambda offset: bool(events.changed) or offset - checkpoint.offset >= STEP,
        )
        if transcript.checkpoint is None and any(e.rewound for e in events.changed.values()):
            return None  # the old checkpoint knows nothing of the branch that they are on
    except (CannotGoOnError, SourceError):
        return None
    removed, blocks = _recut(stored, events, known.count)
    return Amendment(
        unit,
        rows[0],
        transcript.session,
        removed,
        [(block._replace(folded=b""), signature(block.folded)) for block in blocks],
        events.added,
        transcript.checkpoint,
    )


def _only_grew(before: Unit, now: Unit) -> bool:
    """Whether a source is the same but for its size and times."""
    same = msgspec.structs.replace(
        now, size=before.size, mtime_ns=before.mtime_ns, touched=before.touched
    )
    return same == before and now.size > before.size and len(now.parts) == 1


def _recut(
    stored: StoredEvents, events: GrowingEvents, count: int
) -> tuple[list[int], Iterator[Block]]:
    """Cut anew the blocks that hold changes, and the last one together with what is new."""
    removed: list[int] = []
    cuts: list[Iterator[Block]] = []
    tail = min(len(stored), count)
    for block in stored.blocks:
        end = block.first + block.events
        if block is stored.blocks[-1] and (end > count or _has_room(stored, block)):
            removed.append(block.id)
            tail = min(tail, block.first)
        elif end > count or any(block.first <= seq < end for seq in events.changed):
            removed.append(block.id)
            cuts.append(cut(_run(events, block.first, min(end, count)), block.first))
    cuts.append(cut(_run(events, tail, len(events)), tail))
    return removed, itertools.chain.from_iterable(cuts)


def _has_room(stored: StoredEvents, block: BlockRow) -> bool:
    return block.events < EVENTS and len(stored.hay(block).data) < TEXT


def _run(events: GrowingEvents, start: int, end: int) -> Iterator[Event]:
    return (events[seq] for seq in range(start, end))
