"""The desktop app's register of its sessions: titles and archive marks that lie apart."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from agtail.agents.base import Place, Surroundings
from agtail.records import read_object, walk

REGISTER = "claude-code-sessions"
"""The folder in which the app notes its sessions."""


class Entry(NamedTuple):
    """What the register says of a session, and when that was written."""

    changed_ns: int
    data: dict[str, Any]


NO_ENTRY = Entry(0, {})


def registers(here: Surroundings) -> list[Place]:
    """Find the register; that of another machine is not here."""
    if here.root is not None:
        return []
    roaming = here.env.get("APPDATA")
    folders = [here.home / "Library" / "Application Support"]
    if roaming:
        folders.append(Path(roaming))
    places = [str(folder / "Claude" / REGISTER) for folder in folders]
    return [Place(place, list(walk(place, _is_entry, lambda _error: None))) for place in places]


def entries_of(places: Sequence[Place]) -> dict[str, Entry]:
    """Read what a register says of sessions, by their ids."""
    entries: dict[str, Entry] = {}
    for place in places:
        for file in place.files if os.path.basename(place.path) == REGISTER else ():
            data = read_object(file.path)
            entries[str(data.get("cliSessionId"))] = Entry(file.mtime_ns, data)
    return entries


def _is_entry(relative: str) -> bool:
    name = relative.rpartition("/")[2]
    return name.startswith("local_") and name.endswith(".json")
