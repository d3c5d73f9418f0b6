"""Bytes as a row of zstd frames that can be added to: written, read from anywhere, surveyed.

The file is what ``zstd -dc`` unpacks into the same bytes: a skippable frame that says what is in
it, then the frames, one after the other.
"""

from __future__ import annotations

import bisect
import hashlib
import io
import itertools
import json
import os
from collections.abc import Iterator, Sequence
from typing import IO, TYPE_CHECKING, NamedTuple

import msgspec

from agtail.records import reason_of

if TYPE_CHECKING:
    import zstandard
    from _typeshed import WriteableBuffer

FRAME = 32 * 1024 * 1024
"""Raw bytes of a full frame: as far as repetitions are seen, and the most that is unpacked to
reach one byte."""

SMALL_FRAMES = 16
"""Frames behind the last full one from which on some are put together."""

_WINDOW_LOG = 25  # a whole frame; it also bounds the memory that reading takes
_LEVEL = 3
"""With long matching 10.4 % of real transcripts at 300 MB/s a core; level 1 gives 11.1 % and
level 6 9.8 % at half the speed."""
_CHUNK = 1024 * 1024
_PACKED_CHUNK = 64 * 1024
_SKIPPABLE = (0x184D2A50).to_bytes(4, "little")
_LONGEST_LABEL = 1024 * 1024


class DamagedError(OSError):
    """Packed bytes are not what was written."""

    def __init__(self) -> None:
        super().__init__(None, "damaged")


class UnreadableError(Exception):
    """What is to be packed cannot be read; the text says why."""


class Frame(msgspec.Struct, array_like=True, frozen=True):
    """One frame: where it lies in the file, and the length and SHA-256 of its raw bytes."""

    offset: int
    length: int
    raw_length: int
    sha256: bytes


class Label(msgspec.Struct, frozen=True):
    """What a file of frames says of itself: which source it holds, and which writing of it."""

    agent: str
    path: str
    generation: int


class Survey(NamedTuple):
    """What was found in a file: its label, its whole frames, and where the last one ends."""

    label: Label
    frames: list[Frame]
    end: int


class Joined:
    """Some streams, each up to a number of bytes, read as one.

    Raises:
        DamagedError: as a stream of packed bytes does.
        UnreadableError: reading failed, or a stream ends before its number of bytes.
    """

    def __init__(self, parts: Sequence[tuple[IO[bytes], int]]) -> None:
        self._parts = [part for part in parts if part[1]]

    def read(self, size: int) -> bytes:
        """Return at most ``size`` bytes, none at the end."""
        if not self._parts:
            return b""
        stream, left = self._parts[0]
        try:
            data = stream.read(min(size, left))
        except DamagedError:
            raise
        except OSError as error:
            raise UnreadableError(reason_of(error)) from error
        if not data:
            raise UnreadableError("became shorter while it was read")
        if len(data) == left:
            self._parts.pop(0)
        else:
            self._parts[0] = (stream, left - len(data))
        return data


def stable(frames: Sequence[Frame], added: int) -> int:
    """Return how many frames stay as they are when ``added`` raw bytes are to follow.

    Most often all of them. When many small ones have gathered, those that hold less than what
    comes after them are written anew together with it. So every byte is packed again only about
    as often as what follows it doubles, and neither the number of frames nor what is lost by
    packing small ones grows with the number of additions.
    """
    full = next(
        (index for index in range(len(frames), 0, -1) if frames[index - 1].raw_length >= FRAME), 0
    )
    if len(frames) - full < SMALL_FRAMES:
        return len(frames)
    after = added + sum(frame.raw_length for frame in frames[full:])
    for index in range(full, len(frames)):
        after -= frames[index].raw_length
        if frames[index].raw_length < after:
            return index
    return len(frames)


def pack(raw: Joined, length: int, target: IO[bytes], offset: int) -> list[Frame]:
    """Write raw bytes as frames, in bounded memory, and return where they lie.

    Args:
        raw: what to read.
        length: how many bytes that is.
        target: where to write, at its position.
        offset: the place in the finished file that this position is to have.

    Raises:
        OSError: writing failed.
        DamagedError, UnreadableError: as :class:`Joined` does.
    """
    frames = []
    while length:
        part = min(length, FRAME)
        compressor = _compressor(part).compressobj(size=part)
        digest = hashlib.sha256()
        written, left = 0, part
        while left:
            data = raw.read(min(left, _CHUNK))
            left -= len(data)
            digest.update(data)
            written += target.write(compressor.compress(data))
        written += target.write(compressor.flush())
        frames.append(Frame(offset, written, part, digest.digest()))
        offset += written
        length -= part
    return frames


def holds_same(stream: IO[bytes], frames: Sequence[Frame]) -> bool:
    """Tell whether a stream begins with just the bytes that were packed."""
    stream.seek(0)
    for frame in frames:
        digest, left = hashlib.sha256(), frame.raw_length
        while left and (data := stream.read(min(left, _CHUNK))):
            left -= len(data)
            digest.update(data)
        if left or digest.digest() != frame.sha256:
            return False
    return True


