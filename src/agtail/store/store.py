"""The store as a history uses it: opened once, refreshed before it is asked, read without locks."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from agtail.agents.base import Peeks, Place, Unit
from agtail.assemble import Transcript
from agtail.errors import StoreError
from agtail.model import Session
from agtail.store.catalogue import Catalogue, is_text
from agtail.store.settled import look_of, looks
from agtail.store.stored import StoredEvents

if TYPE_CHECKING:
    from agtail.search.engine import Engine
    from agtail.store.changes import Change
    from agtail.store.refresh import Packed, Progress


class Store:
    """The store of one user, opened.

    Args:
        folder: where it lies; made when missing.
        roots: folders of sessions by agent: only what was found below them is to be seen.
        warn: told when a damaged store had to be moved aside.

    Raises:
        StoreError: the folder cannot be used.
    """

    def __init__(
        self,
        folder: Path,
        roots: Mapping[str, list[str]],
        warn: Callable[[str], None],
    ) -> None:
        self.catalogue = Catalogue(folder, warn)
        self._roots_of = roots
        self._roots = [root for folders in roots.values() for root in folders]
        self._agents = list(roots)

    def close(self) -> None:
        """Close the store."""
        self.catalogue.close()

    def peeks(self) -> Peeks:
        """Return what discovery saw in the files last time."""
        decode = msgspec.msgpack.decode
        with self._telling():
            rows = self.catalogue.connection.execute("SELECT path, stamp, seen FROM peeks")
            return Peeks({path: (stamp, tuple(decode(seen))) for path, stamp, seen in rows})

    def has_unkept(self) -> bool:
        """Whether the archive may lack something."""
        with self._telling():
            row = self.catalogue.connection.execute(
                "SELECT 1 FROM sources WHERE kept = 0 AND gone = 0 LIMIT 1"
            ).fetchone()
        return row is not None

    def keep_peeks(self, peeks: Peeks) -> None:
        """Remember what discovery saw newly."""
        if not peeks.fresh:
            return
        with self.catalogue.transaction() as connection:
            connection.executemany(
                "INSERT OR REPLACE INTO peeks (path, stamp, seen) VALUES (?, ?, ?)",
                [
                    (path, stamp, msgspec.msgpack.encode(seen))
                    for path, (stamp, seen) in peeks.fresh.items()
                    if is_text(path)
                ],
            )
        peeks.fresh.clear()

    def looks(self) -> dict[str, bytes]:
        """Return what the files of each agent looked like when all of them was stored."""
        with self._telling():
            return looks(self.catalogue, self._roots)

    def look_of(self, agent: str, places: list[Place]) -> bytes:
        """Return what an agent's files look like, empty when that has to be found out each time."""
        return look_of(places, self._roots_of[agent])

    def refresh(
        self,
        units: list[Unit],
        read: Callable[[Unit], Packed],
        progress: Progress | None = None,
        **options: Any,
    ) -> Change:
        """Bring the store up to date, see :func:`agtail.store.refresh.refresh`."""
        from agtail.store.refresh import refresh  # noqa: PLC0415 - start-up time

        with self._telling():
            return refresh(self.catalogue, units, self._roots, read, progress, **options)

    def engine(self) -> Engine:
        """Return what searches the visible sessions."""
        from agtail.search.engine import Engine  # noqa: PLC0415 - start-up time

        with self._telling():
            return Engine(self.catalogue.snapshot(), self._roots, self._agents)

    def sessions(self) -> Iterator[Session]:
        """Yield the visible sessions, in the order of search."""
        with self._telling():
            for row in self.catalogue.sessions(self._roots, self._agents):
                yield row.session

    def transcripts(self, wanted: Callable[[Session], bool] | None = None) -> Iterator[Transcript]:
        """Yield the visible sessions that are wanted, with their events, read when asked for.

        They are those of one moment, whatever is stored until the events are read.
        """
        with self._telling():
            snapshot = self.catalogue.snapshot()
            for row in snapshot.sessions(self._roots, self._agents):
                session = row.session
                if wanted is None or wanted(session):
                    yield Transcript(session, StoredEvents(snapshot, row.id))

    @contextlib.contextmanager
    def _telling(self) -> Iterator[None]:
        """Tell of damage as an error of ours."""
        try:
            yield
        except (sqlite3.Error, msgspec.DecodeError) as error:
            raise StoreError(str(self.catalogue.folder), str(error)) from error
