"""Names of threads: Codex keeps them beside the rollouts, in an index and in a database."""

from __future__ import annotations

import contextlib
import glob
import os
import re

import msgspec

from agtail.agents.base import TITLE_GENERATED, TITLE_NAMED, TITLE_SUMMARY, Title, text_of
from agtail.databases import open_database
from agtail.errors import SourceError
from agtail.instants import parse_instant
from agtail.model import Integrity
from agtail.records import Found, Report, read_jsonl

INDEX = "session_index.jsonl"

_COLUMNS = ("id", "name", "title", "preview", "updated_at")
_STATE = re.compile(r"state_(\d+)\.sqlite")


class Name(msgspec.Struct):
    """What the indexes call a thread.

    Attributes:
        titles: candidates; for one rank the last holds.
        changed_ns: when it was named last, nanoseconds since 1970; 0 when that is not known.
    """

    titles: list[Title] = msgspec.field(default_factory=list)
    changed_ns: int = 0


class Names:
    """The names in one Codex home, read when first asked for and again when they changed."""

    def __init__(self, home: str) -> None:
        self._home = home
        self._read: list[Found] | None = None
        self._names: dict[str, Name] = {}

    def refresh(self, report: Report) -> None:
        """Read the indexes if they are new or have changed; a damaged one is reported once."""
        files = self.files()
        if files == self._read:
            return
        self._read = files
        self._names = {}
        for path in (file.path for file in files):
            if os.path.basename(path) == INDEX:
                self._read_index(path, report)
            elif path.endswith(".sqlite"):
                self._read_state(path, report)

    def files(self) -> list[Found]:
        """Return the files that hold names, as they are now: index, database, its log."""
        state = _newest_state(self._home)
        names = [os.path.join(self._home, INDEX), *((state, f"{state}-wal") if state else ())]
        return [file for name in names if (file := _found(name)) is not None]

    def of(self, thread: str) -> Name:
        """Return what is known of a thread."""
        return self._names.get(thread, _NAMELESS)

    def _read_index(self, path: str, report: Report) -> None:
        try:
            for record in read_jsonl(path, Integrity()):
                name = self._names.setdefault(text_of(record.data, "id"), Name())
                name.titles.append(Title(text_of(record.data, "thread_name"), TITLE_GENERATED))
                changed = parse_instant(text_of(record.data, "updated_at"))
                name.changed_ns = (changed or 0) * 1_000_000
        except SourceError as error:
            report(error)

    def _read_state(self, path: str, report: Report) -> None:
        try:
            with open_database(path) as database:
                present = {row["name"] for row in database.execute("PRAGMA table_info(threads)")}
                columns = [column for column in _COLUMNS if column in present]
                if "id" not in columns:
                    return
                for row in database.execute(f"SELECT {', '.join(columns)} FROM threads"):  # noqa: S608 - names of ours
                    self._take_row(dict(row))
        except SourceError as error:
            report(error)

    def _take_row(self, row: dict[str, object]) -> None:
        name = self._names.setdefault(text_of(row, "id"), Name())
        if title := text_of(row, "title") or text_of(row, "preview"):
            name.titles.append(Title(title, TITLE_SUMMARY))
        if named := text_of(row, "name"):
            if all(title.text != named for title in name.titles):
                # The index has not heard of it: the row's own change is the best date there is.
                updated = row.get("updated_at")
                name.changed_ns = updated * 1_000_000_000 if isinstance(updated, int) else 0
            name.titles.append(Title(named, TITLE_NAMED))


_NAMELESS = Name()


def _newest_state(home: str) -> str | None:
    """Return the state database of the newest schema generation."""
    found = {}
    for path in glob.glob(os.path.join(glob.escape(home), "state_*.sqlite")):
        if number := _STATE.fullmatch(os.path.basename(path)):
            found[int(number[1])] = path
    return found[max(found)] if found else None


def _found(path: str) -> Found | None:
    with contextlib.suppress(OSError):
        info = os.stat(path)
        return Found(path, info.st_size, info.st_mtime_ns)
    return None
