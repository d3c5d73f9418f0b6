"""What a reader of a transcript has to remember to go on where the file has grown."""

from __future__ import annotations

from typing import Any

import msgspec

from agtail.agents.base import Meta
from agtail.agents.claude_code.ending import Ending
from agtail.agents.claude_code.metadata import Metadata
from agtail.agents.claude_code.tree import Tree
from agtail.model import Ending as Verdict
from agtail.model import Event


class State(msgspec.Struct):
    """The memory of a reader in the middle of a file.

    Attributes:
        facts, boundary, first, summaries: as in the reader.
        uuids, parents, lines, prompts: the tree of records.
        marked, branches: lines that are on abandoned branches, and the number of these.
        verdict, certain, pending, latest: how the session would end here.
        queued_first, states, queued: what the bookkeeping remembers.
    """

    facts: Meta
    boundary: bool
    first: bool
    summaries: list[tuple[str, str]]
    uuids: list[str]
    parents: list[int]
    lines: list[int]
    prompts: list[int]
    marked: list[int]
    branches: int
    verdict: Verdict | None
    certain: bool
    pending: list[str]
    latest: str | None
    queued_first: bool
    states: dict[str, dict[str, Any]]
    queued: dict[str, Event]

    def encode(self) -> bytes:
        """Pack it for a checkpoint."""
        return msgspec.msgpack.encode(self)

    @classmethod
    def decode(cls, data: bytes) -> State:
        """Unpack what :meth:`encode` made."""
        return msgspec.msgpack.decode(data, type=cls)

    def tree(self) -> Tree:
        """Grow the tree again."""
        abandoned = (frozenset(self.marked), self.branches)
        return Tree.of(self.uuids, self.parents, self.lines, self.prompts, abandoned)

    def ending(self) -> Ending:
        """Return the watcher of endings as it was."""
        ending = Ending()
        ending.verdict, ending.certain = self.verdict, self.certain
        ending.pending, ending.latest = set(self.pending), self.latest
        return ending

    def metadata(self) -> Metadata:
        """Return the mapper of bookkeeping as it was."""
        metadata = Metadata()
        metadata.queued_first = self.queued_first
        metadata.states, metadata.queued = self.states, self.queued
        return metadata
