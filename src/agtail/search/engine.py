"""Indexed search: the same hits in the same order as the full scan, without reading everything.

Signatures tell which blocks may hold a match; those are opened, newest session first, and matched
with the query itself. What cannot be ruled out is looked at, so the answer is always exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import msgspec

from agtail.assemble import Transcript
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


class Found(NamedTuple):
    """A match: which event of which block, its haystack, and where in it."""

    block: BlockRow
    at: int
    hay: Hay
    text: str
    place: Span


class Engine:
    """Searches one open catalogue.

    Args:
        catalogue: the store.
        sessions: the sessions to look at, in the order of search.
    """

    def __init__(self, catalogue: Catalogue, sessions: list[StoredSession]) -> None:
        self._catalogue = catalogue
        self._sessions = sessions

    def search(self, query: Query, *, before: int = 0, after: int = 0) -> Iterator[Hit]:
        """Yield what :func:`agtail.search.scan.scan` would yield for these sessions."""
        remaining = query.limit
        for session, events, matches in self._matches(query):
            hits = (
                hits_in(query, Transcript(session, events), before, after, remaining)
                if before or after
                else _plain_hits(session, events, matches)
            )
            for hit in hits:
                yield hit
                if remaining:
                    remaining -= 1
                    if not remaining:
                        return

    def sessions_with(self, query: Query) -> Iterator[Hit]:
        """Yield what :func:`agtail.search.scan.sessions_with` would yield."""
        for found, (session, events, matches) in enumerate(self._matches(query), 1):
            yield next(_plain_hits(session, events, matches))
            if found == query.limit:
                return

    def counts(self, query: Query) -> Iterator[tuple[Session, int]]:
        """Yield what :func:`agtail.search.scan.counts` would yield."""
        for found, (session, _, matches) in enumerate(self._matches(query), 1):
            yield session, sum(1 for _ in matches)
            if found == query.limit:
                return

    def _matches(self, query: Query) -> Iterator[tuple[Session, StoredEvents, Iterator[Found]]]:
        """Yield each session with a match, and its matches in order, found as they are taken."""
        wanted = needs(query)
        candidates = _candidates(self._catalogue, wanted)
        fits = _block_filter(query)
        check = _block_check(query, wanted)
        for row in self._worth_a_look(candidates):
            if query.about_sessions and not query.wants_session(row.session):
                continue
            events = StoredEvents(self._catalogue.connection, row.id)
            blocks = [
                block
                for block in events.blocks
                if fits(block) and (candidates is None or block.id in candidates)
            ]
            matches = _verified(query, events, blocks, check)
            first = next(matches, None)
            if first is not None:
                yield row.session, events, _chain(first, matches)

    def _worth_a_look(self, candidates: set[int] | None) -> list[StoredSession]:
        """Return the sessions that have a candidate, when these are few enough to ask."""
        if candidates is None or len(candidates) > MANY:
            return self._sessions
        rows = self._catalogue.sessions_of(candidates)
        return [session for session in self._sessions if session.id in rows]


def _chain(first: Found, rest: Iterator[Found]) -> Iterator[Found]:
    yield first
    yield from rest


def _plain_hits(session: Session, events: StoredEvents, matches: Iterator[Found]) -> Iterator[Hit]:
    for found in matches:
        event = events.events(found.block, found.hay)[found.at]
        yield hit_of(session, event, found.text, found.place)


def _verified(
    query: Query,
    events: StoredEvents,
    blocks: list[BlockRow],
    check: Callable[[str], bool],
) -> Iterator[Found]:
    """Open blocks and match their events for real."""
    for block in blocks:
        hay = events.hay(block)
        if not check(hay.text):
            continue
        for index, card, text in hay.haystacks():
            if not query.wants_event(card) or not (text or card.kind == "tool_use"):
                continue
            place = query.find(text)
            if place is not None:
                yield Found(block, index, hay, text, place)


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


def _block_check(query: Query, wanted: Needs) -> Callable[[str], bool]:
    """Rule blocks out by one look at all of their text, before each event is looked at."""
    if not (wanted.all_of or wanted.any_of):
        return lambda _text: True
    if query.sensitive and not query.regex:
        return lambda text: query.pattern in text
    return lambda text: holds(wanted, fold(text).encode())


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
