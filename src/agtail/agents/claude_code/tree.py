"""The record tree of Claude Code: abandoned branches, and which file owns copied records."""

from __future__ import annotations

import functools
from array import array
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from agtail.errors import SourceError
from agtail.model import Integrity
from agtail.records import Json, read_jsonl

_HEAD = 256 * 1024
"""Bytes that are looked at to find the first ids; the first answer nearly always lies there."""


class Head(NamedTuple):
    """What the first records of a file say: enough to see that two files share a beginning."""

    uuid: str | None
    message: str | None
    session_id: str | None


def read_head(path: str) -> Head:
    """Read the first ids of a record, a response and the session; none when unreadable."""
    head = Head(None, None, None)
    try:
        for record in read_jsonl(path, Integrity()):
            data = record.data
            head = Head(
                head.uuid or _text(data.get("uuid")),
                head.message or _message_id(data),
                head.session_id or _text(data.get("sessionId")),
            )
            if all(head) or record.offset > _HEAD:
                break
    except SourceError:
        return head
    return head


class Ids(NamedTuple):
    """The ids of the records in some files, to tell copies by."""

    uuids: set[str]
    messages: set[str]


def ids_of(paths: Iterable[str]) -> Ids:
    """Collect record and message ids; unreadable files have none."""
    ids = Ids(set(), set())
    for path in paths:
        for data in _records(path):
            if uuid := _text(data.get("uuid")):
                ids.uuids.add(uuid)
            if message := _message_id(data):
                ids.messages.add(message)
    return ids


def by_age(paths: Iterable[str]) -> list[str]:
    """Put files that share a beginning in order: the one that wrote it first, then its copies.

    A copy says so itself (``forkedFrom``), or its shared records carry later times (1.0.x), or
    it lacks the bookkeeping lines that the original wrote between them (2.x).
    """
    age = functools.cmp_to_key(_older)
    return [trace.path for trace in sorted(map(_Trace, paths), key=age)]


class _Trace:
    """The order of ids in a file, and what stands between them."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.times: dict[str, str] = {}
        self.places: dict[str, int] = {}
        self.forked: set[str] = set()
        between = 0
        for data in _records(path):
            keys = [key for key in (_text(data.get("uuid")), _message_id(data)) if key]
            between += not keys
            for key in keys:
                self.places.setdefault(key, between)
                if time := _text(data.get("timestamp")):
                    self.times.setdefault(key, time)
                if "forkedFrom" in data:
                    self.forked.add(key)


def _older(left: _Trace, right: _Trace) -> int:
    shared = [key for key in left.places if key in right.places]
    if not shared:
        return -1 if left.path < right.path else 1
    first, last = shared[0], shared[-1]
    keys = [
        (
            first in trace.forked,
            trace.times.get(first, ""),
            trace.places[first] - trace.places[last],
            min((time for key, time in trace.times.items() if key not in other.places), default=""),
            trace.path,
        )
        for trace, other in ((left, right), (right, left))
    ]
    return -1 if keys[0] < keys[1] else 1


def _records(path: str) -> Iterator[Json]:
    try:
        for record in read_jsonl(path, Integrity()):
            yield record.data
    except SourceError:
        return


def _message_id(data: Json) -> str | None:
    message = data.get("message")
    if data.get("type") != "assistant" or not isinstance(message, dict):
        return None
    return _text(message.get("id"))


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


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
        self._settled: tuple[int, frozenset[int], int] = (0, frozenset(), 0)

    @classmethod
    def of(
        cls,
        uuids: list[str],
        parents: list[int],
        lines: list[int],
        prompts: list[int],
        abandoned: tuple[frozenset[int], int],
    ) -> Tree:
        """Make a tree of the parts that :meth:`parts` took it apart into.

        ``abandoned`` is what :meth:`abandoned` said of it.
        """
        tree = cls()
        tree._index = {uuid: index for index, uuid in enumerate(uuids) if uuid}
        tree._parents = array("q", parents)
        tree._lines = array("q", lines)
        tree._prompts = set(prompts)
        tree._settled = (len(parents), *abandoned)
        return tree

    def parts(self) -> tuple[list[str], list[int], list[int], list[int]]:
        """Return ids, parents and lines in the order of records, and which are prompts."""
        uuids = [""] * len(self._parents)
        for uuid, index in self._index.items():
            uuids[index] = uuid
        return uuids, self._parents.tolist(), self._lines.tolist(), sorted(self._prompts)

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
        known, lines, branches = self._settled
        if all(self._parents[index] == index - 1 for index in range(known, count)) and known:
            return lines, branches  # nothing but a chain behind the newest record of then
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
