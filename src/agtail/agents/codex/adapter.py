"""Codex: where its rollouts lie, which of them make a session, how to go back to one."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from agtail.agents.base import (
    Checkpoint,
    Item,
    Meta,
    Place,
    Prompt,
    Retention,
    Surroundings,
    Unit,
)
from agtail.agents.codex.files import NAME, thread_of
from agtail.agents.codex.names import INDEX, Names
from agtail.errors import SourceError
from agtail.instants import parse_instant
from agtail.model import Integrity
from agtail.records import (
    Found,
    Report,
    last_timestamp,
    open_source,
    read_jsonl,
    unpack,
    walk,
)

ELIDED = {
    "**.type": "the kind of a record or part: the event's kind, or the tool's name",
    "timestamp": "when the line was written; records that are folded keep the call's",
    "**.turn_id": "ties records together",
    "**.root_turn_id": "ties records together",
    "**.phase": "commentary or final answer",
    "**.encrypted_content": "the vendor's, unreadable",
    "previous_response_id": "ties records together",
    "response_item:metadata.**": "the program's notes on what it sent, by number and id",
    "response_item:payload.internal_chat_message_metadata_passthrough.**": "speaker and turn",
    "response_item:payload.id": "id of a message or output; calls are tied by call_id",
    "compacted:payload.replacement_history.**": "repeats messages of the same file",
    "compacted:payload.retained_context.**": "repeats messages of the same file",
    "token_usage_record:payload.**": "counted as usage",
    "event_msg/token_count:payload.**": "counted as usage (not in the corpora)",
    "event_msg/task_started:payload.turn_attribution.**": "which turn of a parent led to it",
    "event_msg/task_complete:payload.last_agent_message": "an answer again (not in the corpora)",
    "event_msg/item_completed:payload.item.command.*": "the call's own (not in the corpora)",
    "event_msg/item_completed:payload.item.parsed_cmd.**": "the call's own (not in the corpora)",
    "event_msg/item_completed:payload.item.id": "ties records together",
    "event_msg/item_completed:payload.item.client_id": "ties records together",
}
"""Fields whose strings are not kept as text, with the reason."""

_HEAD = 64 * 1024
_LONGEST_HEAD = 1024 * 1024
_FORK = re.compile(rb'"forked_from_id":\s?"([0-9a-f-]{36})"')
_PARENT = re.compile(rb'"parent_thread_id":\s?"([0-9a-f-]{36})"')
_REVIEW = re.compile(rb'"source":\s?\{"subagent":\s?"review"\}')
_COPIED = re.compile(
    rb'\{"timestamp":[^{}]*"type":\s?"session_meta",\s?"payload":\s?\{[^{}]*?"id":\s?"([0-9a-f-]{36})"'
)


class _File(NamedTuple):
    """A rollout: where it lies, and whether its thread is archived."""

    found: Found
    archived: bool


class _Scope(msgspec.Struct):
    """One Codex home: this machine's, or that of an import collection."""

    sessions: Path
    archived: Path
    names: Names
    collection: str | None = None


