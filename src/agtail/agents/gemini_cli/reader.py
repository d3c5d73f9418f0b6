"""Maps the files of a Gemini CLI session: a replay that forgets nothing on its way."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from agtail.agents.base import (
    TITLE_GENERATED,
    Abandoned,
    Ended,
    Item,
    Meta,
    Title,
    ToolResult,
    text_of,
)
from agtail.agents.blobs import strip_base64
from agtail.agents.files import Context
from agtail.agents.gemini_cli.adapter import GeminiCli, project_of
from agtail.agents.gemini_cli.documents import read_document
from agtail.agents.gemini_cli.messages import Messages
from agtail.agents.gemini_cli.places import Guesses, recorded_directory, spawner
from agtail.errors import SourceError
from agtail.model import Event, Source
from agtail.records import Json, Record, read_jsonl

_Line = tuple[str | None, int]
"""A file (``None`` for the session's own) and a line in it."""


class Reader:
    """Maps one session."""

    def __init__(self, context: Context) -> None:
        self._unit = context.unit
        self._health = context.health
        self._guesses = Guesses()
        self._messages = Messages(self._guesses, child=context.unit.parent_id is not None)
        self._directory: str | None = None
        self._live: dict[str, None] = {}
        self._lines: dict[str, set[_Line]] = {}
        self._dropped: set[str] = set()
        self._branches = 0

    def items(self) -> Iterator[Item]:
        """Map all files, then what only the end of them tells.

        Raises:
            SourceError: none of them can be read.
        """
        unit = self._unit
        failures: list[SourceError] = []
        for path in unit.parts:
            try:
                yield from self._file(path)
            except SourceError as error:
                failures.append(error)
        if failures:
            if len(failures) == len(unit.parts):
                raise failures[0]
            self._health.dropped += len(failures)
        yield from self._messages.flush()
        yield from self._abandoned()
        yield Ended(self._messages.ending)
        child = unit.parent_id is not None
        yield Meta(
            cwd=recorded_directory(project_of(unit.path, child=child))
            or self._guesses.found()
            or self._messages.directory
            or self._directory
        )
        if unit.owners and (meta := spawner(unit.owners[0], unit.id)):
            yield meta

    def _file(self, path: str) -> Iterator[Item]:
        other = path if path != self._unit.path else None
        document = path.endswith(".json")
        records = (
            read_document(path, self._health)
            if document
            else read_jsonl(path, self._health, glued=GeminiCli.glued)
        )
        for record in records:
            source = Source(
                line=None if document else record.line,
                offset=record.offset,
                length=record.length,
                path=other,
            )
            self._messages.source = source
            for item in self._record(record, (other, record.line)):
                if isinstance(item, Event | ToolResult):
                    item.src = item.src or source
                yield item

    def _record(self, record: Record, line: _Line) -> Iterator[Item]:
        data = record.data
        if isinstance(target := data.get("$rewindTo"), str):
            self._rewind(target)
            yield from self._messages.flush()
            yield Event(kind="system", role="system", text="rewind", raw=data)
        elif isinstance(data.get("id"), str):
            yield from self._message(data, line, listed=False)
        elif isinstance(update := data.get("$set"), dict):
            yield from self._update(update, line)
            more = {key: value for key, value in data.items() if key != "$set"}
            if more:
                yield _kept("more fields", more)
        elif isinstance(data.get("sessionId"), str):
            yield from self._header(data, line)
        else:
            yield from self._messages.flush()
            kept, images = strip_base64(data)
            kind = text_of(data, "type") or "record"
            yield Event(kind="unknown", role="system", text=kind, raw=kept, images=images)

    def _message(self, message: Json, line: _Line, *, listed: bool) -> Iterator[Item]:
        identity = text_of(message, "id")
        self._lines.setdefault(identity, set()).add(line)
        if not listed:
            self._live.setdefault(identity)
        time = text_of(message, "timestamp") or None
        for item in self._messages.items(message, listed=listed):
            if isinstance(item, Event | ToolResult):
                item.ts = item.ts or time
            yield item

    def _header(self, data: Json, line: _Line) -> Iterator[Item]:
        self._guesses.digest = text_of(data, "projectHash") or self._guesses.digest
        self._messages.child = self._messages.child or data.get("kind") == "subagent"
        yield Meta(started=text_of(data, "startTime") or None)
        yield from self._facts(data, "session")
        for message in _dicts(data.get("messages")):
            yield from self._message(message, line, listed=False)

    def _update(self, update: Json, line: _Line) -> Iterator[Item]:
        if isinstance(update.get("messages"), list):
            listed = list(_dicts(update["messages"]))
            for message in listed:
                yield from self._message(message, line, listed=True)
            self._live = dict.fromkeys(text_of(message, "id") for message in listed)
        if update.keys() - {"messages", "lastUpdated"}:
            yield from self._facts(update, "update")

    def _facts(self, data: Json, name: str) -> Iterator[Item]:
        """Map what is told of the session as a whole."""
        directories = data.get("directories")
        for each in directories if isinstance(directories, list) else ():
            if isinstance(each, str):
                self._directory = self._directory or each
                self._guesses.note(each)
        summary = text_of(data, "summary")
        if summary and self._messages.child:
            yield Event(kind="system", role="system", text=summary)
        elif summary:
            yield Title(summary, TITLE_GENERATED)
        mapped = isinstance(data.get("messages"), list)
        yield _kept(name, {key: data[key] for key in data if key != "messages" or not mapped})

    def _rewind(self, target: str) -> None:
        """Drop a message and all behind it; all of them when it is not there."""
        live = list(self._live)
        at = live.index(target) if target in self._live else 0
        gone = live[at:]
        self._live = dict.fromkeys(live[:at])
        self._dropped.update(gone)
        self._branches += bool(gone)

    def _abandoned(self) -> Iterator[Item]:
        alive = {line for each in self._live for line in self._lines.get(each, ())}
        gone: dict[str | None, set[int]] = {}
        for identity in self._dropped.difference(self._live):
            for path, line in self._lines.get(identity, set()) - alive:
                gone.setdefault(path, set()).add(line)
        branches = self._branches
        for path, lines in gone.items():
            yield Abandoned(lines=frozenset(lines), branches=branches, path=path)
            branches = 0
        if branches:
            yield Abandoned(lines=frozenset(), branches=branches)


def _dicts(value: Any) -> Iterator[Json]:
    for each in value if isinstance(value, list) else ():
        yield each if isinstance(each, dict) else {"message": each}


def _kept(name: str, data: Json) -> Event:
    kept, images = strip_base64(data)
    return Event(kind="system", role="system", text=name, raw=kept, images=images, bookkeeping=True)
