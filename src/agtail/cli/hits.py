"""How ``grep`` writes hits, alone or with the events around them."""

from __future__ import annotations

from collections.abc import Iterator

from agtail.cli.terminal import AMBER, DIM, GRAY, MATCH, Line, Span, cells, cut, cut_left
from agtail.cli.wording import Wording
from agtail.model import Event, Session, Wire
from agtail.search.haystack import haystack
from agtail.search.scan import Hit

SNIPPET_MINIMUM = 20
"""Columns that a snippet gets at least: a long tool name is cut to make room."""
CONTEXT_LENGTH = 180
HIT = "> "
SEPARATOR = "--"


class Count(Wire):
    """How many events of a session match: one line of ``grep --count --json``.

    Attributes:
        agent: id of the coding agent.
        session_id: id of the session.
        path: its transcript.
        count: matching events.
    """

    agent: str
    session_id: str
    path: str
    count: int

    @classmethod
    def of(cls, session: Session, count: int) -> Count:
        """Count for a session."""
        return cls(agent=session.agent, session_id=session.id, path=session.path, count=count)


class HitLines:
    """Writes hits as they come, one line each.

    With context, hits are marked ``>`` and the events around them are not, and ``--`` stands
    where events are left out.

    Args:
        wording: names and times.
        width: columns of the terminal; ``None`` to cut nothing.
        context: whether hits come with the events around them.
    """

    def __init__(self, wording: Wording, width: int | None, *, context: bool) -> None:
        self._wording = wording
        self._width = width if width is None or not context else width - len(HIT)
        self._context = context
        self._end: tuple[str, str, str, int] | None = None

    def lines(self, hit: Hit) -> Iterator[Line]:
        """Write a hit and the events around it."""
        line = _line(hit, self._wording, self._width)
        if not self._context:
            yield line
            return
        session = (hit.agent, hit.path, hit.session_id)
        first = hit.before[0].seq if hit.before else hit.seq
        if self._end is not None and self._end != (*session, first):
            yield [Span(SEPARATOR, DIM)]
        for event in hit.before:
            yield _around(hit, event, self._wording)
        yield [Span(HIT, MATCH), *line]
        for event in hit.after:
            yield _around(hit, event, self._wording)
        last = hit.after[-1].seq if hit.after else hit.seq
        self._end = (*session, last + 1)


def _line(hit: Hit, wording: Wording, width: int | None) -> Line:
    start, kind = _start(
        wording.reference(hit.agent, hit.session_id, hit.seq),
        wording.time(hit.time, hit.ts),
        hit.kind,
        hit.tool,
    )
    before, match, after = _parts(hit)
    if width is not None:
        used = sum(cells(span.text) for span in start) + 2
        kind = cut(kind, max(len(hit.kind) + 2, width - used - SNIPPET_MINIMUM))
        room = max(width - used - cells(kind), SNIPPET_MINIMUM // 2)
        if cells(before) + min(cells(match), room // 2) >= room:
            before = cut_left(before, room // 4)
    return [
        *start,
        Span(kind, DIM),
        Span(f"  {before}"),
        Span(match, MATCH),
        Span(after),
    ]


def _parts(hit: Hit) -> tuple[str, str, str]:
    """Split the snippet at the match."""
    first, last = hit.match or (0, 0)
    return hit.snippet[:first], hit.snippet[first:last], hit.snippet[last:]


def _around(hit: Hit, event: Event, wording: Wording) -> Line:
    """Write an event that only surrounds a hit."""
    start, kind = _start(
        wording.reference(hit.agent, hit.session_id, event.seq),
        wording.time(event.time, event.ts),
        event.kind,
        event.tool,
    )
    text = " ".join(haystack(event)[: CONTEXT_LENGTH * 2].split())[:CONTEXT_LENGTH]
    return [
        Span(" " * len(HIT)),
        *[Span(span.text, DIM) for span in start],
        Span(f"{kind}  {text}", DIM),
    ]


def _start(reference: str, time: str, kind: str, tool: str | None) -> tuple[Line, str]:
    named = f"{kind} {tool}" if tool else kind
    return [Span(reference, AMBER), Span(" "), Span(time, GRAY), Span(" ")], named
