"""``agtail forget``: remove sessions from the store for good."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from agtail.cli import options
from agtail.cli.options import Settings
from agtail.cli.terminal import AMBER, BOLD, GRAY, RED, Line, Screen, Span
from agtail.errors import UsageError

if TYPE_CHECKING:
    from agtail.cli.wording import Wording
    from agtail.store.choice import Choice

LISTED = 10
"""Sessions that are named before they go; of more, only the number is told."""


@click.command("forget", short_help="Remove sessions from the store for good.")
@click.argument("references", metavar="[ID]...", nargs=-1, shell_complete=options.complete_sessions)
@click.option("--gone", is_flag=True, help="All sessions whose files the agent deleted.")
@options.source_option
@click.option(
    "--before",
    metavar="WHEN",
    help="All sessions that ended before this time, subagents included: as for --since.",
)
@options.utc_option
@click.option("--yes", is_flag=True, help="Do not ask.")
@options.global_options
def command(
    settings: Settings,
    *,
    references: tuple[str, ...],
    gone: bool,
    source: str | None,
    before: str | None,
    utc: bool,
    yes: bool,
) -> int:
    """Remove sessions from the store for good, and from the raw archive.

    Name them by ID, their subagents go with them; or say which by --gone, --source and
    --before, of which several have to be true together. What will go is told, and asked about
    on a terminal; elsewhere nothing is removed without --yes.

    The agent's own file stays where it is. As long as it is there and does not grow, the
    session stays out of the store; when it is continued, all of it is back.
    """
    from agtail.store.choice import Choice  # noqa: PLC0415 - start-up time
    from agtail.store.upkeep import forget  # noqa: PLC0415 - start-up time

    filters = gone or source is not None or before is not None
    if bool(references) == filters:
        raise UsageError("say which sessions: by ID, or by --gone, --source or --before")
    settings.store_folder()
    history = settings.history()
    query = settings.query("", history, [], source=source, since=before, utc=utc)
    named = [history.session(reference).session for reference in references]
    sessions = history.sessions()
    store = history.store
    if store is None:
        return 1  # the reason was told
    choice = Choice(sessions, store.catalogue.sources())
    for session in named:
        choice.add(session)
    if filters:
        choice.add_all(
            lambda each: query.wants_session(each) and (each.source_gone or not gone),
            query.since,
        )
    screen = Screen(sys.stderr, color=settings.color)
    if not choice.sources:
        screen.text("no sessions found")
        return 0
    for line in _lines(choice, settings.wording(history, utc=utc)):
        screen.line(line, fit=True)
    if not (yes or _agreed()):
        screen.text("nothing was removed")
        return 1
    forget(store.catalogue, choice.sources)
    screen.text("removed")
    return 0


def _agreed() -> bool:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError("nothing was removed: --yes removes without asking")
    try:
        return click.confirm("Remove them for good?", err=True)
    except click.Abort:
        sys.stderr.write("\n")
        return False


def _lines(choice: Choice, wording: Wording) -> Iterator[Line]:
    """Say what will go."""
    from agtail.cli.wording import flat, plural, size  # noqa: PLC0415 - start-up time

    sessions, sources = choice.sessions, choice.sources
    for session in sessions[:LISTED]:
        yield [
            Span(wording.reference(session.agent, session.id), BOLD),
            Span(f"  {wording.time(session.ended_time, session.ended)}", GRAY),
            Span(f"  {flat(session.title or '')}"),
        ]
    if len(sessions) > LISTED:
        yield [Span(f"and {len(sessions) - LISTED:,} more")]
    subagents = sum(session.is_subagent for session in sessions)
    below = f" ({subagents:,} of them subagents)" if subagents else ""
    events = sum(session.event_count for session in sessions)
    raw = sum(source.unit.size for source in sources)
    yield [
        Span(f"{plural(len(sessions), 'session')}{below}, {plural(events, 'event')}", BOLD),
        Span(f", from {plural(len(sources), 'file')} of {size(raw)}"),
    ]
    there = sum(os.path.exists(source.unit.path) for source in sources)
    if there:
        what = "its session stays away until it grows"
        if there > 1:
            what = "their sessions stay away until they grow"
        yield [Span(f"{_of_these(there)} still there: {what}", AMBER)]
    if there < len(sources):
        yield [Span(f"{_of_these(len(sources) - there)} gone: there is no way back", RED)]


def _of_these(files: int) -> str:
    from agtail.cli.wording import plural  # noqa: PLC0415 - start-up time

    return f"{plural(files, 'file')} of these {'is' if files == 1 else 'are'}"
