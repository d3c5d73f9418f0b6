"""Blocks: a session's events cut into pieces of about 32 KB of searched text, compressed.

A block holds its text once. ``hay`` is what a search reads: a card for each event, and the
haystacks. ``rest`` is what is shown: the events without the strings that ``hay`` has already.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from agtail.errors import StoreError
from agtail.model import KINDS, Event
from agtail.search.fold import fold, is_plain
from agtail.search.haystack import join, parts_of

if TYPE_CHECKING:
    import zstandard

TEXT = 32 * 1024
"""Characters of haystack after which a block is closed."""

EVENTS = 256
"""Events after which a block is closed, however short they are."""

_LEVEL = 3
_KELVIN = "\u212a"  # the one letter whose lower case is ASCII while it is not
_KIND_BITS = {kind: 1 << index for index, kind in enumerate(KINDS)}


class Card(msgspec.Struct, array_like=True, omit_defaults=True, gc=False):
    """What a search has to know of an event before it looks at it; named as in ``Event``.

    Attributes:
        size: bytes of its haystack in UTF-8, as all that follows.
        kind, tool, time, inherited, bookkeeping: as in the event.
        text: size of the event's text, the beginning of the haystack.
        arguments: where the input begins in the haystack, and its size.
        result: where the text of the result begins, and its size.
    """

    size: int
    kind: str
    time: int | None = None
    tool: str | None = None
    inherited: bool = False
    bookkeeping: bool = False
    text: int = 0
    arguments: tuple[int, int] | None = None
    result: tuple[int, int] | None = None


class Block(NamedTuple):
    """A block to be stored.

    Attributes:
        first: number of its first event.
        events: number of events.
        kinds: mask of the kinds in it, see :func:`kinds_mask`.
        time_min, time_max: earliest and latest instant, when all of its events have one.
        hay, rest: the compressed halves.
        folded: folded text as UTF-8, to be signed.
    """

    first: int
    events: int
    kinds: int
    time_min: int | None
    time_max: int | None
    hay: bytes
    rest: bytes
    folded: bytes


class Hay(NamedTuple):
    """The searchable half of a block.

    Attributes:
        cards: what is known of each event.
        data: the haystacks one after the other, in UTF-8.
        plain: lower case is all that folding them takes, and no letter becomes ASCII by that.
    """

    cards: list[Card]
    data: bytes
    plain: bool

    def haystacks(self) -> Iterator[tuple[int, Card, bytes]]:
        """Yield index in the block, card and haystack of each event."""
        start = 0
        for index, card in enumerate(self.cards):
            end = start + card.size
            yield index, card, self.data[start:end]
            start = end


def kinds_mask(kinds: Iterable[str]) -> int:
    """Return the mask of some kinds."""
    mask = 0
    for kind in kinds:
        mask |= _KIND_BITS[kind]
    return mask


def cut(events: Iterable[Event], first: int = 0) -> Iterator[Block]:
    """Cut a session's events, the first of them of this number, into blocks, in their order."""
    cards: list[Card] = []
    texts: list[str] = []
    rest: list[Event] = []
    size = 0
    for event in events:
        card, text, left = _split(event)
        cards.append(card)
        texts.append(text)
        rest.append(left)
        size += len(text)
        if size >= TEXT or len(cards) >= EVENTS:
            yield _block(first, cards, texts, rest)
            first += len(cards)
            cards, texts, rest, size = [], [], [], 0
    if cards:
        yield _block(first, cards, texts, rest)


def read_hay(data: bytes) -> Hay:
    """Open the searchable half."""
    content = _decompress(data)
    size = int.from_bytes(content[:4], "little")
    try:
        plain, cards = _head.decode(content[4 : 4 + size])
    except msgspec.DecodeError as error:
        raise _damaged(error) from error
    return Hay(cards, content[4 + size :], plain)


def folded(haystacks: Iterable[str], *, plain: bool | None = None) -> bytes:
    """Return the text of a block as it is signed; ``plain`` as for :func:`fold`."""
    # A separator that no literal spans by chance: grams across two events would be noise.
    return fold("\n".join(haystacks), plain=plain).encode()


def read_events(hay: Hay, rest: bytes) -> list[Event]:
    """Put the events of a block together again."""
    try:
        events = _events.decode(_decompress(rest))
        for (_, card, text), event in zip(hay.haystacks(), events, strict=True):
            _restore(card, text, event)
    except ValueError as error:  # also what msgspec and decoding raise
        raise _damaged(error) from error
    return events


def _decompress(data: bytes) -> bytes:
    import zstandard  # noqa: PLC0415 - start-up time

    try:
        return _decompressor().decompress(data)
    except zstandard.ZstdError as error:
        raise _damaged(error) from error


def _damaged(error: Exception) -> StoreError:
    return StoreError("store", f"damaged block: {error}; agtail index verify says more")


def _split(event: Event) -> tuple[Card, str, Event]:
    """Take the searched strings out of an event; the card tells where they went."""
    parts = parts_of(event)
    text = join(parts)
    card = Card(
        size=_size(text),
        kind=event.kind,
        time=event.time,
        tool=event.tool,
        inherited=event.inherited,
        bookkeeping=event.bookkeeping,
        text=_size(parts.text),
    )
    changes: dict[str, Any] = {}
    if parts.text:
        changes["text"] = None
    at = card.text + bool(parts.text)
    call = _size(parts.call)
    if parts.arguments:
        arguments = _size(parts.arguments)
        card.arguments = (at + call - arguments, arguments)
        changes["input"] = None
    at += call + bool(parts.call)
    if parts.result and event.result is not None:
        card.result = (at, _size(parts.result))
        changes["result"] = msgspec.structs.replace(event.result, text="")
    return card, text, msgspec.structs.replace(event, **changes) if changes else event


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())


def _restore(card: Card, text: bytes, event: Event) -> None:
    if card.text:
        event.text = text[: card.text].decode()
    if card.arguments is not None:
        start, size = card.arguments
        event.input = msgspec.json.decode(text[start : start + size])
    if card.result is not None and event.result is not None:
        start, size = card.result
        event.result.text = text[start : start + size].decode()


def _block(first: int, cards: list[Card], texts: list[str], rest: list[Event]) -> Block:
    text = "".join(texts)
    plain = is_plain(text)
    head = msgspec.msgpack.encode((plain and _KELVIN not in text, cards))
    hay = b"".join((len(head).to_bytes(4, "little"), head, text.encode()))
    times = [card.time for card in cards if card.time is not None]
    timed = len(times) == len(cards)
    compress = _compressor().compress
    return Block(
        first,
        len(cards),
        kinds_mask(card.kind for card in cards),
        min(times) if timed else None,
        max(times) if timed else None,
        compress(hay),
        compress(msgspec.msgpack.encode(rest)),
        folded(texts, plain=plain),
    )


_head = msgspec.msgpack.Decoder(tuple[bool, list[Card]])
_events = msgspec.msgpack.Decoder(list[Event])


@functools.cache
def _compressor() -> zstandard.ZstdCompressor:
    import zstandard  # noqa: PLC0415 - start-up time

    return zstandard.ZstdCompressor(level=_LEVEL)


@functools.cache
def _decompressor() -> zstandard.ZstdDecompressor:
    import zstandard  # noqa: PLC0415 - start-up time

    return zstandard.ZstdDecompressor()
