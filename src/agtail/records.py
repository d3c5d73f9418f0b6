"""How bytes become records: JSONL with integrity, whole JSON, directory walks, read-only SQLite.

Nothing here writes beside a source, and one bad line, file or directory never stops the rest.
"""

from __future__ import annotations

import operator
import os
import re
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple, cast

from agtail.errors import SourceError
from agtail.lenient import BROKEN, decode
from agtail.model import Integrity

if TYPE_CHECKING:
    import zstandard

FRESH_SECONDS = 5.0
"""A file changed this recently may be in the middle of a write: a torn last line is pending."""

MAX_LINE = 256 * 1024 * 1024
"""A longer line is dropped and counted; no agent writes one, and memory has to be bounded."""

_CHUNK = 1024 * 1024
_FIRST_CHUNK = 32 * 1024
"""Many files are only looked into, and many are small: begin small, then read in large steps."""
_TAIL = 64 * 1024
_PACKED_CHUNK = 4096  # zstd makes at most 128 KB of 4 bytes: this bounds what one step unpacks
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_BOM = b"\xef\xbb\xbf"
_BLANK = b" \t\r\n\x0b\x0c"
_TIMESTAMP = re.compile(rb'"timestamp":\s?"([0-9T:.+Z-]{10,40})"')

Json = dict[str, Any]


class Record(NamedTuple):
    """One record and where it lies: 1-based line, byte offset and length, the object."""

    line: int
    offset: int
    length: int
    data: Json


class Found(NamedTuple):
    """What a walk came across: path, bytes, and change time in nanoseconds."""

    path: str
    size: int
    mtime_ns: int


Report = Callable[[SourceError], None]
"""Called with each thing that could not be read."""


class Position:
    """How far a file of lines has been read, to go on there when it has grown.

    Attributes:
        offset: bytes of whole lines read.
        line: lines read.
        whole: the last line read ended with a line feed: nothing is left over.
    """

    def __init__(self, offset: int = 0, line: int = 0) -> None:
        self.offset = offset
        self.line = line
        self.whole = True


_GLUED = 8
"""Beginnings of records in a torn line that are tried: those of its parts look the same."""


def read_jsonl(
    path: str | Path,
    health: Integrity,
    position: Position | None = None,
    *,
    glued: bytes = b"",
) -> Iterator[Record]:
    """Read the objects of a JSON Lines file, plain or zstd-compressed, one at a time.

    Lines end at byte 0x0A and nowhere else. A byte order mark, carriage returns, leading NULs
    and blank lines are passed over. What cannot be kept is counted in ``health``: ``dropped``
    for lines that are no JSON object, ``invalidBytes`` for bytes that are not UTF-8 (the line
    is kept, with U+FFFD), ``truncated`` when the last line is one of the dropped or reading
    broke off before the end. A last line without line feed in a file that changed within
    :data:`FRESH_SECONDS` is pending: neither yielded nor counted.

    Args:
        path: the file.
        health: counts what cannot be kept.
        position: where to begin, in a plain file; told how far the reading came.
        glued: how a record begins, for agents that go on behind a torn one without a line feed:
            such a line counts as dropped, and the record behind is found.

    Raises:
        SourceError: the file cannot be opened or read at all, or is not a file.
    """
    last_dropped = False
    position = position or Position()
    with open_source(path) as stream:
        fresh = abs(time.time() - os.fstat(stream.fileno()).st_mtime) < FRESH_SECONDS
        content = unpack(stream)
        if position.offset:
            content.seek(position.offset)
        lines = _lines(content, str(path), health, position.offset)
        for number, (offset, raw, end) in enumerate(lines, position.line + 1):
            complete = end is not None
            if end is not None:
                position.offset, position.line = end, number
            position.whole = complete
            line = (raw if offset else raw.removeprefix(_BOM)).strip(_BLANK)
            if not line:
                continue
            data = decode_object(line, health) if len(raw) <= MAX_LINE else None
            if data is not None:
                last_dropped = False
                yield Record(number, offset, len(raw), data)
            elif complete or not fresh or health.truncated:
                health.dropped += 1
                last_dropped = True
                if (behind := _behind(raw, glued, health)) is not None:
                    last_dropped = False
                    start, data = behind
                    yield Record(number, offset + start, len(raw) - start, data)
            else:
                return
    health.truncated = health.truncated or last_dropped


