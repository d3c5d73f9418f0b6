"""``agtail grep``: search all sessions of all agents, hits printed as they are found."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from agtail.cli import options
from agtail.cli.options import Settings
from agtail.cli.terminal import AMBER, DIM, Screen, Span
from agtail.errors import UsageError

if TYPE_CHECKING:
    from agtail.cli.wording import Wording
    from agtail.history import History
    from agtail.search.query import Query

FOUND = 0
NOT_FOUND = 1


@click.command("grep", short_help="Search all sessions.")
@click.argument("pattern")
@options.agents_option
@click.option(
    "--tool",
    "tools",
    multiple=True,
    metavar="GLOB",
    help="Only calls of this tool; * stands for anything. Repeatable.",
)
@options.kinds_option
@options.model_option
@click.option(
    "--cwd",
    "cwds",
    multiple=True,
    metavar="TEXT",
    help="Only sessions whose folder contains this text, in upper or lower case. Repeatable.",
)
@options.source_option
@options.signal_options
@options.time_options
@click.option("--regex", is_flag=True, help="The pattern is a regular expression (RE2 syntax).")
@click.option(
    "-i",
    "--ignore-case",
    "case",
    flag_value="ignore",
    default=True,
    help="Upper and lower case are the same (default).",
)
@click.option(
    "-s", "--case-sensitive", "case", flag_value="match", help="Upper and lower case differ."
)
@click.option(
    "-S",
    "--smart-case",
    "case",
    flag_value="smart",
    help="Case counts only when the pattern has an upper-case letter.",
)
@click.option("-A", "--after", type=click.IntRange(min=0), metavar="N", help="N events after each.")
@click.option(
    "-B", "--before", type=click.IntRange(min=0), metavar="N", help="N events before each."
)
@click.option(
    "-C",
    "--context",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="N events before and after each hit.",
)
@click.option("-l", "--sessions", "sessions_only", is_flag=True, help="Only name the sessions.")
@click.option("-c", "--count", is_flag=True, help="Only count the hits of each session.")
@click.option("--rank", is_flag=True, help="The hits that say most about the pattern first (BM25).")
@click.option("--inherited", is_flag=True, help="Find copies in resumed and forked sessions, too.")
@options.limit_option("Stop after N hits (with -l and -c: sessions); 0 for all.")
@options.json_option(
    "One hit per line, as JSON; with -l the first of each session, with -c its count."
)
@options.global_options
def command(
    settings: Settings,
    *,
    pattern: str,
    agents: list[str],
    tools: tuple[str, ...],
    kinds: list[str],
    models: tuple[str, ...],
    cwds: tuple[str, ...],
    source: str | None,
    signals: dict[str, Any],
    since: str | None,
    until: str | None,
    utc: bool,
    regex: bool,
    case: str,
    after: int | None,
    before: int | None,
    context: int,
    sessions_only: bool,
    count: bool,
    rank: bool,
    inherited: bool,
    limit: int,
    as_json: bool,
) -> int:
    """Search what was said, thought, called and answered, newest session first.

    PATTERN is plain text unless --regex is given; an empty one finds every event. Write -- before
    a pattern that begins with a dash. Each hit names its event: agtail show ID#NUMBER prints it.

    Exit codes are those of grep: 0 when something was found, 1 when nothing was, 2 when the
    question is wrong.
    """
    if sessions_only and count:
        raise UsageError("choose one of -l and -c")
    if rank and (sessions_only or count):
        raise UsageError("--rank puts hits in order: it does not go with -l or -c")
    history = settings.history(agents)
    query = settings.query(
        pattern,
        history,
        agents,
        regex=regex,
        case=case,
        tools=list(tools),
        kinds=kinds,
        models=list(models),
        cwds=list(cwds),
        source=source,
        since=since,
        until=until,
        utc=utc,
        inherited=inherited,
        limit=limit,
        rank=rank,
        **signals,
    )
    screen = settings.screen()
    wording = settings.wording(history, utc=utc)
    if sessions_only:
        found = _name_sessions(screen, wording, history, query, as_json=as_json)
    elif count:
        found = _count(screen, wording, history, query, as_json=as_json)
    else:
        around = (context if before is None else before, context if after is None else after)
        found = _hits(screen, wording, history, query, around, as_json=as_json)
    if not found and not as_json:
        sys.stderr.write("no matches\n")
    return FOUND if found else NOT_FOUND


def _hits(
    screen: Screen,
    wording: Wording,
    history: History,
    query: Query,
    around: tuple[int, int],
    *,
    as_json: bool,
) -> int:
    """Print hits as they are found; return how many there were."""
    from agtail.cli.hits import HitLines  # noqa: PLC0415 - start-up time
    from agtail.model import encode  # noqa: PLC0415 - start-up time

    before, after = around
    lines = HitLines(wording, screen.width, context=bool(before or after))
    found = 0
    for hit in history.search(query, before=before, after=after):
        found += 1
        if as_json:
            screen.json(encode(hit))
            continue
        for line in lines.lines(hit):
            screen.line(line, fit=True)
    return found


def _name_sessions(
    screen: Screen, wording: Wording, history: History, query: Query, *, as_json: bool
) -> int:
    """Print the whole ids of the sessions that hold a hit, on a terminal with their titles."""
    from agtail.model import encode  # noqa: PLC0415 - start-up time

    found = 0
    for hit in history.sessions_with(query):
        found += 1
        if as_json:
            screen.json(encode(hit))
            continue
        line = [Span(wording.reference(hit.agent, hit.session_id, whole=True), AMBER)]
        if screen.terminal and hit.title:
            line.append(Span(f"  {hit.title}", DIM))
        screen.line(line, fit=True)
    return found


def _count(
    screen: Screen, wording: Wording, history: History, query: Query, *, as_json: bool
) -> int:
    """Print how many hits each session holds."""
    from agtail.cli.hits import Count  # noqa: PLC0415 - start-up time
    from agtail.model import encode  # noqa: PLC0415 - start-up time

    found = 0
    for session, count in history.counts(query):
        found += 1
        if as_json:
            screen.json(encode(Count.of(session, count)))
            continue
        reference = wording.reference(session.agent, session.id, whole=True)
        screen.line([Span(reference, AMBER), Span(f"\t{count}")])
    return found
