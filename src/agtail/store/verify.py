"""Verifying the store: everything in it is opened and compared with what else is said of it."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from agtail.model import Session, Wire
from agtail.store.archive import Archive
from agtail.store.blocks import kinds_mask, read_events, read_hay
from agtail.store.catalogue import Catalogue, Source
from agtail.store.refresh import writing
from agtail.store.signatures import Segment, read_segment
from agtail.store.upkeep import sign

REBUILD = "agtail index rebuild"
TIDY = "agtail index gc"
_LOST = "none: its bytes are lost, and what is searched and shown of it is not"


class Fault(Wire, kw_only=True):
    """Something that is not as it should be.

    Attributes:
        where: which part of the store.
        what: what is wrong with it.
        remedy: what to do.
    """

    where: str
    what: str
    remedy: str


class _Home(NamedTuple):
    """The session that a block belongs to."""

    name: str
    remedy: str


def verify(catalogue: Catalogue) -> Iterator[Fault]:
    """Yield all that is wrong with the store. Writers wait meanwhile; nothing is changed.

    Every block is unpacked and its events are restored; their numbers, kinds and times are
    compared with the catalogue, their text with the signatures, the raw archive with its
    checksums.
    """
    with writing(catalogue.folder, wait=True):
        try:
            yield from _database(catalogue)
            homes = {}
            for number, home, faults in _sessions(catalogue):
                homes[number] = home
                yield from faults
            yield from _orphans(catalogue)
            yield from _blocks(catalogue, homes)
        except sqlite3.DatabaseError as error:
            yield Fault(where="catalogue", what=str(error), remedy=REBUILD)
        yield from _files(catalogue)
        yield from _archive(catalogue)


def _database(catalogue: Catalogue) -> Iterator[Fault]:
    for (finding,) in catalogue.connection.execute("PRAGMA integrity_check"):
        if finding != "ok":
            what = " ".join(finding.split())
            yield Fault(where="catalogue", what=what, remedy=REBUILD)


def _sessions(catalogue: Catalogue) -> Iterator[tuple[int, _Home, list[Fault]]]:
    """Yield each session's row, what to call it, and what is wrong with its blocks as a whole."""
    run = catalogue.connection.execute
    sources = {source.id: (key, source) for key, source in catalogue.sources().items()}
    decode = msgspec.msgpack.Decoder(Session).decode
    for number, source, name, record in run("SELECT id, source, session_id, record FROM sessions"):
        if source not in sources:
            continue
        (agent, path), owner = sources[source]
        home = _Home(f"{agent}:{name}", _remedy(owner, path, f"{agent}:{name}"))
        faults = []
        follows = 0
        blocks = run("SELECT first, count FROM blocks WHERE session = ? ORDER BY first", (number,))
        for first, count in blocks.fetchall():
            if first != follows:
                what = f"event {follows} should follow, and {first} does"
                faults.append(Fault(where=home.name, what=what, remedy=home.remedy))
            follows = first + count
        try:
            expected = decode(record).event_count
        except (msgspec.MsgspecError, ValueError):
            what = "what is known of it cannot be decoded"
            faults.append(Fault(where=home.name, what=what, remedy=home.remedy))
        else:
            if expected != follows:
                what = f"{follows} events instead of {expected}"
                faults.append(Fault(where=home.name, what=what, remedy=home.remedy))
        yield number, home, faults


def _remedy(source: Source, path: str, name: str) -> str:
    if source.gone or not os.path.exists(path):
        return f"its file is gone; agtail forget {name} removes what is left"
    return REBUILD


def _orphans(catalogue: Catalogue) -> Iterator[Fault]:
    for table, column, owner in (
        ("sessions", "source", "sources"),
        ("blocks", "session", "sessions"),
        ("fresh", "block", "blocks"),
    ):
        (count,) = catalogue.connection.execute(
            f"SELECT COUNT(*) FROM {table} WHERE {column} NOT IN (SELECT id FROM {owner})"  # noqa: S608 - constant text
        ).fetchone()
        if count:
            yield Fault(where=table, what=f"{count:,} that belong to nothing", remedy=TIDY)


def _blocks(catalogue: Catalogue, homes: dict[int, _Home]) -> Iterator[Fault]:
    """Open every block, with the signature that a search would see of it."""
    seen: set[int] = set()
    for block, bits in _signatures(catalogue):
        if block not in seen:
            seen.add(block)
            yield from _block(catalogue, homes, block, bits)
    for (block,) in catalogue.connection.execute("SELECT id FROM blocks").fetchall():
        if block not in seen:
            yield Fault(where=f"block {block}", what="no search finds it: unsigned", remedy=TIDY)
            yield from _block(catalogue, homes, block, None)


