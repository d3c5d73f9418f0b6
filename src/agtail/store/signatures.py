"""Signatures: bitmaps that tell which blocks cannot hold a text, without reading the blocks.

The signature of a block has a bit set for each sequence of four and of three bytes in its folded
text. A segment holds the signatures of many blocks turned on their side: one row for each bit,
with one bit for each block, so that a question reads a few rows and none of the rest.
"""

from __future__ import annotations

import contextlib
import functools
import mmap
import os
import struct
import zlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from agtail.search.grams import Needs

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SLOTS = 32_768
"""Bits of a signature."""

SIGNATURE_BYTES = SLOTS // 8

SEGMENT_BLOCKS = 1024
"""Signatures that a segment holds at most."""

MOST_SLOTS = 24
"""So many slots of one literal are looked up; more of them hardly ever rule out more."""

VERSION = 1
"""Of the segments' layout and of what a signature means; another one is not read."""

_MAGIC = b"agtbits\n"
_FACTS = struct.Struct("<8sIII")  # magic, version, slots, blocks; the CRC-32 follows
_HEADER_BYTES = _FACTS.size + 4
_TURNED_BYTES = 128  # of each signature at a time: bounds the memory for turning them to 1 MB
_SWAPS = ((7, 0x00AA00AA00AA00AA), (14, 0x0000CCCC0000CCCC), (28, 0x00000000F0F0F0F0))
"""Steps that turn eight by eight bits: how far bits move, and those that do."""

FEW = 4
"""Signatures that are made sooner than numpy is loaded."""

_made = 0
_MULTIPLIER = 2_654_435_761  # a prime near 2**32 divided by the golden ratio
_SHIFT = 32 - 15  # the 15 high bits of the product are the slot


def signature(folded: bytes) -> bytes:
    """Return the signature of a folded text in UTF-8; no bit is set for fewer than three bytes.

    The first few in a process are made without numpy: loading it takes longer.
    """
    global _made  # noqa: PLW0603 - whether numpy pays is a matter of the process
    _made += 1
    return _signature_plain(folded) if _made <= FEW else _signature_fast(folded)


def _signature_plain(folded: bytes) -> bytes:
    grams = {folded[at : at + 4] for at in range(len(folded) - 3)}
    grams.update([folded[at : at + 3] for at in range(len(folded) - 2)])
    bitmap = bytearray(SIGNATURE_BYTES)
    for slot in map(_slot, grams):
        bitmap[slot >> 3] |= 1 << (slot & 7)
    return bytes(bitmap)


def _signature_fast(folded: bytes) -> bytes:
    import numpy as np  # noqa: PLC0415 - only needed for indexing, and slow to import

    marked = np.zeros(SLOTS, np.bool_)
    windows = len(folded) - 2
    if windows > 0:
        # All windows of four bytes as numbers. A sequence of three is a number whose highest byte
        # is zero, as the byte behind the end makes of the last one.
        overlapping = np.ndarray((windows,), "<u4", folded + b"\0", 0, (1,))
        grams = overlapping.astype(np.uint32)
        for numbers in (grams & np.uint32(0xFFFFFF), grams):
            numbers *= np.uint32(_MULTIPLIER)  # noqa: PLW2901 - in place is twice as fast
            numbers >>= np.uint32(_SHIFT)  # noqa: PLW2901 - as above
            marked[numbers.astype(np.intp)] = True
    return np.packbits(marked, bitorder="little").tobytes()


@functools.lru_cache(1024)
def slots(literal: bytes) -> tuple[int, ...]:
    """Return bits that are set in the signature of each text that has this folded literal in it.

    The literal has three bytes or more. The sequences of four come first; those of three rule out
    as much again when the literal is short, and of a long one every few have to do.
    """
    fours = _spread([literal[at : at + 4] for at in range(len(literal) - 3)], MOST_SLOTS)
    threes = [literal[at : at + 3] for at in range(len(literal) - 2)]
    grams = fours + _spread(threes, MOST_SLOTS - len(fours))
    return tuple(dict.fromkeys(map(_slot, grams)))


def covers(needs: Needs, bitmap: bytes) -> bool:
    """Tell whether a block with this signature may have what is needed."""
    return all(
        bitmap[slot >> 3] >> (slot & 7) & 1 for literal in needs.all_of for slot in slots(literal)
    ) and all(any(covers(each, bitmap) for each in group) for group in needs.any_of)


def _turned(by_block: NDArray[np.uint8]) -> bytes:
    """Turn bits by block into bits by slot: squares of eight by eight, each in one number.

    Args:
        by_block: blocks by eights, blocks of the eight, bytes of the signature.
    """
    import numpy as np  # noqa: PLC0415 - as above

    eights = np.ascontiguousarray(by_block.transpose(2, 0, 1)).view("<u8")[..., 0]
    for step, mask in _SWAPS:
        swapped = (eights ^ (eights >> np.uint64(step))) & np.uint64(mask)
        eights = eights ^ swapped ^ (swapped << np.uint64(step))
    squares = np.ascontiguousarray(eights).view(np.uint8).reshape(*eights.shape, 8)
    return squares.transpose(0, 2, 1).tobytes()


