"""Events → sessions, once for all agents: pairing, usage, times, titles, counts.

An adapter yields items in the order of its file; :func:`assemble` turns them into transcripts.
Events live in an :class:`~agtail.event_log.EventLog`, so that memory stays bounded however long
a transcript is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec

from agtail.agents.base import CannotGoOnError, Item, Meta, Unit, Within
from agtail.builder import Builder, Describe, Known
from agtail.event_log import Events
from agtail.model import CONTENT_KINDS, Event, Integrity, Session


class Transcript(msgspec.Struct, frozen=True):
    """A session with its events. ``events`` may be read many times.

    Attributes:
        session: what is known of it.
        events: its events, in order.
        checkpoint: what it takes to go on reading where this reading ended, when that can be.
    """

    session: Session
    events: Sequence[Event]
    checkpoint: bytes | None = None
    keep_empty: bool = False

    @property
    def empty(self) -> bool:
        """Whether it has no text, thought or call, and no reason to be listed all the same."""
        health = self.session.integrity
        return not (self.session.messages or self.keep_empty) and not (
            (health is not None and health.unreadable)
            or any(event.kind in CONTENT_KINDS for event in self.events)
        )


def assemble(
    unit: Unit,
    items: Iterable[Item],
    health: Integrity,
    describe: Describe | None = None,
    *,
    rests: bool = False,
) -> list[Transcript]:
    """Turn the items of one unit into its session, followed by the sessions within it.

    Args:
        unit: where the items come from; its facts are the defaults.
        items: what the adapter read, in order. Consumed to the end.
        health: filled in by the adapter while ``items`` is consumed.
        describe: the adapter's own one-line summary of a tool call.
        rests: make a checkpoint at the end, when the adapter can.

    Raises:
        SourceError: from ``items``, when nothing can be read.
    """
    main = Builder(unit, describe, rests=lambda _offset: rests)
    within: dict[str, Builder] = {}
    for item in items:
        if isinstance(item, Within):
            builder = within.get(item.session_id)
            if builder is None:
                builder = within[item.session_id] = Builder(unit, describe)
                builder.take(
                    Meta(id=item.session_id, parent_id=unit.parent_id or unit.id),
                )
            builder.take(item.item)
        else:
            main.take(item)
    for builder in within.values():
        builder.take(
            Meta(
                cwd=main.known.meta.cwd,
                git_branch=main.known.meta.git_branch,
                version=main.known.meta.version,
            )
        )
    session = main.finish(health)
    # Sessions within share the file: going on in the middle of it is for one alone.
    checkpoint = None if within else main.checkpoint
    return [
        Transcript(session, main.events, checkpoint, unit.keep_empty),
        *(Transcript(each.finish(Integrity()), each.events) for each in within.values()),
    ]


def go_on(
    unit: Unit,
    items: Iterable[Item],
    health: Integrity,
    describe: Describe | None,
    *,
    known: Known,
    events: Events,
    rests: Callable[[int], bool],
) -> Transcript:
    """Build on what is known of a session, as :func:`assemble` would have built it at once.

    Args:
        unit: where the items come from.
        items: what the adapter read behind a checkpoint. Consumed to the end.
        health: what was given up so far, and what the adapter gives up now.
        describe: the adapter's own one-line summary of a tool call.
        known: what was known at the checkpoint.
        events: the events up to there; the new ones are added.
        rests: whether a new checkpoint is wanted after so many bytes.

    Raises:
        SourceError: from ``items``, when nothing can be read.
        CannotGoOnError: from ``items``, or when a session within begins.
    """
    builder = Builder(unit, describe, events, known, rests)
    for item in items:
        if isinstance(item, Within):
            raise CannotGoOnError
        builder.take(item)
    return Transcript(builder.finish(health), builder.events, builder.checkpoint)


def unreadable(unit: Unit, reason: str) -> Transcript:
    """List a source that cannot be read, with its size, so that it is never silently absent."""
    builder = Builder(unit, None)
    return Transcript(builder.finish(Integrity(unreadable=reason, size=unit.size)), builder.events)
