"""``agtail list``: sessions of all agents, newest first, subagents below their parents."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from agtail.cli import options
from agtail.cli.options import Settings
from agtail.cli.terminal import AMBER, BOLD, DIM, GRAY, Line, Span, cut_left

if TYPE_CHECKING:
    from agtail.cli.wording import Wording
    from agtail.model import Session

CHILD_STEP = 4
PATH_MINIMUM = 12


@click.command("list", short_help="List sessions, newest first.")
@options.agents_option
@options.project_option
@options.model_option
@options.source_option
@options.signal_options
@options.time_options
@options.limit_option("At most this many sessions; 0 for all.")
@options.json_option("One session per line, as JSON.")
@options.global_options
def command(
    settings: Settings,
    *,
    agents: list[str],
    project: str | None,
    models: tuple[str, ...],
    source: str | None,
    signals: dict[str, Any],
    since: str | None,
    until: str | None,
    utc: bool,
    limit: int,
    as_json: bool,
) -> int:
    """List sessions, newest end first, subagents below the session they belong to.

    --since and --until keep the sessions that were active in between.
    """
    from agtail.model import encode  # noqa: PLC0415 - start-up time

    history = settings.history(agents)
    query = settings.query(
        "",
        history,
        agents,
        cwds=[project] if project else [],
        models=list(models),
        source=source,
        since=since,
        until=until,
        utc=utc,
        **signals,
    )
    screen = settings.screen()
    wording = settings.wording(history, utc=utc)
    rows = list(arranged(history.sessions(query)))
    for row in rows[: limit or None]:
        if as_json:
            screen.json(encode(row.session))
            continue
        for line in lines(row, wording, screen.width):
            screen.line(line, fit=True)
    if not rows and not as_json:
        sys.stderr.write("no sessions found\n")
    return 0


class Row(NamedTuple):
    """A session and its place: how deep below others, and whether its parent is not listed."""

    session: Session
    depth: int = 0
    orphan: bool = False


def arranged(sessions: list[Session]) -> Iterator[Row]:
    """Put children below their parents, each group in the given order, orphans at the end.

    A subagent that another subagent spawned stands below that one, when it is listed.
    """
    listed = {(session.agent, session.id) for session in sessions}
    children: dict[tuple[str, str], list[Session]] = {}
    roots: list[Session] = []
    orphans: list[Session] = []
    for session in sessions:
        above = [
            (session.agent, parent)
            for parent in (session.parent_agent_id, session.parent_id)
            if parent and parent != session.id and (session.agent, parent) in listed
        ]
        if above:
            children.setdefault(above[0], []).append(session)
        elif session.is_subagent:
            orphans.append(session)
        else:
            roots.append(session)

    def descend(session: Session, depth: int, *, orphan: bool = False) -> Iterator[Row]:
        yield Row(session, depth, orphan)
        for child in children.pop((session.agent, session.id), ()):
            yield from descend(child, depth + 1)

    for session in roots:
        yield from descend(session, 0)
    for session in orphans:
        yield from descend(session, 1, orphan=True)
    # What is left has parents in a circle: damaged, but not to be lost.
    while children:
        for session in children.pop(next(iter(children))):
            yield from descend(session, 1, orphan=True)


def lines(row: Row, wording: Wording, width: int | None) -> Iterator[Line]:
    """Write a session in two lines, and a third when there is something odd about it."""
    from agtail.cli.wording import TIME_WIDTH, caveats, flat, launcher, short_id  # noqa: PLC0415

    session = row.session
    indent = f"{' ' * (2 + CHILD_STEP * (row.depth - 1))}↳ " if row.depth else ""
    name = f"{wording.agent(session.agent):<{4 if row.depth else 6}}"
    time = wording.time(session.ended_time, session.ended)
    before = [
        Span(indent),
        Span(name, AMBER),
        Span(f" {short_id(session.id)}", BOLD),
        Span(f"  {time:<{TIME_WIDTH}}", GRAY),
        Span(f"  {session.messages:>4} msg  ", DIM),
    ]
    path = flat(wording.path(session.cwd))
    if width is not None:
        room = width - sum(len(span.text) for span in before)
        path = cut_left(path, max(room, PATH_MINIMUM))
    yield [*before, Span(path)]

    margin = " " * (11 + CHILD_STEP * row.depth if row.depth else 9)
    marks = [
        "🗄 archived" if session.archived else "",
        launcher(session),
        f"[{session.agent_name}]" if session.agent_name else "",
        f"(of {short_id(session.parent_id or '?')}, not listed)" if row.orphan else "",
    ]
    marked = "".join(f"{mark} " for mark in marks if mark)
    odd = caveats(session)
    title = session.title or (
        "" if session.integrity and session.integrity.unreadable else NO_TITLE
    )
    if marked or title:
        yield [Span(margin), Span(marked, DIM), Span(title)]
    if odd:
        yield [Span(margin), *odd]


NO_TITLE = "(no prompt)"
