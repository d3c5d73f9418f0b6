"""What agtail sees on this machine and what it does not: agents, their files, and its own state."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from agtail.agents import agent_ids
from agtail.agents.base import Adapter, Retention, Unit, units_of
from agtail.errors import AgtailError, SettingsError, SourceError, StoreMissingError
from agtail.history import History
from agtail.model import Session, Wire
from agtail.settings import load_settings, settings_path

if TYPE_CHECKING:
    from agtail.store.catalogue import Source

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
        forgotten: transcripts that were removed from the store for good, and are left out.
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
    forgotten: int
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


def examine(
    history: History,
    folder: Path,
    home: Path,
    env: Mapping[str, str],
    progress: Progress = lambda _done, _total, _seconds: None,
) -> Diagnosis:
    """Look at everything, and change nothing: no store is made and none is brought up to date.

    Transcripts that the store knows as they are now are not read again; all others are.

    Args:
        history: the agents to look at, without a store.
        folder: where the store lies, or would lie.
        home: the home directory.
        env: environment variables.
        progress: told how far reading is, now and then.
    """
    memory = _Memory(folder)
    looks = [_Look(history, agent, memory) for agent in history.agents]
    _read(looks, progress)
    settings_problem = None
    try:
        load_settings(home, env)
    except SettingsError as error:
        settings_problem = str(error)
    return Diagnosis(
        agents=[
            look.report(name) for look, name in zip(looks, history.agents.values(), strict=True)
        ],
        store=memory.report,
        settings=str(settings_path(home, env)),
        settings_problem=settings_problem,
    )


class _Memory:
    """What the store knows, when there is one."""

    def __init__(self, folder: Path) -> None:
        from agtail.store.catalogue import Catalogue  # noqa: PLC0415 - start-up time
        from agtail.store.forgotten import leave_out  # noqa: PLC0415 - start-up time

        self.report = StoreReport(folder=str(folder))
        self._sources: dict[tuple[str, str], Source] = {}
        self._sessions: dict[int, list[Session]] = {}
        self.without_forgotten: Callable[[list[Unit]], list[Unit]] = list
        try:
            catalogue = Catalogue(folder, lambda _line: None, existing=True)
        except StoreMissingError:
            self.report.missing = True
            return
        except AgtailError as error:
            self.report.problem = str(error)
            return
        self._sources = catalogue.sources()
        roots = {source.root for source in self._sources.values()}
        for row in catalogue.sessions(roots, agent_ids()):
            self._sessions.setdefault(row.source, []).append(row.session)
        self.report.sources = len(self._sources)
        self.report.sessions = sum(map(len, self._sessions.values()))
        self.without_forgotten = lambda units: leave_out(catalogue, units, self._sources)

    def of(self, unit: Unit) -> list[Session] | None:
        """Return the sessions of a source, when it is as it was when they were stored."""
        from agtail.store.changes import READERS  # noqa: PLC0415 - start-up time

        source = self._sources.get((unit.agent, unit.path))
        if source is None or source.gone or source.due is not None or source.readers != READERS:
            return None
        return self._sessions.get(source.id, []) if source.unit == unit else None

    def all_of(self, agent: str) -> Iterator[Session]:
        """Yield all stored sessions of an agent."""
        for (owner, _), source in self._sources.items():
            if owner == agent:
                yield from self._sessions.get(source.id, ())


class _Look:
    """A look at one agent."""

    def __init__(self, history: History, agent: str, memory: _Memory) -> None:
        self.adapter = history.adapter(agent)
        self.skipped: list[Problem] = []
        self.found = list(units_of(self.adapter, self._skip))
        self.units = memory.without_forgotten(self.found)
        self._history = history
        self._memory = memory
        self._sessions: list[Session] = []
        self._empty = 0

    def read(self, unit: Unit) -> None:
        """Take one source into account."""
        sessions = self._memory.of(unit)
        if sessions is None:
            transcripts = self._history.read(unit)
            sessions = [each.session for each in transcripts if not each.empty]
        self._sessions += sessions
        self._empty += not sessions

    def report(self, name: str) -> AgentReport:
        """Say what was seen."""
        agent = self.adapter.agent
        health = [(each, each.integrity) for each in self._sessions if each.integrity]
        kept = [session for session in self._memory.all_of(agent) if session.source_gone]
        known = {unit.id for unit in self.found}
        known.update(session.id for session in self._sessions)
        known.update(session.id for session in self._memory.all_of(agent))
        return AgentReport(
            agent=agent,
            name=name,
            roots={str(root): root.exists() for root in self.adapter.roots()},
            sources=len(self.units),
            bytes=sum(unit.size for unit in self.units),
            sessions=len(self._sessions),
            subagents=sum(session.is_subagent for session in self._sessions),
            empty=self._empty,
            damaged=sum(not each.unreadable for _, each in health),
            unreadable=[
                Problem(path=session.path, reason=each.unreadable)
                for session, each in health
                if each.unreadable
            ],
            skipped=self.skipped,
            forgotten=len(self.found) - len(self.units),
            kept=len(kept),
            deletion=_deletion(self.adapter.retention(), self.found),
            lost=_lost(self.adapter, known),
        )

    def _skip(self, error: SourceError) -> None:
        self.skipped.append(Problem(path=error.path, reason=error.reason))


def _read(looks: Iterable[_Look], progress: Progress) -> None:
    started = time.monotonic()
    todo = [(look, unit) for look in looks for unit in look.units]
    total = sum(unit.size for _, unit in todo)
    done = 0
    for look, unit in todo:
        look.read(unit)
        done += unit.size
        progress(done, total, time.monotonic() - started)


def _deletion(retention: Retention | None, units: Iterable[Unit]) -> Deletion | None:
    if retention is None:
        return None
    changed = [unit.mtime_ns // 1_000_000 for unit in units if unit.imported_from is None]
    limit = int((time.time() - retention.days * _DAY) * 1000)
    due = sum(each < limit for each in changed)
    return Deletion(
        days=retention.days,
        setting=retention.setting,
        path=retention.path,
        default=retention.default,
        due=due,
        soon=sum(each < limit + int(SOON * _DAY * 1000) for each in changed) - due,
        oldest_time=min(changed, default=None),
    )


def _lost(adapter: Adapter, known: set[str]) -> Lost | None:
    """Count what is left of sessions that are nowhere else."""
    sessions: set[str] = set()
    prompts = 0
    times: list[int] = []
    for prompt in adapter.prompts():
        if prompt.session_id not in known:
            sessions.add(prompt.session_id)
            prompts += 1
            if prompt.time is not None:
                times.append(prompt.time)
    if not sessions:
        return None
    return Lost(
        sessions=len(sessions),
        prompts=prompts,
        first_time=min(times, default=None),
        last_time=max(times, default=None),
    )
