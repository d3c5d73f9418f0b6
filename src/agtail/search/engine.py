"""Indexed search: the same hits in the same order as the full scan, without reading everything.

Signatures tell which blocks may hold a match; those are opened, newest session first, and matched
with the query itself. What cannot be ruled out is looked at, so the answer is always exact.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import sqlite3
import sys
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeVar

import msgspec

from agtail.assemble import Transcript
from agtail.errors import StoreError
from agtail.model import Session
from agtail.search.fold import fold
from agtail.search.grams import Needs, holds, needs
from agtail.search.query import Query
from agtail.search.scan import Hit, hit_of, hits_in
from agtail.search.snippet import Span
from agtail.store.blocks import Hay, kinds_mask
from agtail.store.catalogue import Catalogue, StoredSession
from agtail.store.signatures import Segment, bits, covers
from agtail.store.stored import BlockRow, StoredEvents

MANY = 4000
"""Candidates beyond which it is cheaper to go through all sessions than to ask for theirs."""


MUCH = 1500
"""Blocks to open beyond which worker processes are worth their start."""

WINDOW = 64
"""Sessions that are given to the workers at a time: they are one or two of these ahead."""

CHUNK = 4
"""Sessions that a worker takes at a time."""

T = TypeVar("T")


class Found(NamedTuple):
    """A match: which event of which block, its haystack, and where in it."""

    block: BlockRow
    at: int
    hay: Hay
    text: str
    place: Span


class Engine:
    """Answers one question out of the store.

    Args:
        catalogue: the store, as it was at one moment; closed when the answer is given.
        roots: folders of sessions: only what was found below them is looked at.
        agents: agents whose sessions are looked at.
    """

    def __init__(self, catalogue: Catalogue, roots: list[str], agents: list[str]) -> None:
        self._catalogue = catalogue
        self._roots = roots
        self._agents = agents

    def search(self, query: Query, *, before: int = 0, after: int = 0) -> Iterator[Hit]:
        """Yield what :func:`agtail.search.scan.scan` would yield for these sessions.

        Raises:
            StoreError: the store is damaged.
        """
        with self._answering():
            yield from self._hits(query, before, after)

    def sessions_with(self, query: Query) -> Iterator[Hit]:
        """Yield what :func:`agtail.search.scan.sessions_with` would yield."""
        with self._answering():
            plan = self._plan(query)
            found = 0
            for row in plan.rows:
                for hit in plan.hits(row, 0, 0, 1):
                    found += 1
                    yield hit
                    break
                if query.limit and found == query.limit:
                    return

    def counts(self, query: Query) -> Iterator[tuple[Session, int]]:
        """Yield what :func:`agtail.search.scan.counts` would yield."""
        with self._answering():
            plan = self._plan(query)
            much = not query.limit and self._is_much(plan)
            numbers = (
                self._in_parallel(plan.count, plan.rows) if much else map(plan.count, plan.rows)
            )
            found = 0
            for row, number in zip(plan.rows, numbers, strict=True):
                if number:
                    found += 1
                    yield row.session, number
                    if found == query.limit:
                        return

    @contextlib.contextmanager
    def _answering(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise StoreError(str(self._catalogue.folder), str(error)) from error
        finally:
            self._catalogue.close()

    def _hits(self, query: Query, before: int, after: int) -> Iterator[Hit]:
        plan = self._plan(query)

        def hits(row: StoredSession) -> list[Hit]:
            return list(plan.hits(row, before, after, query.limit))

        if query.limit or not self._is_much(plan):
            remaining = query.limit
            for row in plan.rows:
                for hit in plan.hits(row, before, after, remaining):
                    yield hit
                    if remaining:
                        remaining -= 1
                        if not remaining:
                            return
            return
        for found in self._in_parallel(hits, plan.rows):
            yield from found

    def _plan(self, query: Query) -> Plan:
        wanted = needs(query)
        candidates = _candidates(self._catalogue, wanted)
        rows = self._worth_a_look(candidates)
        return Plan(self._catalogue, query, wanted, candidates, rows)

    def _is_much(self, plan: Plan) -> bool:
        """Whether the blocks to open are worth the start of worker processes."""
        if sys.platform != "linux" or (os.cpu_count() or 1) < 2:
            return False  # elsewhere a process is too slow to start, and cannot take the plan
        if plan.candidates is not None:
            return len(plan.candidates) > MUCH
        return self._catalogue.state()[1] > MUCH

    def _in_parallel(
        self, job: Callable[[StoredSession], T], rows: list[StoredSession]
    ) -> Iterator[T]:
        """Do a job for each session in worker processes; answers come in order."""
        import multiprocessing  # noqa: PLC0415 - start-up time

        global _job  # noqa: PLW0603 - forked workers take it with them; it cannot be sent
        _job = job
        context = multiprocessing.get_context("fork")
        workers = min(os.cpu_count() or 1, 8)
        known = (self._catalogue, self._catalogue.state(), rows)
        with context.Pool(workers, _begin_work, known) as pool:
            # A window at a time: what is slow to be printed must not pile up.
            begun: deque[tuple[range, Iterator[T | None]]] = deque()
            for start in range(0, len(rows), WINDOW):
                window = range(start, min(start + WINDOW, len(rows)))
                begun.append((window, pool.imap(_work, window, chunksize=CHUNK)))
                if len(begun) > 1:
                    yield from _in_turn(job, rows, *begun.popleft())
            for window, answers in begun:
                yield from _in_turn(job, rows, window, answers)

    def _worth_a_look(self, candidates: set[int] | None) -> list[StoredSession]:
        """Return the sessions to look at, in order: those with a candidate, when these are few."""
        few = candidates is not None and len(candidates) <= MANY
        rows = self._catalogue.sessions_of(candidates or ()) if few else None
        return self._catalogue.sessions(self._roots, self._agents, rows)


def _in_turn(
    job: Callable[[StoredSession], T],
    rows: list[StoredSession],
    window: range,
    answers: Iterator[T | None],
) -> Iterator[T]:
    for number, answer in zip(window, answers, strict=True):
        # A worker that saw another state of the store cannot answer.
        yield job(rows[number]) if answer is None else answer


class Plan:
    """How one query is answered: which sessions to open, and what to look for in them.

    Args:
        catalogue: the store.
        query: the question.
        wanted: what every match contains.
        candidates: blocks that may hold a match; ``None`` for all.
        rows: sessions that may, in the order of search.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        query: Query,
        wanted: Needs,
        candidates: set[int] | None,
        rows: list[StoredSession],
    ) -> None:
        self._catalogue = catalogue
        self._query = query
        self._fits = _block_filter(query)
        self._check = _block_check(query, wanted)
        self.candidates = candidates
        self.rows = rows

    def hits(self, row: StoredSession, before: int, after: int, limit: int) -> Iterator[Hit]:
        """Yield the hits of a session; with context, no more than ``limit`` (0: all)."""
        query = self._query
        if query.about_sessions and not query.wants_session(row.session):
            return
        events, matches = self._matches(row)
        first = next(matches, None)
        if first is None:
            return
        session = row.session
        if before or after:
            yield from hits_in(query, Transcript(session, events), before, after, limit)
            return
        for found in itertools.chain([first], matches):
            event = events.events(found.block, found.hay)[found.at]
            yield hit_of(query, session, event, found.text, found.place)

    def count(self, row: StoredSession) -> int:
        """Count the matches of a session."""
        query = self._query
        if query.about_sessions and not query.wants_session(row.session):
            return 0
        events, blocks = self._candidates(row)
        opened = map(events.hay, blocks)
        return sum(_count(query, hay) for hay in opened if self._check(hay))

    def _matches(self, row: StoredSession) -> tuple[StoredEvents, Iterator[Found]]:
        events, blocks = self._candidates(row)
        return events, _verified(self._query, events, blocks, self._check)

    def _candidates(self, row: StoredSession) -> tuple[StoredEvents, list[BlockRow]]:
        events = StoredEvents(self._catalogue, row.id)
        return events, [
            block
            for block in events.blocks
            if self._fits(block) and (self.candidates is None or block.id in self.candidates)
        ]