def write_segment(path: str, signatures: Sequence[bytes]) -> None:
    """Write the signatures of up to 1,024 blocks as a segment, private to the user.

    The file is there as a whole or, after an error or a crash, not at all. One writer at a time.

    Raises:
        OSError: it could not be written.
    """
    import numpy as np  # noqa: PLC0415 - as above

    assert 0 < len(signatures) <= SEGMENT_BLOCKS
    missing = -len(signatures) % 8
    stacked = np.frombuffer(b"".join(signatures) + bytes(missing * SIGNATURE_BYTES), np.uint8)
    by_block = stacked.reshape(-1, 8, SIGNATURE_BYTES)
    unfinished = f"{path}.new"
    with contextlib.suppress(FileNotFoundError):
        os.unlink(unfinished)  # left behind by a crash
    try:
        with open(unfinished, "xb", opener=_private) as file:
            file.write(_header(len(signatures)))
            file.writelines(
                _turned(by_block[:, :, first : first + _TURNED_BYTES])
                for first in range(0, SIGNATURE_BYTES, _TURNED_BYTES)
            )
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(unfinished)
        raise


def read_segment(path: str, count: int) -> list[bytes] | None:
    """Return the signatures in a segment as they were written; ``None`` for a damaged file."""
    import numpy as np  # noqa: PLC0415 - as above

    mapped = _mapped(path, count)
    if mapped is None:
        return None
    with mapped:
        rows = np.frombuffer(mapped[_HEADER_BYTES:], np.uint8).reshape(SLOTS, -1)
        by_slot = np.unpackbits(rows, axis=1, count=count, bitorder="little")
        by_block = np.packbits(by_slot.T, axis=1, bitorder="little")
        return [row.tobytes() for row in by_block]


class Segment:
    """The signatures of some blocks in a file, which is opened when it is first asked.

    The file may be removed by others meanwhile. A file that is not what :func:`write_segment`
    made rules out nothing.

    Args:
        path: the file.
        count: blocks that it is about, as the catalogue says.
    """

    def __init__(self, path: str, count: int) -> None:
        self._path = path
        self._count = count
        self._width = (count + 7) // 8
        self._file: mmap.mmap | None = None
        self._opened = False

    @property
    def damaged(self) -> bool:
        """Whether the file is missing, or of another length or header than it should have."""
        return self._rows() is None

    def candidates(self, needs: Needs) -> int:
        """Return the blocks that may have what is needed: bit ``i`` for block ``i``."""
        rows = self._rows()
        every = (1 << self._count) - 1
        return every if rows is None else self._among(every, needs, rows)

    def close(self) -> None:
        """Let go of the file; asking again opens it again."""
        if self._file is not None:
            self._file.close()
        self._file = None
        self._opened = False

    def _rows(self) -> mmap.mmap | None:
        if not self._opened:
            self._opened = True
            self._file = _mapped(self._path, self._count)
        return self._file

    def _among(self, blocks: int, needs: Needs, rows: mmap.mmap) -> int:
        """Return those of the blocks that may have what is needed."""
        width = self._width
        for literal in needs.all_of:
            for slot in slots(literal):
                at = _HEADER_BYTES + slot * width
                blocks &= int.from_bytes(rows[at : at + width], "little")
                if not blocks:
                    return 0
        for group in needs.any_of:
            admitted = 0
            for each in group:
                admitted |= self._among(blocks, each, rows)
                if admitted == blocks:
                    break
            blocks = admitted
        return blocks


def bits(bitset: int) -> Iterator[int]:
    """Yield the places of the ones in a number, the lowest first.

    >>> list(bits(0b1000_0000_0101))
    [0, 2, 11]
    """
    for index, byte in enumerate(bitset.to_bytes((bitset.bit_length() + 7) // 8, "little")):
        left = byte
        while left:
            lowest = left & -left
            yield 8 * index + lowest.bit_length() - 1
            left ^= lowest


def _slot(gram: bytes) -> int:
    return (int.from_bytes(gram, "little") * _MULTIPLIER & 0xFFFFFFFF) >> _SHIFT


def _spread(grams: list[bytes], most: int) -> list[bytes]:
    """Return so many of the grams at most, from all over."""
    if len(grams) <= most:
        return grams
    return [grams[index * len(grams) // most] for index in range(most)]


def _header(count: int) -> bytes:
    facts = _FACTS.pack(_MAGIC, VERSION, SLOTS, count)
    return facts + zlib.crc32(facts).to_bytes(4, "little")


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _mapped(path: str, count: int) -> mmap.mmap | None:
    """Return the file in memory when it is a whole segment of so many blocks."""
    header = _header(count)
    try:
        with open(path, "rb") as file:
            length = len(header) + SLOTS * ((count + 7) // 8)
            if os.fstat(file.fileno()).st_size != length or file.read(len(header)) != header:
                return None
            mapped = mmap.mmap(file.fileno(), length, access=mmap.ACCESS_READ)
    except OSError:
        return None
    if hasattr(mmap, "MADV_RANDOM"):  # not on Windows
        mapped.madvise(mmap.MADV_RANDOM)  # a few rows are read: no need to fetch what is around
    return mapped
