"""How bytes become records: JSONL with integrity, whole JSON, directory walks, read-only SQLite.

Nothing here writes beside a source, and one bad line, file or directory never stops the rest.
"""

from __future__ import annotations

import contextlib
import functools
import json
import math
import os
import re
import shutil
import sqlite3
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

import msgspec

from agtail.errors import SourceError
from agtail.model import Integrity

FRESH_SECONDS = 5.0
"""A file changed this recently may be in the middle of a write: a torn last line is pending."""

MAX_LINE = 256 * 1024 * 1024
"""A longer line is dropped and counted; no agent writes one, and memory has to be bounded."""

MAX_DEPTH = 64
"""Deeper JSON is kept as its text, so that no later step can run out of stack."""

_CHUNK = 1024 * 1024
_TAIL = 64 * 1024
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_BOM = b"\xef\xbb\xbf"
_INT64 = range(-(2**63), 2**64)
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_TIMESTAMP = re.compile(rb'"timestamp":\s?"([0-9T:.+Z-]{10,40})"')

Json = dict[str, Any]


class Record(NamedTuple):
    """One record and where it lies: 1-based line, byte offset and length, the object."""

    line: int
    offset: int
    length: int
    data: Json


class Found(NamedTuple):
    """A file that a walk came across: path, bytes, and change time in nanoseconds."""

    path: str
    size: int
    mtime_ns: int


Report = Callable[[SourceError], None]
"""Called with each thing that could not be read."""


def read_jsonl(path: str | Path, health: Integrity) -> Iterator[Record]:
    """Read the objects of a JSON Lines file, plain or zstd-compressed, one at a time.

    Lines end at byte 0x0A and nowhere else. A byte order mark, carriage returns, leading NULs
    and blank lines are passed over. What cannot be kept is counted in ``health``: ``dropped``
    for lines that are no JSON object, ``invalidBytes`` for bytes that are not UTF-8 (the line
    is kept, with U+FFFD), ``truncated`` when the last line is one of the dropped. A last line
    without line feed in a file that changed within :data:`FRESH_SECONDS` is pending: neither
    yielded nor counted.

    Raises:
        SourceError: the file cannot be opened or read at all, or is not a file.
    """
    number, last_dropped = 0, False
    with open_source(path) as stream:
        fresh = time.time() - os.fstat(stream.fileno()).st_mtime < FRESH_SECONDS
        for offset, raw, complete in _lines(unpack(stream), str(path)):
            number += 1
            line = raw.strip(b" \t\r\n\x0b\x0c") if number > 1 else raw.removeprefix(_BOM).strip()
            if not line:
                continue
            data = decode_object(line, health) if len(raw) <= MAX_LINE else None
            if data is None:
                if not complete and fresh:
                    return
                health.dropped += 1
                last_dropped = True
            else:
                last_dropped = False
                yield Record(number, offset, len(raw), data)
    health.truncated = health.truncated or last_dropped


def read_json(path: str | Path, health: Integrity) -> Any:
    """Read a whole JSON document; ``None`` (and counted as dropped) when it is not one.

    Raises:
        SourceError: the file cannot be opened or read.
    """
    with open_source(path) as stream:
        try:
            raw = unpack(stream).read().removeprefix(_BOM).strip()
        except OSError as error:
            raise SourceError(str(path), reason_of(error)) from error
    if not raw:
        return None
    value = _decode(raw, health)
    if value is _BROKEN:
        health.dropped += 1
        return None
    return value


def read_slice(path: str | Path, offset: int, length: int) -> bytes:
    """Return the exact bytes of one record, as ``src`` names it (decompressed when packed)."""
    with open_source(path) as stream:
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
    value = _decode(line.lstrip(b"\x00"), health)
    return value if type(value) is dict else None