class Codex:
    """Adapter of the Codex CLI, ``docs/agents/codex.md``."""

    agent = "codex"
    name = "codex"
    deletes_history = False

    def __init__(self, surroundings: Surroundings) -> None:
        here = surroundings
        configured = here.env.get("CODEX_HOME")
        home = Path(configured).expanduser() if configured else here.home / ".codex"
        sessions = here.root or home / "sessions"
        self._scopes = [_scope(sessions, None)]
        self._scopes.extend(
            _scope(folder / "sessions", name) for name, folder in here.imported.items()
        )
        self._peeks = here.peeks
        self._threads: dict[tuple[str | None, str], tuple[str, ...]] = {}
        self._spawned: dict[str, tuple[int, dict[str, str]]] = {}

    def roots(self) -> list[Path]:
        """The folder of rollouts and, beside it, that of archived ones."""
        return [self._scopes[0].sessions, self._scopes[0].archived]

    def find(self, report: Report) -> list[Place]:
        """Find rollouts, archived ones, and the files that name them."""
        return [place for scope in self._scopes for place in _places(scope, report)]

    def units(self, places: Sequence[Place], report: Report) -> Iterator[Unit]:
        """Tell threads: the files of one thread are one session."""
        self._threads.clear()
        for scope in self._scopes:
            scope.names.refresh(report)
            threads = _threads(scope, places)
            peeks = {
                file.found.path: self._peeks.look(file.found, _peek)
                for files in threads.values()
                for file in files
            }
            heads = {path: _Head(*peek[:2]) for path, peek in peeks.items()}
            for thread, files in threads.items():
                self._threads[scope.collection, thread] = tuple(file.found.path for file in files)
            reviews: dict[str, list[str]] = {}
            for path, head in heads.items():
                if head.review:
                    reviews.setdefault(head.review, []).append(path)
            for thread, files in threads.items():
                latest = peeks[files[-1].found.path][2]
                unit = self._unit(scope, thread, files, heads, reviews.get(thread, []))
                recorded = unit.touched if latest is None else latest
                yield msgspec.structs.replace(unit, touched=recorded)

    def read(self, unit: Unit, health: Integrity) -> Iterator[Item]:
        """Map the files of one thread."""
        from agtail.agents.codex.reading import read_thread  # noqa: PLC0415 - start-up time

        name = self._scope_of(unit).names.of(unit.id)
        yield from name.titles
        parent = yield from read_thread(unit, health, named=bool(name.titles))
        if parent:
            yield from self._spawner(unit, parent)

    def read_on(
        self, unit: Unit, health: Integrity, checkpoint: Checkpoint
    ) -> Iterator[Item] | None:
        """Read all again: who said a text is told by records far behind it."""
        del unit, health, checkpoint
        return None

    def describe_tool(self, tool: str, tool_input: object) -> str | None:
        """Return a command line, or the files that a patch touches."""
        from agtail.agents.codex import tools  # noqa: PLC0415 - start-up time

        return tools.describe(tool, tool_input)

    def transfer_files(self) -> Iterable[str]:
        """Rollouts of this machine and the index of their names."""
        scope = self._scopes[0]
        for files in _threads(scope, _places(scope, _ignored)).values():
            for file in files:
                yield file.found.path
        index = scope.sessions.parent / INDEX
        if index.is_file():
            yield str(index)

    def retention(self) -> Retention | None:
        """Nothing is deleted: idle rollouts are compressed at most."""
        return None

    def prompts(self) -> Iterator[Prompt]:
        """Read ``history.jsonl``."""
        path = self._scopes[0].sessions.parent / "history.jsonl"
        try:
            for record in read_jsonl(path, Integrity()):
                thread, typed = record.data.get("session_id"), record.data.get("text")
                if isinstance(thread, str) and isinstance(typed, str):
                    yield Prompt(thread, parse_instant(str(record.data.get("ts"))), typed)
        except SourceError:
            return

    def _unit(
        self,
        scope: _Scope,
        thread: str,
        files: list[_File],
        heads: dict[str, _Head],
        reviews: list[str],
    ) -> Unit:
        newest = files[-1]
        owners = list(reviews)
        for file in files:
            origin = heads[file.found.path].copied
            local = self._threads.get((None, origin), ())
            owners.extend(self._threads.get((scope.collection, origin), local))
        parts = tuple(file.found.path for file in files)
        changed = max(file.found.mtime_ns for file in files)
        return Unit(
            agent=self.agent,
            id=thread,
            path=newest.found.path,
            root=str(scope.archived if newest.archived else scope.sessions),
            parts=parts,
            owners=tuple(path for path in dict.fromkeys(owners) if path not in parts),
            size=sum(file.found.size for file in files),
            # A new name counts as a change of this session alone: the indexes, which change
            # with every turn of any session, are no sidecars.
            mtime_ns=max(changed, scope.names.of(thread).changed_ns),
            touched=changed // 1_000_000,
            archived=newest.archived,
            imported_from=scope.collection,
        )

    def _scope_of(self, unit: Unit) -> _Scope:
        scope = next(scope for scope in self._scopes if scope.collection == unit.imported_from)
        scope.names.refresh(_ignored)
        return scope

    def _spawner(self, unit: Unit, parent: str) -> Iterator[Item]:
        """Find the call in the parent that spawned this thread."""
        if not self._threads:
            list(self.units(self.find(_ignored), _ignored))
        local = self._threads.get((None, parent), ())
        for path in self._threads.get((unit.imported_from, parent), local):
            if call := self._spawns(path).get(unit.id):
                yield Meta(spawned_by_tool_use_id=call)

    def _spawns(self, path: str) -> dict[str, str]:
        """Return the calls of a rollout that spawned threads, by thread; read once a size."""
        from agtail.agents.codex.reading import spawn_calls  # noqa: PLC0415 - start-up time

        try:
            size = os.stat(path).st_size
            known = self._spawned.get(path)
            if known is None or known[0] != size:
                known = self._spawned[path] = size, dict(spawn_calls(path))
        except (OSError, SourceError):
            return {}
        return known[1]


