"""Gemini CLI: where its sessions lie, which files are one session, how to go back to one."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from agtail.agents.base import Item, Place, Prompt, Retention, Unit, expand
from agtail.agents.files import Context, FileAdapter
from agtail.errors import SourceError
from agtail.instants import parse_instant
from agtail.model import Integrity
from agtail.records import Found, Report, last_timestamp, open_source, read_json, read_object

ELIDED = {
    "id": "ties the versions of a message together",
    "messages.*.id": "ties the versions of a message together",
    "$set.messages.*.id": "ties the versions of a message together",
    "$set.lastUpdated": "when the file was written, message by message",
    "**.thoughtSignature": "opaque proof of a thought (not in the corpora)",
    "user:timestamp": "of a message that only repeats the results of calls",
    "$set.messages.*.timestamp": "when a message was listed again",
    "**.thoughts.*.timestamp": "the thought's event has it, but for repeated ones "
    "(not in the corpora)",
    "**.toolCalls.*.description": "what the terminal shows of the arguments",
    "**.toolCalls.*.displayName": "what the terminal shows for the tool's name",
    "**.toolCalls.*.resultDisplay.*.*.fg": "colour on the screen (not in the corpora)",
    "**.toolCalls.*.resultDisplay.*.*.bg": "colour on the screen (not in the corpora)",
    "**.toolCalls.*.resultDisplay.newContent": "the whole file after the edit; before it, and the "
    "difference, are kept (not in the corpora)",
}
"""Fields that are not kept."""

_SESSION = re.compile(
    r"(?:^|/)chats/(?:session-[^/]+\.jsonl?|[^/]+/[^/]+\.jsonl?)(?:\.unreadable-\d+)?$"
)
_ROOT_MARK = ".project_root"
_HEAD = 64 * 1024
_ID = re.compile(rb'"sessionId":\s*"([^"\\]{1,200})"')
_AGE = re.compile(r"(\d+)([hdwm])")
_DAYS = {"h": 1 / 24, "d": 1.0, "w": 7.0, "m": 30.0}
_SETTING = "general.sessionRetention.maxAge"
_DEFAULT_DAYS = 30.0


class _Group(NamedTuple):
    """The files of one session, and the session that it belongs to."""

    files: list[Found]
    parent: str | None


class GeminiCli(FileAdapter):
    """Adapter of Gemini CLI, ``docs/agents/gemini-cli.md``."""

    agent = "gemini-cli"
    name = "gemini"
    deletes_history = True
    root = "~/.gemini/tmp"
    glued = b'{"$set":{'

    def default_root(self) -> Path:
        """Follow ``GEMINI_CLI_HOME``."""
        if home := self.surroundings.env.get("GEMINI_CLI_HOME"):
            return Path(home).expanduser() / ".gemini" / "tmp"
        return super().default_root()

    def roots(self) -> list[Path]:
        """The folder of sessions, and the one for a sandboxed agent on macOS."""
        if self.surroundings.root is not None:
            return [self.surroundings.root]
        return [self.default_root(), expand("~/.cache/.gemini/tmp", self.surroundings)]

    def match(self, relative: str) -> bool:
        """Conversations, whole or set aside as unreadable, and the marks that name a folder."""
        return relative.rpartition("/")[2] == _ROOT_MARK or bool(_SESSION.search(relative))

    def peek(self, path: str) -> tuple[Any, ...]:
        """See the latest instant, and the id of the session."""
        latest = last_timestamp(path)
        try:
            with open_source(path) as stream:
                found = _ID.search(stream.read(_HEAD))
        except (SourceError, OSError):
            found = None
        return (
            parse_instant(latest.decode()) if latest else None,
            found[1].decode(errors="replace") if found else "",
        )

    def units(self, places: Sequence[Place], report: Report) -> Iterator[Unit]:
        """Tell sessions: all files with one id are one, the oldest format first."""
        del report
        for place in places:
            marks = {
                os.path.dirname(file.path): file
                for file in place.files
                if os.path.basename(file.path) == _ROOT_MARK
            }
            groups = self._groups(place)
            paths = {each: _main(group.files) for each, group in groups.items()}
            for identity, group in groups.items():
                path = paths[identity]
                mark = marks.get(project_of(path, child=group.parent is not None))
                unit = self.unit_of(place, path, group.files)
                looks = (self.look(file)[0] for file in group.files)
                yield msgspec.structs.replace(
                    unit,
                    id=identity,
                    touched=max((each for each in looks if each is not None), default=unit.touched),
                    mtime_ns=max(unit.mtime_ns, mark.mtime_ns if mark else 0),
                    sidecars=(mark.path,) if mark else (),
                    owners=(paths[group.parent],) if group.parent in paths else (),
                    parent_id=group.parent,
                )

    def _groups(self, place: Place) -> dict[str, _Group]:
        groups: dict[str, _Group] = {}
        for file in place.files:
            name = os.path.basename(file.path)
            if name == _ROOT_MARK:
                continue
            folder = os.path.basename(os.path.dirname(file.path))
            parent = None if folder == "chats" else folder
            identity = self.look(file)[1]
            if not identity or identity == parent:  # old subagents have their parent's
                identity = re.sub(r"\.jsonl?(?:\.unreadable-\d+)?$", "", name)
            groups.setdefault(identity, _Group([], parent)).files.append(file)
        for group in groups.values():
            group.files.sort(key=lambda file: (not file.path.endswith(".json"), file.path))
        return groups

    def read_unit(self, context: Context) -> Iterable[Item]:
        """Map all files of a session."""
        from agtail.agents.gemini_cli.reader import Reader  # noqa: PLC0415 - start-up time

        return Reader(context).items()

    def retention(self) -> Retention | None:
        """Read the user's setting; a project or an administrator may have set another.

        A folder that was asked for may be a copy, which the agent does not clean up: it counts
        when there are settings beside it.
        """
        path = self.roots()[0].parent / "settings.json"
        if self.surroundings.root is not None and not path.is_file():
            return None
        general = read_object(path).get("general")
        kept = general.get("sessionRetention") if isinstance(general, dict) else None
        kept = kept if isinstance(kept, dict) else {}
        if kept.get("enabled") is False:
            return None
        age = _AGE.fullmatch(str(kept.get("maxAge")))
        return Retention(
            days=int(age[1]) * _DAYS[age[2]] if age else _DEFAULT_DAYS,
            setting=_SETTING,
            path=str(path),
            default=age is None,
        )

    def prompts(self) -> Iterator[Prompt]:
        """Read each ``logs.json``: what was typed, commands included."""
        for root in self.roots():
            for path in sorted(root.glob("*/logs.json")):
                try:
                    typed = read_json(path, Integrity())
                except SourceError:
                    continue
                for entry in typed if isinstance(typed, list) else ():
                    if not isinstance(entry, dict):
                        continue
                    session, text = entry.get("sessionId"), entry.get("message")
                    if isinstance(session, str) and isinstance(text, str):
                        yield Prompt(session, parse_instant(str(entry.get("timestamp"))), text)


def project_of(path: str, *, child: bool) -> str:
    """Return the folder of a project, in which the folder of conversations lies."""
    for _ in range(3 if child else 2):
        path = os.path.dirname(path)
    return path


def _main(files: Sequence[Found]) -> str:
    """Return the file that a session goes on in: resuming leaves younger ones without a word."""
    return next((file.path for file in files if file.path.endswith(".jsonl")), files[0].path)
