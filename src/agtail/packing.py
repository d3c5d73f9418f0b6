"""Reads and packs single sources for the store, in this process or in a worker."""

from __future__ import annotations

from typing import Any

from agtail.agents.base import Unit
from agtail.history import History
from agtail.store.refresh import Packed, grows, pack


class PackingReader:
    """Reads and packs single sources, in this process or in a worker.

    Args:
        arguments: those of the :class:`History` to read with.
    """

    def __init__(self, arguments: dict[str, Any]) -> None:
        self._arguments = arguments
        self._history: History | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {"_arguments": self._arguments, "_history": None}

    def __call__(self, unit: Unit) -> Packed:
        """Read one source."""
        warnings: list[str] = []
        if self._history is None:
            self._history = History(**self._arguments)
        self._history._warn = warnings.append  # noqa: SLF001 - its own
        return pack(unit, self._history.read(unit, rests=grows(unit)), warnings)
