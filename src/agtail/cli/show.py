"""``agtail show``: one session's timeline, or single events of it, in full or as recorded."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from agtail.cli import options
from agtail.cli.options import Settings
from agtail.cli.terminal import Screen
from agtail.errors import AgtailError, EventNotFoundError, SessionNotFoundError, UsageError

if TYPE_CHECKING:
    from agtail.assemble import Transcript
    from agtail.cli.wording import Wording
    from agtail.history import History
    from agtail.model import Event, Source

_EVENTS = re.compile(r"(.+)#(\d{1,9})(?:-(\d{1,9}))?")
_CHUNK = 1024 * 1024


@click.command("show", short_help="Print one session, or single events of it.")
@click.argument("reference", metavar="ID", shell_complete=options.complete_sessions)
@options.agents_option
@click.option("--tools", "only_tools", is_flag=True, help="Only tool calls.")
@options.kinds_option
@click.option("--full", is_flag=True, help="Cut nothing; show inputs, raw and hidden records too.")
@click.option("--raw", is_flag=True, help="Print the agent's own records, byte for byte.")
@options.utc_option
@options.json_option("One JSON document: the session, with its events.")
@options.global_options
def command(
    settings: Settings,
    *,
    reference: str,
    agents: list[str],
    only_tools: bool,
    kinds: list[str],
    full: bool,
    raw: bool,
    utc: bool,
    as_json: bool,
) -> int:
    """Print one session's timeline.

    ID is a session id, the unique beginning of one, agent:id, or the path of a transcript.
    ID#12 is one event of it, in full, and ID#12-20 are several.

    Marks before an event: ¦ a subagent's conversation, ⊂ copied from the session this one
    continues, ⟲ taken back by a rewind.
    """
    if raw and as_json:
        raise UsageError("choose one of --raw and --json")
    history = settings.history(agents)
    wanted = _wanted_kinds(settings, history, kinds, only_tools=only_tools)
    transcript, span = find(history, reference)
    choice = Choice(transcript, span, wanted, everything=full or raw or as_json)
    screen = settings.screen()
    if raw:
        _print_raw(screen, history, choice)
    elif as_json:
        _print_json(screen, choice)
    else:
        wording = settings.wording(history, utc=utc)
        _print_timeline(screen, wording, choice, full=full or span is not None)
    return 0


def find(history: History, reference: str) -> tuple[Transcript, range | None]:
    """Find a session, and which of its events a reference names (``None``: all).

    Raises:
        SessionNotFoundError: no session fits.
        AmbiguousSessionError: several do.
        EventNotFoundError: the session has no such event.
    """
    named = _EVENTS.fullmatch(reference)
    if named is None:
        return history.session(reference), None
    try:
        transcript = history.session(named[1])
    except SessionNotFoundError:
        return history.session(reference), None  # an id may itself hold a `#`
    first, last = int(named[2]), int(named[3] or named[2])
    count = len(transcript.events)
    for seq in (first, last):
        if seq >= count:
            raise EventNotFoundError(named[1], seq, count)
    if first > last:
        raise UsageError(f"the first event comes after the last: {first}-{last}")
    return transcript, range(first, last + 1)


class Choice:
    """The events of a session that are asked for.

    Args:
        transcript: the session.
        span: the numbers asked for; ``None`` for all.
        kinds: the kinds asked for; empty for all.
        everything: show bookkeeping records, too.
    """

    def __init__(
        self,
        transcript: Transcript,
        span: range | None,
        kinds: frozenset[str],
        *,
        everything: bool,
    ) -> None:
        self.session = transcript.session
        self.hidden = 0
        self.whole = span is None and not kinds
        self._events = transcript.events
        self._span = range(len(transcript.events)) if span is None else span
        self._kinds = kinds
        self._everything = everything or bool(kinds) or span is not None

    def events(self) -> Iterator[Event]:
        """Yield the events in order; what is left out as bookkeeping is counted in ``hidden``."""
        self.hidden = 0
        for seq in self._span:
            event = self._events[seq]
            if self._kinds and event.kind not in self._kinds:
                continue
            if event.bookkeeping and not self._everything:
                self.hidden += 1
                continue
            yield event


def _wanted_kinds(
    settings: Settings, history: History, kinds: list[str], *, only_tools: bool
) -> frozenset[str]:
    """Check the kinds, by the rule that the search uses."""
    settings.query("", history, [], kinds=kinds)
    return frozenset(kinds) | ({"tool_use"} if only_tools else frozenset())


def _print_timeline(screen: Screen, wording: Wording, choice: Choice, *, full: bool) -> None:
    from agtail.cli.timeline import INDENT, Timeline, header, hidden_line  # noqa: PLC0415 - start-up time

    for line in header(choice.session, wording):
        screen.line(line, hanging=2)
    screen.text("")
    timeline = Timeline(wording, full=full)
    for event in choice.events():
        for line in timeline.lines(event):
            screen.line(line, hanging=len(INDENT))
    if choice.hidden:
        screen.line(hidden_line(choice.hidden))


def _print_json(screen: Screen, choice: Choice) -> None:
    """Print the session as one document, an event at a time: it may be larger than memory."""
    from agtail.model import encode  # noqa: PLC0415 - start-up time

    screen.json(encode(choice.session)[:-1] + b',"events":[', end="")
    comma = b""
    for event in choice.events():
        screen.json(comma + encode(event), end="")
        comma = b","
    screen.json(b"]}")


def _print_raw(screen: Screen, history: History, choice: Choice) -> None:
    """Print the source files when the whole session is asked for, else the chosen records.

    Of a database only the session's own rows are printed.
    """
    if choice.whole:
        sources = (event.src for event in choice.events() if event.src and not event.src.table)
        for path in dict.fromkeys(_file(choice, source) for source in sources):
            _copy(screen, history, choice.session.agent, path)
    printed: set[tuple[str, int | tuple[str, str]]] = set()
    for event in choice.events():
        for source in _records(event):
            if source.table is not None and source.row is not None:
                row = _file(choice, source), (source.table, source.row)
                if row not in printed:
                    screen.raw(history.raw.row(row[0], *row[1]) + b"\n")
                printed.add(row)
                continue
            if choice.whole:
                continue
            if source.offset is None or source.length is None:
                raise AgtailError(f"event {event.seq} has no record of its own in a file")
            place = (_file(choice, source), source.offset)
            if place not in printed:
                record = history.raw.read(choice.session.agent, *place, source.length)
                screen.raw(record + b"\n")
            printed.add(place)


def _records(event: Event) -> list[Source]:
    """Return where an event and the answer folded into it were read."""
    from agtail.model import Source  # noqa: PLC0415 - start-up time

    answer = event.result.src if event.result is not None else None
    return [event.src or Source(), *([answer] if answer is not None else [])]


def _file(choice: Choice, source: Source) -> str:
    return source.path or choice.session.path


def _copy(screen: Screen, history: History, agent: str, path: str) -> None:
    from agtail.records import unpack  # noqa: PLC0415 - start-up time

    with history.raw.open(agent, path) as stream:
        content = unpack(stream)
        while chunk := content.read(_CHUNK):
            screen.raw(chunk)