def _ignored(_error: SourceError) -> None:
    """Say nothing of what was told before."""


def _scope(sessions: Path, collection: str | None) -> _Scope:
    home = sessions.parent
    return _Scope(sessions, home / "archived_sessions", Names(str(home)), collection)


def _places(scope: _Scope, report: Report) -> Iterator[Place]:
    """Look into one home."""
    for folder in (scope.sessions, scope.archived):
        yield Place(str(folder), list(walk(folder, _wanted, report)), scope.collection)
    yield Place(str(scope.sessions.parent), scope.names.files(), scope.collection)


def _threads(scope: _Scope, places: Iterable[Place]) -> dict[str, list[_File]]:
    """Tell the rollouts of a home, each once, by thread; the files of one in order of writing."""
    files: dict[str, _File] = {}
    found_in = {place.path: place.files for place in places}
    for folder, archived in ((scope.sessions, False), (scope.archived, True)):
        for found in found_in[str(folder)]:
            file = _File(found, archived)
            name = os.path.basename(found.path).removesuffix(".zst")
            if name not in files or _better(file, files[name]):
                files[name] = file
    threads: dict[str, list[_File]] = {}
    for file in files.values():
        threads.setdefault(thread_of(file.found.path), []).append(file)
    for segments in threads.values():
        segments.sort(key=_age)
    return threads


def _wanted(relative: str) -> bool:
    folder, _, name = relative.rpartition("/")
    if not name.startswith("rollout-"):
        return False
    return name.endswith((".jsonl", ".jsonl.zst")) or (not folder and name.endswith(".json"))


def _better(file: _File, other: _File) -> bool:
    """Whether a file is to be read rather than another of the same name."""
    if file.archived != other.archived:
        return other.archived
    plain, packed = (file, other) if other.found.path.endswith(".zst") else (other, file)
    try:
        open_source(plain.found.path).close()
        readable = plain.found.size > 0
    except SourceError:
        readable = False
    return (plain if readable else packed) is file


def _age(file: _File) -> tuple[str, str]:
    """Sort segments: their ids are UUIDv7, while the time in the name is local."""
    name = os.path.basename(file.found.path)
    named = NAME.match(name)
    return (named["segment"] or "" if named else "", name)


class _Head(NamedTuple):
    """What the first lines of a rollout say: whose records it copies, which review it is of."""

    copied: str = ""
    review: str = ""


def _read_head(path: str) -> _Head:
    try:
        with open_source(path) as packed:
            stream = unpack(packed)
            head = stream.read(_HEAD)
            while b"\n" not in head and len(head) < _LONGEST_HEAD and (more := stream.read(_HEAD)):
                head += more
            first, _, rest = head.partition(b"\n")
            rest = rest[:_HEAD] or stream.read(_HEAD)
    except (SourceError, OSError):
        return _Head()
    fork = _COPIED.match(rest) or _FORK.search(first)
    parent = _PARENT.search(first) if _REVIEW.search(first) else None
    return _Head(fork[1].decode() if fork else "", parent[1].decode() if parent else "")


def _peek(path: str) -> tuple[Any, ...]:
    """Look at both ends of a rollout: its relatives, and the time of the latest record."""
    latest = last_timestamp(path)
    return (*_read_head(path), parse_instant(latest.decode()) if latest else None)
