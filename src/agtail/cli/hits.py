"""How ``grep`` writes hits, alone or with the events around them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from agtail.cli.terminal import AMBER, DIM, GRAY, MATCH, Line, Span, cells, cut, cut_left
from agtail.cli.wording import Wording
from agtail.model import Event
from agtail.search.haystack import haystack
from agtail.search.scan import Hit

SNIPPET_MINIMUM = 24
"""Columns that a snippet gets at least: a long tool name is cut to make room."""
CONTEXT_LENGTH = 180
SEPARATOR = "--"


def hit_lines(
    hits: Iterable[Hit], wording: Wording, width: int | None, *, context: bool
) -> Iterator[Line]:
    """Write hits as they come, one line each.

    With context, hits are marked ``>`` and the events around them are not; every event is
    written once, and ``--`` stands where events are left out.
    """
    if not context:
        for hit in hits:
            yield _line(hit, wording, width)
        return
    last: Hit | None = None
    written = -1
    for hit in hits:
        same = last is not None and (last.agent, last.path, last.session_id) == (
            hit.agent,
            hit.path,
            hit.session_id,
        )
        if last is not None:
            stop = hit.seq if same else None
            for event in last.after:
                if event.seq > written and (stop is None or event.seq < stop):
                    yield _context(last, event, wording)
                    written = event.seq
        if not same:
            written = -1
        lead = [event for event in hit.before if event.seq > written]
        first = lead[0].seq if lead else hit.seq
        if last is not None and not (same and first == written + 1):
            yield [Span(SEPARATOR, DIM)]
        for event in lead:
            yield _context(hit, event, wording)
        yield [Span("> ", MATCH), *_line(hit, wording, None if width is None else width - 2)]
        written, last = hit.seq, hit
    if last is not None:
        for event in last.after:
            if event.seq > written:
                yield _context(last, event, wording)


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
        kind = cut(kind, max(len(hit.kind), width - used - SNIPPET_MINIMUM))
        room = max(width - used - cells(kind), SNIPPET_MINIMUM)
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


def _context(hit: Hit, event: Event, wording: Wording) -> Line:
    """Write an event that only surrounds a hit."""
    start, kind = _start(
        wording.reference(hit.agent, hit.session_id, event.seq),
        wording.time(event.time, event.ts),
        event.kind,
        event.tool,
    )
    text = " ".join(haystack(event)[: CONTEXT_LENGTH * 2].split())[:CONTEXT_LENGTH]
    return [
        Span("  "),
        *[Span(span.text, DIM) for span in start],
        Span(f"{kind}  {text}", DIM),
    ]


def _start(reference: str, time: str, kind: str, tool: str | None) -> tuple[Line, str]:
    named = f"{kind} {tool}" if tool else kind
    return [Span(reference, AMBER), Span(" "), Span(time, GRAY), Span(" ")], named
