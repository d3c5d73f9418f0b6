"""What agtail sees on this machine and what it does not: agents, their files, and its own state."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from agtail.agents.base import Adapter, Retention, Unit
from agtail.assemble import assemble, unreadable
from agtail.errors import AgtailError, SettingsError, SourceError, StoreMissingError
from agtail.history import History
from agtail.model import Integrity, Session, Wire
from agtail.settings import load_settings, settings_path

SOON = 7.0
"""Days ahead that are looked at for what an agent will delete."""

_DAY = 24 * 3600.0

Progress = Callable[[int, int, float], None]
"""Called with bytes done, bytes to do, and seconds since the start."""


class Problem(Wire, kw_only=True):
    """A file or folder, and why it cannot be used."""

    path: str
    reason: str


class Deletion(Wire, kw_only=True):
    """What an agent deletes by itself.

    Attributes:
        days: since the last change of a transcript, after which it is deleted.
        setting: what the agent calls that.
        path: the file to set it in.
        default: nobody has set it.
        due: transcripts that are older already: they go when the agent is started next.
        soon: those that will be within a week.
        oldest_time: last change of the oldest, UTC milliseconds.
    """

    days: float
    setting: str
    path: str
    default: bool = False
    due: int
    soon: int
    oldest_time: int | None = None


class Lost(Wire, kw_only=True):
    """Prompts of sessions that are neither on the disk nor in the store.

    Attributes:
        sessions: how many sessions.
        prompts: how many prompts are left of them.
        first_time, last_time: UTC milliseconds of the earliest and the latest prompt.
    """

    sessions: int
    prompts: int
    first_time: int | None = None
    last_time: int | None = None


class AgentReport(Wire, kw_only=True):
    """What there is of one agent.

    Attributes:
        agent: its id.
        name: its short name.
        roots: the folders that are looked into, and whether they are there.
        sources: transcripts that were found.
        bytes: what these hold.
        sessions: sessions in them, subagents included.
        subagents: those of them that are subagents.
        empty: transcripts without a conversation, which are not listed.
        damaged: sessions of which a part could not be read.
        unreadable: transcripts that could not be read at all.
        skipped: what was passed over when transcripts were looked for.
        kept: sessions that are only in the store: the agent deleted their files.
        deletion: what the agent deletes by itself; absent when it does not.
        lost: prompts that are all that is left of some sessions.
    """

    agent: str
    name: str
    roots: dict[str, bool]
    sources: int
    bytes: int
    sessions: int
    subagents: int
    empty: int
    damaged: int
    unreadable: list[Problem]
    skipped: list[Problem]
    kept: int
    deletion: Deletion | None = None
    lost: Lost | None = None

    @property
    def found(self) -> bool:
        """Whether there is anything of the agent."""
        return any(self.roots.values()) or bool(self.sources)


class StoreReport(Wire, kw_only=True):
    """The store: where it is, what is in it, or what is wrong with it; absent when none."""

    folder: str
    missing: bool = False
    problem: str | None = None
    sources: int = 0
    sessions: int = 0


class Diagnosis(Wire, kw_only=True):
    """All that the doctor found."""

    agents: list[AgentReport]
    store: StoreReport
    settings: str
    settings_problem: str | None = None

    @property
    def healthy(self) -> bool:
        """Whether agtail's own things are in order."""
        return self.store.problem is None and self.settings_problem is None


class _Stored(Wire, kw_only=True):
    """What the store knows: the present state of sources, and their sessions."""
