"""What an adapter is: the questions about one coding agent that need a look at its files.

Where are its transcripts here (:meth:`Adapter.roots`), which units are sessions
(:meth:`Adapter.units`), what does a record mean (:meth:`Adapter.read`), and which files travel
(:meth:`Adapter.transfer_files`). What needs no look is in the agent's ``harness.py``; what is the
same for all agents (pairing results, counting usage, times, titles, what is empty) is
``assemble.py``'s.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import msgspec

from agtail.errors import SourceError
from agtail.model import Blob, Ending, Event, Integrity, Source, Usage
from agtail.records import Found, Report, open_source, walk


class Peeks:
    """What a look into files told at discovery, so that unchanged ones need not be opened again.

    Args:
        seen: stamp (size and change time) and what was seen, by path.
    """

    def __init__(self, seen: dict[str, tuple[str, tuple[Any, ...]]] | None = None) -> None:
        self._seen = seen or {}
        self.fresh: dict[str, tuple[str, tuple[Any, ...]]] = {}

    def learn(self, other: Peeks) -> None:
        """Take over what another knows."""
        self._seen.update(other._seen)

    def look(self, file: Found, look: Callable[[str], tuple[Any, ...]]) -> tuple[Any, ...]:
        """Return what ``look`` sees in a file: a row of plain values, kept while it is the same."""
        stamp = f"{file.size}:{file.mtime_ns}"
        known = self._seen.get(file.path)
        if known is None or known[0] != stamp:
            known = stamp, look(file.path)
            # What could not be read now may be later, without any change to be seen.
            if all(map(_is_readable, file.path.split("\n"))):
                self._seen[file.path] = self.fresh[file.path] = known
        return known[1]


def _is_readable(path: str) -> bool:
    try:
        open_source(path).close()
    except SourceError:
        return False
    return True


class Place(NamedTuple):
    """A folder that was looked into, and the files that discovery depends on.

    Attributes:
        path: the folder.
        files: those found in it, in a fixed order.
        imported_from: the collection of the import store that it belongs to.
    """

    path: str
    files: list[Found]
    imported_from: str | None = None


class Surroundings(msgspec.Struct, frozen=True, kw_only=True):
    """The machine as an adapter may see it: never ``os.environ`` or ``Path.home()`` directly.

    Attributes:
        home: the home directory.
        env: environment variables.
        root: an explicit session root (``--dir agent=path``) in place of the default one.
        imported: the collections of the import store for this agent, name to folder.
        peeks: what is known of files that were looked into before.
    """

    home: Path
    env: Mapping[str, str]
    root: Path | None = None
    imported: Mapping[str, Path] = {}
    peeks: Peeks = msgspec.field(default_factory=Peeks)


class Unit(msgspec.Struct, frozen=True, kw_only=True):
    """One source on disk that holds a session (or a family of them), not yet read.

    Attributes:
        agent: id of the adapter.
        id: the session id as far as it is known without reading.
        path: the file that names the session; for segments, the newest.
        root: the folder of sessions that it was found below.
        parts: all files of the session in reading order; just ``path`` for most.
        sidecars: small files read with it (titles, marks); part of the fingerprint.
        owners: other files that may own records which this one copies.
        size: bytes of all parts.
        mtime_ns: latest change of parts and sidecars, nanoseconds since 1970.
        touched: milliseconds since 1970 of the latest record, as far as it is known without
            reading the file; used to put unread units in order, newest first.
        stamp: what tells a change that size and time do not, for rows of a database.
        parent_id: the session it belongs to, when its place says so.
        archived: put aside by the user, when its place says so.
        imported_from: the collection of the import store it lies in.
        keep_empty: list it even if nothing was said in it.
    """

    agent: str
    id: str
    path: str
    root: str = ""
    parts: tuple[str, ...] = ()
    sidecars: tuple[str, ...] = ()
    owners: tuple[str, ...] = ()
    size: int = 0
    mtime_ns: int = 0
    touched: int = 0
    stamp: str = ""
    parent_id: str | None = None
    archived: bool = False
    imported_from: str | None = None
    keep_empty: bool = False


class Retention(msgspec.Struct, frozen=True, kw_only=True):
    """How long an agent keeps transcripts before it deletes them itself.

    Attributes:
        days: since the last change of a file; older ones are deleted.
        setting: what the agent calls it.
        path: the file to set it in.
        default: nobody has set it.
    """

    days: float
    setting: str
    path: str
    default: bool = False


class Prompt(NamedTuple):
    """What was typed, as the agent's list of prompts has it; that outlives the transcripts.

    Attributes:
        session_id: the session it was typed in.
        time: UTC milliseconds since 1970.
        text: the prompt.
    """

    session_id: str
    time: int | None
    text: str


class ToolResult(msgspec.Struct, kw_only=True):
    """An answer to a tool call; folded into the call, or kept as an event without one."""

    tool_use_id: str
    text: str = ""
    is_error: bool | None = None
    detail: Any = None
    before: str | None = None
    ts: str | None = None
    src: Source | None = None
    images: list[Blob] = []
    sidechain: bool = False
    inherited: bool = False


class Spend(msgspec.Struct, kw_only=True):
    """The usage of one API response as this record knows it; repeated ones are counted once.

    Attributes:
        key: what is the same on every record of the response.
        usage: for one key the last and largest wins.
        model: the model that answered.
        inherited: copied from another session: shown, not counted.
        sidechain: spent by a subagent in the same file.
    """

    key: str
    usage: Usage
    model: str | None = None
    inherited: bool = False


TITLE_NAMED = 4
"""A name that a human gave; the last one wins and an empty one takes it back."""
TITLE_GENERATED = 3
"""A name that the agent made up; the last one wins."""
TITLE_SUMMARY = 2
"""A summary line that belongs to this session; the last one wins."""
TITLE_PROMPT = 1
"""What a human typed; the first one wins. Without any, assemble.py takes the first user text."""
TITLE_FALLBACK = 0
"""Better than nothing: a slash command, or the last prompt. The first one wins."""


class Title(msgspec.Struct):
    """A candidate for the title; ``rank`` is one of the ``TITLE_`` constants."""

    text: str
    rank: int


class Meta(msgspec.Struct, kw_only=True):
    """Facts about the session; for every field the first value that is given holds.

    ``model`` adds to the models; ``ending`` and ``is_subagent`` are exceptions: the last holds.
    """

    id: str | None = None
    cwd: str | None = None
    git_branch: str | None = None
    version: str | None = None
    model: str | None = None
    origin: str | None = None
    programmatic: bool | None = None
    archived: bool | None = None
    parent_id: str | None = None
    parent_agent_id: str | None = None
    agent_name: str | None = None
    spawned_by_tool_use_id: str | None = None
    fork_of: str | None = None
    started: str | None = None


class Ended(msgspec.Struct):
    """How the last turn ended: a failure, or ``None`` when it went well after all."""

    ending: Ending | None


class Abandoned(msgspec.Struct, kw_only=True):
    """Records that lie on abandoned branches: their events are marked ``rewound``.

    Attributes:
        lines: line numbers in ``path`` (the session's own file when ``None``).
        branches: how many branches these are.
    """

    lines: frozenset[int]
    branches: int
    path: str | None = None


class Within(msgspec.Struct):
    """An item of another session that lives in the same unit (an in-file subagent)."""

    session_id: str
    item: Item


class Checkpoint(msgspec.Struct):
    """The end of what can be read of a file now: here reading goes on when the file has grown.

    Attributes:
        state: what the adapter has to know to go on, encoded.
        offset: bytes read so far, a whole number of lines.
        line: lines read so far.
        tail: the last bytes before ``offset``, to see that the file is still the same.
        dropped, invalid_bytes: what was given up so far, see ``Integrity``.
    """

    state: bytes
    offset: int
    line: int
    tail: bytes
    dropped: int = 0
    invalid_bytes: int = 0


class Rest(msgspec.Struct):
    """The end of what can be read now, where a checkpoint can be had.

    Attributes:
        offset: bytes read so far.
        save: makes the checkpoint, which takes its time in a long file.
    """

    offset: int
    save: Callable[[], Checkpoint]


class CannotGoOnError(Exception):
    """What was appended to a file changes what was read before: all has to be read again."""


Item = Rest | Event | ToolResult | Spend | Title | Meta | Ended | Abandoned | Within


class Adapter(Protocol):
    """One coding agent. Instances are made by the registry with a :class:`Surroundings`."""

    agent: str
    """Stable id, such as ``claude-code``."""
    name: str
    """Short name for terminals, such as ``claude``."""
    deletes_history: bool
    """The agent deletes its own transcripts after a while, so that they are worth archiving."""

    def __init__(self, surroundings: Surroundings) -> None: ...

    def roots(self) -> list[Path]:
        """Folders (or databases) that hold sessions, present or not."""
        ...

    def find(self, report: Report) -> list[Place]:
        """Look where sessions may lie, without opening any; report what cannot be looked into.

        As long as this returns the same, :meth:`units` does, too.
        """
        ...

    def units(self, places: Sequence[Place], report: Report) -> Iterator[Unit]:
        """Tell which sessions there are in what :meth:`find` returned, without reading them."""
        ...

    def read(self, unit: Unit, health: Integrity) -> Iterator[Item]:
        """Map the records of a unit, in the order of the file.

        Raises:
            SourceError: nothing of the unit can be read.
        """
        ...

    def read_on(
        self, unit: Unit, health: Integrity, checkpoint: Checkpoint
    ) -> Iterator[Item] | None:
        """Map what was appended behind a checkpoint, which a :class:`Rest` of it made.

        ``None`` when all has to be read again; an adapter that never rests always answers so.

        Raises:
            CannotGoOnError: what was appended changes what was read before.
        """
        ...

    def describe_tool(self, tool: str, tool_input: object) -> str | None:
        """One line for a call, or ``None`` to use the shared rule."""
        ...

    def transfer_files(self) -> Iterable[str]:
        """Absolute paths of all native files that belong into an export."""
        ...

    def retention(self) -> Retention | None:
        """Tell how long the agent keeps transcripts, or ``None`` when it never deletes any."""
        ...

    def prompts(self) -> Iterator[Prompt]:
        """Read the agent's list of prompts, oldest first; those of no known session are left out.

        A list that is missing, or that cannot be read, holds none.
        """
        ...


def look_into(
    roots: Iterable[Path],
    imported: Mapping[str, Path],
    wanted: Callable[[str], bool],
    report: Report,
) -> list[Place]:
    """Find the wanted files below an agent's roots and in collections, each file once."""
    folders: list[tuple[Path, str | None]] = [(root, None) for root in roots]
    folders.extend((path, name) for name, path in imported.items())
    seen: set[tuple[int, int]] = set()
    return [
        Place(str(folder), list(walk(folder, wanted, report, seen)), collection)
        for folder, collection in folders
    ]


def text_of(value: Any, key: str) -> str:
    """Return a text field, empty when it is absent, of another type, or of what has no fields."""
    field = value.get(key) if isinstance(value, dict) else None
    return field if isinstance(field, str) else ""


def units_of(adapter: Adapter, report: Report) -> Iterator[Unit]:
    """Find the sessions of an agent without reading them; report what cannot be looked into."""
    return adapter.units(adapter.find(report), report)


def expand(pattern: str, surroundings: Surroundings) -> Path:
    """Expand a leading ``~/`` to the home of these surroundings."""
    if pattern.startswith("~/"):
        return surroundings.home / pattern[2:]
    return Path(os.fspath(pattern))


def token_count(value: object) -> int:
    """Return a recorded token counter; 0 for what is none, so that sums always fit a number."""
    return value if type(value) is int and 0 < value < _MOST_TOKENS else 0


_MOST_TOKENS = 2**50
