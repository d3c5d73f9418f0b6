"""Raw transcripts: the bytes that the agent wrote, from its file or from the archive."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING

import msgspec

from agtail.errors import ArchiveError, SourceError, StoreError
from agtail.records import open_source, read_slice

if TYPE_CHECKING:
    from agtail.store.archive import Archive
    from agtail.store.store import Store


class Raw:
    """The raw side of a history.

    Args:
        store: the store beside which the archive lies; without one there is only the file.
        home: home directory, for the settings.
        env: environment, likewise.
        warn: told what goes wrong, a line each.
    """

    def __init__(
        self, store: Store | None, home: Path, env: Mapping[str, str], warn: Callable[[str], None]
    ) -> None:
        self._store = store
        self._home = home
        self._env = env
        self._warn = warn

    def keep(self, seconds: float | None = None) -> int:
        """Put transcripts that agents will delete into the archive; nothing without a store.

        Args:
            seconds: stop after so long; the rest is for another time.

        Returns:
            Sources that are still to be kept.

        Raises:
            SettingsError: the settings file is wrong.
        """
        if self._store is None:
            return 0
        from agtail.settings import load_settings  # noqa: PLC0415 - start-up time

        mode = load_settings(self._home, self._env).archive
        try:
            if mode == "off" or not self._store.has_unkept():
                return 0
            from agtail.store.keeping import keep_raw  # noqa: PLC0415 - start-up time

            with contextlib.closing(self._archive(self._store)) as archive:
                return keep_raw(self._store.catalogue, archive, mode, seconds)
        except (ArchiveError, StoreError) as error:
            self._warn(str(error))
            return 0

    def open(self, agent: str, path: str) -> IO[bytes]:
        """Open a transcript as the agent wrote it, maybe packed.

        Raises:
            SourceError: it is nowhere to be had.
        """
        try:
            return open_source(path)
        except SourceError as missing:
            if self._store is None:
                raise
            try:
                with contextlib.closing(self._archive(self._store)) as archive:
                    return archive.open(agent, path)
            except ArchiveError:
                raise missing from None

    def read(self, agent: str, path: str, offset: int, length: int) -> bytes:
        """Return the exact bytes of one record, unpacked.

        Raises:
            SourceError: it is nowhere to be had.
        """
        try:
            return read_slice(path, offset, length)
        except SourceError as missing:
            if self._store is None:
                raise
            try:
                with contextlib.closing(self._archive(self._store)) as archive:
                    return archive.read_slice(agent, path, offset, length)
            except ArchiveError:
                raise missing from None

    def row(self, path: str, table: str, row: str) -> bytes:
        """Return a row of a session's database, as one line of JSON.

        Args:
            path: the database, or the session's path in it.
            table: name of the table.
            row: its key, see :func:`agtail.databases.row_of`.

        Raises:
            SourceError: the database cannot be read, or has no such row any more.
        """
        from agtail.databases import open_database, row_of  # noqa: PLC0415 - start-up time

        if not os.path.exists(path):
            path = path.rpartition("#")[0] or path
        with open_database(path) as database:
            found = row_of(database, table, row)
        if found is None:
            raise SourceError(path, f"no row {row} in {table} any more")
        return msgspec.json.encode(found)

    def _archive(self, store: Store) -> Archive:
        from agtail.store.archive import Archive  # noqa: PLC0415 - start-up time

        return Archive(store.catalogue.folder / "archive", self._warn)
