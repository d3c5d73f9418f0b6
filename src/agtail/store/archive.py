"""The raw archive: transcripts byte for byte, for when the agent has deleted them.

A folder of zstd files, one for each writing of a source, and an index that can be made anew from
them. Files are only added to or replaced: a reader sees what the index says, a write that broke
off leaves bytes that nobody looks at, and the next one cuts them off. What it means for users is
in ``docs/settings.md``.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, cast

import msgspec

from agtail.agents import adapter_class
from agtail.errors import ArchiveError, SourceError
from agtail.records import open_source, reason_of, slice_of
from agtail.settings import ArchiveMode
from agtail.store.archive_index import ArchiveIndex, Copy
from agtail.store.drafts import abandoned_in, copy_bytes, draft_in, publish, to_disk
from agtail.store.frames import (
    DamagedError,
    FrameReader,
    Joined,
    Label,
    UnreadableError,
    holds_same,
    pack,
    stable,
    write_label,
)

HEAD = 64 * 1024
TAIL = 1024 * 1024
"""Bytes at the beginning and at the end of what is kept that a file which grew has to have still.

A file that was changed without growing is compared wholly, which costs as much as reading it."""

_CHUNK = 1024 * 1024
_BUFFER = 64 * 1024


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is kept.

    Attributes:
        agent: id of the agent.
        path: absolute path of the source, which may be gone.
        generation: which writing of the source it is; counted from 1.
        newest: it is the last one, which is shown when none is named.
        raw: bytes of the source.
        stored: bytes on disk.
        kept: when bytes were last added, milliseconds since 1970.
    """

    agent: str
    path: str
    generation: int
    newest: bool
    raw: int
    stored: int
    kept: int


def wanted(mode: ArchiveMode, agent: str) -> bool:
    """Tell whether the transcripts of an agent are to be kept.

    Raises:
        UnknownAgentError: no adapter has that id.
    """
    return mode == "all" or (mode == "auto" and adapter_class(agent).deletes_history)


