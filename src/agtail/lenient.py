"""JSON as it stands in transcripts: fast when clean, lenient when not, always safe to encode."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import msgspec

if TYPE_CHECKING:
    from json import JSONDecoder

from agtail.model import Integrity

MAX_DEPTH = 64
"""Deeper JSON is kept as its text, so that no later step can run out of stack."""


class Broken:
    """What :func:`decode` returns for text that is not JSON."""


BROKEN: Final = Broken()

_INT64 = range(-(2**63), 2**64)
_ESCAPED_BYTE = re.compile("[\udc80-\udcff]")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[\]{}]', re.DOTALL)

# One pass over the bytes tells whether the fast decoder's answer needs a second look: brackets
# that open become "[", and a number too long for 64 bits has at least 19 digits in a row.
_SHAPE = bytes.maketrans(b"{123456789", b"[000000000")
_LONG_NUMBER = b"0" * 19

_fast_decode = msgspec.json.Decoder().decode


def decode(raw: bytes, health: Integrity) -> Any:
    """Decode JSON; return :data:`BROKEN` for what is none.

    Accepted beside the standard: bytes that are not UTF-8 (U+FFFD, counted in ``health`` as
    ``invalidBytes``), lone surrogates (U+FFFD), raw control characters, and ``NaN`` and
    ``Infinity`` (strings). Numbers that no machine type holds become the string of their
    digits, and what is nested deeper than :data:`MAX_DEPTH` becomes the string of its text.
    """
    try:
        value = _fast_decode(raw)
    except (ValueError, RecursionError):  # msgspec's errors are ValueErrors
        return _decode_leniently(raw, health)
    shape = raw.translate(_SHAPE)
    if shape.count(b"[") > MAX_DEPTH and _is_deep(value):
        return _decode_leniently(raw, health)
    if _LONG_NUMBER in shape:
        return _tame(value)
    return value


def strings_of(value: Any) -> Iterator[str]:
    """Yield every string value inside any JSON value, in order; names of members are none."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from strings_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings_of(inner)


def decode_text(text: str) -> Any:
    """Decode JSON that stands in a string of a record, as :func:`decode` does."""
    return decode(text.encode(), Integrity())


def _is_deep(value: Any) -> bool:
    """Whether containers nest beyond :data:`MAX_DEPTH`."""
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            inner
            for container in level
            for inner in (container.values() if type(container) is dict else container)
            if type(inner) is dict or type(inner) is list
        ]
        if not level:
            return False
    return True


def _decode_leniently(raw: bytes, health: Integrity) -> Any:
    text = raw.decode("utf-8", "replace")
    deep = raw.count(b"[") + raw.count(b"{") > MAX_DEPTH
    try:
        value = _lenient_decoder().decode(_flatten(text) if deep else text)
    except (ValueError, RecursionError):  # brackets without end stay deep
        return BROKEN
    if "\ufffd" in text:
        health.invalid_bytes += len(_ESCAPED_BYTE.findall(raw.decode("utf-8", "surrogateescape")))
    return _tame(value)


@functools.cache
def _lenient_decoder() -> JSONDecoder:
    import json  # noqa: PLC0415 - start-up time

    def real(digits: str) -> float | str:
        number = float(digits)
        return number if math.isfinite(number) else digits

    def whole(digits: str) -> int | str:
        return int(digits) if len(digits) <= 20 and int(digits) in _INT64 else digits

    return json.JSONDecoder(strict=False, parse_float=real, parse_int=whole, parse_constant=str)


def _flatten(text: str) -> str:
    """Replace each part of a JSON text that lies deeper than :data:`MAX_DEPTH` by a string."""
    import json  # noqa: PLC0415 - start-up time

    pieces, depth, copied, start = list[str](), 0, 0, 0
    for token in _TOKEN.finditer(text):
        bracket = token[0]
        if bracket in "[{":
            depth += 1
            if depth == MAX_DEPTH + 1:
                start = token.start()
        elif bracket in "]}":
            depth -= 1
            if depth == MAX_DEPTH:
                pieces += (text[copied:start], json.dumps(text[start : token.end()]))
                copied = token.end()
    return "".join((*pieces, text[copied:]))


def _tame(value: Any) -> Any:
    """Make a decoded value safe to encode, losing nothing; containers are changed in place.

    Lone surrogates become U+FFFD, and integers beyond 64 bits their digits.
    """
    holder = [value]
    containers: list[Any] = [holder]
    for container in containers:
        if type(container) is dict:
            if any(_LONE_SURROGATE.search(key) for key in container):
                items = list(container.items())
                container.clear()
                container.update((_LONE_SURROGATE.sub("\ufffd", key), item) for key, item in items)
            places: Any = list(container)
        else:
            places = range(len(container))
        for place in places:
            inner = container[place]
            if type(inner) is dict or type(inner) is list:
                containers.append(inner)
            elif type(inner) is str:
                if not inner.isascii():
                    container[place] = _LONE_SURROGATE.sub("\ufffd", inner)
            elif type(inner) is int and inner not in _INT64:
                container[place] = str(inner)
    return holder[0]
