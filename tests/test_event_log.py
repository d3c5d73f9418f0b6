"""The event log: however little memory it has, it is a list of events."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agtail.event_log import EventLog
from agtail.model import Event, Result, Source


def event(text: str) -> Event:
    return Event(kind="text", text=text, raw={"é": [text, None, 1.5]}, src=Source(length=len(text)))


steps = st.lists(
    st.one_of(
        st.text(max_size=30),  # an event to append
        st.tuples(st.integers(0, 10**6), st.text(max_size=2000)),  # an event to change
    ),
    max_size=120,
)


@given(steps, st.sampled_from([0, 1, 3000, 50_000, 10**9]))
def test_it_equals_a_list_whatever_the_budget(
    doings: list[str | tuple[int, str]], budget: int
) -> None:
    log, plain = EventLog(budget), list[Event]()
    for doing in doings:
        if isinstance(doing, str):
            assert log.append(event(doing)) == len(plain)
            plain.append(event(doing))
            plain[-1].seq = len(plain) - 1
        elif plain:
            seq, answer = doing[0] % len(plain), doing[1]
            changed = log[seq]
            changed.result = plain[seq].result = Result(text=answer, detail={"k": [answer]})
            log.update(changed)
    assert list(log) == plain
    assert len(log) == len(plain)
    assert log[1:-1:2] == plain[1:-1:2]
    for index in range(-len(plain), len(plain)):
        assert log[index] == plain[index]
    for index in (len(plain), -len(plain) - 1, 10**6, -(10**6)):
        with pytest.raises(IndexError):
            log[index]


@given(steps)
def test_memory_is_accounted_for_exactly(doings: list[str | tuple[int, str]]) -> None:
    log = EventLog(20_000)
    for doing in doings:
        if isinstance(doing, str):
            log.append(event(doing))
        elif len(log):
            changed = log[doing[0] % len(log)]
            changed.result = Result(text=doing[1])
            log.update(changed)
        assert log._held == sum(log._weights.values())
        assert log._weights.keys() == log._live.keys()
        assert log._held <= 20_000 or len(log._live) <= EventLog.KEPT


def test_an_event_may_be_filled_in_right_after_it_was_appended() -> None:
    log = EventLog(budget=0)
    for number in range(100):
        latest = event("x" * 1000)
        log.append(latest)
        latest.summary = f"summary {number}"
    assert [each.summary for each in log] == [f"summary {number}" for number in range(100)]


def test_growing_answers_make_room_too() -> None:
    log = EventLog(budget=1_000_000)
    for _ in range(200):
        log.append(event("call"))
    for seq in range(200):
        changed = log[seq]
        changed.result = Result(text="x" * 100_000)
        log.update(changed)
        assert log._held <= 1_000_000 or len(log._live) <= EventLog.KEPT
    assert {len(each.result.text) for each in log if each.result is not None} == {100_000}


def test_reading_needs_no_order() -> None:
    log = EventLog(budget=0)
    for number in range(50):
        log.append(event(str(number)))
    first, second = iter(log), iter(log)
    assert next(first).text == "0"
    assert [next(second).text for _ in range(3)] == ["0", "1", "2"]
    assert log[40].text == "40"
    assert next(first).text == "1"
