"""Conversations that are one JSON document: each message with its place, damaged ones passed by."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from agtail.errors import SourceError
from agtail.lenient import BROKEN, decode
from agtail.model import Integrity
from agtail.records import MAX_LINE, Json, Record, open_source, reason_of

_SPACE = re.compile(r"[ \t\r\n,]*")
_MESSAGE = re.compile(r'\{\s*"id":\s*"[^"]*",\s*"timestamp":')


class _DamageError(Exception):
    """Something that is no JSON stands at a position."""


def read_document(path: str, health: Integrity) -> Iterator[Record]:
    """Yield the messages of a document, then everything else as one record without messages.

    What is damaged is counted as dropped, one for each gap, and ``truncated`` when nothing
    follows it.

    Raises:
        SourceError: the file cannot be opened or read.
    """
    with open_source(path) as stream:
        try:
            raw = stream.read(MAX_LINE + 1)
        except OSError as error:
            raise SourceError(path, reason_of(error)) from error
    if len(raw) > MAX_LINE:
        health.dropped += 1
    elif raw.strip():
        yield from _Scan(raw, health).records()


class _Scan:
    """One pass over a document; as Latin-1, so that characters are counted like bytes."""

    def __init__(self, raw: bytes, health: Integrity) -> None:
        self._raw = raw
        self._text = raw.decode("latin-1")
        self._health = health
        self._at = 3 if raw.startswith(b"\xef\xbb\xbf") else 0
        self._decoder = json.JSONDecoder(strict=False)

    def records(self) -> Iterator[Record]:
        head: Json = {}
        inside = False
        while True:
            try:
                if inside:
                    yield from self._messages()
                    inside = False
                else:
                    inside = self._members(head)
                    if not inside:
                        break
            except _DamageError:
                self._health.dropped += 1
                following = _MESSAGE.search(self._text, self._at + 1)
                if following is None:
                    self._health.truncated = True
                    break
                self._at, inside = following.start(), True
        if head:
            yield Record(1, 0, len(self._raw), head)

    def _members(self, head: Json) -> bool:
        """Read members into ``head``; stop in front of the first message, or at the end."""
        if not head and self._next() == "{":
            self._at += 1
        while (character := self._next()) != "}":
            if character != '"':
                raise _DamageError
            start, end = self._value()
            key = decode(self._raw[start:end], self._health)
            if self._next() != ":":
                raise _DamageError
            self._at += 1
            if key == "messages" and self._next() == "[":
                self._at += 1
                return True
            start, end = self._value()
            head[str(key)] = decode(self._raw[start:end], self._health)
        return False

    def _messages(self) -> Iterator[Record]:
        while self._next() != "]":
            start, end = self._value()
            data = decode(self._raw[start:end], self._health)
            if data is BROKEN:
                raise _DamageError
            whole = data if isinstance(data, dict) else {"message": data}
            yield Record(1, start, end - start, whole)
        self._at += 1

    def _next(self) -> str:
        """Return the next character that is not blank, the empty text at the end."""
        space = _SPACE.match(self._text, self._at)
        self._at = space.end() if space else self._at
        return self._text[self._at : self._at + 1]

    def _value(self) -> tuple[int, int]:
        self._next()
        try:
            _, end = self._decoder.raw_decode(self._text, self._at)
        except (ValueError, RecursionError) as error:
            raise _DamageError from error
        start, self._at = self._at, end
        return start, end
