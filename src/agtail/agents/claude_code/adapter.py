"""Claude Code: where its transcripts lie, which files are sessions, how to go back to one."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from agtail.agents.base import (
    TITLE_GENERATED,
    TITLE_NAMED,
    Checkpoint,
    Item,
    Meta,
    Place,
    Prompt,
    Retention,
    Surroundings,
    Title,
    Unit,
    look_into,
)
from agtail.agents.claude_code.register import NO_ENTRY, REGISTER, Entry, entries_of, registers
from agtail.agents.claude_code.spawner import Call, spawned_by
from agtail.agents.claude_code.text import string
from agtail.agents.claude_code.tree import Head, by_age, ids_of, read_head
from agtail.errors import SourceError
from agtail.instants import parse_instant
from agtail.model import Integrity
from agtail.records import (
    Found,
    Position,
    Report,
    last_timestamp,
    read_jsonl,
    read_object,
    read_slice,
    walk,
)

ELIDED = {
    "attachment:rendered.*.content": "the attachment again, in the words that the model saw",
    "api-request:**": "request log: repeats prompts, calls and results of the same file",
    "api-request-blob:**": "the message as sent: repeats prompts, calls and results",
    "api-request-shape:**": "the vendor's system prompt and tool descriptions",
    "last-prompt:**": "a copy of the last prompt",
    "queue-operation:**": "a copy of a prompt that arrives as a record of its own",
    "progress/agent_progress:**": "a copy of the subagent's own transcript",
    "assistant:message.content.**.type": "the kind of a block: the event's own kind",
    "assistant:message.content.*.signature": "opaque proof of a thought",
    "assistant:message.content.*.data": "a redacted thought: encrypted",
    "user:promptId": "ties the records of one prompt together",
    "user:origin.**": "which run sent a notice: the event is told apart by its role",
    "user:turnOrigin": "human or not: the event's role",
    "user:joinedNoticeRunIds.*": "which runs sent a notice",
    "user:sourceToolAssistantUUID": "tree link: the result is folded into its call",
    "**.uuid": "tree link: branches are marked, the record itself is printed by show --raw",
    "**.parentUuid": "tree link",
    "**.requestId": "request id of the vendor",
    "assistant:requestRef": "request id of the vendor",
    "assistant:serverClassifierRequest": "request id of the vendor",
    "**.slug": "file name of the session's plan",
    "at": "when the session was archived: only that it is, is kept",
}
"""Fields whose strings are not kept as text, with the reason."""

_NOT_SESSIONS = frozenset({"journal.jsonl", "resume-head.jsonl", "history.jsonl"})
_NOT_SESSION_FOLDERS = frozenset({"memory", "tool-results", "file-history"})
_LABELS = ("custom-title.json", "archived.json")

_KEPT = ("cleanupPeriodDays", 30)
"""The setting for how many days transcripts are kept, and its default."""


class ClaudeCode:
    """Adapter of Claude Code, ``docs/agents/claude-code.md``."""

    agent = "claude-code"
    name = "claude"
    deletes_history = True  # after 30 days, unless cleanupPeriodDays says otherwise

    def __init__(self, surroundings: Surroundings) -> None:
        self._surroundings = surroundings
        self._desktop: dict[str, Entry] | None = None
        self._calls: tuple[str, dict[str, Call]] = ("", {})

    def roots(self) -> list[Path]:
        """Folders of projects: the one asked for, or the default ones."""
        here = self._surroundings
        if here.root is not None:
            return [here.root]
        configured = here.env.get("CLAUDE_CONFIG_DIR")
        shared = here.env.get("XDG_CONFIG_HOME")
        return [
            (Path(configured).expanduser() if configured else here.home / ".claude") / "projects",
            (Path(shared) if shared else here.home / ".config") / "claude" / "projects",
        ]

    def find(self, report: Report) -> list[Place]:
        """Find transcripts and what lies beside them, and the desktop app's register."""
        here = self._surroundings
        return [
            *registers(here),
            *look_into(self.roots(), here.imported, _wanted, report),
        ]

    def units(self, places: Sequence[Place], report: Report) -> Iterator[Unit]:
        """Tell sessions, subagents included; files that share a beginning know each other."""
        del report
        register = self._desktop = entries_of(places)
        for root, files, collection in places:
            if os.path.basename(root) == REGISTER:
                continue
            found = {file.path: file for file in files}
            peeks = {
                path: self._surroundings.peeks.look(file, _peek)
                for path, file in found.items()
                if _is_transcript(path)
            }
            heads = {path: Head(*peek[:3]) for path, peek in peeks.items()}
            owners = self._owners(found, heads)
            for path, head in heads.items():
                unit = _unit(found, path, head, peeks[path][3])
                yield msgspec.structs.replace(
                    unit,
                    root=root,
                    mtime_ns=max(unit.mtime_ns, register.get(unit.id, NO_ENTRY).changed_ns),
                    owners=owners.get(path, ()),
                    imported_from=collection,
                )

    def read(self, unit: Unit, health: Integrity) -> Iterator[Item]:
        """Map the records of one transcript."""
        from agtail.agents.claude_code.reader import Reader  # noqa: PLC0415 - start-up time

        folder = _session_folder(unit.path)
        subagent = _is_subagent(unit.path)
        warm_up = False
        if subagent:
            yield from self._subagent_facts(unit)
            warm_up = _is_warm_up(unit.path) and self._spawner(unit) is None
        else:
            yield from self._labels(unit)
        reader = Reader(
            unit.id,
            folder,
            subagent=subagent,
            owned=ids_of(unit.owners) if unit.owners else None,
            fork_of=_stem(unit.owners[-1]) if unit.owners else None,
            warm_up=warm_up,
        )
        position = Position()
        records = read_jsonl(unit.path, health, position)
        yield from reader.items(records, unit.path, health, position)

    def read_on(
        self, unit: Unit, health: Integrity, checkpoint: Checkpoint
    ) -> Iterator[Item] | None:
        """Map what was appended behind a checkpoint; ``None`` when all has to be read again."""
        if unit.sidecars or _is_subagent(unit.path) or self._register():
            return None
        tail = checkpoint.tail
        if read_slice(unit.path, checkpoint.offset - len(tail), len(tail)) != tail:
            return None
        return self._appended(unit, health, checkpoint)

    def _appended(self, unit: Unit, health: Integrity, checkpoint: Checkpoint) -> Iterator[Item]:
        from agtail.agents.claude_code.reader import Reader  # noqa: PLC0415 - start-up time
        from agtail.agents.claude_code.state import State  # noqa: PLC0415 - start-up time

        reader = Reader(unit.id, _session_folder(unit.path))
        reader.resume(State.decode(checkpoint.state))
        position = Position(checkpoint.offset, checkpoint.line)
        records = read_jsonl(unit.path, health, position)
        yield from reader.items(records, unit.path, health, position)

    def describe_tool(self, tool: str, tool_input: object) -> str | None:
        """Leave it to the shared rule, which knows this agent's tools."""
        del tool, tool_input
        return None

    def transfer_files(self) -> Iterable[str]:
        """Transcripts and the small files beside them."""
        for root in self.roots():
            for file in walk(root, _wanted, lambda _error: None):
                yield file.path

    def retention(self) -> Retention | None:
        """Read the user's setting; a project or an administrator may have set another.

        A folder that was asked for may be a copy, which the agent does not clean up: it counts
        when there are settings beside it.
        """
        path = self.roots()[0].parent / "settings.json"
        if self._surroundings.root is not None and not path.is_file():
            return None
        setting, default = _KEPT
        days = read_object(str(path)).get(setting)
        if isinstance(days, bool) or not isinstance(days, int | float) or days < 0:
            return Retention(days=default, setting=setting, path=str(path), default=True)
        return Retention(days=days, setting=setting, path=str(path))

    def prompts(self) -> Iterator[Prompt]:
        """Read ``history.jsonl``; the oldest versions did not record the session."""
        for root in self.roots():
            try:
                for record in read_jsonl(root.parent / "history.jsonl", Integrity()):
                    session, typed = record.data.get("sessionId"), record.data.get("display")
                    if isinstance(session, str) and isinstance(typed, str):
                        time = parse_instant(str(record.data.get("timestamp")))
                        yield Prompt(session, time, typed)
            except SourceError:
                continue

    def _owners(
        self, found: dict[str, Found], heads: dict[str, Head]
    ) -> dict[str, tuple[str, ...]]:
        """For each file, the older ones whose records it may have copied, oldest first."""
        families: dict[_Key, list[str]] = {}
        for path, head in heads.items():
            if _is_subagent(path):
                continue
            if head.uuid:
                families.setdefault(_Key("record", head.uuid), []).append(path)
            if head.message:
                families.setdefault(_Key("message", head.message), []).append(path)
        owners: dict[str, tuple[str, ...]] = {}
        for paths in {tuple(paths) for paths in families.values() if len(paths) > 1}:
            members = [found[path] for path in paths]
            family = Found(
                "\n".join(paths),
                sum(member.size for member in members),
                sum(member.mtime_ns for member in members),
            )
            ordered = self._surroundings.peeks.look(family, _by_age)
            for index, path in enumerate(ordered):
                if index and len(owners.get(path, ())) < index:
                    owners[path] = tuple(ordered[:index])
        return owners

    def _labels(self, unit: Unit) -> Iterator[Item]:
        """Titles and marks that do not stand in the transcript itself."""
        desktop = self._register().get(unit.id, NO_ENTRY).data
        if isinstance(desktop.get("title"), str):
            yield Title(desktop["title"], TITLE_GENERATED)
        archived = desktop.get("isArchived") is True
        for path in unit.sidecars:
            label = read_object(path)
            if path.endswith("custom-title.json") and isinstance(label.get("customTitle"), str):
                yield Title(label["customTitle"], TITLE_NAMED)
            archived = archived or label.get("archived") is True
        if archived:
            yield Meta(archived=True)

    def _register(self) -> dict[str, Entry]:
        """Read the desktop app's register: titles and archive marks by session id."""
        if self._desktop is None:
            self._desktop = entries_of(registers(self._surroundings))
        return self._desktop

    def _subagent_facts(self, unit: Unit) -> Iterator[Item]:
        meta = next((path for path in unit.sidecars if path.endswith(".meta.json")), None)
        if meta is not None:
            facts = read_object(meta)
            yield Meta(
                agent_name=string(facts.get("agentType")),
                spawned_by_tool_use_id=string(facts.get("toolUseId")),
                parent_agent_id=string(facts.get("parentAgentId")),
            )
            if description := string(facts.get("description")):
                yield Title(description, TITLE_GENERATED)
            return
        if (call := self._spawner(unit)) is not None:
            yield Meta(agent_name=call.agent_name, spawned_by_tool_use_id=call.tool_use_id)
            if call.description:
                yield Title(call.description, TITLE_GENERATED)

    def _spawner(self, unit: Unit) -> Call | None:
        """Look a subagent up in its parent's transcript; siblings follow each other."""
        parent = _parent_path(unit)
        if self._calls[0] != parent:
            self._calls = (parent, spawned_by(parent))
        return self._calls[1].get(unit.id)


