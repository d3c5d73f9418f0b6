"""Pi: where its sessions lie, which were forked from which, how to go back to one."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from agtail.agents.base import Item, Place, Unit
from agtail.agents.files import Context, FileAdapter
from agtail.errors import SourceError
from agtail.instants import parse_instant
from agtail.model import Integrity
from agtail.records import Json, Record, Report, last_timestamp, read_jsonl

ELIDED = {
    "message:message.content.*.thinkingSignature": "opaque proof of a thought",
    "message:message.content.*.textSignature": "opaque proof of a text (not in the corpora)",
    "message:message.content.*.thoughtSignature": "opaque proof of a call (not in the corpora)",
    "message:message.api": "the wire protocol, which says nothing of what happened",
    "message:message.responseId": "id of the vendor (not in the corpora)",
}
"""Fields that are not kept."""


class Pi(FileAdapter):
    """Adapter of Pi, ``docs/agents/pi.md``."""

    agent = "pi"
    name = "pi"
    root = "~/.pi/agent/sessions"
    glued = b'{"type":"'

    def default_root(self) -> Path:
        """Follow ``PI_CODING_AGENT_SESSION_DIR`` and ``PI_CODING_AGENT_DIR``."""
        env = self.surroundings.env
        if sessions := env.get("PI_CODING_AGENT_SESSION_DIR"):
            return Path(sessions).expanduser()
        if home := env.get("PI_CODING_AGENT_DIR"):
            return Path(home).expanduser() / "sessions"
        return super().default_root()

    def match(self, relative: str) -> bool:
        """Sessions lie in a folder for each project, or flat in a folder of the user's."""
        return relative.endswith(".jsonl") and relative.count("/") <= 1

    def peek(self, path: str) -> tuple[Any, ...]:
        """See the latest instant, whether it is a session, its id, and what it was forked from."""
        latest = last_timestamp(path)
        header = _header(path)
        fields = (header.get(key) for key in ("id", "parentSession", "branchedFrom"))
        identity, parent, branched = (each if isinstance(each, str) else "" for each in fields)
        return (
            parse_instant(latest.decode()) if latest else None,
            not header or header.get("type") == "session",
            identity,
            parent or branched,
        )

    def units(self, places: Sequence[Place], report: Report) -> Iterator[Unit]:
        """Tell sessions; a fork knows the files that it was copied from, the oldest first."""
        del report
        for place in places:
            names = {os.path.basename(file.path): file.path for file in place.files}
            heads = {file.path: self.look(file) for file in place.files}
            for file in place.files:
                if not heads[file.path][1]:
                    continue  # other JSON Lines files may lie here
                owners: list[str] = []
                at = file.path
                while parent := names.get(_basename(heads[at][3])):
                    if parent in owners or parent == file.path:
                        break
                    owners.insert(0, parent)
                    at = parent
                unit = self.unit_of(place, file.path, [file])
                yield msgspec.structs.replace(
                    unit, id=heads[file.path][2] or id_in(file.path), owners=tuple(owners)
                )

    def parse(self, records: Iterator[Record], context: Context) -> Iterable[Item]:
        """Map one file."""
        from agtail.agents.pi.reader import Reader, keys_of  # noqa: PLC0415 - start-up time

        owners = context.unit.owners
        origin = _header(owners[-1]).get("id") if owners else None
        return Reader(keys_of(owners), origin if isinstance(origin, str) else None).items(records)


def _header(path: str) -> Json:
    """Return the first record, which may follow torn lines; none of what cannot be read."""
    try:
        return next((record.data for record in read_jsonl(path, Integrity())), {})
    except SourceError:
        return {}


def _basename(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


def id_in(path: str) -> str:
    """Return the id in a file's name: the part behind the time."""
    return _basename(path).removesuffix(".jsonl").partition("_")[2]
