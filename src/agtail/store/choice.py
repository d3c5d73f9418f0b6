"""Which sources go when sessions are to be forgotten: whole files, and whole families of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from agtail.errors import UsageError
from agtail.model import Session
from agtail.store.catalogue import Source

_Key = tuple[str, str]  # agent and path of a source
_Name = tuple[str, str | None, str]  # agent, collection and id of a session


class Choice:
    """Chooses among stored sessions; what is chosen is in ``sources`` and ``sessions``.

    Args:
        sessions: those to choose from, in the order that they are to be listed in.
        sources: all stored sources by agent and path.
    """

    def __init__(self, sessions: Iterable[Session], sources: Mapping[_Key, Source]) -> None:
        self._all = list(sessions)
        self._sources = sources
        self._chosen: dict[_Key, None] = {}
        self._by_name = {_name(session): session for session in self._all}

    @property
    def sources(self) -> list[Source]:
        """The sources that were chosen."""
        return [self._sources[key] for key in self._chosen if key in self._sources]

    @property
    def sessions(self) -> list[Session]:
        """The sessions that these hold."""
        return [session for session in self._all if _key(session) in self._chosen]

    def add(self, named: Session) -> None:
        """Choose a session with all that belong to it, subagents of subagents included.

        Raises:
            UsageError: it lives in the file of another.
        """
        outer = named.id.partition("#")[0]
        if outer != named.id and any(
            session.id == outer for session in self._all if _key(session) == _key(named)
        ):
            raise UsageError(f"{named.id} lives in the file of {outer}: only both can be forgotten")
        self._chosen[_key(named)] = None
        for session in self._all:
            if _key(named) in map(_key, self._line(session)):
                self._chosen[_key(session)] = None

    def add_all(self, wanted: Callable[[Session], bool], before: int | None) -> None:
        """Choose the sources all of whose sessions are wanted.

        Args:
            wanted: tells whether a session is.
            before: UTC milliseconds; only families that ended before, all of their members.
        """
        latest: dict[_Name, float] = {}
        for session in self._all:
            root = _name(self._line(session)[-1])
            latest[root] = max(latest.get(root, session.order), session.order)
        kept = {
            _key(session)
            for session in self._all
            if not wanted(session)
            or (before is not None and latest[_name(self._line(session)[-1])] >= before)
        }
        self._chosen.update((_key(each), None) for each in self._all if _key(each) not in kept)

    def _line(self, session: Session) -> list[Session]:
        """Return a session, the one that it belongs to, and so on, as far as they are known."""
        line = [session]
        while parent := line[-1].parent_id:
            above = self._by_name.get((session.agent, session.imported_from, parent))
            if above is None or above in line:
                break
            line.append(above)
        return line


def _key(session: Session) -> _Key:
    return session.agent, session.path


def _name(session: Session) -> _Name:
    return session.agent, session.imported_from, session.id
