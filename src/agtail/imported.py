"""The import store: collections of sessions that came from other machines.

``<data>/imported/<collection>/<agent>/`` holds the files of one agent as they lay below its base
folder; ``<data>`` is :func:`agtail.history.data_dir`. Adapters are handed their collections
(``Surroundings.imported``); these functions are for those who need the way there.
"""

from __future__ import annotations

import os
from pathlib import Path

_FOLDER = "imported"


def collection_dir(data: Path, name: str, agent: str) -> Path:
    """Return the folder of an agent in a collection, whether it is there or not."""
    return data / _FOLDER / name / agent


def collection_of(data: Path, path: str | Path) -> str | None:
    """Return the collection that a file or folder lies in, ``None`` for what was not imported.

    >>> collection_of(Path("/data"), "/data/imported/team/pi/sessions/a.jsonl")
    'team'
    """
    store = f"{os.path.abspath(data / _FOLDER)}{os.sep}"
    place = os.path.abspath(path)
    return place.removeprefix(store).partition(os.sep)[0] if place.startswith(store) else None


def list_collections(data: Path, agent: str) -> dict[str, Path]:
    """Return the collections with sessions of an agent, by name, each with the agent's folder."""
    try:
        names = sorted(os.listdir(data / _FOLDER))
    except OSError:
        return {}
    folders = {name: collection_dir(data, name, agent) for name in names}
    return {name: folder for name, folder in folders.items() if folder.is_dir()}