def _behind(raw: bytes, glued: bytes, health: Integrity) -> tuple[int, Json] | None:
    """Find the record behind a torn one: where it begins, and what it is."""
    if not glued or len(raw) > MAX_LINE:
        return None
    start = 0
    for _ in range(_GLUED):
        start = raw.find(glued, start + 1)
        if start < 0:
            break
        if (data := decode_object(raw[start:].strip(_BLANK), health)) is not None:
            return start, data
    return None


def read_json(path: str | Path, health: Integrity) -> Any:
    """Read a whole JSON document; ``None`` (and counted as dropped) when it is not one.

    Raises:
        SourceError: the file cannot be opened or read.
    """
    with open_source(path) as stream:
        try:
            raw = unpack(stream).read(MAX_LINE + 1).removeprefix(_BOM).strip(_BLANK)
        except OSError as error:
            raise SourceError(str(path), reason_of(error)) from error
    if not raw:
        return None
    value = decode(raw, health) if len(raw) <= MAX_LINE else BROKEN
    if value is BROKEN:
        health.dropped += 1
        return None
    return value


def read_object(path: str | Path) -> dict[str, Any]:
    """Read a small JSON object beside a transcript: missing or damaged, it says nothing."""
    try:
        value = read_json(path, Integrity())
    except SourceError:
        return {}
    return value if isinstance(value, dict) else {}


def read_slice(path: str | Path, offset: int, length: int) -> bytes:
    """Return the exact bytes of one record, as ``src`` names it (decompressed when packed).

    Raises:
        SourceError: the file cannot be opened or read.
    """
    with open_source(path) as stream:
        try:
            return slice_of(stream, offset, length)
        except OSError as error:
            raise SourceError(str(path), reason_of(error)) from error


def slice_of(stream: IO[bytes], offset: int, length: int) -> bytes:
    """Return bytes of an open file, which is at its beginning; of the content when packed."""
    unpacked = unpack(stream)
    if unpacked is stream:
        stream.seek(offset)
    else:
        remaining = offset
        while remaining and (skipped := unpacked.read(min(remaining, _CHUNK))):
            remaining -= len(skipped)
    return unpacked.read(length)


def decode_object(line: bytes, health: Integrity) -> Json | None:
    """Decode one JSON object, or return ``None`` when the line holds none."""
    value = decode(line.lstrip(b"\x00 \t\r") if line[:1] == b"\x00" else line, health)
    return value if type(value) is dict else None


def last_timestamp(path: str | Path) -> bytes | None:
    """Return the greatest ``"timestamp"`` in the last 64 KB of a plain JSONL file, cheaply.

    Used to put unread sources in order; ``None`` for packed files and files without one.
    """
    try:
        with open_source(path) as stream:
            size = os.fstat(stream.fileno()).st_size
            stream.seek(max(0, size - _TAIL))
            return max(_TIMESTAMP.findall(stream.read(_TAIL)), default=None)
    except (SourceError, OSError):
        return None


def open_source(path: str | Path) -> IO[bytes]:
    """Open a regular file for reading, or raise :class:`SourceError` with the plain reason."""
    try:
        stream = open(path, "rb", opener=_open_without_waiting)
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            stream.close()
            raise SourceError(str(path), "not a regular file")
    except OSError as error:
        raise SourceError(str(path), reason_of(error)) from error
    return stream


