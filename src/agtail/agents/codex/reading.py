"""Reads the files of one Codex thread, segment by segment."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator

from agtail.agents.base import Abandoned, Item, Unit, text_of
from agtail.agents.codex import tools
from agtail.agents.codex.files import thread_of
from agtail.agents.codex.lines import mapping, read_lines
from agtail.agents.codex.rollout import Reader
from agtail.agents.codex.survey import NEVER, Survey, compare, take_survey
from agtail.errors import SourceError
from agtail.model import Integrity

SMALL = 4 * 1024 * 1024
"""Bytes up to which a file is held in memory, for it has to be gone through twice."""


def read_thread(unit: Unit, health: Integrity, *, named: bool) -> Generator[Item, None, str | None]:
    """Map the records of a thread.

    Args:
        unit: the thread.
        health: counts what could not be read.
        named: the thread has a name, which no prompt may take the place of.

    Returns:
        The thread that spawned this one, when one did.

    Raises:
        SourceError: the only file of the thread cannot be read.
    """
    parts = unit.parts or (unit.path,)
    owned = frozenset(thread_of(path) for path in unit.owners)
    reader = Reader(unit.path, owned, named=named)
    cutoffs = _cutoffs(parts)
    for index, part in enumerate(parts):
        try:
            held = list(read_lines(part, health)) if _is_small(part) else None
            survey = take_survey(read_lines(part, Integrity()) if held is None else held, unit.id)
            if survey.own_from is None:
                survey.own_from = _own_from(part, survey, unit.owners)
            lines = read_lines(part, health) if held is None else held
            yield from reader.items(part, lines, survey, cutoffs[index])
        except SourceError as error:
            if len(parts) == 1:
                raise
            health.unreadable = f"{os.path.basename(part)}: {error.reason}"
    rewinds = sum(cutoff != NEVER for cutoff in cutoffs)
    if rewinds:
        yield Abandoned(lines=frozenset(), branches=rewinds)
    return reader.parent or None


def _is_small(path: str) -> bool:
    """Whether a file is better held in memory than read twice."""
    try:
        return path.endswith(".jsonl") and os.path.getsize(path) <= SMALL
    except OSError:
        return False


def spawn_calls(path: str) -> Iterator[tuple[str, str]]:
    """Yield (thread, call) for each answer of a call that spawned one."""
    calls: set[str] = set()
    for line in read_lines(path, Integrity()):
        call = text_of(line.payload, "call_id")
        if line.sub == "function_call" and text_of(line.payload, "name") == "spawn_agent":
            calls.add(call)
        elif line.sub == "function_call_output" and call in calls:
            detail = tools.arguments_of({"arguments": line.payload.get("output")})
            yield text_of(detail, "agent_id"), call


def _cutoffs(parts: tuple[str, ...]) -> list[int]:
    """Return for each file the ordinal from which a later one abandoned its records."""
    bases = [NEVER] * len(parts)
    for index, part in enumerate(parts[1:], 1):
        try:
            first = next(read_lines(part, Integrity()), None)
        except SourceError:
            continue
        base = (
            mapping(first.payload, "history_base").get("end_ordinal_exclusive") if first else None
        )
        bases[index] = base if isinstance(base, int) else NEVER
    return [min(bases[index + 1 :], default=NEVER) for index in range(len(parts))]


def _own_from(part: str, survey: Survey, owners: tuple[str, ...]) -> int:
    parent = next((path for path in owners if thread_of(path) == survey.copied), None)
    return 1 if parent is None else compare(part, parent)
