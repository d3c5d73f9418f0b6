"""Refresh: bring the store up to date with the files, reading only what changed."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, NamedTuple

import msgspec

from agtail.agents.base import Unit
from agtail.assemble import Transcript
from agtail.model import Session
from agtail.records import FRESH_SECONDS
from agtail.store.append import Amend
from agtail.store.blocks import Block, cut
from agtail.store.catalogue import Catalogue, Source
from agtail.store.forgotten import leave_out
from agtail.store.signatures import SEGMENT_BLOCKS, signature, write_segment

READERS = 1
"""Version of what the adapters make of their files: raise it when a mapping changes, and every
source is read again."""

SETTLED = 10 * 60 * 1000
"""Milliseconds after its last record from which on no session is taken for a running one."""

GROWING = 7 * 24 * 3600 * 1000
"""Milliseconds after its last record during which a session may well go on: so long it is kept
what it takes to read only what is added."""

PARALLEL = 4 * 1024 * 1024
"""Bytes to read from which worker processes are worth their start."""

_BATCH = 16 * 1024 * 1024
"""Bytes of sources after which a batch is committed: a crash costs at most this much work."""

_Key = tuple[str, str]  # agent and path of a source
_Known = Mapping[_Key, Source]

Progress = Callable[[int, int, float], None]
"""Called with bytes done, bytes to do, and seconds since the start."""


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


class Packed(NamedTuple):
    """A source that has been read, ready to be stored."""

    unit: Unit
    sessions: list[tuple[Session, list[Block], list[bytes]]]
    warnings: list[str]
    checkpoint: bytes | None = None


def refresh(
    catalogue: Catalogue,
    units: list[Unit],
    roots: Iterable[str],
    read: Callable[[Unit], Packed],
    progress: Progress | None = None,
    *,
    amend: Amend | None = None,
    wait: bool = False,
    warn: Callable[[str], None] = lambda _line: None,
) -> Change:
    """Bring the store up to date.

    One writer at a time: when another process is at it, this one waits for it (``wait``), or
    leaves everything as it is and says so in ``Change.busy``.

    Args:
        catalogue: the open store.
        units: all sources there are now.
        roots: the folders they were looked for in; a source below one of them that exists and
            that is not among the units has vanished.
        read: reads and packs one source; called in worker processes when there is much to
            read, so it has to be picklable.
        progress: told how far the work is, now and then.
        amend: reads what was appended to a source that only grew.
        wait: wait for another writer.
        warn: told of sources that cannot be read, a line each.

    Raises:
        StoreError: the store cannot be written, such as on a full disk. What was committed
            before stays; nothing is half there.
    """
    started = time.monotonic()
    known = catalogue.sources()
    units = leave_out(catalogue, units, known)
    vanished = _vanished(known, units, roots)
    todo = _changed(units, vanished, known)
    if not todo and not vanished:
        return Change(seconds=time.monotonic() - started)
    with writing(catalogue.folder, wait=wait) as mine:
        if not mine:
            return Change(busy=True)
        before, known = known, catalogue.sources()
        if known != before:
            # What another process has stored meanwhile is newer than the list of units.
            vanished = {key: source for key, source in vanished.items() if known.get(key) == source}
            units = leave_out(catalogue, units, known)
            todo = _changed(units, vanished, known)
        moved = _moved(units, vanished, known)
        _mark_gone(catalogue, [key for key in vanished if key not in moved])
        rewritten = _rewritten(todo, known)
        growing = [unit for unit in todo if not rewritten.intersection(unit.owners)]
        grown = _append(catalogue, growing, known, amend) if amend else []
        todo = [unit for unit in todo if unit not in grown]
        total = sum(unit.size for unit in todo)
        done = pending = 0
        batch: list[Packed] = []
        for packed in _read_all(todo, read, total):
            for line in packed.warnings:
                warn(line)
            batch.append(packed)
            pending += packed.unit.size
            if pending >= _BATCH:
                _store(catalogue, batch, moved)
                done += pending
                batch, pending = [], 0
                if progress:
                    progress(done, total, time.monotonic() - started)
        _store(catalogue, batch, moved)
        seal(catalogue)
        if progress and todo:
            progress(total, total, time.monotonic() - started)
    return Change(
        len(todo),
        len(grown),
        total,
        len(vanished) - len(moved),
        len(moved),
        time.monotonic() - started,
    )


def _key(unit: Unit) -> _Key:
    return unit.agent, unit.path


def grows(unit: Unit) -> bool:
    """Whether a session may well go on."""
    return time.time() * 1000 - unit.touched < GROWING


def pack(unit: Unit, transcripts: list[Transcript], warnings: list[str]) -> Packed:
    """Cut and sign what was read of a source; empty sessions are left out."""
    sessions = []
    for transcript in transcripts:
        if not transcript.empty:
            blocks = list(cut(transcript.events))
            signatures = [signature(block.folded) for block in blocks]
            blocks = [block._replace(folded=b"") for block in blocks]
            sessions.append((transcript.session, blocks, signatures))
    return Packed(unit, sessions, warnings, transcripts[0].checkpoint)


def seal(catalogue: Catalogue) -> None:
    """Turn fresh signatures into segments, as long as there are enough for a whole one."""
    while True:
        rows = catalogue.connection.execute(
            "SELECT block, bits FROM fresh ORDER BY block LIMIT ?", (SEGMENT_BLOCKS,)
        ).fetchall()
        if len(rows) < SEGMENT_BLOCKS:
            return
        ids = [row[0] for row in rows]
        name = f"{ids[0]}-{os.getpid()}-{time.time_ns()}.bits"
        folder = catalogue.folder / "segments"
        folder.mkdir(mode=0o700, exist_ok=True)
        write_segment(str(folder / name), [row[1] for row in rows])
        with catalogue.transaction() as connection:
            connection.execute(
                "INSERT INTO segments (first, count, file, ids) VALUES (?, ?, ?, ?)",
                (ids[0], len(ids), name, msgspec.msgpack.encode(ids)),
            )
            connection.execute("DELETE FROM fresh WHERE block <= ?", (ids[-1],))


def _changed(units: list[Unit], vanished: Mapping[_Key, Source], known: _Known) -> list[Unit]:
    """Return the units that have to be read, with those that copy from a rewritten one."""
    moved = _moved(units, vanished, known)
    changed = [unit for unit in units if _is_changed(known.get(_key(unit)), unit, known, moved)]
    rewritten = _rewritten(changed, known)
    if not rewritten:
        return changed
    keys = set(map(_key, changed))
    return changed + [
        unit for unit in units if rewritten.intersection(unit.owners) and _key(unit) not in keys
    ]


def _is_changed(
    source: Source | None, unit: Unit, known: _Known, moved: Mapping[_Key, _Key]
) -> bool:
    if source is None or source.gone:
        return True
    if source.due is not None and source.due <= time.time() * 1000:
        return True
    if source.readers != READERS:
        return True
    if source.packed == msgspec.msgpack.encode(unit):
        return False
    # An owner that the agent deleted is still here, in the store: the copies stay copies.
    kept = tuple(
        owner
        for owner in source.unit.owners
        if owner in unit.owners
        or (
            (key := (unit.agent, owner)) in known and key not in moved and not os.path.exists(owner)
        )
    )
    same = msgspec.structs.replace(unit, owners=kept)
    return source.packed != msgspec.msgpack.encode(same)


def _rewritten(units: list[Unit], known: _Known) -> set[str]:
    """Return the paths of those in which records may be missing that were there before."""
    return {
        unit.path
        for unit in units
        if (source := known.get(_key(unit))) is not None
        and unit.size <= (before := source.unit).size
        and unit.mtime_ns != before.mtime_ns
    }


def _vanished(known: _Known, units: list[Unit], roots: Iterable[str]) -> dict[_Key, Source]:
    """Return the sources that are no more, as far as their folders can be looked into."""
    present = set(map(_key, units))
    online = set(filter(_is_online, roots))
    return {
        key: source
        for key, source in known.items()
        if key not in present and not source.gone and source.root in online
    }


def _is_online(root: str) -> bool:
    try:
        os.scandir(root).close()
    except OSError:
        return False
    return True


def _moved(units: list[Unit], vanished: Mapping[_Key, Source], known: _Known) -> dict[_Key, _Key]:
    """Return what only moved (archived, compressed): where it was, and where it is now."""
    if not vanished:
        return {}
    places = {_place(unit): _key(unit) for unit in units if _key(unit) not in known}
    return {
        key: places[place]
        for key, source in vanished.items()
        if (place := _place(source.unit)) in places
    }


def _place(unit: Unit) -> tuple[str, str, str | None, str | None]:
    """Return what stays the same when a source moves."""
    return unit.agent, unit.id, unit.imported_from, unit.parent_id


def _mark_gone(catalogue: Catalogue, keys: list[_Key]) -> None:
    if not keys:
        return
    with catalogue.transaction() as connection:
        connection.executemany("UPDATE sources SET gone = 1 WHERE agent = ? AND path = ?", keys)


def _store(catalogue: Catalogue, batch: list[Packed], moved: Mapping[_Key, _Key]) -> None:
    """Store what was read, each source in place of the one that it was before it moved."""
    if not batch:
        return
    with catalogue.transaction():
        for packed in batch:
            unit = packed.unit
            for before, now in moved.items():
                if now == _key(unit):
                    catalogue.drop(*before)
            due = _due(unit, [session for session, *_ in packed.sessions])
            catalogue.put(unit, READERS, due, packed.checkpoint, packed.sessions)


def _due(unit: Unit, sessions: list[Session]) -> int | None:
    """Return when a source has to be read again although it did not change, in milliseconds.

    At once when it could not be read; when a torn last line can no longer be one in the making;
    and when a turn that was open is no longer taken for a running one.
    """
    if any(session.integrity and session.integrity.unreadable for session in sessions):
        return 0
    now = time.time_ns() // 1_000_000
    changed = unit.mtime_ns // 1_000_000
    for age, since in ((int(FRESH_SECONDS * 1000), changed), (SETTLED, unit.touched)):
        if since <= now <= since + age:
            return since + age + 1
    return None


def _append(
    catalogue: Catalogue,
    units: list[Unit],
    known: Mapping[tuple[str, str], Source],
    amend: Amend,
) -> list[Unit]:
    """Add to the sources that only grew; return those."""
    grown = []
    for unit in units:
        source = known.get((unit.agent, unit.path))
        change = amend(source, unit) if source and source.readers == READERS else None
        if source is not None and change is not None:
            with catalogue.transaction():
                catalogue.amend(source.id, change, READERS, _due(unit, [change.session]))
            grown.append(unit)
    return grown


def _read_all(units: list[Unit], read: Callable[[Unit], Packed], total: int) -> Iterator[Packed]:
    """Read sources, the largest first, in worker processes when that pays."""
    ordered = sorted(units, key=lambda unit: -unit.size)
    workers = min(os.cpu_count() or 1, len(ordered))
    if total < PARALLEL or workers < 2:
        yield from map(read, ordered)
        return
    import multiprocessing  # noqa: PLC0415 - start-up time

    # Forking is safe here: no thread was started. Elsewhere the system's own way is.
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    with context.Pool(workers) as pool:
        yield from pool.imap_unordered(read, ordered)


@contextlib.contextmanager
def writing(folder: Path, *, wait: bool) -> Iterator[bool]:
    """Hold the writer's lock; yields false when another process has it."""
    with open(folder / "lock", "ab") as stream:
        os.chmod(stream.name, 0o600)
        if not _try_lock(stream, wait=wait):
            yield False
            return
        yield True


def _try_lock(stream: IO[bytes], *, wait: bool) -> bool:
    """Lock a file for this process; the system lets go of it when the process ends."""
    if os.name == "nt":  # pragma: no cover - exercised on Windows only
        import msvcrt  # noqa: PLC0415 - exists there only

        mode: int = getattr(msvcrt, "LK_LOCK" if wait else "LK_NBLCK")
        try:
            getattr(msvcrt, "locking")(stream.fileno(), mode, 1)  # noqa: B009 - see above
        except OSError:
            return False
        return True
    import fcntl  # noqa: PLC0415 - does not exist on Windows

    try:
        fcntl.flock(stream, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    return True
