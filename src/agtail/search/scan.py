"""Full scan: every event of every wanted session is looked at. What it finds is the truth."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

import msgspec

from agtail.assemble import Transcript
from agtail.model import Event, Kind, Role, Session, Wire
from agtail.search.haystack import haystack
from agtail.search.query import Query
from agtail.search.snippet import Span, excerpt


class Hit(Wire, kw_only=True):
    """An event that matched; one line of ``grep --json``.

    Attributes:
        agent: id of the coding agent.
        session_id: the session, in the agent's own words.
        path: its transcript.
        ts: time of the event as recorded.
        kind: kind of the event.
        tool: tool name, for calls and for hooks that a call triggered.
        cwd: working directory of the session.
        archived: the session was put aside.
        snippet: the surroundings of the match on one line.
        seq: number of the event; ``agent:session-id#seq`` names it.
        time: ``ts`` as UTC milliseconds.
        role: who spoke.
        model: the model that spoke.
        title: title of the session.
        sidechain, inherited, rewound: marks of the event.
        is_subagent, parent_id: the family of the session.
        imported_from: collection that the session was imported into.
        match: where the match lies in the snippet, as code points from and to (exclusive);
            absent when nothing of it is to be seen.
        matches, size, score: when ranked: how often the pattern is in the event, characters of
            what is searched of it, and the BM25 score made of both.
        before, after: the events around, when asked for.
    """

    agent: str
    session_id: str
    path: str
    ts: str | None = None
    kind: Kind
    tool: str | None = None
    cwd: str | None = None
    archived: bool = False
    snippet: str
    seq: int
    time: int | None = None
    role: Role | None = None
    model: str | None = None
    title: str | None = None
    sidechain: bool = False
    inherited: bool = False
    rewound: bool = False
    is_subagent: bool = False
    parent_id: str | None = None
    imported_from: str | None = None
    match: Span | None = None
    matches: int | None = None
    size: int | None = None
    score: float | None = None
    before: list[Event] = msgspec.field(default_factory=list)
    after: list[Event] = msgspec.field(default_factory=list)


def scan(
    query: Query, transcripts: Iterable[Transcript], *, before: int = 0, after: int = 0
) -> Iterator[Hit]:
    """Yield the events that match, in the order of the transcripts and of their events.

    Each hit comes as soon as it is complete: at once, or, with context behind it, when that has
    been read. The scan ends after ``query.limit`` hits without reading on, with the last
    transcript, or when it is closed; an error that ``transcripts`` raises goes through.

    Args:
        query: what to find.
        transcripts: where; read one at a time, when its turn comes.
        before: so many events in front of each hit come with it. Bookkeeping is passed over,
            and nothing is given twice: what was a hit or another's context already is left out.
        after: so many events behind each hit, up to the next hit.
    """
    remaining = query.limit
    for transcript in transcripts:
        for hit in hits_in(query, transcript, before, after, remaining):
            yield hit
            if remaining:
                remaining -= 1
                if not remaining:
                    return


def sessions_with(query: Query, transcripts: Iterable[Transcript]) -> Iterator[Hit]:
    """Yield the first hit of each session that has one; the rest of the session is not read.

    ``query.limit`` counts sessions here.
    """
    found = 0
    for transcript in transcripts:
        for hit in hits_in(query, transcript, 0, 0, 1):
            found += 1
            yield hit
            if found == query.limit:
                return


def counts(query: Query, transcripts: Iterable[Transcript]) -> Iterator[tuple[Session, int]]:
    """Yield each session in which something matches, with the number of its matching events.

    ``query.limit`` counts sessions here.
    """
    found = 0
    for transcript in transcripts:
        if not query.wants_session(transcript.session):
            continue
        number = sum(_match(query, event) is not None for event in transcript.events)
        if number:
            found += 1
            yield transcript.session, number
            if found == query.limit:
                return


def hits_in(
    query: Query, transcript: Transcript, before: int, after: int, limit: int
) -> Iterator[Hit]:
    """Yield the hits of one session; after ``limit`` of them (0: never) only read context."""
    if not query.wants_session(transcript.session):
        return
    recent: deque[Event] = deque(maxlen=before)
    pending: Hit | None = None
    found = 0
    for event in transcript.events:
        matched = None if limit and found == limit else _match(query, event)
        if matched is not None:
            if pending is not None:
                yield pending
            found += 1
            pending = hit_of(query, transcript.session, event, *matched)
            pending.before = list(recent)
            recent.clear()
        elif event.bookkeeping:
            continue
        elif pending is not None:
            pending.after.append(event)
        else:
            recent.append(event)
        if pending is not None and len(pending.after) == after:
            yield pending
            pending = None
            if limit and found == limit:
                return
    if pending is not None:
        yield pending


def _match(query: Query, event: Event) -> tuple[str, Span] | None:
    """Return the haystack and the match in it. An event without text is none, a call excepted."""
    if not query.wants_event(event):
        return None
    text = haystack(event)
    if not text and event.kind != "tool_use":
        return None
    place = query.find(text)
    return None if place is None else (text, place)


def hit_of(query: Query, session: Session, event: Event, text: str, place: Span) -> Hit:
    """Make the hit of an event whose haystack matches at a place."""
    snippet, match = excerpt(text, place)
    return Hit(
        agent=session.agent,
        session_id=session.id,
        path=session.path,
        ts=event.ts,
        kind=event.kind,
        tool=event.tool,
        cwd=session.cwd,
        archived=session.archived,
        snippet=snippet or event.tool or "",
        seq=event.seq,
        time=event.time,
        role=event.role,
        model=event.model,
        title=session.title,
        sidechain=event.sidechain,
        inherited=event.inherited,
        rewound=event.rewound,
        is_subagent=session.is_subagent,
        parent_id=session.parent_id,
        imported_from=session.imported_from,
        match=match,
        matches=query.occurrences(text) if query.rank else None,
        size=len(text) if query.rank else None,
    )