class Archive:
    """The archive in a folder, which is made when it is missing.

    Of each source the newest writing is kept, and the largest of the earlier ones: those that
    the source did not go on from, because it shrank or was rewritten. Any number of processes
    may read and keep; one that forks opens the archive anew in the child.

    Args:
        folder: where it lies.
        warn: told in one line when the index was damaged and had to be made anew.

    Raises:
        ArchiveError: also by each method: the folder cannot be used.
    """

    def __init__(self, folder: Path, warn: Callable[[str], None] = lambda _line: None) -> None:
        self._folder = folder
        self._index = ArchiveIndex(folder, warn)

    def close(self) -> None:
        """Close the index; streams that were opened can still be read."""
        self._index.close()

    def keep(self, agent: str, path: str) -> int:
        """Keep what a source has now; return how many raw bytes were added.

        A source that has not changed costs a look at its size and time. One that grew is read
        from where it was left, when its beginning and its end (:data:`HEAD`, :data:`TAIL`) are
        still the same. Any other is a new generation. Packed sources are kept as they are.

        Raises:
            SourceError: the source cannot be read.
            ArchiveError: the bytes cannot be stored, such as on a full disk; what was kept
                before is whole.
        """
        path = os.path.abspath(path)
        try:
            info = os.stat(path)
        except OSError as error:
            raise SourceError(path, reason_of(error)) from error
        if self._index.is_current(agent, path, info.st_size, info.st_mtime_ns):
            return 0
        copies = self._index.of(agent, path)
        with open_source(path) as stream:
            try:
                base = copies[0] if copies and _goes_on(copies[0], stream) else None
            except OSError as error:
                raise SourceError(path, reason_of(error)) from error
            try:
                if base and self._is_there(base):
                    # What cannot be read of what is kept, the source has still.
                    with contextlib.suppress(DamagedError, FileNotFoundError):
                        return self._add(copies, base, stream)
                return self._add(copies, _nothing(agent, path, copies, base), stream)
            except UnreadableError as error:
                raise SourceError(path, str(error)) from error
            except OSError as error:
                raise ArchiveError(str(self._folder), reason_of(error)) from error

    def open(self, agent: str, path: str, generation: int | None = None) -> IO[bytes]:
        """Open the raw bytes of a source: a stream that can seek, in bounded memory.

        Reading damaged bytes raises :class:`OSError`, at the latest at the end of the frame
        that holds them.

        Args:
            agent: id of the agent.
            path: path of the source.
            generation: which writing; the newest by default.

        Raises:
            ArchiveError: that is not kept.
        """
        path = os.path.abspath(path)
        missed = None
        while (copy := self._find(agent, path, generation)) != missed:
            try:
                return self._read(copy)
            except FileNotFoundError:
                missed = copy  # it may have been replaced since the look into the index
            except OSError as error:
                raise ArchiveError(path, reason_of(error)) from error
        raise ArchiveError(path, "its file in the archive is gone")

    def read_slice(self, agent: str, path: str, offset: int, length: int) -> bytes:
        """Return the exact bytes of one record, as ``src`` names it (decompressed when packed).

        Raises:
            ArchiveError: that is not kept, or damaged.
        """
        with self._reading(agent, path) as stream:
            return slice_of(stream, offset, length)

    def verify(self, agent: str, path: str, generation: int | None = None) -> bool:
        """Tell whether every byte is still what was kept, by SHA-256.

        Raises:
            ArchiveError: that is not kept.
        """
        self._find(agent, os.path.abspath(path), generation)
        try:
            with self._reading(agent, path, generation) as stream:
                while stream.read(_CHUNK):
                    pass
        except ArchiveError:
            return False
        return True

    def restore(self, agent: str, path: str, target: Path, generation: int | None = None) -> None:
        """Write the raw bytes into a new file, all of them or none.

        Its time is now: an agent that deletes old files would delete it at once otherwise.

        Raises:
            ArchiveError: that is not kept or damaged, or the file exists or cannot be written.
        """
        with self._reading(agent, path, generation) as stream, contextlib.ExitStack() as stack:
            try:
                target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                draft = stack.enter_context(draft_in(target.parent))
                copy_bytes(stream, draft)
                to_disk(draft)
                # Whoever makes the file first has the name, and nothing is ever overwritten.
                os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
                publish(draft, target)
            except DamagedError:
                raise
            except OSError as error:
                raise ArchiveError(str(target), reason_of(error)) from error

    def forget(self, agent: str, path: str) -> int:
        """Remove a source for good, in all generations; return how many bytes that freed."""
        path = os.path.abspath(path)
        with self._index.writing():
            copies = self._index.of(agent, path)
            freed = self._remove(  # first, so that it can be done again when it breaks off
                msgspec.structs.replace(copy, number=number).file
                for copy in copies[:1]
                for number in range(1, 2 + max(each.number for each in copies))
            )
            for copy in copies:
                self._index.drop(copy)
        self._index.wipe()
        return freed

    def entries(self) -> Iterator[Entry]:
        """Yield all that is kept: by agent and path, the newest generation first."""
        before = None
        for copy in self._index.all():
            source = (copy.agent, copy.path)
            yield Entry(
                agent=copy.agent,
                path=copy.path,
                generation=copy.generation,
                newest=source != before,
                raw=copy.raw,
                stored=copy.stored,
                kept=copy.kept,
            )
            before = source

    def size(self) -> tuple[int, int]:
        """Return raw and stored bytes of all that is kept."""
        return self._index.sums()

    def tidy(self) -> int:
        """Remove what killed writers left behind; return how many bytes that freed."""
        with self._index.writing():  # nobody else is between naming a file and indexing it
            known = {copy.file for copy in self._index.all()}
            names = {file.name for file in self._folder.glob("*.zst")}
            return self._remove(names - known) + self._remove(
                draft.name for draft in abandoned_in(self._folder)
            )

    def _find(self, agent: str, path: str, generation: int | None) -> Copy:
        for copy in self._index.of(agent, path):
            if generation in (None, copy.generation):
                return copy
        raise ArchiveError(path, "not kept")

    def _read(self, copy: Copy) -> IO[bytes]:
        packed = open(self._folder / copy.file, "rb")
        return cast("IO[bytes]", io.BufferedReader(FrameReader(packed, copy.frames), _BUFFER))

    @contextlib.contextmanager
    def _reading(self, agent: str, path: str, generation: int | None = None) -> Iterator[IO[bytes]]:
        """Open the raw bytes of a source, and say whose they are when they are damaged."""
        with self.open(agent, path, generation) as stream:
            try:
                yield stream
            except OSError as error:
                raise ArchiveError(path, f"kept bytes are {reason_of(error)}") from error

    def _is_there(self, copy: Copy) -> bool:
        """Tell whether a file can be added to."""
        try:
            return os.stat(self._folder / copy.file).st_size >= copy.stored
        except FileNotFoundError:
            return False

    def _add(self, copies: list[Copy], start: Copy, stream: IO[bytes]) -> int:
        """Keep what a source has, and return how many raw bytes that adds.

        Args:
            copies: what is kept of it, the newest first.
            start: what it goes on from; without frames when all of it has to be read.
            stream: the source.

        Raises:
            DamagedError: bytes that are kept had to be read, and cannot be.
            UnreadableError: the source cannot be read to where it ended.
            OSError: writing failed.
        """
        before = os.fstat(stream.fileno())
        added = before.st_size - start.raw
        stays = start.frames[: stable(start.frames, added)]
        again = start.frames[len(stays) :]
        whole = bool(again) or not start.stored
        with draft_in(self._folder) as draft, contextlib.ExitStack() as stack:
            parts = [(stream, added)]
            if again:
                with open(self._folder / start.file, "rb") as packed:
                    copy_bytes(packed, draft, again[0].offset)
                kept = stack.enter_context(self._read(start))
                kept.seek(sum(frame.raw_length for frame in stays))
                parts.insert(0, (kept, start.raw - kept.tell()))
            elif whole:
                draft.write(write_label(Label(start.agent, start.path, start.generation)))
            stream.seek(start.raw)
            offset = draft.tell() if whole else start.stored
            frames = pack(Joined(parts), sum(length for _, length in parts), draft, offset)
            copy = msgspec.structs.replace(
                start,
                number=start.number + whole,
                raw=before.st_size,
                stored=offset + sum(frame.length for frame in frames),
                mtime_ns=before.st_mtime_ns,
                mark=_mark(stream, before.st_size),
                kept=time.time_ns() // 1_000_000 if added else start.kept,
                frames=(*stays, *frames),
            )
            after = os.fstat(stream.fileno())
            if (after.st_size, after.st_mtime_ns) != (before.st_size, before.st_mtime_ns):
                # The mark may be of other bytes than were kept: compare everything next time.
                copy = msgspec.structs.replace(copy, mtime_ns=-1, mark=b"")
            return added if self._commit(copies, copy, draft, whole=whole) else 0

    def _commit(self, copies: list[Copy], copy: Copy, draft: IO[bytes], *, whole: bool) -> bool:
        """Make a draft the copy's file or the end of it; not when another process was faster."""
        if whole:
            to_disk(draft)  # before the others have to wait
        with self._index.writing():
            if self._index.of(copy.agent, copy.path) != copies:
                return False
            if whole:
                publish(draft, self._folder / copy.file)
            else:
                self._append(draft, copy)
            self._index.put(copy)
            for spare in _spare(
                [copy, *(each for each in copies if each.generation != copy.generation)]
            ):
                self._index.drop(spare)
            left = {each.file for each in self._index.of(copy.agent, copy.path)}
        with contextlib.suppress(ArchiveError):  # such as a file that is being read, on Windows
            self._remove({each.file for each in copies} - left)
        return True

    def _append(self, draft: IO[bytes], copy: Copy) -> None:
        length = draft.tell()
        if not length:
            return
        draft.seek(0)
        with open(self._folder / copy.file, "r+b") as file:
            file.truncate(copy.stored - length)
            file.seek(0, os.SEEK_END)
            copy_bytes(draft, file)
            to_disk(file)

    def _remove(self, names: Iterable[str]) -> int:
        """Remove files of the archive, those that are there; return their bytes."""
        freed = 0
        for name in names:
            file = self._folder / name
            try:
                size = file.stat().st_size
                file.unlink()
            except FileNotFoundError:
                continue
            except OSError as error:
                raise ArchiveError(str(file), reason_of(error)) from error
            freed += size
        return freed