def _signatures(catalogue: Catalogue) -> Iterator[tuple[int, bytes | None]]:
    """Yield blocks and their signatures; ``None`` where the file is missing or damaged."""
    run = catalogue.connection.execute
    for count, file, packed in run("SELECT count, file, ids FROM segments").fetchall():
        bitmaps = read_segment(str(catalogue.folder / "segments" / file), count)
        ids = msgspec.msgpack.decode(packed, type=list[int])
        for index, block in enumerate(ids):
            yield block, bitmaps[index] if bitmaps else None
    for (block,) in run("SELECT block FROM fresh").fetchall():
        (bits,) = run("SELECT bits FROM fresh WHERE block = ?", (block,)).fetchone()
        yield block, bits


def _block(
    catalogue: Catalogue, homes: dict[int, _Home], block: int, bits: bytes | None
) -> Iterator[Fault]:
    row = catalogue.connection.execute(
        "SELECT session, first, count, kinds, time_min, time_max, hay, rest FROM blocks"
        " WHERE id = ?",
        (block,),
    ).fetchone()
    if row is None or row[0] not in homes:  # signatures outlive their blocks until they are sealed
        return
    session, first, count, kinds, time_min, time_max, hay, rest = row
    home = homes[session]
    where = f"{home.name}, block {block}"
    try:
        events = read_events(read_hay(hay), rest)
        own = sign(hay)
    except sqlite3.DatabaseError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever damage makes go wrong is a finding
        what = f"cannot be opened: {str(error) or type(error).__name__}"
        yield Fault(where=where, what=what, remedy=home.remedy)
        return
    numbers = [event.seq for event in events]
    if numbers != list(range(first, first + count)):
        yield Fault(where=where, what="other events than it should have", remedy=home.remedy)
    times = [event.time for event in events if event.time is not None]
    span = (min(times), max(times)) if times and len(times) == len(events) else (None, None)
    if (kinds, time_min, time_max) != (kinds_mask(event.kind for event in events), *span):
        what = "other kinds or times than it is filed under"
        yield Fault(where=where, what=what, remedy=home.remedy)
    if bits is not None and not _covers(bits, own):
        yield Fault(where=where, what="its signature is not of its text", remedy=REBUILD)


def _covers(bits: bytes, own: bytes) -> bool:
    """Tell whether a stored signature has all that the text needs."""
    needed = int.from_bytes(own, "little")
    return len(bits) == len(own) and not needed & ~int.from_bytes(bits, "little")


def _files(catalogue: Catalogue) -> Iterator[Fault]:
    """Yield files that are missing, of no use, or open to others."""
    folder = catalogue.folder / "segments"
    named = dict(catalogue.connection.execute("SELECT file, count FROM segments"))
    there = set(os.listdir(folder)) if folder.is_dir() else set()
    for file, count in named.items():
        if file not in there:
            what = "missing; searches are slower without it"
            yield Fault(where=f"segments/{file}", what=what, remedy=TIDY)
        elif Segment(str(folder / file), count).damaged:
            what = "damaged; searches are slower without it"
            yield Fault(where=f"segments/{file}", what=what, remedy=TIDY)
    for file in sorted(there - named.keys()):
        yield Fault(where=f"segments/{file}", what="belongs to nothing", remedy=TIDY)
    if os.name == "posix":
        for place, _, files in os.walk(catalogue.folder):
            for path in (place, *(os.path.join(place, file) for file in files)):
                with contextlib.suppress(FileNotFoundError):
                    if os.stat(path).st_mode & 0o077:
                        where = os.path.relpath(path, catalogue.folder)
                        what = "others on this machine may read it"
                        yield Fault(where=where, what=what, remedy=f"chmod go= {path}")


def _archive(catalogue: Catalogue) -> Iterator[Fault]:
    folder = catalogue.folder / "archive"
    if not folder.is_dir():
        return
    with contextlib.closing(Archive(folder)) as archive:
        for entry in archive.entries():
            if not archive.verify(entry.agent, entry.path, entry.generation):
                where = f"archive: {entry.path} ({entry.generation})"
                what = "the archived copy is not what was kept"
                there = entry.newest and os.path.exists(entry.path)
                remedy = "none needed: the file is kept anew when it grows" if there else _LOST
                yield Fault(where=where, what=what, remedy=remedy)
