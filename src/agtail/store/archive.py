"""The raw archive: transcripts byte for byte, for when the agent has deleted them.

A folder of zstd files, one for each writing of a source, and an index that can be made anew from
them. Every file is only added to: a reader sees what the index says, a write that broke off
leaves bytes that nobody looks at, and the next one cuts them off. ``docs/settings.md`` says the
same for users.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, cast

import msgspec

from agtail.agents import adapter_class
from agtail.errors import ArchiveError, SourceError
from agtail.records import open_source, reason_of, slice_of
from agtail.settings import ArchiveMode
from agtail.store.archive_index import ArchiveIndex, Copy, key
from agtail.store.frames import (
    DamagedError,
    Frame,
    FrameReader,
    Joined,
    Label,
    ShrunkError,
    holds_same,
    pack,
    stable,
    write_label,
)

HEAD = 64 * 1024
TAIL = 1024 * 1024
"""Bytes at the beginning and at the end of what is kept that a file which grew has to have still.

All bytes are compared when it did not grow but was changed: that costs as much as reading it."""

_ABANDONED = 3600.0
"""Seconds after which an unfinished file is taken for one whose writer is no more."""
_CHUNK = 1024 * 1024


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


class Archive:
    """The archive in a folder, which is made when it is missing.

    For each source the newest writing is kept, and of earlier ones, that a shrunk or rewritten
    file did not go on from, the largest. A process that forks opens it anew in the child.

    Args:
        folder: where it lies.
        warn: told in one line when a damaged index had to be made anew.

    Raises:
        ArchiveError: by each method too: the folder cannot be used.
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
        from where it was left, when its beginning and end (:data:`HEAD`, :data:`TAIL`) are still
        the same. Any other is kept as a new generation. Packed sources are kept as they are.

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
            nothing = Copy(
                agent=agent,
                path=path,
                generation=base.generation if base else 1 + _latest(copies).generation,
            )
            try:
                if base and self._is_there(base):
                    with contextlib.suppress(DamagedError):  # the source has it all still
                        return self._add(copies, base, stream)
                return self._add(copies, nothing, stream)
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
        for _ in range(2):  # the file may be replaced between the two looks
            copy = self._find(agent, path, generation)
            try:
                return self._read(copy)
            except FileNotFoundError:
                continue
            except OSError as error:
                raise ArchiveError(path, reason_of(error)) from error
        raise ArchiveError(path, "its file in the archive is missing")

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

        Its time is now, for an agent would delete a file with the old time once more.

        Raises:
            ArchiveError: that is not kept or damaged, or the file exists or cannot be written.
        """
        with self._reading(agent, path, generation) as stream:
            try:
                target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                with _draft(target.parent) as draft:
                    while data := stream.read(_CHUNK):
                        draft.write(data)
                    _to_disk(draft)
                    draft.close()
                    os.close(os.open(target, os.O_CREAT | os.O_EXCL, 0o600))  # the name is ours
                    os.replace(draft.name, target)
            except DamagedError:
                raise
            except OSError as error:
                raise ArchiveError(str(target), reason_of(error)) from error

    def forget(self, agent: str, path: str) -> int:
        """Remove a source for good, in all generations; return how many stored bytes it took."""
        path = os.path.abspath(path)
        with self._index.writing():
            copies = self._index.of(agent, path)
            for copy in copies:
                self._index.drop(copy)
        removed = self._remove(self._folder.glob(f"{key(agent, path)}-*.zst"))
        self._index.wipe()
        return removed

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
        """Remove what writers left behind that were killed; return its bytes."""
        old = time.time() - _ABANDONED
        with self._index.writing():  # so that nobody is between naming a file and saying so
            known = {copy.file for copy in self._index.all()}
            left = [file for file in self._folder.glob("*.zst") if file.name not in known]
            return self._remove(left) + self._remove(
                file for file in self._folder.glob("*.new") if file.stat().st_mtime < old
            )

    def _find(self, agent: str, path: str, generation: int | None) -> Copy:
        for copy in self._index.of(agent, path):
            if generation in (None, copy.generation):
                return copy
        raise ArchiveError(path, "not kept")

    def _read(self, copy: Copy) -> IO[bytes]:
        packed = open(self._folder / copy.file, "rb")
        return cast("IO[bytes]", io.BufferedReader(FrameReader(packed, copy.frames), 64 * 1024))

    @contextlib.contextmanager
    def _reading(self, agent: str, path: str, generation: int | None = None) -> Iterator[IO[bytes]]:
        """Open the raw bytes of a source, and say of which it is that the bytes are damaged."""
        with self.open(agent, path, generation) as stream:
            try:
                yield stream
            except OSError as error:
                raise ArchiveError(path, f"the archived copy is {reason_of(error)}") from error

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
            start: what it goes on from; without a file when all of it is to be written.
            stream: the source.

        Raises:
            DamagedError: bytes that are kept had to be read, and cannot be.
        """
        before = os.fstat(stream.fileno())
        added = before.st_size - start.raw
        again = start.frames[stable(start.frames, added) :]
        again_raw = sum(frame.raw_length for frame in again)
        whole = bool(again) or not start.stored
        with contextlib.ExitStack() as stack:
            draft = stack.enter_context(draft_in(self._folder))
            parts = [(stream, added)]
            if again:
                kept = stack.enter_context(self._read(start))
                kept.seek(start.raw - again_raw)
                parts.insert(0, (kept, again_raw))
                with open(self._folder / start.file, "rb") as packed:
                    copy_bytes(packed, draft, again[0].offset)
            elif whole:
                draft.write(write_label(Label(start.agent, start.path, start.generation)))
            stream.seek(start.raw)
            offset = draft.tell() if whole else start.stored
            frames = pack(Joined(*parts), again_raw + added, draft, offset)
            copy = msgspec.structs.replace(
                start,
                number=start.number + whole,
                raw=before.st_size,
                stored=start.stored,
                kept=0,
                frames=(*start.frames[: len(start.frames) - len(again)], *frames),
            )
        return added