def _unit(found: dict[str, Found], path: str, head: Head, latest: int | None) -> Unit:
    """Describe one transcript with the small files that belong to it."""
    file = found[path]
    beside = [f"{path.removesuffix('.jsonl')}.meta.json"] if _is_subagent(path) else []
    beside.extend(os.path.join(_session_folder(path), label) for label in _LABELS)
    sidecars = tuple(each for each in beside if each in found)
    return Unit(
        agent=ClaudeCode.agent,
        id=_stem(path),
        path=path,
        parts=(path,),
        sidecars=sidecars,
        size=file.size,
        mtime_ns=max(found[each].mtime_ns for each in (path, *sidecars)),
        touched=file.mtime_ns // 1_000_000 if latest is None else latest,
        parent_id=_parent_of(path, head),
    )


def _peek(path: str) -> tuple[Any, ...]:
    """Look at both ends of a transcript: first ids, and the time of the latest record."""
    latest = last_timestamp(path)
    return (*read_head(path), parse_instant(latest.decode()) if latest else None)


class _Key(NamedTuple):
    """What two files that share a beginning have in common."""

    kind: str
    value: str


def _by_age(paths: str) -> tuple[str, ...]:
    return tuple(by_age(paths.split("\n")))


def _wanted(relative: str) -> bool:
    folder, _, name = relative.rpartition("/")
    if name.endswith(".meta.json") or name in _LABELS:
        return True
    return (
        name.endswith((".jsonl", ".jsonl.zst"))
        and name not in _NOT_SESSIONS
        and _may_hold_sessions(folder)
    )


