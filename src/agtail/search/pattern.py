"""Patterns: a literal text, a regular expression or a glob, compiled once and used many times."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from agtail.errors import PatternError
from agtail.search.fold import alike, fold
from agtail.search.snippet import Span

Find = Callable[[str], Span | None]
"""Returns the first match in a text, in code points."""

LONG_PATTERN = 100
"""Code points up to which a literal is looked for letter by letter."""

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_NOT_LITERAL = re.compile(
    r"""
      \\Q(?P<quoted>.*?)(?:\\E|\Z) # text that is literal after all
    | \\[pP](?:\{[^}]*\}?|.)       # classes by name: \pL, \p{Greek}
    | \\x(?:\{[^}]*\}?|..?)        # code points by number
    | \\.                          # \S, \B and everything else behind a backslash
    | \(\?P?<[^>]*>?               # the name of a group
    | \(\?[A-Za-z-]+[:)]?          # flags
    """,
    re.VERBOSE | re.DOTALL,
)


def literal(pattern: str, *, sensitive: bool) -> Find:
    """Find a text as it stands, or with case ignored on both sides."""
    length = len(pattern)
    groups = [character if sensitive else alike(character) for character in pattern]
    if all(len(group) == 1 for group in groups):

        def find_exactly(text: str) -> Span | None:
            at = text.find(pattern)
            return None if at < 0 else (at, at + length)

        return find_exactly

    wanted = fold(pattern)
    # Folding is cheap for ASCII only. Elsewhere it costs three times as much as looking for
    # any of the equal letters at each place, which in turn is slow for very long patterns.
    spelled = re.compile("".join(map(_any_of, groups))) if length <= LONG_PATTERN else None

    def find(text: str) -> Span | None:
        if spelled is not None and not text.isascii():
            found = spelled.search(text)
            return None if found is None else found.span()
        at = fold(text).find(wanted)
        return None if at < 0 else (at, at + length)

    return find


def regular_expression(pattern: str, *, sensitive: bool) -> Find:
    """Find a match of an RE2 expression.

    ``^`` and ``$`` are the ends of the whole text and ``.`` stays on its line, unless the
    expression says otherwise with ``(?m)`` or ``(?s)``.

    Raises:
        PatternError: RE2 does not accept it.
    """
    import re2  # noqa: PLC0415 - a third of the start-up time, and most searches are literal

    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = sensitive
    try:
        compiled = re2.compile(pattern, options=options)
    except re2.error as error:
        raise PatternError(pattern, _reason(error)) from None

    def find(text: str) -> Span | None:
        match: Any = compiled.search(text)
        return None if match is None else match.span()

    return find


def glob(patterns: Iterable[str]) -> Callable[[str], bool]:
    """Tell whether a name fits one of the patterns, case ignored.

    ``*`` stands for anything, also for nothing; every other character stands for itself; the
    whole name has to fit.
    """
    split = [fold(pattern).split("*") for pattern in patterns]

    def fits(name: str) -> bool:
        folded = fold(name)
        return any(_fits(folded, parts) for parts in split)

    return fits


def has_capital(pattern: str, *, regex: bool) -> bool:
    r"""Tell whether a pattern asks for an upper-case letter by itself.

    In a regular expression escapes (``\S``, ``\pL``, ``\x41``), flags and the names of groups
    do not count, while text between ``\Q`` and ``\E`` does.
    """
    if regex:
        pattern = _NOT_LITERAL.sub(lambda found: found["quoted"] or "", pattern)
    return any(character.isupper() or character.istitle() for character in pattern)


def well_formed(text: str) -> str:
    """Replace lone surrogates, as undecodable arguments have them, by U+FFFD.

    Transcripts are read in the same way, so such a pattern still finds what it was copied from.
    """
    return text if text.isascii() else _LONE_SURROGATE.sub("\ufffd", text)


def _any_of(characters: str) -> str:
    return f"[{re.escape(characters)}]" if len(characters) > 1 else re.escape(characters)


def _fits(name: str, parts: list[str]) -> bool:
    """Match the text between the stars from left to right, which never needs to go back."""
    first, *middle = parts
    if not middle:
        return name == first
    last = middle.pop()
    if len(name) < len(first) + len(last):
        return False
    if not (name.startswith(first) and name.endswith(last)):
        return False
    at, end = len(first), len(name) - len(last)
    for part in middle:
        at = name.find(part, at, end)
        if at < 0:
            return False
        at += len(part)
    return True


def _reason(error: Exception) -> str:
    reason = error.args[0] if error.args else "not valid"
    return reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