class FrameReader(io.RawIOBase):
    """The raw bytes of some frames, from any place on, in bounded memory.

    Every frame is checked against its SHA-256 when its end is reached; :class:`DamagedError` is
    raised in place of its last bytes. Closing it closes the file.
    """

    def __init__(self, packed: IO[bytes], frames: Sequence[Frame]) -> None:
        super().__init__()
        self._packed = packed
        self._frames = frames
        self._starts = list(itertools.accumulate((each.raw_length for each in frames), initial=0))
        self._position = 0
        self._index = -1  # the frame that is open
        self._opened: zstandard.ZstdDecompressionReader | None = None
        self._digest = hashlib.sha256()
        self._reached = 0  # raw bytes of the open frame that were unpacked

    def readable(self) -> bool:
        """Return true."""
        return True

    def seekable(self) -> bool:
        """Return true."""
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go to a place; nothing is unpacked before something is read there."""
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._starts[-1]}[whence]
        self._position = max(0, base + offset)
        return self._position

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Fill a buffer as far as the frame goes, which is nowhere at the end only."""
        index = bisect.bisect_right(self._starts, self._position) - 1
        if index >= len(self._frames):
            return 0
        begin = self._position - self._starts[index]
        if index != self._index or self._reached > begin:
            self._enter(index)
        scratch = memoryview(bytearray(min(_CHUNK, begin - self._reached)))
        while self._reached < begin:
            self._unpack(scratch[: begin - self._reached])
        count = self._unpack(memoryview(buffer))
        self._position += count
        return count

    def close(self) -> None:
        """Close the file as well."""
        if not self.closed:
            self._packed.close()
        super().close()

    def _enter(self, index: int) -> None:
        import zstandard  # noqa: PLC0415 - start-up time

        self._packed.seek(self._frames[index].offset)
        self._opened = zstandard.ZstdDecompressor().stream_reader(
            self._packed, read_size=_PACKED_CHUNK, closefd=False
        )
        self._index, self._reached, self._digest = index, 0, hashlib.sha256()

    def _unpack(self, buffer: memoryview) -> int:
        """Unpack the next bytes of the open frame; at its end they have to be the right ones."""
        import zstandard  # noqa: PLC0415 - start-up time

        assert self._opened is not None
        frame = self._frames[self._index]
        wanted = buffer[: frame.raw_length - self._reached]
        try:
            count = self._opened.readinto(wanted)
        except zstandard.ZstdError as error:
            self._index = -1
            raise DamagedError from error
        self._digest.update(wanted[:count])
        self._reached += count
        whole = self._reached == frame.raw_length
        if not count or (whole and self._digest.digest() != frame.sha256):
            self._index = -1
            raise DamagedError
        return count


def write_label(label: Label) -> bytes:
    """Return the skippable frame that a file begins with."""
    text = json.dumps(msgspec.to_builtins(label)).encode()  # paths may hold bytes that are no text
    return _SKIPPABLE + len(text).to_bytes(4, "little") + text


def survey(packed: IO[bytes]) -> Survey | None:
    """Find out what a file holds without being told.

    A frame that is cut off, and what comes after a damaged one, is left out. ``None`` for a
    file that was not written here.
    """
    head = packed.read(8)
    size = int.from_bytes(head[4:], "little")
    if head[:4] != _SKIPPABLE or size > _LONGEST_LABEL:
        return None
    try:
        label = msgspec.convert(json.loads(packed.read(size)), Label)
    except ValueError:
        return None
    frames = list(_whole_frames(packed, 8 + size))
    return Survey(label, frames, frames[-1].offset + frames[-1].length if frames else 8 + size)


def _whole_frames(packed: IO[bytes], offset: int) -> Iterator[Frame]:
    import zstandard  # noqa: PLC0415 - start-up time

    rest = b""
    while True:
        frame = zstandard.ZstdDecompressor().decompressobj()
        digest = hashlib.sha256()
        length = raw_length = 0
        while not frame.eof:
            piece = rest or packed.read(_PACKED_CHUNK)
            rest = b""
            if not piece:
                return
            try:
                raw = frame.decompress(piece)
            except zstandard.ZstdError:
                return
            digest.update(raw)
            raw_length += len(raw)
            length += len(piece)
        rest = frame.unused_data
        length -= len(rest)
        yield Frame(offset, length, raw_length, digest.digest())
        offset += length


def _compressor(size: int) -> zstandard.ZstdCompressor:
    import zstandard  # noqa: PLC0415 - start-up time

    return zstandard.ZstdCompressor(
        compression_params=zstandard.ZstdCompressionParameters.from_level(
            _LEVEL,
            source_size=size,
            enable_ldm=True,
            window_log=_WINDOW_LOG,
            write_checksum=True,
            write_content_size=True,
        )
    )
