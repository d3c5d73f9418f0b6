"""The record at hand while a rollout is read, and events made from it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from agtail.agents.base import Item, Spend, ToolResult, text_of
from agtail.agents.blobs import strip_base64
from agtail.agents.codex.lines import Line
from agtail.agents.codex.survey import Survey
from agtail.agents.codex.usage import Meter
from agtail.model import Event, Source


class Context:
    """Where reading stands: file, turn and record, and whose that record is.

    Args:
        path: the session's own file, the newest.
        owned: threads whose rollouts are on this machine: copies of theirs are not ours.
    """

    def __init__(self, path: str, owned: frozenset[str]) -> None:
        self._path = path
        self._owned = owned
        self._part: str | None = None
        self._survey = Survey()
        self._line: Line
        self._inherited = self._rewound = False
        self._thread = ""
        self._turn = 0
        self._model: str | None = None
        self._meter = Meter()
        self._unpaid = False  # whether an answer was emitted since the last count
        self._waiting: Spend | None = None

    def _event(self, kind: Any, **fields: Any) -> Event:
        return Event(
            kind=kind,
            ts=self._line.ts,
            src=self._source(),
            inherited=self._inherited,
            rewound=self._rewound,
            **fields,
        )

    def _note(self, *details: str) -> Event:
        """Keep a record of the program's own, hidden: its type and what is worth a glance."""
        text = joined(self._line.sub or self._line.kind, *details)
        return self._event("system", role="system", text=text, raw=self._raw(), bookkeeping=True)

    def _unknown(self, name: str) -> Iterator[Item]:
        raw, images = strip_base64(self._line.record.data)
        said = text_of(self._line.payload, "text") or text_of(self._line.payload, "content")
        yield self._event("unknown", text=joined(name, said), raw=raw, images=images)

    def _placed(self, result: ToolResult) -> ToolResult:
        result.ts, result.src, result.inherited = self._line.ts, self._source(), self._inherited
        return result

    def _source(self) -> Source:
        line, offset, length, _ = self._line.record
        if not length:
            return Source(row=str(line), path=self._part)
        return Source(line=line, offset=offset, length=length, path=self._part)

    def _raw(self) -> Any:
        return strip_base64(self._line.record.data)[0]

    def _speaker(self) -> str | None:
        """Return the model in use; that of a copied record is its owner's matter."""
        return None if self._inherited else self._model

    def _token_count(self, line: Line) -> Iterator[Item]:
        spend = self._meter.count(line, self._turn, f"{self._part or ''}:{line.record.line}")
        if spend is None:
            return
        spend = self._owing(spend)
        if self._waiting is not None:
            yield self._waiting
        self._waiting = None if self._unpaid else spend
        if self._unpaid:
            yield spend
        self._unpaid = False

    def _owing(self, spend: Spend) -> Spend:
        spend.model, spend.inherited = self._speaker(), self._inherited
        return spend

    def _pay(self) -> Iterator[Item]:
        """Charge a count that came early to the answer that was just emitted."""
        self._unpaid = self._waiting is None
        if self._waiting is not None:
            yield self._waiting
            self._waiting = None


def joined(*parts: str) -> str:
    """Join what is not empty, for one line that is shown."""
    return " · ".join(filter(None, parts))