@functools.lru_cache(16)
def _may_hold_sessions(folder: str) -> bool:
    return not _NOT_SESSION_FOLDERS.intersection(folder.split("/"))


def _is_transcript(path: str) -> bool:
    return path.endswith((".jsonl", ".jsonl.zst"))


def _is_subagent(path: str) -> bool:
    return f"{os.sep}subagents{os.sep}" in path or os.path.basename(path).startswith("agent-")


def _stem(path: str) -> str:
    name = os.path.basename(path).removesuffix(".zst").removesuffix(".jsonl")
    return name.removeprefix("agent-") or name


def _session_folder(path: str) -> str:
    """Return the folder of the session that a transcript (or its subagent) belongs to."""
    before, found, _ = path.partition(f"{os.sep}subagents{os.sep}")
    return before if found else path.removesuffix(".zst").removesuffix(".jsonl")


def _parent_of(path: str, head: Head) -> str | None:
    """Return the session a subagent belongs to: by its folder, or (2.0.x) by its records."""
    if not _is_subagent(path):
        return None
    folder = _session_folder(path)
    return os.path.basename(folder) if f"{os.sep}subagents{os.sep}" in path else head.session_id


def _parent_path(unit: Unit) -> str:
    """Return where the parent's transcript should lie."""
    folder = _session_folder(unit.path)
    if f"{os.sep}subagents{os.sep}" not in unit.path:
        folder = os.path.join(os.path.dirname(unit.path), unit.parent_id or "")
    return f"{folder}.jsonl"


def _is_warm_up(path: str) -> bool:
    """Whether a file of 2.0.x that no call asked for holds a single answer and no question."""
    if f"{os.sep}subagents{os.sep}" in path:
        return False
    answers = 0
    for record in read_jsonl(path, Integrity()):
        answers += record.data.get("type") == "assistant"
        if record.data.get("type") == "user" or answers > 1:
            return False
    return True
