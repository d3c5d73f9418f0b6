"""``agtail doctor``: what is found on this machine, what is not, and what is about to be lost."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agtail.cli import options
from agtail.cli.options import Settings
from agtail.cli.progress import RefreshBar
from agtail.cli.terminal import AMBER, BOLD, DIM, RED, Line, Span

if TYPE_CHECKING:
    from agtail.cli.wording import Wording
    from agtail.doctor import AgentReport, Deletion, Diagnosis, Lost, Problem

LABEL = 10
"""Columns of the name in front of what is said of it."""

LISTED = 5
"""Problems of one kind that are named; of more, only the number is told."""


@click.command("doctor", short_help="Say what is found, and what is about to be lost.")
@options.agents_option
@options.utc_option
@options.json_option("One JSON object.")
@options.global_options
def command(settings: Settings, *, agents: list[str], utc: bool, as_json: bool) -> int:
    """Say what is found of each agent, what is not and why, and what is about to be lost.

    For each agent: where its sessions were looked for, how many there are, what could not be
    read, what the agent deletes by itself and when, and prompts that are left of sessions that
    are gone. Then the state of the store and of the settings. Nothing is changed, and no store
    is made; transcripts that are not in the store are read, which may take a while. The exit
    code is 1 when the store or the settings cannot be used.
    """
    from agtail.doctor import examine  # noqa: PLC0415 - start-up time
    from agtail.history import data_dir  # noqa: PLC0415 - start-up time
    from agtail.model import encode  # noqa: PLC0415 - start-up time

    home = Path.home()
    history = replace(settings, store=False).history(agents, tell=lambda _line: None)
    diagnosis = examine(
        history, data_dir(home, os.environ) / "store", home, os.environ, RefreshBar()
    )
    screen = settings.screen()
    if as_json:
        screen.json(encode(diagnosis))
    else:
        for line in lines(diagnosis, settings.wording(history, utc=utc), utc=utc):
            screen.line(line, hanging=LABEL)
    return int(not diagnosis.healthy)


def lines(diagnosis: Diagnosis, wording: Wording, *, utc: bool) -> Iterator[Line]:
    """Write all that was found."""
    from agtail.cli.wording import plural  # noqa: PLC0415 - start-up time

    for agent in diagnosis.agents:
        yield from _Section(agent.name, wording, utc=utc).lines(agent)
    store = diagnosis.store
    place = wording.path(store.folder)
    if store.missing:
        yield _row("store", f"none yet; the first search makes one: {place}")
    elif store.problem:
        yield _row("store", store.problem, RED)
    else:
        held = f"{plural(store.sources, 'source')}, {plural(store.sessions, 'session')}"
        yield _row("store", f"{held} in {place}")
    if diagnosis.settings_problem:
        yield _row("settings", diagnosis.settings_problem, RED)
    else:
        yield _row("settings", f"{wording.path(diagnosis.settings)}: in order, or not there")


def _row(label: str, text: str, style: str = "") -> Line:
    return [Span(f"{label:<{LABEL}}", BOLD), Span(text, style)]


class _Section:
    """The lines about one agent."""

    def __init__(self, name: str, wording: Wording, *, utc: bool) -> None:
        self._name = name
        self._wording = wording
        self._zone = UTC if utc else None

    def lines(self, agent: AgentReport) -> Iterator[Line]:
        """Write what was found of it."""
        from agtail.cli.wording import plural, size  # noqa: PLC0415 - start-up time

        places = [
            self._wording.path(root) + ("" if there else " (not there)")
            for root, there in agent.roots.items()
        ]
        yield [Span(f"{self._name:<{LABEL}}", BOLD), Span(", ".join(places), DIM)]
        if agent.found or agent.kept:
            below = f" ({agent.subagents:,} of them subagents)" if agent.subagents else ""
            files = f"{plural(agent.sources, 'transcript')} of {size(agent.bytes)}"
            yield _row("", f"{plural(agent.sessions, 'session')}{below} in {files}")
        if agent.empty:
            yield _row("", f"{agent.empty:,} without a conversation: not listed", DIM)
        if agent.damaged:
            yield _row("", f"{plural(agent.damaged, 'session')} with parts that are damaged", AMBER)
        yield from self._problems(agent.unreadable, "unreadable")
        yield from self._problems(agent.skipped, "passed over")
        if agent.forgotten:
            yield _row("", f"{agent.forgotten:,} forgotten: left out until they grow", DIM)
        if agent.kept:
            yield _row("", f"{plural(agent.kept, 'session')} kept whose files are gone")
        if agent.deletion is not None and agent.found:
            yield from self._deletion(agent.deletion)
        if agent.lost is not None:
            yield self._lost(agent.lost)

    def _problems(self, problems: list[Problem], what: str) -> Iterator[Line]:
        if not problems:
            return
        yield _row("", f"{len(problems):,} {what}", RED)
        for problem in problems[:LISTED]:
            yield _row("", f"  {self._wording.path(problem.path)}: {problem.reason}", RED)
        if len(problems) > LISTED:
            yield _row("", f"  and {len(problems) - LISTED:,} more", RED)

    def _deletion(self, deletion: Deletion) -> Iterator[Line]:
        from agtail.cli.wording import plural  # noqa: PLC0415 - start-up time

        by = ", its default" if deletion.default else ""
        place = self._wording.path(deletion.path)
        yield _row(
            "",
            f"deletes transcripts {deletion.days:g} days after their last change"
            f" ({deletion.setting}{by}; {place})",
        )
        if deletion.oldest_time is None:
            return
        due = f"{plural(deletion.due, 'transcript')} at its next start"
        soon = f"{deletion.soon:,} more within a week"
        oldest = f"the oldest is of {self._day(deletion.oldest_time)}"
        yield _row("", f"next: {due}, {soon}; {oldest}", AMBER if deletion.due else "")

    def _lost(self, lost: Lost) -> Line:
        from agtail.cli.wording import plural  # noqa: PLC0415 - start-up time

        span = ""
        if lost.first_time is not None and lost.last_time is not None:
            span = f", {self._day(lost.first_time)} to {self._day(lost.last_time)}"
        left = plural(lost.prompts, "prompt")
        return _row("", f"{left} left of {plural(lost.sessions, 'lost session')}{span}")

    def _day(self, time: int) -> str:
        try:
            return datetime.fromtimestamp(time / 1000, self._zone).strftime("%Y-%m-%d")
        except (ValueError, OverflowError, OSError):
            return "?"
