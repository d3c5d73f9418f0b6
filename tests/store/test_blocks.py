"""Blocks give back exactly what was cut into them."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from store.homes import WORDS

from agtail.model import KINDS, Blob, Event, Result, Source, Usage
from agtail.search.fold import fold
from agtail.search.haystack import haystack
from agtail.store import blocks
from agtail.store.blocks import Block, cut, kinds_mask, read_events, read_hay

ANY_SIZE = settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))

texts = st.one_of(
    st.text(max_size=40),  # without lone surrogates: records come without them
    st.lists(st.sampled_from([w for w in WORDS if w != "\ud83d"]), max_size=6).map(" ".join),
)
names = st.none() | texts
times = st.none() | st.integers(-(2**63), 2**63 - 1)
numbers = st.integers(-(2**63), 2**64 - 1)
json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | numbers | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)
sources = st.builds(Source, line=times, offset=times, length=times, path=names, row=names)
results = st.builds(
    Result,
    text=texts,
    is_error=st.none() | st.booleans(),
    detail=json_values,
    before=names,
    ts=names,
    src=st.none() | sources,
)
counters = st.integers(0, 2**50)
events = st.builds(
    Event,
    kind=st.sampled_from(KINDS),
    ts=names,
    time=times,
    role=st.sampled_from((None, "user", "assistant", "system")),
    text=names,
    tool=names | st.sampled_from(("Bash", "Read", "Task")),
    tool_use_id=names,
    input=json_values,
    summary=names,
    result=st.none() | results,
    hook_event=names,
    command=names,
    model=names,
    message_id=names,
    usage=st.none()
    | st.builds(Usage, input_tokens=counters, reasoning_tokens=st.none() | counters),
    images=st.lists(st.builds(Blob, media_type=texts, size=times, sha256=names), max_size=2),
    raw=json_values,
    src=st.none() | sources,
    sidechain=st.booleans(),
    inherited=st.booleans(),
    rewound=st.booleans(),
    compact=st.booleans(),
    bookkeeping=st.booleans(),
)


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "TEXT", 64)
    monkeypatch.setattr(blocks, "EVENTS", 5)


def opened(block: Block) -> list[Event]:
    return read_events(read_hay(block.hay), block.rest)


def numbered(made: list[Event], first: int = 0) -> list[Event]:
    return [msgspec.structs.replace(event, seq=seq) for seq, event in enumerate(made, first)]


def plainly(made: list[Event]) -> bytes:
    """Write events so that two are the same only if they are, to the sign of a zero."""
    return msgspec.msgpack.encode(made)


@ANY_SIZE
@given(st.lists(events, max_size=12), st.integers(0, 2**40))
def test_events_come_back_as_they_were(made: list[Event], first: int) -> None:
    before = numbered(made, first)
    written = plainly(before)
    pieces = list(cut(before, first))
    assert plainly(before) == written, "cutting changes nothing"
    assert [piece.first for piece in pieces] == positions(pieces, first)
    after = [event for piece in pieces for event in opened(piece)]
    assert after == before
    assert plainly(after) == written


def positions(pieces: list[Block], first: int) -> list[int]:
    starts = []
    for piece in pieces:
        starts.append(first)
        first += piece.events
    return starts


@ANY_SIZE
@given(st.lists(events, min_size=1, max_size=12))
def test_blocks_say_what_a_search_has_to_know(made: list[Event]) -> None:
    left = numbered(made)
    for piece in cut(left):
        own, left = left[: piece.events], left[piece.events :]
        moments = [event.time for event in own if event.time is not None]
        known = len(moments) == len(own)
        assert piece.kinds == kinds_mask(event.kind for event in own)
        assert piece.time_min == (min(moments) if known else None)
        assert piece.time_max == (max(moments) if known else None)
        hay = read_hay(piece.hay)
        found = list(hay.haystacks())
        assert [index for index, _, _ in found] == list(range(len(own)))
        for event, (_, card, data) in zip(own, found, strict=True):
            assert data.decode() == haystack(event)
            assert (card.kind, card.tool, card.time) == (event.kind, event.tool, event.time)
            assert (card.inherited, card.bookkeeping) == (event.inherited, event.bookkeeping)
            assert fold(haystack(event)).encode() in piece.folded
    assert left == []


@ANY_SIZE
@given(st.lists(events, min_size=1, max_size=12))
def test_what_is_called_plain_folds_by_lower_case_of_ascii(made: list[Event]) -> None:
    for piece in cut(numbered(made)):
        hay = read_hay(piece.hay)
        text = hay.data.decode()
        assert hay.plain <= (fold(text) == text.lower())
        ascii_only = [letter if letter.isascii() else "-" for letter in fold(text)]
        lowered = [letter if letter.isascii() else "-" for letter in hay.data.lower().decode()]
        assert hay.plain <= (ascii_only == lowered)


def test_blocks_are_closed_by_text_and_by_number() -> None:
    said = [Event(kind="text", text="x" * 40) for _ in range(4)]
    silent = [Event(kind="thinking") for _ in range(7)]
    assert [piece.events for piece in cut(numbered(said))] == [2, 2]
    assert [piece.events for piece in cut(numbered(silent))] == [5, 2]
    assert list(cut([])) == []