_job: Callable[[StoredSession], object] | None = None
_rows: list[StoredSession] = []
_agrees = True


def _begin_work(catalogue: Catalogue, state: object, rows: list[StoredSession]) -> None:
    """Prepare a worker."""
    global _rows, _agrees  # noqa: PLW0603 - a worker does one job
    catalogue.reopen()
    _agrees = catalogue.state() == state
    _rows = rows


def _work(number: int) -> Any:
    return _job(_rows[number]) if _agrees and _job is not None else None


def _verified(
    query: Query,
    events: StoredEvents,
    blocks: list[BlockRow],
    check: Callable[[Hay], bool],
) -> Iterator[Found]:
    """Open blocks and match their events for real."""
    for block in blocks:
        hay = events.hay(block)
        if check(hay):
            for index, text, place in _matches(query, hay):
                yield Found(block, index, hay, text, place)


def _all_matches(query: Query, hay: Hay) -> Iterator[tuple[int, str, Span]]:
    """Match every event of a block: its index, haystack, and the place in that."""
    for index, card, data in hay.haystacks():
        if query.wants_event(card) and (data or card.kind == "tool_use"):
            text = data.decode()
            place = query.find(text)
            if place is not None:
                yield index, text, place


def _matches(query: Query, hay: Hay) -> Iterator[tuple[int, str, Span]]:
    """Match the events of a block: index, haystack, and the place in that."""
    if query.regex or not query.pattern:
        return _all_matches(query, hay)
    return _literal_matches(query, hay)


