"""Every adapter keeps everything: checked from the outside over every corpus."""

from __future__ import annotations

import re
from collections import Counter

import msgspec
import pytest
from conformance.kit import (
    Scenario,
    losses,
    reading,
    scenarios,
    source_lines,
    source_record,
)

from agtail.assemble import Transcript
from agtail.model import Event, Session, Usage, encode
from agtail.records import read_slice

pytestmark = pytest.mark.parametrize("scenario", scenarios(), ids=str)


def names_of(transcript: Transcript, events: list[Event]) -> list[str]:
    """Return the names by which people would ask for these events."""
    session = transcript.session
    return [f"{session.agent}:{session.id}#{event.seq}" for event in events]


def test_no_string_is_lost(scenario: Scenario) -> None:
    assert losses(scenario).unexcused == []


def test_reading_changes_nothing_and_warns_of_nothing(scenario: Scenario) -> None:
    read = reading(scenario)
    assert read.changed == []
    assert read.warnings == []


def test_every_transcript_file_is_found(scenario: Scenario) -> None:
    read = reading(scenario)
    found = {part for unit in read.units for part in (unit.parts or (unit.path,))}
    excluded = " ".join(scenario.expected.get("notSessions", ()))
    missed = [
        path.relative_to(read.home).as_posix()
        for path in read.home.rglob("*.jsonl*")
        if str(path) not in found and path.name not in excluded
    ]
    assert missed == []


def test_every_line_is_kept_or_counted(scenario: Scenario) -> None:
    for unit in (read := reading(scenario)).units:
        parts = [part for part in unit.parts or (unit.path,) if ".jsonl" in part]
        bad = sum(
            source_record(line) is None
            for part in parts
            for _, line in source_lines(read.home / part)
        )
        counted = [
            health.dropped if (health := transcript.session.integrity) else 0
            for transcript in read.transcripts
            if transcript.session.path == unit.path
        ]
        assert not counted or sum(counted) == bad, unit.path


def test_events_are_numbered_and_lead_to_their_records(scenario: Scenario) -> None:
    for transcript in reading(scenario).transcripts:
        events = list(transcript.events)
        assert [event.seq for event in events] == list(range(len(events)))
        assert transcript.session.event_count == len(events)
        assert names_of(transcript, [event for event in events if event.src is None]) == []
        for event in events:
            src = event.src
            if src is not None and src.offset is not None and src.length is not None:
                raw = read_slice(src.path or transcript.session.path, src.offset, src.length)
                assert source_record(raw) is not None, names_of(transcript, [event])


def test_results_are_folded_into_their_calls(scenario: Scenario) -> None:
    for transcript in reading(scenario).transcripts:
        open_calls = {
            event.tool_use_id
            for event in transcript.events
            if event.kind == "tool_use" and event.result is None
        }
        orphans = [
            event
            for event in transcript.events
            if event.kind == "tool_result" and event.tool_use_id in open_calls
        ]
        assert names_of(transcript, orphans) == []


def test_usage_is_charged_once_over_the_whole_home(scenario: Scenario) -> None:
    by_session, by_event = Usage(), Usage()
    carriers: Counter[str] = Counter()
    for transcript in reading(scenario).transcripts:
        session = transcript.session
        by_session += session.usage or Usage()
        assert sum(session.model_usage.values(), Usage()).total == (session.usage or Usage()).total
        for event in transcript.events:
            if event.usage is not None and not event.inherited:
                by_event += event.usage
                if event.message_id is not None:
                    carriers[event.message_id] += 1
    assert by_session == by_event
    assert [key for key, count in carriers.items() if count > 1] == []


def test_titles_are_human(scenario: Scenario) -> None:
    injected = re.compile(r"<|\[|Caveat|# AGENTS\.md|.*</?(system-reminder|command-name)")
    titles = [each.session.title or "" for each in reading(scenario).transcripts]
    assert [title for title in titles if injected.match(title)] == []
    assert [title for title in titles if "\n" in title or len(title) > 120] == []


def test_sessions_end_after_they_started(scenario: Scenario) -> None:
    for transcript in reading(scenario).transcripts:
        session = transcript.session
        assert (session.started_time is None) == (session.ended_time is None)
        assert (session.started_time or 0) <= (session.ended_time or 0)


def test_everything_survives_the_wire(scenario: Scenario) -> None:
    for transcript in reading(scenario).transcripts:
        session = transcript.session
        assert msgspec.json.decode(encode(session), type=Session) == session
        for event in transcript.events:
            assert msgspec.json.decode(encode(event), type=Event) == event
