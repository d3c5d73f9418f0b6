"""The conformance kit: what a correct adapter must show, found out without any adapter.

It reads a scenario's files with a few lines of its own, so that a mistake in the reading code
cannot hide in the check. ``docs/conformance.md`` tells how to bring a new agent through it.
"""

from __future__ import annotations

import atexit
import base64
import binascii
import functools
import hashlib
import importlib
import json
import os
import re
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import zstandard

from agtail.agents import adapter_class, agent_ids
from agtail.agents.base import Unit
from agtail.assemble import Transcript
from agtail.history import History

CORPORA = Path(__file__).parents[1] / "corpora"

SHORTEST = 12
"""Shorter strings are found by accident; they prove nothing."""

LONG_AGO = 1_700_000_000
"""Change time of copied sources: a file that is fresh may be in the middle of a write."""

NOT_IN_CORPORA = "(not in the corpora)"
"""Ends the reason of an elision that is known from the format alone."""

_DATA_URL = re.compile(r"data:[\w.+-]*/?[\w.+-]*(?:;[\w.+=-]+)*;base64,([A-Za-z0-9+/=_-]+)")
_SELECTOR = re.compile(r"([\w-]+)(?:/([\w-]+))?:(.*)", re.DOTALL)


@dataclass(frozen=True)
class Scenario:
    """One home of one agent, with what is known of it."""

    agent: str
    name: str

    @property
    def folder(self) -> Path:
        return CORPORA / self.agent / self.name

    @functools.cached_property
    def expected(self) -> dict[str, Any]:
        value: dict[str, Any] = json.loads((self.folder / "expected.json").read_text("utf-8"))
        return value

    def __str__(self) -> str:
        return f"{self.agent}/{self.name}"


def scenarios() -> list[Scenario]:
    """Return every scenario of every registered agent."""
    return [
        Scenario(agent, path.parent.name)
        for agent in agent_ids()
        for path in sorted((CORPORA / agent).glob("*/expected.json"))
    ]


@dataclass(frozen=True)
class Reading:
    """A scenario as History reads it, in a home of its own."""

    scenario: Scenario
    home: Path
    units: list[Unit]
    transcripts: list[Transcript]
    warnings: list[str]
    changed: list[str]
    """Files of the home that reading created, changed or removed."""


