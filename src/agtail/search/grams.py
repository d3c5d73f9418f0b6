"""What every match must contain: the texts by which most of a history is ruled out unread."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from agtail.search.fold import fold
from agtail.search.query import Query

SHORTEST = 3
"""Bytes of a text that can be asked for: signatures know nothing of shorter ones."""

MOST_REQUIRED = 32
"""So many literals, and choices, are asked for at once; more would rule out nothing more."""

MOST_ALTERNATIVES = 256
"""A choice of more rules out next to nothing, and looking up each of them takes time."""

DEEPEST = 8
"""Choices within choices up to here."""


class Needs(msgspec.Struct, frozen=True):
    """What each text in which a pattern matches contains; nothing at all when empty.

    Attributes:
        all_of: folded UTF-8 literals of three bytes or more, every one of which is there.
        any_of: for each group at least one of its members holds.
    """

    all_of: tuple[bytes, ...] = ()
    any_of: tuple[tuple[Needs, ...], ...] = ()


def needs(query: Query) -> Needs:
    """Return what the pattern of a query needs, folded whether case counts for it or not."""
    if query.regex:
        from agtail.search.expression import expression_needs  # noqa: PLC0415 - most are literal

        return expression_needs(query.pattern, sensitive=query.sensitive)
    return one_text_of((fold(query.pattern),))


def holds(needs: Needs, folded: bytes) -> bool:
    """Tell whether a folded text, as UTF-8, has what is needed; only then can there be a match."""
    return all(literal in folded for literal in needs.all_of) and all(
        any(holds(alternative, folded) for alternative in group) for group in needs.any_of
    )


def one_text_of(texts: Iterable[str]) -> Needs:
    """Ask for one of some folded texts; of those that contain another one, only the other counts.

    A text that is too short to be asked for makes it nothing.
    """
    literals = [text.encode() for text in texts]
    if min(map(len, literals)) < SHORTEST:
        return Needs()
    return any_of(
        Needs(all_of=(literal,))
        for literal in literals
        if not any(other in literal for other in literals if other != literal)
    )


def all_of(parts: Iterable[Needs]) -> Needs:
    """Ask for several needs at once."""
    literals: dict[bytes, None] = {}
    groups: dict[tuple[Needs, ...], None] = {}
    for part in parts:
        literals.update(dict.fromkeys(part.all_of))
        groups.update(dict.fromkeys(part.any_of))
    return Needs(tuple(literals)[:MOST_REQUIRED], tuple(groups)[:MOST_REQUIRED])


def any_of(alternatives: Iterable[Needs]) -> Needs:
    """Ask for one of several needs; a choice in which anything goes asks for nothing."""
    members: list[Needs] = []
    for each in alternatives:
        only_a_choice = not each.all_of and len(each.any_of) == 1
        members += each.any_of[0] if only_a_choice else (each,)
    if max(map(_depth, members)) >= DEEPEST:
        members = [Needs(member.all_of) for member in members]
    group = tuple(dict.fromkeys(members))
    if Needs() in group or len(group) > MOST_ALTERNATIVES:
        return Needs()
    return group[0] if len(group) == 1 else Needs(any_of=(group,))


def _depth(needs: Needs) -> int:
    return max((1 + max(map(_depth, group)) for group in needs.any_of), default=0)
