"""The record tree of Claude Code: abandoned branches, and which file owns copied records."""

from __future__ import annotations

import functools
import re
from array import array
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from agtail.errors import SourceError
from agtail.records import open_source, unpack

_HEAD = 256 * 1024
_UUID = re.compile(rb'"uuid":\s?"([0-9A-Za-z-]{8,64})"')
_MESSAGE = re.compile(rb'"message":\s?\{[^{}]*?"id":\s?"([^"\\]{4,128})"')
_SESSION = re.compile(rb'"sessionId":\s?"([0-9A-Za-z-]{8,64})"')
_TIMESTAMP = re.compile(rb'"timestamp":\s?"([^"]{10,40})"')
_FORKED = b'"forkedFrom":'


class Head(NamedTuple):
    """What the first records of a file say: enough to see that two files share a beginning."""

    uuid: bytes | None
    message: bytes | None
    session_id: str | None


def read_head(path: str) -> Head:
    """Read the first id of a record and the session id; nothing when it cannot be read."""
    try:
        with open_source(path) as stream:
            head = unpack(stream).read(_HEAD)
    except (SourceError, OSError):
        return Head(None, None, None)
    uuid, message, session = _UUID.search(head), _MESSAGE.search(head), _SESSION.search(head)
    return Head(
        uuid[1] if uuid else None,
        message[1] if message else None,
        session[1].decode() if session else None,
    )


class Ids(NamedTuple):
    """The ids of the records in some files, to tell copies by."""

    uuids: set[str]
    messages: set[str]


def ids_of(paths: Iterable[str]) -> Ids:
    """Collect record and message ids by a scan of the bytes; unreadable files have none."""
    uuids: set[str] = set()
    messages: set[str] = set()
    for path in paths:
        for line in _raw_lines(path):
            uuids.update(match.decode() for match in _UUID.findall(line))
            if b'"assistant"' in line:
                messages.update(match.decode() for match in _MESSAGE.findall(line))
    return Ids(uuids, messages)


def by_age(paths: Iterable[str]) -> list[str]:
    """Put files that share a beginning in order: the one that wrote it first, then its copies.

    A copy says so itself (``forkedFrom``), or its shared records carry later times (1.0.x), or
    it lacks the bookkeeping lines that the original wrote between them (2.x).
    """
    age = functools.cmp_to_key(_older)
    return [trace.path for trace in sorted(map(_Trace, paths), key=age)]


class _Trace:
    """The order of record ids in a file, and what stands between them."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.times: dict[bytes, bytes] = {}
        self.places: dict[bytes, int] = {}
        self.forked: set[bytes] = set()
        between = 0
        for line in _raw_lines(path):
            uuid = _UUID.search(line)
            if uuid is None:
                between += 1
                continue
            message = _MESSAGE.search(line) if b'"assistant"' in line else None
            for key in (uuid[1], message[1]) if message else (uuid[1],):
                self.places.setdefault(key, between)
                if time := _TIMESTAMP.search(line):
                    self.times.setdefault(key, time[1])
                if _FORKED in line:
                    self.forked.add(key)


def _older(left: _Trace, right: _Trace) -> int:
    shared = [uuid for uuid in left.places if uuid in right.places]
    if not shared:
        return -1 if left.path < right.path else 1
    first, last = shared[0], shared[-1]
    keys = [
        (
            first in trace.forked,
            trace.times.get(first, b""),
            trace.places[first] - trace.places[last],
            min((t for u, t in trace.times.items() if u not in other.places), default=b""),
            trace.path,
        )
        for trace, other in ((left, right), (right, left))
    ]
    return -1 if keys[0] < keys[1] else 1


def _raw_lines(path: str) -> Iterator[bytes]:
    try:
        with open_source(path) as stream:
            yield from unpack(stream)
    except (SourceError, OSError):
        return


class Tree:
    """The parent links of one transcript, to find what a rewind left behind.

    A record belongs to an abandoned branch when it is no ancestor of the newest one and its
    branch begins with a prompt of its own: answers to parallel tool calls are dead ends too,
    but nobody abandoned them.
    """

    def __init__(self) -> None:
        self._index: dict[str, int] = {}
        self._parents = array("q")
        self._lines = array("q")
        self._prompts: set[int] = set()

    def __contains__(self, uuid: str) -> bool:
        return uuid in self._index

    def add(self, uuid: str, parent: str | None, line: int, *, prompt: bool) -> None:
        """Add a record; one without a known parent hangs under the record before it."""
        index = len(self._parents)
        self._parents.append(self._index.get(parent or "", index - 1))
        self._lines.append(line)
        self._index[uuid] = index
        if prompt:
            self._prompts.add(index)

    def abandoned(self) -> tuple[frozenset[int], int]:
        """Return the lines on abandoned branches, and the number of these branches."""
        count = len(self._parents)
        active = bytearray(count)
        index = count - 1
        while index >= 0 and not active[index]:
            active[index] = 1
            index = self._parents[index]
        roots = array("q", [-1]) * count
        left: set[int] = set()
        for index in range(count):
            if active[index]:
                continue
            parent = self._parents[index]
            roots[index] = index if parent < 0 or active[parent] else roots[parent]
            if index in self._prompts:
                left.add(roots[index])
        lines = frozenset(self._lines[index] for index in range(count) if roots[index] in left)
        return lines, len(left)
