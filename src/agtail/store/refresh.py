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
from agtail.records import FRESH_SECONDS, is_there
from agtail.store import changes
from agtail.store.append import Amend
from agtail.store.blocks import Block, cut
from agtail.store.catalogue import Catalogue, is_text
from agtail.store.changes import READERS, Change, Key, Known, key_of
from agtail.store.forgotten import leave_out
from agtail.store.settled import settle, version
from agtail.store.signatures import SEGMENT_BLOCKS, signature, write_segment

SETTLED = 10 * 60 * 1000
"""Milliseconds after its last record from which on no session is taken for a running one."""

GROWING = 7 * 24 * 3600 * 1000
"""Milliseconds after its last record during which a session may well go on: so long it is kept
what it takes to read only what is added."""

PARALLEL = 4 * 1024 * 1024
"""Bytes to read from which worker processes are worth their start."""

_BATCH = 16 * 1024 * 1024
"""Bytes of sources after which a batch is committed: a crash costs at most this much work."""

Progress = Callable[[int, int, float], None]
"""Called with bytes done, bytes to do, and seconds since the start."""


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
    seen: Mapping[str, bytes],
    unseen: Iterable[str] = (),
    amend: Amend | None = None,
    wait: bool = False,
    warn: Callable[[str], None] = lambda _line: None,
) -> Change:
    """Bring the store up to date.

    One writer at a time: when another process is at it, this one waits for it (``wait``), or
    leaves everything as it is and says so in ``Change.busy``.

    Args:
        catalogue: the open store.
        units: all sources there are now, of the agents in question.
        seen: these agents, each with what its files look like, see :mod:`agtail.store.settled`.
        roots: the folders they were looked for in; a source below one of them that exists and
            that is not among the units has vanished.
        unseen: folders and databases that could not be looked into.
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
    state = version(catalogue)
    known = catalogue.sources(seen)
    units = leave_out(catalogue, _storable(units, warn), known)
    vanished = changes.vanished(known, units, roots, unseen)
    todo = changes.changed(units, vanished, known)
    if not todo and not vanished:
        _settle(catalogue, seen, state)
        return Change(seconds=time.monotonic() - started)
    with writing(catalogue.folder, wait=wait) as mine:
        if not mine:
            return Change(busy=True)
        before, known = known, catalogue.sources(seen)
        alone = known == before
        if not alone:
            # What another process has stored meanwhile is newer than the list of units.
            vanished = {key: source for key, source in vanished.items() if known.get(key) == source}
            units = leave_out(catalogue, units, known)
            todo = changes.changed(units, vanished, known)
        moved = changes.moves(units, vanished, known)
        _mark_gone(catalogue, [key for key in vanished if key not in moved])
        rewritten = changes.rewritten(todo, known)
        growing = [unit for unit in todo if not rewritten.intersection(unit.owners)]
        copies = changes.copies_of(units)
        grown, again = _append(catalogue, growing, copies, known, amend) if amend else (set(), [])
        todo = [unit for unit in todo if key_of(unit) not in grown]
        again += changes.copies_of_longer(todo, copies, known)
        todo = list({key_of(unit): unit for unit in (*todo, *again)}.values())
        grown.difference_update(map(key_of, again))
        # Should this process end in between, another one knows of them.
        copying = [known[key_of(unit)] for unit in todo if unit.owners and key_of(unit) in known]
        if copying:
            with catalogue.transaction():
                catalogue.distrust(copying)
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
                seal(catalogue)
                done += pending
                batch, pending = [], 0
                if progress:
                    progress(done, total, time.monotonic() - started)
        _store(catalogue, batch, moved)
        seal(catalogue)
        if alone and not moved:  # copies of what moved are read once more
            settle(catalogue, seen)
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


def _settle(catalogue: Catalogue, seen: Mapping[str, bytes], before: int) -> None:
    """Note that nothing has changed, unless another process has stored something meanwhile."""
    with writing(catalogue.folder, wait=False) as mine:
        if mine and version(catalogue) == before:
            settle(catalogue, seen)


def _storable(units: list[Unit], warn: Callable[[str], None]) -> list[Unit]:
    """Leave out sources whose name the store cannot hold, and tell of them."""
    odd = {unit.path for unit in units if not is_text(unit.path)}
    for path in sorted(odd):
        shown = path.encode(errors="replace").decode()
        warn(f"{shown}: its name is not UTF-8; skipped (--no-store reads it)")
    return [
        msgspec.structs.replace(unit, owners=tuple(each for each in unit.owners if each not in odd))
        if odd.intersection(unit.owners)
        else unit
        for unit in units
        if unit.path not in odd
    ]


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


def _mark_gone(catalogue: Catalogue, keys: list[Key]) -> None:
    if not keys:
        return
    with catalogue.transaction() as connection:
        connection.executemany("UPDATE sources SET gone = 1 WHERE agent = ? AND path = ?", keys)


def _store(catalogue: Catalogue, batch: list[Packed], moved: Mapping[Key, Key]) -> None:
    """Store what was read, each source in place of the one that it was before it moved."""
    if not batch:
        return
    with catalogue.transaction():
        for packed in batch:
            unit = packed.unit
            sessions = [session for session, *_ in packed.sessions]
            if _is_unreadable(sessions) and not is_there(unit.path):
                continue  # it went in between: what is known of it is better than nothing
            for before, now in moved.items():
                if now == key_of(unit):
                    catalogue.drop(*before)
            due = _due(unit, sessions)
            catalogue.put(unit, READERS, due, packed.checkpoint, packed.sessions)


def _due(unit: Unit, sessions: list[Session]) -> int | None:
    """Return when a source has to be read again although it did not change, in milliseconds.

    At once when it could not be read; when a torn last line can no longer be one in the making;
    and when a turn that was open is no longer taken for a running one.
    """
    if _is_unreadable(sessions):
        return 0
    now = time.time_ns() // 1_000_000
    changed = unit.mtime_ns // 1_000_000
    # The clock of whoever wrote it may be ahead: such an end comes later, and still comes.
    ends = (changed + int(FRESH_SECONDS * 1000), unit.touched + SETTLED)
    return min((end + 1 for end in ends if now <= end), default=None)


def _is_unreadable(sessions: Iterable[Session]) -> bool:
    return any(session.integrity and session.integrity.unreadable for session in sessions)


def _append(
    catalogue: Catalogue,
    units: list[Unit],
    copies: Mapping[Key, list[Unit]],
    known: Known,
    amend: Amend,
) -> tuple[set[Key], list[Unit]]:
    """Add to the sources that only grew; return those, and copies to be read because of it."""
    grown: set[Key] = set()
    again: list[Unit] = []
    for unit in units:
        key = key_of(unit)
        source = known.get(key)
        change = amend(source, unit) if source and source.readers == READERS else None
        if source is None or change is None:
            continue
        doubtful = [
            copy
            for copy in copies.get(key, ())
            if (stored := known.get(key_of(copy))) is not None
            and changes.may_share(catalogue, stored, change.added)
        ]
        with catalogue.transaction():
            catalogue.amend(source.id, change, READERS, _due(unit, [change.session]))
            catalogue.distrust(known[key_of(copy)] for copy in doubtful)
        grown.add(key)
        again += doubtful
    return grown, again


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