def _literal_matches(query: Query, hay: Hay) -> Iterator[tuple[int, str, Span]]:
    """Match a literal pattern, which is looked for in all of the block at once."""
    pattern = query.pattern
    if (direct := _direct(query, hay)) is not None:
        for index, start, end, at in _places(query, hay, *direct):
            before = len(hay.data[start:at].decode())
            yield index, hay.data[start:end].decode(), (before, before + len(pattern))
    elif fold(pattern).encode() in fold(hay.data.decode()).encode():
        yield from _all_matches(query, hay)


def _count(query: Query, hay: Hay) -> int:
    """Count the matches in a block."""
    direct = _direct(query, hay)
    found = _matches(query, hay) if direct is None else _places(query, hay, *direct)
    return sum(1 for _ in found)


def _direct(query: Query, hay: Hay) -> tuple[bytes, bytes] | None:
    """Return bytes that are found in bytes wherever a literal pattern matches, if that works."""
    pattern = query.pattern
    if query.regex or not pattern:
        return None
    if query.sensitive:
        return hay.data, pattern.encode()
    if hay.plain and pattern.isascii():
        # Nothing in the block folds to ASCII but ASCII itself.
        return hay.data.lower(), pattern.lower().encode()
    return None


def _places(
    query: Query, hay: Hay, whole: bytes, wanted: bytes
) -> Iterator[tuple[int, int, int, int]]:
    """Yield the events with a match: index, where the event begins and ends, where it matches."""
    at = whole.find(wanted)
    end = 0
    for index, card in enumerate(hay.cards):
        if at < 0:
            return
        start, end = end, end + card.size
        while 0 <= at < end < at + len(wanted):  # across the border of two events: none
            at = whole.find(wanted, at + 1)
        if not 0 <= at < end:
            continue
        if query.wants_event(card):
            yield index, start, end, at
        at = whole.find(wanted, end)


def _block_filter(query: Query) -> Callable[[BlockRow], bool]:
    """Rule blocks out by their kinds and times, without opening them."""
    mask = kinds_mask(query.kinds or ())
    if query.tools:
        mask = kinds_mask(["tool_use"])
    since, until = query.since, query.until

    def fits(block: BlockRow) -> bool:
        if mask and not block.kinds & mask:
            return False
        if block.time_min is None or block.time_max is None:
            return True
        return (since is None or block.time_max >= since) and (
            until is None or block.time_min <= until
        )

    return fits


def _block_check(query: Query, wanted: Needs) -> Callable[[Hay], bool]:
    """Rule blocks out by one look at all of their text, before each event is looked at."""
    if not query.regex or not (wanted.all_of or wanted.any_of):
        return lambda _hay: True
    ascii_only = _is_ascii(wanted)

    def check(hay: Hay) -> bool:
        # Nothing in a plain block folds to ASCII but ASCII itself.
        quick = hay.plain and ascii_only
        return holds(wanted, hay.data.lower() if quick else fold(hay.data.decode()).encode())

    return check


def _is_ascii(wanted: Needs) -> bool:
    return all(map(bytes.isascii, wanted.all_of)) and all(
        _is_ascii(each) for group in wanted.any_of for each in group
    )


def _candidates(catalogue: Catalogue, wanted: Needs) -> set[int] | None:
    """Return the blocks that may hold a match, by their signatures; ``None`` for all."""
    if not (wanted.all_of or wanted.any_of):
        return None
    connection = catalogue.connection
    found: set[int] = set()
    for count, file, packed in connection.execute("SELECT count, file, ids FROM segments"):
        segment = Segment(catalogue.folder / "segments" / file, count)
        if candidates := segment.candidates(wanted):
            ids: list[int] = msgspec.msgpack.decode(packed)
            found.update(ids[index] for index in bits(candidates))
        segment.close()
    for block, signature in connection.execute("SELECT block, bits FROM fresh"):
        if covers(wanted, signature):
            found.add(block)
    return found
