"""``agtail stats``: which tools were called how often, and what tokens went by."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from agtail.cli import options
from agtail.cli.options import Settings
from agtail.cli.terminal import AMBER, BOLD, DIM, GREEN, Line, Span
from agtail.errors import UsageError

if TYPE_CHECKING:
    from agtail.cli.tally import Tally

NAME_WIDTH = 22
BAR_WIDTH = 30


@click.command("stats", short_help="Count tool calls and tokens.")
@click.argument(
    "reference", metavar="[ID]", required=False, shell_complete=options.complete_sessions
)
@options.agents_option
@options.project_option
@options.model_option
@options.source_option
@options.signal_options
@options.time_options
@options.json_option("One JSON object.")
@options.global_options
def command(
    settings: Settings,
    *,
    reference: str | None,
    agents: list[str],
    project: str | None,
    models: tuple[str, ...],
    source: str | None,
    signals: dict[str, Any],
    since: str | None,
    until: str | None,
    utc: bool,
    as_json: bool,
) -> int:
    """Count tool calls and tokens, of all sessions that pass the filters or of one.

    Everything is counted once: copies in resumed and forked sessions belong to the session
    that they come from. With ID, the subagents of that session are not included.

    --since and --until choose sessions by when they were active; a session counts whole.
    """
    from agtail.cli.tally import Tally  # noqa: PLC0415 - start-up time

    history = settings.history(agents)
    filters = {
        "cwds": [project] if project else [],
        "models": list(models),
        "source": source,
        "since": since,
        "until": until,
    }
    query = settings.query("", history, agents, utc=utc, **filters, **signals)
    tally = Tally()
    if reference is None:
        for session in history.sessions(query):
            tally.add(session)
    elif any(filters.values()) or signals:
        raise UsageError("filters choose among sessions: they do not go with an ID")
    else:
        tally.add(history.session(reference).session)
    screen = settings.screen()
    if as_json:
        screen.json(tally.encode())
        return 0
    for line in lines(tally):
        screen.line(line)
    if reference is not None:
        screen.text("\nthis session alone: its subagents are not included", DIM)
    return 0


def lines(tally: Tally) -> Iterator[Line]:
    """Write a tally: tools with bars, most used first, then sessions and tokens."""
    most = max(tally.tools.values(), default=0)
    for tool, count in tally.ranked():
        share = f"{_rounded(100 * count / tally.calls):>3}%"
        bar = "█" * max(1, _rounded(BAR_WIDTH * count / most))
        name = f"{tool[:NAME_WIDTH]:<{NAME_WIDTH}}"
        yield [Span(name, AMBER), Span(f" {count:>5} {share}  "), Span(bar, GREEN)]
    yield [Span(f"{'total':<{NAME_WIDTH}} {tally.calls:>5}", BOLD)]
    yield []
    subagents = f" ({tally.subagents:,} of them subagents)" if tally.subagents else ""
    yield [Span(f"sessions {tally.sessions:,}{subagents}  messages {tally.messages:,}")]
    yield []
    yield [Span("tokens", BOLD)]
    usage = tally.usage
    spent = f"input {usage.input_tokens:,}  output {usage.output_tokens:,}"
    yield [Span(f"  {spent}  cache-read {usage.cache_read_tokens:,}  total {usage.total:,}")]
    if usage.cache_creation_tokens or len(tally.model_usage) > 1:
        yield from _table(tally)


def _table(tally: Tally) -> Iterator[Line]:
    """Write what each model took, in columns as wide as they have to be."""
    rows = [("", "input", "output", "cache-read", "cache-write", "total")]
    rows += [
        (
            model,
            f"{usage.input_tokens:,}",
            f"{usage.output_tokens:,}",
            f"{usage.cache_read_tokens:,}",
            f"{usage.cache_creation_tokens:,}",
            f"{usage.total:,}",
        )
        for model, usage in tally.by_model()
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for model, *counters in rows:
        cells = [f"{cell:>{width}}" for cell, width in zip(counters, widths[1:], strict=True)]
        yield [Span(f"  {model:<{widths[0]}}  {'  '.join(cells)}", DIM)]


def _rounded(value: float) -> int:
    """Round to the nearest whole number, halves up."""
    return int(value + 0.5)