def last_timestamp(path: str | Path) -> bytes | None:
    """Return the greatest ``"timestamp"`` in the last 64 KB of a plain JSONL file, cheaply.

    Used to put unread sources in order; ``None`` for packed files and files without one.
    """
    try:
        with open_source(path) as stream:
            size = os.fstat(stream.fileno()).st_size
            stream.seek(max(0, size - _TAIL))
            return max(_TIMESTAMP.findall(stream.read()), default=None)
    except (SourceError, OSError):
        return None


def open_source(path: str | Path) -> IO[bytes]:
    """Open a regular file for reading, or raise :class:`SourceError` with the plain reason."""
    try:
        stream = open(path, "rb")
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            stream.close()
            raise SourceError(str(path), "not a regular file")
    except OSError as error:
        raise SourceError(str(path), reason_of(error)) from error
    return stream


def unpack(stream: IO[bytes]) -> IO[bytes]:
    """Return a stream of the content: the same for plain files, decompressed for zstd."""
    magic = stream.read(4)
    stream.seek(0)
    if magic != _ZSTD_MAGIC:
        return stream
    import zstandard  # noqa: PLC0415 - heavy, and only packed files need it

    reader = zstandard.ZstdDecompressor().stream_reader(stream, read_across_frames=True)
    return cast("IO[bytes]", reader)


def reason_of(error: OSError) -> str:
    """Say in plain words why the system refused."""
    return (error.strerror or type(error).__name__).lower()


def walk(root: str | Path, wanted: Callable[[str], bool], report: Report) -> Iterator[Found]:
    """Yield the files below ``root`` whose path relative to it is wanted, in order of name.

    Links to files and folders are followed; every real folder and file is visited once, so
    loops end and two links to one file give it once. A missing root yields nothing; what cannot
    be read is reported and passed over.
    """
    seen: set[tuple[int, int]] = set()
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
                ordered = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            if relative or not isinstance(error, FileNotFoundError):
                report(SourceError(folder, reason_of(error)))
            continue
        folders = []
        for entry in ordered:
            inner = f"{relative}{entry.name}"
            try:
                if entry.is_dir():
                    folders.append((entry.path, f"{inner}/"))
                    continue
                if not wanted(inner):
                    continue
                info = entry.stat()
            except OSError as error:
                report(SourceError(entry.path, reason_of(error)))
                continue
            key = (info.st_dev, info.st_ino)
            if key not in seen:
                seen.add(key)
                yield Found(entry.path, info.st_size, info.st_mtime_ns)
        pending.extend(reversed(folders))


@contextlib.contextmanager
def open_database(path: str | Path) -> Iterator[sqlite3.Connection]:
    """Open an agent's SQLite database without changing a byte in or beside it.

    No ``-wal`` beside it: opened as immutable. Both side files there, so a writer may be
    alive: opened read-only. Anything else: a private copy of database and log is opened.

    Raises:
        SourceError: missing, locked, damaged or not a database.
    """
    wal, shm = f"{path}-wal", f"{path}-shm"
    with contextlib.ExitStack() as stack:
        try:
            if not os.path.exists(wal):
                uri = f"{Path(path).absolute().as_uri()}?immutable=1"
            elif os.path.exists(shm):
                uri = f"{Path(path).absolute().as_uri()}?mode=ro"
            else:
                private = stack.enter_context(tempfile.TemporaryDirectory(prefix="agtail-"))
                copy = Path(private) / "copy.sqlite"
                shutil.copyfile(path, copy)
                shutil.copyfile(wal, f"{copy}-wal")
                uri = copy.as_uri()
            connection = stack.enter_context(
                contextlib.closing(sqlite3.connect(uri, uri=True, timeout=1.0))
            )
            connection.row_factory = sqlite3.Row
            connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchall()
            yield connection
        except OSError as error:
            raise SourceError(str(path), reason_of(error)) from error
        except sqlite3.Error as error:
            raise SourceError(str(path), str(error)) from error


class _Broken:
    """What :func:`_decode` returns for text that is not JSON."""


_BROKEN = _Broken()


