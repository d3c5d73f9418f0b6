"""Tokens of a rollout: each response once, whichever of two records tells of it."""

from __future__ import annotations

from agtail.agents.base import Spend, text_of, token_count
from agtail.agents.codex.lines import Line, mapping
from agtail.model import Usage
from agtail.records import Json

_COUNTERS = (
    *("input_tokens", "cached_input_tokens", "cache_write_input_tokens"),
    *("output_tokens", "reasoning_output_tokens"),
)


class Meter:
    """Turns usage records into spends.

    A ``token_usage_record`` tells of one response, and is the truth where there is one. A
    ``token_count`` repeats itself and estimates: it counts by how far its total advanced, and
    not in a turn that has the better record.
    """

    def __init__(self) -> None:
        self._total: dict[str, int] | None = None
        self._recorded_turn = -1

    def new_segment(self) -> None:
        """Forget the total: another file of the thread goes on from its base, not from here."""
        self._total = None

    def record(self, line: Line, turn: int) -> Spend | None:
        """Take a ``token_usage_record``."""
        self._recorded_turn = turn
        response = text_of(line.payload, "response_id")
        spent = _counters(mapping(line.payload, "usage"))
        return (
            Spend(key=response, usage=_usage(spent)) if response and any(spent.values()) else None
        )

    def count(self, line: Line, turn: int, place: str) -> Spend | None:
        """Take a ``token_count``; ``place`` names the record for want of a response id."""
        info = mapping(line.payload, "info")
        last = _counters(mapping(info, "last_token_usage"))
        spent = last
        if "total_token_usage" in info:
            total = _counters(mapping(info, "total_token_usage"))
            spent = self._advance(total, last if "last_token_usage" in info else total)
            self._total = total
        if turn == self._recorded_turn or not any(spent.values()):
            return None
        return Spend(key=place, usage=_usage(spent))

    def _advance(self, total: dict[str, int], last: dict[str, int]) -> dict[str, int]:
        before = self._total
        if before is None:
            return last
        advanced = {key: total[key] - before[key] for key in _COUNTERS}
        # A counter that falls was restarted: everything on it is new.
        return total if min(advanced.values()) < 0 else advanced


def _counters(recorded: Json) -> dict[str, int]:
    return {key: token_count(recorded.get(key)) for key in _COUNTERS}


def _usage(spent: dict[str, int]) -> Usage:
    """Take the cache out of the input, which includes it here."""
    cached, written = spent["cached_input_tokens"], spent["cache_write_input_tokens"]
    return Usage(
        input_tokens=max(0, spent["input_tokens"] - cached - written),
        cache_read_tokens=cached,
        cache_creation_tokens=written,
        output_tokens=spent["output_tokens"],
        reasoning_tokens=spent["reasoning_output_tokens"],
    )