def _nothing(agent: str, path: str, copies: list[Copy], base: Copy | None) -> Copy:
    """Return a copy to start from when the whole source is to be written.

    It is of the same generation as the one that the source goes on from, but in a new file.
    """
    newest = copies[0].generation if copies else 0
    return Copy(
        agent=agent,
        path=path,
        generation=base.generation if base else newest + 1,
        number=max((copy.number for copy in copies), default=0),
        frames=(),
    )


def _spare(copies: list[Copy]) -> list[Copy]:
    """Return the copies to let go of: all but the newest and the largest of the others."""
    earlier = sorted(copies[1:], key=lambda copy: (copy.raw, copy.generation))
    return earlier[:-1]


def _goes_on(copy: Copy, stream: IO[bytes]) -> bool:
    """Tell whether a source begins with what is kept of it."""
    size = os.fstat(stream.fileno()).st_size
    if size > copy.raw and copy.mark:
        return _mark(stream, copy.raw) == copy.mark
    return size >= copy.raw and holds_same(stream, copy.frames)


def _mark(stream: IO[bytes], size: int) -> bytes:
    """Digest the beginning and the end of the first ``size`` bytes."""
    stream.seek(0)
    digest = hashlib.sha256(stream.read(min(size, HEAD)))
    stream.seek(max(0, size - TAIL))
    digest.update(stream.read(min(size, TAIL)))
    return digest.digest()
