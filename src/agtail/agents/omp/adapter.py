"""Oh My Pi: where its sessions lie, which are subagents or forks, how to go back to one."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from agtail.agents.base import Item, Place, Prompt, Unit
from agtail.agents.files import Context
from agtail.agents.pi.adapter import ELIDED as PI_ELIDED
from agtail.agents.pi.adapter import Pi, id_in
from agtail.databases import open_database
from agtail.errors import SourceError
from agtail.instants import parse_instant
from agtail.model import Integrity
from agtail.records import Found, Json, Record, Report, last_timestamp, read_jsonl, walk

ELIDED = {
    **PI_ELIDED,
    "message:message.details.newText": "the file as the edit left it: what it was, and the diff",
    "message:message.content.*.data": "an unreadable thought (not in the corpora)",
    "message:message.provider": "who served the model (not in the corpora)",
    "message:message.providerPayload.**": "the vendor's form of the answer (not in the corpora)",
    "credential_pin:hash": "tells which account it was (not in the corpora)",
}
"""Fields that are not kept."""

_HEAD = 16
"""Records that are looked into at discovery; what tells of a session stands before its talk."""

_NAMED = re.compile(r"\d{4}-\d\d-\d\dT[^_]*_.+")
_EDITED = re.compile(r"^\[([^\]#\n]+)(?:#[0-9A-Za-z]+)?\]", re.MULTILINE)


class Head(NamedTuple):
    """What the beginning of a file tells."""

    latest: int | None
    is_session: bool
    id: str
    parent: str
    is_child: bool
    is_pi: bool


class Omp(Pi):
    """Adapter of Oh My Pi, ``docs/agents/omp.md``."""

    agent = "omp"
    name = "omp"
    root = "~/.omp/agent/sessions"

    def default_root(self) -> Path:
        """Return the first folder of sessions; there may be more, see :meth:`roots`."""
        return self._bases()[0] / "sessions"

    def roots(self) -> list[Path]:
        """Folders of sessions of all profiles, and of what was archived."""
        if self.surroundings.root is not None:
            return [self.surroundings.root]
        kinds = (Path("sessions"), Path("archive", "sessions"))
        return [base / kind for base in self._bases() for kind in kinds]

    def _bases(self, xdg: str = "XDG_DATA_HOME") -> list[Path]:
        """Return the folders that sessions (or state) may lie in, the likeliest first."""
        env = self.surroundings.env
        config = self.surroundings.home / (env.get("PI_CONFIG_DIR") or ".omp")
        bases = [config / "agent"]
        moved = Path(env[xdg]) / "omp" if env.get(xdg) else None
        if agent := env.get("PI_CODING_AGENT_DIR"):
            bases = [Path(agent).expanduser()]
        elif moved is not None and moved.is_dir():
            bases.insert(0, moved)
        bases += [profile / "agent" for profile in _folders(config / "profiles")]
        return bases + (_folders(moved / "profiles") if moved is not None else [])

    def match(self, relative: str) -> bool:
        """Subagents lie below their sessions, and the header tells what is a session."""
        return relative.endswith(".jsonl")

    def find(self, report: Report) -> list[Place]:
        """Find all files, those too that the agent only keeps the paths of."""
        places = super().find(report)
        for place in places:
            if _is_archive(place.path):
                packed = sum(1 for _ in walk(place.path, _is_packed, report))
                if packed:
                    said = f"{packed} archived sessions are packed with gzip, which is not read"
                    report(SourceError(place.path, said))
        if self.surroundings.root is not None:
            return places
        known = {file.path for place in places for file in place.files}
        elsewhere: dict[str, list[Found]] = {}
        for path in self._registered(report):
            if path not in known:
                beside = walk(path.removesuffix(".jsonl"), self.match, report)
                for file in itertools.chain(_found(path), beside):
                    if file.path not in known:
                        known.add(file.path)
                        elsewhere.setdefault(os.path.dirname(path), []).append(file)
        return places + [Place(folder, files) for folder, files in elsewhere.items()]

    def _registered(self, report: Report) -> Iterator[str]:
        """Return the paths of sessions that were put elsewhere."""
        bases = dict.fromkeys((*self._bases(), *self._bases("XDG_STATE_HOME")))
        for base in bases:
            for marker in walk(base / "custom-session-files", lambda _: True, report):
                try:
                    path = Path(marker.path).read_text("utf-8").strip()
                except (OSError, ValueError):
                    continue
                if os.path.isabs(path) and path.endswith(".jsonl") and "\x00" not in path:
                    yield path

    def peek(self, path: str) -> tuple[Any, ...]:
        """See what kind of file it is, and which it belongs to."""
        latest = last_timestamp(path)
        records = _beginning(path)
        kinds = [record.get("type") for record in records]
        header = next((each for each in records if each.get("type") == "session"), {})
        identity, parent = (
            each if isinstance(each, str) else ""
            for each in (header.get("id"), header.get("parentSession"))
        )
        return Head(
            parse_instant(latest.decode()) if latest else None,
            not records
            or "session" in kinds[:2]
            or kinds[0] == "title"
            or "parentId" in records[0],  # both lines in front are damaged
            identity,
            parent,
            "session_init" in kinds,
            kinds[:1] != ["title"]
            and any("modelId" in each and "model" not in each for each in records),
        )

    def look(self, file: Found) -> tuple[Any, ...]:
        """Return what :meth:`peek` sees, apart from what Pi sees in the same file."""
        apart = file._replace(path=f"{file.path}\n{file.path}")
        return self.surroundings.peeks.look(apart, lambda _: self.peek(file.path))

    def units(self, places: Sequence[Place], report: Report) -> Iterator[Unit]:
        """Tell sessions; subagents know their parents, forks what they were copied from."""
        del report
        shared = self.surroundings.root is None and "PI_CODING_AGENT_DIR" in self.surroundings.env
        for place in places:
            heads = {file.path: Head(*self.look(file)) for file in place.files}
            family = _Family(heads)
            for file in place.files:
                head = heads[file.path]
                if not head.is_session or (head.is_pi and shared):
                    continue
                parent = family.parent(file.path)
                unit = self.unit_of(place, file.path, [file])
                yield msgspec.structs.replace(
                    unit,
                    id=family.id_of(file.path),
                    parent_id=parent,
                    owners=() if parent else tuple(family.owners(file.path)),
                    archived=_is_archive(place.path),
                )

    def parse(self, records: Iterator[Record], context: Context) -> Iterable[Item]:
        """Map one file."""
        from agtail.agents.omp.reader import Child, OmpReader  # noqa: PLC0415 - start-up time
        from agtail.agents.omp.spawner import spawned_by  # noqa: PLC0415 - start-up time
        from agtail.agents.pi.reader import keys_of  # noqa: PLC0415 - start-up time

        owners, child = context.unit.owners, None
        if context.unit.parent_id is not None:
            name = _stem(context.path)
            parent = Head(*self.peek(context.path)).parent
            child = Child(name, spawned_by(_candidates(parent, context.path)).get(name))
        origin = Head(*self.peek(owners[-1])).id if owners else None
        owned = keys_of(owners) - {("", "")}  # the slot of the title has neither id nor time
        return OmpReader(owned, origin or None, child).items(records)

    def describe_tool(self, tool: str, tool_input: object) -> str | None:
        """Name the files of an edit, which stand inside its text, and the subagents of a task."""
        if not isinstance(tool_input, dict):
            return None
        if tool == "edit" and isinstance(text := tool_input.get("input"), str):
            return ", ".join(dict.fromkeys(_EDITED.findall(text))) or None
        if tool == "task" and isinstance(tasks := tool_input.get("tasks"), list):
            named = (task.get("name") for task in tasks if isinstance(task, dict))
            return ", ".join(name for name in named if isinstance(name, str)) or None
        return None

    def transfer_files(self) -> Iterable[str]:
        """Sessions, what their tools and subagents left beside them, and their images."""
        seen = set(super().transfer_files())
        roots = self.roots()
        if self.surroundings.root is None:
            roots += [base / "blobs" for base in self._bases()]
        for root in roots:
            seen.update(file.path for file in walk(root, lambda _: True, lambda _error: None))
        return sorted(path for path in seen if os.path.isfile(path))

    def prompts(self) -> Iterator[Prompt]:
        """Read ``history.db``, which only the terminal fills."""
        for base in self._bases():
            try:
                with open_database(base / "history.db") as database:
                    query = "SELECT session_id, created_at, prompt FROM history ORDER BY id"
                    rows = database.execute(query).fetchall()
            except SourceError:
                continue
            for session, seconds, prompt in rows:
                if isinstance(session, str) and isinstance(prompt, str):
                    time = seconds * 1000 if isinstance(seconds, int) else None
                    yield Prompt(session, time, prompt)


class _Family:
    """Which files of a folder belong together.

    Args:
        heads: what the beginnings of the files tell.
    """

    def __init__(self, heads: Mapping[str, Head]) -> None:
        self._heads = heads
        self._names: dict[str, str] = {}
        for path in heads:
            self._names.setdefault(os.path.basename(path), path)

    def id_of(self, path: str) -> str:
        """Return the id of the session in a file."""
        return self._heads[path].id or id_in(path) or _stem(path)

    def parent(self, path: str) -> str | None:
        """Return the id of the session that spawned this one; ``None`` when none did."""
        head = self._heads[path]
        folder = os.path.dirname(path)
        root = f"{folder}.jsonl"
        named = _NAMED.fullmatch(os.path.basename(folder))
        if not (root in self._heads or named or head.is_child):
            return None
        for candidate in (*_candidates(head.parent, path), root):
            if candidate in self._heads and candidate != path:
                return self.id_of(candidate)
        return id_in(head.parent) or id_in(root) or None

    def owners(self, path: str) -> list[str]:
        """Return the files that this one was copied from, the oldest first."""
        owners: list[str] = []
        at = path
        while parent := self._names.get(_basename(self._heads[at].parent)):
            if parent in owners or parent == path:
                break
            owners.insert(0, parent)
            at = parent
        return owners


def _candidates(recorded: str, path: str) -> list[str]:
    """Return where the file of a parent may be now: beside its subagent, or one folder above."""
    name = _basename(recorded)
    folder = os.path.dirname(path)
    if not name:
        return [f"{folder}.jsonl"]
    return [os.path.join(folder, name), os.path.join(os.path.dirname(folder), name)]


def _beginning(path: str) -> list[Json]:
    """Return the first records; none of what cannot be read."""
    try:
        records = read_jsonl(path, Integrity(), glued=Pi.glued)
        return [record.data for record in itertools.islice(records, _HEAD)]
    except SourceError:
        return []


def _is_archive(folder: str) -> bool:
    return Path(folder).parts[-2:] == ("archive", "sessions")


def _is_packed(relative: str) -> bool:
    return relative.endswith(".jsonl.gz")


def _found(path: str) -> Iterator[Found]:
    """Look at a file that may be gone."""
    try:
        info = os.stat(path)
    except OSError:
        return
    yield Found(path, info.st_size, info.st_mtime_ns)


def _folders(path: Path) -> list[Path]:
    """Return the folders in a folder that may be missing."""
    try:
        return sorted(each for each in path.iterdir() if each.is_dir())
    except OSError:
        return []


def _basename(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


def _stem(path: str) -> str:
    return _basename(path).removesuffix(".jsonl")