def _open_without_waiting(path: str, flags: int) -> int:
    """Open a named pipe without waiting for a writer; regular files are not affected."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def unpack(stream: IO[bytes]) -> IO[bytes]:
    """Return a stream of the content: the same for plain files, decompressed for zstd.

    Reading a damaged or cut off compressed stream raises :class:`OSError`.
    """
    magic = stream.read(4)
    stream.seek(0)
    if magic != _ZSTD_MAGIC:
        return stream
    return cast("IO[bytes]", _Unpacked(stream))


class _Unpacked:
    """The content of a zstd file of any number of frames, in bounded memory.

    The library's own stream reader takes a cut off frame for a complete one.
    """

    def __init__(self, packed: IO[bytes]) -> None:
        self._packed = packed
        self._frame: zstandard.ZstdDecompressionObj | None = None
        self._rest = b""  # packed bytes behind the end of a frame
        self._content = memoryview(b"")

    def read(self, size: int) -> bytes:
        """Return the next bytes, fewer only in front of the end or of damage.

        Raises:
            OSError: nothing more can be read, because of damage or a cut off end.
        """
        parts, missing = list[memoryview](), size
        while missing:
            if not self._content:
                try:
                    self._advance()
                except OSError:
                    if not parts:
                        raise
                if not self._content:
                    break
            parts.append(self._content[:missing])
            self._content = self._content[missing:]
            missing -= len(parts[-1])
        return b"".join(parts)

    def _advance(self) -> None:
        """Unpack a few more bytes; leave no content at the end."""
        import zstandard  # noqa: PLC0415 - heavy, and only packed files need it

        while not self._content and (packed := self._rest or self._packed.read(_PACKED_CHUNK)):
            if self._frame is None:
                self._frame = zstandard.ZstdDecompressor().decompressobj()
            try:
                self._content = memoryview(self._frame.decompress(packed))
            except zstandard.ZstdError as error:
                self._rest = packed  # so that the next attempt fails as well
                raise OSError(None, "compressed data is damaged") from error
            self._rest = b""
            if self._frame.eof:
                self._rest = self._frame.unused_data
                self._frame = None
        if not self._content and self._frame is not None:
            raise OSError(None, "compressed data is cut off")


def is_there(path: str) -> bool:
    """Whether a source exists: a file, or the database that a session is a row of."""
    return os.path.exists(path) or ("#" in path and os.path.exists(path.rpartition("#")[0]))


def reason_of(error: OSError) -> str:
    """Say in plain words why the system refused."""
    return (error.strerror or type(error).__name__).lower()


_NAME = operator.attrgetter("name")


def walk(
    root: str | Path,
    wanted: Callable[[str], bool],
    report: Report,
    seen: set[tuple[int, int]] | None = None,
) -> Iterator[Found]:
    """Yield what lies below ``root`` and has a wanted path relative to it, in order of name.

    Links to files and folders are followed; every real folder and file is visited once, so
    loops end and two links to one file give it once. A missing root yields nothing; what cannot
    be looked at is reported and passed over. A folder with a wanted name is yielded, because a
    source that cannot be read has to be told, and entered like any other.

    ``seen`` is for an agent with several roots, which may be links to each other: what was
    visited below one is added to it, and passed over below the next.
    """
    if seen is None:
        seen = set()
    pending = [(os.fspath(root), "")]
    while pending:
        folder, relative = pending.pop()
        try:
            info = os.stat(folder)
            key = (info.st_dev, info.st_ino)
            if key in seen:
                continue
            seen.add(key)
            with os.scandir(folder) as entries:
                ordered = sorted(entries, key=_NAME)
        except OSError as error:
            if relative or not isinstance(error, FileNotFoundError):
                report(SourceError(folder, reason_of(error)))
            continue
        folders = []
        for entry in ordered:
            inner = relative + entry.name
            try:
                is_folder = entry.is_dir()
                if is_folder:
                    folders.append((entry.path, inner + "/"))
                if not wanted(inner):
                    continue
                path = entry.path
                info = os.stat(path)  # the entry's own stat has no inode on Windows
            except OSError as error:
                report(SourceError(entry.path, reason_of(error)))
                continue
            key = (info.st_dev, info.st_ino)
            if key not in seen:
                if not is_folder:
                    seen.add(key)
                yield Found(path, info.st_size, info.st_mtime_ns)
        pending.extend(reversed(folders))


def _lines(
    stream: IO[bytes], path: str, health: Integrity, offset: int
) -> Iterator[tuple[int, bytes, int | None]]:
    """Yield (offset, bytes without line feed, offset behind that), with bounded memory.

    The last offset is absent for a last line without line feed. Of a line over the limit not
    all bytes are given.


    When reading breaks off, what came before is good and ``health`` says truncated; when
    nothing came, :class:`SourceError` is raised.
    """
    begin, parts, held, size = offset, list[bytes](), 0, _FIRST_CHUNK
    while True:
        try:
            chunk = stream.read(size)
        except OSError as error:
            if offset == begin and not parts:
                raise SourceError(path, reason_of(error)) from error
            health.truncated = True
            break
        if not chunk:
            break
        size = _CHUNK
        start = 0
        while (end := chunk.find(b"\n", start)) >= 0:
            line = chunk[start:end]
            length = held + end - start
            if parts:
                line = b"".join((*parts, line))
                parts, held = [], 0
            yield offset, line, offset + length + 1
            offset += length + 1
            start = end + 1
        if start < len(chunk):
            # One byte over the limit is enough to know that the line has to be dropped.
            if held <= MAX_LINE:
                parts.append(chunk[start:])
            held += len(chunk) - start
    if parts:
        yield offset, b"".join(parts), None