@functools.cache
def reading(scenario: Scenario) -> Reading:
    """Copy a scenario into a home of its own, and read it."""
    home = Path(tempfile.mkdtemp(prefix="agtail-conformance-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    shutil.copytree(scenario.folder, home, dirs_exist_ok=True)
    (home / "expected.json").unlink()
    for folder, _, names in os.walk(home):
        for name in names:
            os.utime(Path(folder, name), (LONG_AGO, LONG_AGO))
    before = fingerprint(home)
    warnings: list[str] = []
    history = History(home=home, env={}, agents=[scenario.agent], warn=warnings.append)
    units = history.units()
    transcripts = list(history.transcripts(units))
    after = fingerprint(home)
    changed = sorted({path for path, _ in before.items() ^ after.items()})
    return Reading(scenario, home, units, transcripts, warnings, changed)


def fingerprint(home: Path) -> dict[str, str]:
    """Return every file of a home with the digest of its content and its change time."""
    return {
        path.relative_to(home).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        + str(path.stat().st_mtime_ns)
        for path in home.rglob("*")
        if path.is_file()
    }


def source_files(scenario: Scenario) -> list[str]:
    """Return the files that belong to the scenario's sessions, as counted by hand."""
    return sorted(
        {
            file.partition("#")[0]
            for session in scenario.expected["sessions"]
            for file in session["files"]
        }
    )


def source_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a source that are not blank, with their numbers."""
    raw = path.read_bytes()
    if path.name.endswith(".zst"):
        raw = zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True).read()
    for number, line in enumerate(raw.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if line.strip():
            yield number, line


def source_record(line: bytes) -> dict[str, Any] | None:
    """Return the object of a line, or ``None``."""
    try:
        value = json.loads(line.decode("utf-8", "replace").lstrip("\x00"), strict=False)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def source_records(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of a source with their line numbers, whole JSON documents as line 1.

    A row of a database is an object whose ``type`` is the table; a column of that name is its
    ``subtype``. JSON in a column counts as part of it.
    """
    with open(path, "rb") as stream:
        is_database = stream.read(16).startswith(b"SQLite format 3")
    if is_database:
        yield from enumerate(source_rows(path), 1)
        return
    if path.suffix == ".json":
        yield 1, json.loads(path.read_text("utf-8"))
        return
    for number, line in source_lines(path):
        record = source_record(line)
        if record is not None:
            yield number, record


def source_rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield all rows of a copy of a database, so that nothing beside it changes."""
    with tempfile.TemporaryDirectory(prefix="agtail-") as folder:
        for suffix in ("", "-wal"):
            if (part := Path(f"{path}{suffix}")).exists():
                shutil.copyfile(part, Path(folder, f"copy{suffix}"))
        connection = sqlite3.connect(Path(folder, "copy"))
        connection.row_factory = sqlite3.Row
        query = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
        for (table,) in connection.execute(query).fetchall():
            for row in connection.execute(f'SELECT * FROM "{table}"'):
                columns = {name: _column(value) for name, value in dict(row).items()}
                if "type" in columns:
                    columns["subtype"] = columns.pop("type")
                yield {"type": table, **columns}
        connection.close()


def _column(value: Any) -> Any:
    """Decode JSON; bytes that are no text are for the tests of the agent."""
    if isinstance(value, bytes):
        try:
            value = value.decode()
        except UnicodeDecodeError:
            return None
    if isinstance(value, str) and value[:1] in ("{", "["):
        return _json(value) or value
    return value


Place = tuple[str, ...]


def strings(value: Any, place: Place = ()) -> Iterator[tuple[Place, str]]:
    """Yield every string value with the keys and indexes that lead to it."""
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from strings(inner, (*place, str(index)))
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from strings(inner, (*place, key))


@dataclass
class Kept:
    """What the events and sessions of a home hold."""

    text: str
    digests: frozenset[str]
    _known: dict[str, bool] = field(default_factory=dict)

    def holds(self, value: str) -> bool:
        """Whether a string of the source can be found again."""
        known = self._known.get(value)
        if known is None:
            known = self._known[value] = self._search(value)
        return known

    def _search(self, value: str) -> bool:
        value = value.strip()
        if len(value) < SHORTEST or value in self.text:
            return True
        if value[0] in "[{" and (inner := _json(value)) is not None:
            return all(self.holds(each) for _, each in strings(inner))
        if self._is_known_payload(value):
            return True
        pieces = _DATA_URL.split(value)
        return len(pieces) > 1 and all(
            self._is_known_payload(piece) if index % 2 else self.holds(piece)
            for index, piece in enumerate(pieces)
        )

    def _is_known_payload(self, value: str) -> bool:
        try:
            content = base64.b64decode(value, validate=True)
        except (ValueError, binascii.Error):
            return False
        return hashlib.sha256(content).hexdigest() in self.digests


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def kept(transcripts: list[Transcript]) -> Kept:
    """Collect what a home's events and sessions hold."""
    texts: list[str] = []
    digests: set[str] = set()
    for transcript in transcripts:
        texts.extend(_all_texts(msgspec.to_builtins(transcript.session)))
        for event in transcript.events:
            texts.extend(_all_texts(msgspec.to_builtins(event)))
            digests.update(blob.sha256 for blob in event.images if blob.sha256)
    return Kept("\x00".join(texts), frozenset(digests))


def _all_texts(value: Any) -> Iterator[str]:
    """Yield strings and keys: a value may have become the key of a table."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for inner in value:
            yield from _all_texts(inner)
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _all_texts(inner)


@dataclass(frozen=True)
class Elision:
    """One field that an adapter does not keep, as its ``ELIDED`` names it.

    The pattern is ``[type[/subtype]:]path``. The type is the record's ``type``; the subtype is
    its ``subtype``, or the ``type`` of its ``payload``, ``attachment`` or ``data``. The path is
    dotted: ``*`` stands for one key or index, ``**`` for any number of them.
    """

    pattern: str
    reason: str

    def covers(self, record: Mapping[str, Any], place: Place) -> bool:
        selector = _SELECTOR.fullmatch(self.pattern)
        path = self.pattern
        if selector is not None:
            kind, inner, path = selector.groups()
            if record.get("type") != kind or (inner is not None and inner not in subtypes(record)):
                return False
        return _fits(tuple(path.split(".")), place)


def subtypes(record: Mapping[str, Any]) -> set[object]:
    """Return what may stand behind the slash of a selector."""
    nested = (record.get(key) for key in ("payload", "attachment", "data"))
    return {record.get("subtype"), *(each.get("type") for each in nested if type(each) is dict)}


def _fits(pattern: Place, place: Place) -> bool:
    if not pattern:
        return not place
    if pattern[0] == "**":
        return any(_fits(pattern[1:], place[at:]) for at in range(len(place) + 1))
    return bool(place) and pattern[0] in ("*", place[0]) and _fits(pattern[1:], place[1:])


def elisions(agent: str) -> list[Elision]:
    """Return the fields an agent's adapter gives up."""
    module = importlib.import_module(adapter_class(agent).__module__)
    table: dict[str, str] = getattr(module, "ELIDED", {})
    return [Elision(pattern, reason) for pattern, reason in table.items()]


@dataclass(frozen=True)
class Losses:
    """Strings of a scenario that are in no event or session."""

    unexcused: list[str]
    """One line each: file, line, place, and how the string begins."""
    used: frozenset[str]
    """Patterns that excused at least one string."""


@functools.cache
def losses(scenario: Scenario) -> Losses:
    """Look for every string of a scenario's sources in what was read from them."""
    read = reading(scenario)
    held = kept(read.transcripts)
    excuses = elisions(scenario.agent)
    lines: list[str] = []
    used: set[str] = set()
    for file in source_files(scenario):
        for number, record in source_records(read.home / file):
            for place, value in strings(record):
                if held.holds(value):
                    continue
                excuse = [each.pattern for each in excuses if each.covers(record, place)]
                used.update(excuse)
                if not excuse:
                    kinds = [record.get("type"), *filter(None, subtypes(record))]
                    lines.append(
                        f"{scenario}/{file.rpartition('/')[2]}:{number}: "
                        f"{'/'.join(map(str, kinds))}:{'.'.join(place)}: {value[:60]!r}"
                    )
    return Losses(lines, frozenset(used))