def _lines(stream: IO[bytes], path: str) -> Iterator[tuple[int, bytes, bool]]:
    """Yield (offset, bytes without line feed, ended by a line feed) with bounded memory."""
    offset, parts, held = 0, list[bytes](), 0
    while True:
        try:
            chunk = stream.read(_CHUNK)
        except OSError as error:
            raise SourceError(path, reason_of(error)) from error
        except Exception as error:  # zstandard has its own class, which is not imported here
            if type(error).__name__ != "ZstdError":
                raise
            raise SourceError(path, f"damaged compression: {error}") from error
        if not chunk:
            break
        start = 0
        while (end := chunk.find(b"\n", start)) >= 0:
            if parts:
                parts.append(chunk[start:end])
                line = b"".join(parts)
                length = held + end - start
                parts, held = [], 0
            else:
                line = chunk[start:end]
                length = end - start
            yield offset, line, True
            offset += length + 1
            start = end + 1
        if start < len(chunk):
            rest = chunk[start:]
            held += len(rest)
            # One byte over the limit is enough to know that the line has to be dropped.
            if sum(map(len, parts)) <= MAX_LINE:
                parts.append(rest)
    if parts:
        yield offset, b"".join(parts), False


def _decode(raw: bytes, health: Integrity) -> Any:
    """Decode JSON, falling back from the fast decoder to a lenient one."""
    try:
        value = msgspec.json.decode(raw)
    except (msgspec.DecodeError, ValueError):
        value = _decode_leniently(raw, health)
    except RecursionError:
        return _BROKEN
    if raw.count(b"[") + raw.count(b"{") > MAX_DEPTH or _long_number(raw):
        value = _tame(value)
    return value


def _long_number(raw: bytes) -> bool:
    return _DIGITS.search(raw) is not None


_DIGITS = re.compile(rb"[0-9]{19}")


def _decode_leniently(raw: bytes, health: Integrity) -> Any:
    """Accept bad UTF-8, lone surrogates, raw control characters, NaN and endless numbers."""
    invalid = 0
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        text = raw.decode("utf-8", "replace")
        invalid = sum(len(part) for part in _invalid_runs(raw))
    try:
        value = _lenient_decoder().decode(text)
    except (ValueError, RecursionError):
        return _BROKEN
    health.invalid_bytes += invalid
    return _tame(value)


def _invalid_runs(raw: bytes) -> Iterator[bytes]:
    """Yield each run of bytes that is not UTF-8."""
    position = 0
    while position < len(raw):
        try:
            raw[position:].decode("utf-8")
        except UnicodeDecodeError as error:
            yield raw[position + error.start : position + error.end]
            position += error.end
        else:
            return


@functools.cache
def _lenient_decoder() -> json.JSONDecoder:
    def real(digits: str) -> float | str:
        number = float(digits)
        return number if math.isfinite(number) else digits

    return json.JSONDecoder(
        strict=False,
        parse_float=real,
        parse_int=lambda digits: int(digits) if len(digits) < 19 else digits,
        parse_constant=str,
    )


def _tame(value: Any) -> Any:
    """Make a decoded value safe to encode and to walk, losing nothing.

    Lone surrogates become U+FFFD, integers beyond 64 bits their digits, and what lies deeper
    than :data:`MAX_DEPTH` its JSON text.
    """
    return _tamed(value, MAX_DEPTH)


def _tamed(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return _LONE_SURROGATE.sub("\ufffd", value) if not value.isascii() else value
    if isinstance(value, int) and not isinstance(value, bool):
        return value if value in _INT64 else str(value)
    if isinstance(value, (dict, list)) and not depth:
        text = json.dumps(value, ensure_ascii=False)
        return _LONE_SURROGATE.sub("\ufffd", text)
    if isinstance(value, dict):
        return {_tamed(key, depth): _tamed(inner, depth - 1) for key, inner in value.items()}
    if isinstance(value, list):
        return [_tamed(inner, depth - 1) for inner in value]
    return value
