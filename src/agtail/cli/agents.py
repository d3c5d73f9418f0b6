"""``agtail agents``: the coding agents that are known, where they write, what is here of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from agtail.cli import options
from agtail.cli.options import Settings
from agtail.cli.terminal import AMBER, BOLD, DIM, GRAY, GREEN, Line, Span

if TYPE_CHECKING:
    from agtail.cli.wording import Wording
    from agtail.harnesses import Harness, Presence

LABEL = 10
"""Columns of the name in front of what is said of it."""


@click.command("agents", short_help="List the agents, and what is here of each.")
@click.argument("names", metavar="[AGENT]...", nargs=-1, shell_complete=options.complete_agents)
@options.utc_option
@options.json_option("One agent per line, as JSON.")
@options.global_options
def command(settings: Settings, *, names: tuple[str, ...], utc: bool, as_json: bool) -> int:
    """List the coding agents whose sessions can be read, and what is on this machine.

    With AGENT, everything that is known of it: all places where it writes and what is the truth
    among them, the environment variables that move them, how to resume a session, and how to ask
    it without a terminal.

    A star marks an agent whose format was only read about: no file that it wrote was seen.
    """
    from agtail.harnesses import presences  # noqa: PLC0415 - start-up time
    from agtail.model import encode  # noqa: PLC0415 - start-up time

    history = settings.history(names)
    wanted = [history.agent_id(name) for name in names]
    found = [each for each in presences(history) if not wanted or each.harness.id in wanted]
    screen = settings.screen()
    wording = settings.wording(history, utc=utc)
    if as_json:
        for presence in found:
            screen.json(encode(presence))
    elif names:
        for presence in found:
            for line in details(presence, wording):
                screen.line(line, hanging=LABEL)
    else:
        for line in table(found, wording):
            screen.line(line, fit=True)
    return 0


def table(found: list[Presence], wording: Wording) -> Iterator[Line]:
    """Write one agent a line: those that are here first."""
    from agtail.cli.wording import TIME_WIDTH, size  # noqa: PLC0415 - start-up time

    width = max((len(_name(each)) for each in found), default=0)
    head = f"{'agent':<{width}}  {'sessions':>8}  {'size':>8}  {'last':<{TIME_WIDTH}}  where"
    yield [Span(head, DIM)]
    for each in sorted(found, key=lambda each: not each.present):
        here = each.present
        time = wording.time(each.last_time, None).strip()
        yield [
            Span(f"{_name(each):<{width}}", AMBER if here else DIM),
            Span(f"  {each.sessions if here else '-':>8}", BOLD if here else DIM),
            Span(f"  {size(each.bytes) if here else '-':>8}"),
            Span(f"  {time:<{TIME_WIDTH}}", GRAY),
            Span(f"  {_root(each, wording)}", "" if here else DIM),
        ]


def _name(presence: Presence) -> str:
    return presence.harness.name + "*" * (presence.harness.evidence == "documented")


def _root(presence: Presence, wording: Wording) -> str:
    """Return the folder that is there, else the one that most people would have."""
    there = [root for root, exists in presence.roots.items() if exists]
    more = f" and {len(there) - 1} more" if len(there) > 1 else ""
    return wording.path(there[0]) + more if there else presence.harness.where


def details(presence: Presence, wording: Wording) -> Iterator[Line]:
    """Write all that is known of one agent."""
    from agtail.cli.wording import plural, size  # noqa: PLC0415 - start-up time

    harness = presence.harness
    yield [Span(f"{harness.title}", BOLD), Span(f" ({harness.id})", DIM)]
    if harness.evidence == "run":
        yield _row("made from", f"files that versions {harness.versions} wrote")
    else:
        yield _row("made from", f"published formats: {harness.versions}")
    if presence.present:
        subagents = f" ({presence.subagents} of them subagents)" if presence.subagents else ""
        yield _row(
            "here", f"{plural(presence.sessions, 'session')}{subagents}, ", size(presence.bytes)
        )
        if presence.last_time is not None:
            yield _row("last", wording.time(presence.last_time, None))
    else:
        yield _row("here", "nothing")
    for root, exists in presence.roots.items():
        mark = Span("there", GREEN) if exists else Span("not there", DIM)
        yield [*_row("root", f"{wording.path(root)}  "), mark]
    yield from _places(harness)
    for variable in harness.variables:
        yield _row("variable", f"{variable.name}: {variable.meaning}")
    for label, words in (
        ("resume", harness.resume),
        ("headless", harness.headless),
        ("in JSON", harness.headless_json),
        ("commands", harness.binaries),
        ("marks", harness.marks),
    ):
        if words:
            yield _row(label, " ".join(words))
    yield []


def _places(harness: Harness) -> Iterator[Line]:
    for place in harness.locations:
        systems = "" if len(place.systems) == 3 else f"; {', '.join(place.systems)}"
        yield [
            *_row(place.holds, f"{place.pattern}  "),
            Span(f"{place.format}{systems}{'; ' + place.note if place.note else ''}", DIM),
        ]


def _row(label: str, *said: str) -> Line:
    return [Span(f"{label:<{LABEL}}", AMBER), Span("".join(said))]
