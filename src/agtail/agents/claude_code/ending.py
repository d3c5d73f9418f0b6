"""How a Claude Code session ended: there is no end marker, so the last records have to tell."""

from __future__ import annotations

import time

from agtail.agents.base import Ended
from agtail.agents.claude_code import text as texts
from agtail.instants import parse_instant
from agtail.model import Ending as Verdict
from agtail.records import Json

MAYBE_ALIVE = 10 * 60 * 1000
"""Milliseconds after its last record during which an open turn may still be running."""


class Ending:
    """Watches the records of the main conversation go by; a later turn cancels a bad ending."""

    def __init__(self) -> None:
        self.verdict: Verdict | None = None
        self.certain = True
        self.pending: set[str] = set()
        self.latest: str | None = None

    def see(self, data: Json) -> None:
        """Take one record of the main conversation, in file order."""
        kind, message = data.get("type"), data.get("message")
        if isinstance(data.get("timestamp"), str):
            self.latest = data["timestamp"]
        if kind == "api-request" and self.verdict is None and not self.pending:
            self._set("interrupted", certain=False)
        elif isinstance(message, dict) and kind == "assistant":
            self._answered(data, message)
        elif isinstance(message, dict) and kind == "user":
            self._asked(data, message)

    def item(self) -> Ended:
        """Give the verdict at the end of the file."""
        if self.pending and self.verdict is None:
            self._set("interrupted", certain=False)
        if not self.certain and self._maybe_alive():
            return Ended(None)
        return Ended(self.verdict)

    def _set(self, verdict: Verdict | None, *, certain: bool = True) -> None:
        self.verdict, self.certain = verdict, certain

    def _asked(self, data: Json, message: Json) -> None:
        content = message.get("content")
        said = texts.joined(content)
        results = [
            block.get("tool_use_id")
            for block in (content if isinstance(content, list) else [])
            if isinstance(block, dict) and block.get("type") == "tool_result"
        ]
        if results:
            self.pending.difference_update(str(each) for each in results)
            self._set(None)
        elif said.startswith(texts.INTERRUPTION):
            self.pending.clear()
            self._set("interrupted")
        elif texts.speaker(data, said) == "human" and said.strip():
            self.pending.clear()
            self._set("interrupted", certain=False)

    def _answered(self, data: Json, message: Json) -> None:
        content = message.get("content")
        if data.get("isApiErrorMessage") is True:
            if message.get("stop_reason") == "refusal":
                self._set(None)
                return
            said = texts.joined(content)
            limit = data.get("error") == "max_output_tokens" or "output token maximum" in said
            self._set("limit" if limit else "error")
            return
        if str(message.get("model", "")).startswith("<"):
            return
        reason = message.get("stop_reason")
        if reason == "max_tokens":
            self._set("limit")
        else:
            # A call is still to come, or to be answered: whatever follows changes this again.
            self._set("interrupted" if reason == "tool_use" else None, certain=False)
        for block in content if isinstance(content, list) else []:
            if isinstance(block, dict) and block.get("type") == "tool_use":
                self.pending.add(str(block.get("id")))

    def _maybe_alive(self) -> bool:
        instant = parse_instant(self.latest)
        return instant is not None and time.time() * 1000 - instant < MAYBE_ALIVE
