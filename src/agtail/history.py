"""History: all sessions of all agents on this machine, found, read and searched.

This is the Python API's front door; the command line and the page use nothing else.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from agtail.agents import adapter_class, agent_ids
from agtail.agents.base import Adapter, Peeks, Surroundings, Unit, units_of
from agtail.assemble import Transcript, assemble, unreadable
from agtail.errors import (
    AmbiguousSessionError,
    SessionNotFoundError,
    SourceError,
    StoreError,
    UnknownAgentError,
)
from agtail.imported import list_collections
from agtail.model import Integrity, Session

if TYPE_CHECKING:
    from agtail.raw import Raw
    from agtail.search.query import Query
    from agtail.search.scan import Hit
    from agtail.store.append import Amendment
    from agtail.store.catalogue import Source
    from agtail.store.changes import Change
    from agtail.store.refresh import Progress
    from agtail.store.store import Store

Warn = Callable[[str], None]


class History:
    """Every coding agent's history on this machine.

    Args:
        roots: session root by agent id, in place of the agent's default.
        home: the home directory to look in; the user's by default.
        env: environment variables; the process's by default.
        agents: only these agents; all by default.
        warn: called with one line for each source that cannot be read.
        store: keep what was read in the store, and answer from it: searches then take
            milliseconds, and sessions outlive their files. Without it every call reads the
            files.
        refresh: look for changes before each answer; without, trust the store as it is.
        progress: told how a long refresh goes on.

    Raises:
        UnknownAgentError: an agent id that no adapter has.

    Example:
        >>> from agtail import History
        >>> history = History.sample()
        >>> [hit.session_id for hit in history.search("healthz", kinds=["text"])][:1]
        ['5b1f0c52-6f0e-4c39-9a55-0d6f3f1c7a01']
    """

    def __init__(
        self,
        *,
        roots: Mapping[str, str | Path] | None = None,
        home: str | Path | None = None,
        env: Mapping[str, str] | None = None,
        agents: Sequence[str] | None = None,
        warn: Warn | None = None,
        store: bool = False,
        refresh: bool = True,
        progress: Progress | None = None,
    ) -> None:
        known = agent_ids()
        for name in (*(roots or {}), *(agents or ())):
            if name not in known:
                raise UnknownAgentError(name, known)
        environment = os.environ if env is None else env
        base = Path(home) if home is not None else Path.home()
        self._warn = warn or (lambda _line: None)
        self._arguments = {"roots": dict(roots or {}), "home": base, "env": dict(environment)}
        self._home = base
        self._env = environment
        self._refresh = refresh
        self._progress = progress
        self._store: Store | None = None
        self._adapters: dict[str, Adapter] = {}
        self._peeks = Peeks()
        imported: dict[str, dict[str, Path]] = {}
        for name in known:
            if agents and name not in agents:
                continue
            root = (roots or {}).get(name)
            imported[name] = list_collections(data_dir(base, environment), name)
            self._adapters[name] = adapter_class(name)(
                Surroundings(
                    home=base,
                    env=environment,
                    root=Path(os.path.abspath(Path(root).expanduser())) if root else None,
                    imported=imported[name],
                    peeks=self._peeks,
                )
            )
        if store:
            self._open(data_dir(base, environment) / "store", imported)

    @classmethod
    def sample(cls) -> History:
        """Open the bundled fictional history: the same on every machine."""
        from agtail.sample import sample_home  # noqa: PLC0415 - only for demonstrations

        return cls(home=sample_home(), env={})

    @property
    def agents(self) -> dict[str, str]:
        """Return the short name of each agent that is looked at, by id."""
        return {agent: adapter.name for agent, adapter in self._adapters.items()}

    def agent_id(self, name: str) -> str:
        """Return the id of an agent that is named by id or short name.

        Raises:
            UnknownAgentError: no agent that is looked at has that name.
        """
        for agent, short in self.agents.items():
            if name in (agent, short):
                return agent
        raise UnknownAgentError(name, self._adapters)

    def adapter(self, agent: str) -> Adapter:
        """Return the adapter of an agent."""
        return self._adapters[agent]

    def units(self) -> list[Unit]:
        """Find all sources, newest first over all agents, without reading them."""
        adapters = self._adapters.values()
        return _newest_first(unit for each in adapters for unit in units_of(each, self._report))

    @property
    def store(self) -> Store | None:
        """The store behind this history, when there is one."""
        return self._store

    @property
    def raw(self) -> Raw:
        """The transcripts as the agents wrote them."""
        from agtail.raw import Raw  # noqa: PLC0415 - start-up time

        return Raw(self._store, self._home, self._env, self._warn)

    def refresh(self, *, wait: bool = False) -> Change | None:
        """Bring the store up to date; nothing happens without one.

        Args:
            wait: wait for another process that is at it, instead of using what is there.
        """
        store = self._store
        if store is None:
            return None
        try:
            units, seen, unseen = self._unsettled(store)
            if not seen:
                from agtail.store.changes import Change  # noqa: PLC0415 - start-up time

                return Change()
            from agtail.packing import PackingReader  # noqa: PLC0415 - start-up time

            change = store.refresh(
                units,
                PackingReader(self._arguments),
                self._progress,
                seen=seen,
                unseen=unseen,
                amend=self._amend,
                wait=wait,
                warn=self._warn,
            )
            store.keep_peeks(self._peeks)
        except StoreError as error:
            self._warn(str(error))
            self._store = None
            return None
        if change.busy:
            self._warn("another agtail is bringing the store up to date: the newest may be missing")
        return change

    def read(self, unit: Unit, *, rests: bool = False) -> list[Transcript]:
        """Read one source: its session, then those that live within it.

        Args:
            unit: the source.
            rests: note what it takes to go on reading when the file has grown.

        A source that cannot be read is reported and comes back as an empty session whose
        ``integrity.unreadable`` says why.
        """
        adapter = self._adapters[unit.agent]
        health = Integrity()
        try:
            items = adapter.read(unit, health)
            return assemble(unit, items, health, adapter.describe_tool, rests=rests)
        except SourceError as error:
            self._report(error)
            return [unreadable(unit, error.reason)]

    def transcripts(self, units: Iterable[Unit] | None = None) -> Iterator[Transcript]:
        """Read sources one after the other; empty sessions are left out."""
        for unit in self.units() if units is None else units:
            for transcript in self.read(unit):
                if not transcript.empty:
                    yield transcript

    def sessions(self, query: Query | None = None) -> list[Session]:
        """Return the sessions that pass the query's filters and were active in its time.

        Newest end first. Patterns and filters on events do not count here.
        """
        found = [
            session
            for session in self._all_sessions()
            if query is None or (query.wants_session(session) and query.overlaps(session))
        ]
        found.sort(key=lambda session: (-session.order, session.agent, session.id, session.path))
        return found

    def session(self, reference: str) -> Transcript:
        """Return one session by ``agent:id``, id, unique prefix of an id, or path.

        The agent may be given by id or short name.

        Raises:
            SessionNotFoundError: nothing fits.
            AmbiguousSessionError: several fit; the message lists them.
        """
        name, colon, wanted = reference.partition(":")
        agent = {short: agent for agent, short in self.agents.items()}.get(name, name)
        if not colon or agent not in self._adapters:
            agent, wanted = "", reference
        if not wanted:
            raise SessionNotFoundError(reference)
        path = os.path.realpath(os.path.expanduser(wanted)) if os.sep in wanted else None
        fitting: dict[int, list[Transcript]] = {}
        for transcript in self._referred(agent, wanted, path):
            session = transcript.session
            here = path is not None and os.path.realpath(session.path) == path
            rank = _EXACT if here else _fit(session, wanted)
            if rank is not None:
                fitting.setdefault(rank, []).append(transcript)
        fits = fitting[min(fitting)] if fitting else []
        if path is not None:
            fits = fits[:1]  # the session itself comes before those that live within its file
        if not fits:
            raise SessionNotFoundError(reference)
        if len(fits) > 1:
            raise AmbiguousSessionError(
                reference,
                [f"{each.session.agent}:{each.session.id} ({each.session.path})" for each in fits],
            )
        return fits[0]

    def search(
        self, query: Query | str = "", *, before: int = 0, after: int = 0, **filters: Any
    ) -> Iterator[Hit]:
        """Yield the events that match, sessions newest first, events in their order.

        A query with ``rank`` yields the best first.

        Args:
            query: a compiled query, or a pattern to compile.
            before: events of context in front of each hit.
            after: events of context behind each hit.
            **filters: what to compile the pattern with, the parameters of
                :meth:`agtail.search.query.Query.of`.

        Raises:
            UsageError: a filter or pattern is wrong; raised before anything is read.
        """
        from agtail.search.query import Query as Compiled  # noqa: PLC0415 - start-up time
        from agtail.search.scan import scan  # noqa: PLC0415 - start-up time

        compiled = Compiled.of(query, **filters) if isinstance(query, str) else query
        store = self._fresh_store()

        def found(asked: Query) -> Iterator[Hit]:
            if store is not None:
                return store.engine().search(asked, before=before, after=after)
            return scan(asked, self._wanted(asked), before=before, after=after)

        if not compiled.rank:
            return found(compiled)
        from agtail.search.rank import ranked  # noqa: PLC0415 - start-up time

        everything = msgspec.structs.replace(compiled, limit=0)
        return ranked(lambda: found(everything), compiled.limit)

    def sessions_with(self, query: Query) -> Iterator[Hit]:
        """Yield the first hit of each session that has one, newest session first."""
        from agtail.search.scan import sessions_with  # noqa: PLC0415 - start-up time

        if (store := self._fresh_store()) is not None:
            return store.engine().sessions_with(query)
        return sessions_with(query, self._wanted(query))

    def counts(self, query: Query) -> Iterator[tuple[Session, int]]:
        """Yield each session in which something matches, with the number of such events."""
        from agtail.search.scan import counts  # noqa: PLC0415 - start-up time

        if (store := self._fresh_store()) is not None:
            return store.engine().counts(query)
        return counts(query, self._wanted(query))

    def _amend(self, source: Source, unit: Unit) -> Amendment | None:
        from agtail.store.append import amend  # noqa: PLC0415 - start-up time

        if self._store is None:
            return None
        return amend(self._store.catalogue, source, unit, self._adapters[unit.agent])

    def _unsettled(self, store: Store) -> tuple[list[Unit], dict[str, bytes], list[str]]:
        """Find the sources of the agents for which the store may not be up to date.

        Returns:
            The sources, newest first; for each of these agents what its files look like, which
            is empty when something could not be looked into, since that has to be told each
            time; and what could not be looked into.
        """
        found: list[Unit] = []
        seen: dict[str, bytes] = {}
        unseen: list[str] = []
        looks = store.looks()
        for agent, adapter in self._adapters.items():
            problems: list[SourceError] = []
            places = adapter.find(problems.append)
            look = b"" if problems else store.look_of(agent, places)
            if not look or looks.get(agent) != look:
                if not seen:
                    self._peeks.learn(store.peeks())
                found.extend(adapter.units(places, problems.append))
                seen[agent] = b"" if problems else look
            for problem in problems:
                unseen.append(problem.path)
                self._report(problem)
        return _newest_first(found), seen, unseen

    def _open(self, folder: Path, imported: dict[str, dict[str, Path]]) -> None:
        from agtail.store.store import Store  # noqa: PLC0415 - start-up time

        roots = {
            agent: [*map(str, adapter.roots()), *_imported_roots(imported[agent])]
            for agent, adapter in self._adapters.items()
        }
        try:
            self._store = Store(folder, roots, self._warn)
        except StoreError as error:
            self._warn(str(error))

    def _fresh_store(self) -> Store | None:
        """Return the store, refreshed as asked for; ``None`` when the files have to be read."""
        if self._store is not None and self._refresh:
            self.refresh()
        return self._store

    def _all_sessions(self) -> Iterator[Session]:
        if (store := self._fresh_store()) is not None:
            return store.sessions()
        return (transcript.session for transcript in self.transcripts())

    def _referred(self, agent: str, wanted: str, path: str | None) -> Iterator[Transcript]:
        """Yield the sessions that a reference may mean."""
        if (store := self._fresh_store()) is not None:
            return store.transcripts(lambda session: not agent or session.agent == agent)
        return self.transcripts(self._candidates(agent, wanted, path))

    def _wanted(self, query: Query) -> Iterator[Transcript]:
        """Read the sources in which a query may find something, newest first."""
        return self.transcripts([unit for unit in self.units() if query.wants_unit(unit)])

    def _candidates(self, agent: str, wanted: str, path: str | None) -> list[Unit]:
        """Narrow a reference down to the units worth reading, by what is known without reading."""
        units = [unit for unit in self.units() if not agent or unit.agent == agent]
        if path is not None:
            return [unit for unit in units if path in map(os.path.realpath, _files(unit))]
        stem = wanted.partition("#")[0]
        named = [unit for unit in units if unit.id.startswith(stem) or _stem(unit.path) == stem]
        return named or units

    def _report(self, error: SourceError) -> None:
        self._warn(str(error))


def _newest_first(units: Iterable[Unit]) -> list[Unit]:
    return sorted(units, key=lambda unit: (-unit.touched, unit.agent, unit.path))


_EXACT, _NAMED, _BEGUN = range(3)


def _fit(session: Session, wanted: str) -> int | None:
    """Say how well an id fits a session: wholly, by the name of its file, or as a beginning.

    The id of a session within another's file is the other's id, ``#`` and its own: each of the
    two may be shortened, and the other's id alone does not mean the session within.
    """
    if session.id == wanted:
        return _EXACT
    ids, beginnings = session.id.split("#"), wanted.split("#")
    if len(ids) != len(beginnings):
        return None
    if _stem(session.path) == wanted:
        return _NAMED
    begun = all(whole.startswith(begin) for whole, begin in zip(ids, beginnings, strict=True))
    return _BEGUN if begun else None


def _stem(path: str) -> str:
    return os.path.basename(path).partition(".jsonl")[0]


def _files(unit: Unit) -> tuple[str, ...]:
    return unit.parts or (unit.path,)


def data_dir(home: Path, env: Mapping[str, str]) -> Path:
    """Return the folder of agtail's own data: ``$XDG_DATA_HOME/agtail``."""
    base = env.get("XDG_DATA_HOME")
    return (Path(base) if base else home / ".local" / "share") / "agtail"


def _imported_roots(collections: dict[str, Path]) -> list[str]:
    """Return the folders below which imported sources are found: sub-folders count as well."""
    return [
        str(place)
        for folder in collections.values()
        for place in (folder, folder / "sessions", folder / "archived_sessions")
    ]
