"""A first look through a rollout: what the second, mapping one must know beforehand.

Codex writes most things twice, in no fixed order: as an item that the model sees and as an event
for the screen. And it copies the history of a parent into a fork. Both can be told only from
records further on, so that a file is read twice rather than kept in memory; what is kept is a
hash for each text and the ids of calls.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Final

import msgspec

from agtail.agents.base import text_of
from agtail.agents.codex.lines import (
    TURN_STARTS,
    Line,
    listing,
    mapping,
    message_texts,
    read_lines,
    tool_item,
)
from agtail.errors import SourceError
from agtail.instants import parse_instant
from agtail.model import Integrity

NEVER: Final = 2**62
"""Line number of an own part that has not begun."""

REPLAY_GAP = 500
"""Milliseconds: a copy is written in one go, so that a longer pause ends it."""

_UUID7 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")


class Survey(msgspec.Struct):
    """What is known of a file after the first look; texts as hashes of their stripped form.

    Attributes:
        humans: what humans typed, after the events.
        prompted: turns in which an event says so; a turn is counted from ``task_started``.
        prompts: texts of user-role items, with how often each stands.
        replies: the same for the assistant's, by turn.
        thoughts: texts of reasoning items, by turn.
        ids: ids of assistant and reasoning items.
        calls: ids of calls; ``answered`` of those with an output, and ``late`` of those whose
            event comes after their output.
        compacted: the text of the compaction, by turn.
        copied: the thread whose records this file begins with.
        own_from: first line that is the thread's own; ``None``: only a comparison can tell.
    """

    humans: set[int] = msgspec.field(default_factory=set)
    prompted: set[int] = msgspec.field(default_factory=set)
    prompts: Counter[int] = msgspec.field(default_factory=Counter)
    replies: Counter[tuple[int, int]] = msgspec.field(default_factory=Counter)
    thoughts: set[tuple[int, int]] = msgspec.field(default_factory=set)
    ids: set[str] = msgspec.field(default_factory=set)
    calls: set[str] = msgspec.field(default_factory=set)
    answered: set[str] = msgspec.field(default_factory=set)
    late: set[str] = msgspec.field(default_factory=set)
    compacted: dict[int, str] = msgspec.field(default_factory=dict)
    copied: str | None = None
    own_from: int | None = 1


def mark(text: str) -> int:
    """Hash a text for comparison with another record of it."""
    return hash(text.strip())


def take_survey(lines: Iterable[Line], thread: str) -> Survey:
    """Look through a file.

    Args:
        lines: the file's records.
        thread: id of the thread, for files whose first record does not say.
    """
    survey = Survey()
    turn = 0
    start: int | None = None
    own_turn = own_ordinal = NEVER
    turns_have_ids = False
    for records, line in enumerate(lines, 1):
        kind, payload = line.kind, line.payload
        if kind == "session_meta":
            if records == 1:
                thread = text_of(payload, "id") or thread
                declared = payload.get("subagent_history_start_ordinal")
                start = declared if isinstance(declared, int) else None
            elif records == 2 and text_of(payload, "id") not in ("", thread):
                survey.copied = text_of(payload, "id")
        elif kind == "response_item":
            _look_at_item(survey, line, turn)
        elif kind == "compacted":
            survey.compacted[turn] = text_of(payload, "message")
        elif kind == "event_msg":
            turn += line.sub in TURN_STARTS
            _look_at_event(survey, line, turn)
        if kind == "turn_context" or line.sub in TURN_STARTS:
            identity = text_of(payload, "turn_id")
            turns_have_ids = turns_have_ids or bool(identity)
            if identity > thread and _UUID7.fullmatch(identity) and _UUID7.fullmatch(thread):
                own_turn = min(own_turn, line.record.line)
        if start is not None and line.ordinal is not None and line.ordinal >= start:
            own_ordinal = min(own_ordinal, line.record.line)
    if survey.copied is not None:
        survey.own_from = own_ordinal if start is not None else own_turn
        if start is None and not turns_have_ids:
            survey.own_from = None
    return survey


def compare(path: str, parent: str) -> int:
    """Return the first line of a fork that is not a copy of its parent's.

    For versions whose turns have no ids (up to 0.98): the copy is a prefix of the parent's
    records with other timestamps, written without a pause.
    """
    before: int | None = None
    originals = read_lines(parent, Integrity())
    try:
        for line in read_lines(path, Integrity()):
            if line.record.line == 1:
                continue
            now = parse_instant(line.ts)
            paused = before is not None and now is not None and now - before > REPLAY_GAP
            original = next(originals, None)
            if paused or original is None or _content(line) != _content(original):
                return line.record.line
            before = now
    except SourceError:
        return 1
    return NEVER


def _content(line: Line) -> object:
    return line.kind, line.payload


def _look_at_item(survey: Survey, line: Line, turn: int) -> None:
    payload = line.payload
    if line.sub == "message":
        texts = message_texts(payload)
        if text_of(payload, "role") == "assistant":
            survey.replies[turn, mark("\n".join(texts))] += 1
            survey.ids.add(text_of(payload, "id"))
        elif text_of(payload, "role") == "user":
            marks = {mark("\n".join(texts)), *map(mark, texts)}
            survey.prompts.update(marks)
    elif line.sub == "reasoning":
        survey.ids.add(text_of(payload, "id"))
        parts = [*listing(payload, "summary"), *listing(payload, "content")]
        texts = [text_of(part, "text") for part in parts if isinstance(part, dict)]
        survey.thoughts.update((turn, mark(text)) for text in (*texts, "\n\n".join(texts)))
    elif line.sub.endswith("_call"):
        survey.calls.add(text_of(payload, "call_id") or text_of(payload, "id"))
    elif line.sub.endswith("_output"):
        survey.answered.add(text_of(payload, "call_id"))


def _look_at_event(survey: Survey, line: Line, turn: int) -> None:
    payload = line.payload
    item = tool_item(line)
    if item is not None:
        if text_of(item, "id") in survey.answered:
            survey.late.add(text_of(item, "id"))
        return
    spoken = mapping(payload, "item")
    if line.sub == "user_message":
        texts = [text_of(payload, "message")]
    elif line.sub == "item_completed" and text_of(spoken, "type") == "UserMessage":
        texts = message_texts(spoken)
    else:
        return
    survey.prompted.add(turn)
    survey.humans.update(map(mark, (*texts, "\n".join(texts))))
