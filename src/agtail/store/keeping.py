"""Keeping raw transcripts: what agents delete in time goes into the archive before they do."""

from __future__ import annotations

import time

import msgspec

from agtail.agents.base import Unit
from agtail.errors import SourceError
from agtail.settings import ArchiveMode
from agtail.store.archive import Archive, wanted
from agtail.store.catalogue import Catalogue
from agtail.store.refresh import SETTLED

_UNIT = msgspec.msgpack.Decoder(Unit)


def keep_raw(
    catalogue: Catalogue, archive: Archive, mode: ArchiveMode, seconds: float | None
) -> int:
    """Keep what has changed and is at rest, the oldest first: it is deleted first, too.

    Args:
        catalogue: the store; it remembers which sources are kept as they are.
        archive: where the bytes go.
        mode: which agents' transcripts are kept.
        seconds: stop after so long; ``None`` to keep all that there is.

    Returns:
        Sources that are still to be kept.

    Raises:
        ArchiveError: the archive cannot be written, such as on a full disk.
        StoreError: the store cannot.
    """
    rows = catalogue.connection.execute(
        "SELECT id, agent, unit FROM sources WHERE kept = 0 AND gone = 0"
    )
    now = time.time() * 1000
    waiting = [
        (unit.touched, source, unit)
        for source, agent, packed in rows
        if wanted(mode, agent) and (unit := _UNIT.decode(packed)).touched + SETTLED < now
    ]
    waiting.sort(key=lambda each: each[:2])
    until = None if seconds is None else time.monotonic() + seconds
    done: list[tuple[int]] = []
    try:
        for _, source, unit in waiting:
            if until is not None and time.monotonic() > until:
                break
            _keep(archive, unit)
            done.append((source,))
    finally:
        if done:
            with catalogue.transaction() as connection:
                connection.executemany("UPDATE sources SET kept = 1 WHERE id = ?", done)
    return len(waiting) - len(done)


def _keep(archive: Archive, unit: Unit) -> None:
    for path in (*(unit.parts or (unit.path,)), *unit.sidecars):
        try:
            archive.keep(unit.agent, path)
        except SourceError:
            continue  # gone meanwhile, or unreadable: the next refresh says so
