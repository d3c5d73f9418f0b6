"""The short piece of an event that is shown for a hit, and where in it the match lies."""

from __future__ import annotations

Span = tuple[int, int]
"""First code point and the one past the last."""

BEFORE = 60
"""Code points shown in front of the start of a match."""
AFTER = 120
"""Code points shown from the start of a match on."""
CUT = "…"


def snippet(haystack: str, start: int) -> str:
    """Return the surroundings of a place in a haystack as one line.

    From 60 code points in front of ``start`` to 120 behind it, runs of whitespace as one blank,
    trimmed, with ``…`` in front when something was left out there (never at the end).
    """
    return excerpt(haystack, (start, start))[0]


def excerpt(haystack: str, match: Span) -> tuple[str, Span | None]:
    """Return the snippet of a match and the match's own place in it.

    The place is ``None`` when nothing is left of the match: it was empty, or whitespace at the
    snippet's edge. A match that goes on past the snippet is cut there.
    """
    start, end = match
    first = max(0, start - BEFORE)
    window = haystack[first : start + AFTER]
    squeezed = " ".join(window.split())
    shown = f"{CUT}{squeezed}" if first else squeezed
    begin = _squeezed_place(window, start - first, at_start=True)
    stop = min(_squeezed_place(window, end - first, at_start=False), len(squeezed))
    if end <= start or begin >= stop:
        return shown, None
    shift = len(shown) - len(squeezed)
    return shown, (begin + shift, stop + shift)


def _squeezed_place(window: str, place: int, *, at_start: bool) -> int:
    """Say where a place in the window comes to lie once whitespace is squeezed and trimmed."""
    lead = window[:place]
    words = lead.split()
    length = sum(map(len, words)) + max(0, len(words) - 1)
    if not words or not lead[-1].isspace():
        return length
    inside_run = at_start and window[place : place + 1].isspace()
    return length if inside_run else length + 1
