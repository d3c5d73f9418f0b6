"""Changes: which sources have to be read, since they or what they copy from are not as stored."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import msgspec

from agtail.agents.base import Unit
from agtail.model import Event
from agtail.records import is_there
from agtail.store.catalogue import Catalogue, Source
from agtail.store.stored import BlockRow, StoredEvents

READERS = 1
"""Version of what the adapters make of their files: raise it when a mapping changes, and every
source is read again."""

Key = tuple[str, str]
"""Agent and path of a source."""

Known = Mapping[Key, Source]
"""What is stored."""


class Change(NamedTuple):
    """What a refresh did.

    Attributes:
        read: sources that were read from their beginning.
        grown: sources of which only what was added was read.
        bytes: bytes of the former.
        vanished: sources whose file is gone.
        moved: sources whose file lies elsewhere now.
        seconds: how long it took.
        busy: another process is at it; nothing was done.
    """

    read: int = 0
    grown: int = 0
    bytes: int = 0
    vanished: int = 0
    moved: int = 0
    seconds: float = 0.0
    busy: bool = False


def key_of(unit: Unit) -> Key:
    """Return what names a source in the store."""
    return unit.agent, unit.path


def changed(units: list[Unit], vanished: Mapping[Key, Source], known: Known) -> list[Unit]:
    """Return the units that have to be read, with those that copy from a rewritten one."""
    moved = moves(units, vanished, known)
    found = [unit for unit in units if _is_changed(known.get(key_of(unit)), unit, known, moved)]
    paths = rewritten(found, known)
    if not paths:
        return found
    keys = set(map(key_of, found))
    return found + [
        unit for unit in units if paths.intersection(unit.owners) and key_of(unit) not in keys
    ]


def _is_changed(source: Source | None, unit: Unit, known: Known, moved: Mapping[Key, Key]) -> bool:
    if source is None or source.gone:
        return True
    if source.due is not None and source.due <= time.time() * 1000:
        return True
    if source.readers != READERS:
        return True
    if source.packed == msgspec.msgpack.encode(unit):
        return False
    owners = source.unit.owners
    if [owner for owner in owners if owner in unit.owners] != list(unit.owners):
        return True

    def is_kept(owner: str) -> bool:
        """Whether it was deleted, but is still here, in the store: the copies stay copies."""
        key = unit.agent, owner
        return key in known and key not in moved and not is_there(owner)

    same = msgspec.structs.replace(unit, owners=owners)
    return source.packed != msgspec.msgpack.encode(same) or not all(
        owner in unit.owners or is_kept(owner) for owner in owners
    )


def rewritten(units: list[Unit], known: Known) -> set[str]:
    """Return the paths of those in which records may be missing that were there before."""
    return {
        unit.path
        for unit in units
        if (source := known.get(key_of(unit))) is not None
        and unit.size <= (before := source.unit).size
        and unit.mtime_ns != before.mtime_ns
    }


def copies_of(units: list[Unit]) -> dict[Key, list[Unit]]:
    """Return those that may copy from a source, by that source."""
    copies: dict[Key, list[Unit]] = {}
    for unit in units:
        for owner in unit.owners:
            copies.setdefault((unit.agent, owner), []).append(unit)
    return copies


def copies_of_longer(
    todo: list[Unit], copies: Mapping[Key, list[Unit]], known: Known
) -> list[Unit]:
    """Return the stored ones that copy from a longer source which is read from its beginning."""
    return [
        copy
        for unit in todo
        if (source := known.get(key_of(unit))) is not None and unit.size > source.unit.size
        for copy in copies.get(key_of(unit), ())
        if key_of(copy) in known
    ]


def may_share(catalogue: Catalogue, source: Source, added: Iterable[Event]) -> bool:
    """Whether a stored source may copy one of the events that were added to its owner.

    An owner that goes on after it was copied adds nothing that the copy has. One that was
    incomplete when it was read (a torn line, a file still on its way) may: a copy tells the same
    time as its original.
    """
    times = {event.time for event in added}
    if None in times:
        return True
    instants = sorted(time for time in times if time is not None)
    return any(
        event.time in times and not event.inherited
        for row in catalogue.rows_of(source.id)
        for events in [StoredEvents(catalogue, row)]
        for block in events.blocks
        if instants and _overlaps(block, instants[0], instants[-1])
        for event in events.events(block)
    )


def _overlaps(block: BlockRow, first: int, last: int) -> bool:
    if block.time_min is None or block.time_max is None:
        return True
    return block.time_min <= last and first <= block.time_max


def vanished(
    known: Known, units: list[Unit], roots: Iterable[str], unseen: Iterable[str]
) -> dict[Key, Source]:
    """Return the sources that are no more, as far as can be seen.

    Args:
        known: what is stored.
        units: what there is now.
        roots: the folders that were looked into.
        unseen: folders and databases that could not be: what lies in one has not vanished.
    """
    present = set(map(key_of, units))
    online = set(filter(is_online, roots))
    hidden = tuple(f"{place}{mark}" for place in unseen for mark in (os.sep, "#"))
    return {
        key: source
        for key, source in known.items()
        if key not in present
        and not source.gone
        and source.root in online
        and not source.unit.path.startswith(hidden)
    }


def is_online(root: str) -> bool:
    """Whether a folder can be looked into: what lay in one that cannot has not vanished.

    The root of an agent may be a database that was asked for.
    """
    try:
        os.scandir(root).close()
    except NotADirectoryError:
        return True
    except OSError:
        return False
    return True


def moves(units: list[Unit], vanished: Mapping[Key, Source], known: Known) -> dict[Key, Key]:
    """Return what only moved (archived, compressed): where it was, and where it is now."""
    if not vanished:
        return {}
    places = {_place(unit): key_of(unit) for unit in units if key_of(unit) not in known}
    return {
        key: places[place]
        for key, source in vanished.items()
        if (place := _place(source.unit)) in places
    }


def _place(unit: Unit) -> tuple[str, str, str | None, str | None]:
    """Return what stays the same when a source moves."""
    return unit.agent, unit.id, unit.imported_from, unit.parent_id
