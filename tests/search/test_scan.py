"""Hits: which, in which order, how many, with what around them, and in what form."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from search.build import answer, call, said, transcript, unit

from agtail.agents.base import Title
from agtail.assemble import Transcript
from agtail.model import Event, encode
from agtail.search.fold import fold
from agtail.search.haystack import haystack
from agtail.search.query import Query
from agtail.search.scan import Hit, counts, scan, sessions_with


def named(name: str, *texts: str) -> Transcript:
    return transcript(*texts, of=unit(session_id=name))


def places(hits: Iterable[Hit]) -> list[tuple[str, int]]:
    return [(hit.session_id, hit.seq) for hit in hits]


def around(hits: Iterable[Hit]) -> list[tuple[list[int], int, list[int]]]:
    return [
        ([event.seq for event in hit.before], hit.seq, [event.seq for event in hit.after])
        for hit in hits
    ]


def watched(*transcripts: Transcript) -> tuple[Iterator[Transcript], list[str]]:
    """Return the transcripts, and the ids of those that were asked for."""
    read: list[str] = []

    def reading() -> Iterator[Transcript]:
        for each in transcripts:
            read.append(each.session.id)
            yield each

    return reading(), read


def test_hits_come_in_the_order_of_transcripts_then_events() -> None:
    found = scan(Query.of("pear"), [named("b", "pear", "fig", "Pears"), named("a", "a pear")])
    assert places(found) == [("b", 0), ("b", 2), ("a", 0)]


def test_the_limit_ends_the_scan_without_reading_on() -> None:
    for limit, expected in ((1, [("a", 0)]), (2, [("a", 0), ("a", 1)])):
        transcripts, read = watched(named("a", "x", "x"), named("b", "x"))
        assert places(scan(Query.of("x", limit=limit), transcripts)) == expected
        assert read == ["a"]
    assert len(list(scan(Query.of("x", limit=0), [named("a", "x", "x")]))) == 2


def test_closing_ends_the_work() -> None:
    transcripts, read = watched(named("a", "x"), named("b", "x"))
    hits = scan(Query.of("x"), transcripts)
    next(hits)
    hits.close()  # type: ignore[attr-defined]
    assert list(hits) == []
    assert read == ["a"]


def test_a_session_that_is_not_wanted_is_not_looked_into() -> None:
    class Untouchable:
        session = named("a").session

        @property
        def events(self) -> Any:
            raise AssertionError

    sessions: Any = [Untouchable()]
    query = Query.of(cwds="elsewhere")
    assert list(scan(query, sessions)) == []
    assert list(counts(query, sessions)) == []
    assert list(sessions_with(query, sessions)) == []


def test_the_wire_form_has_the_documented_fields_first() -> None:
    call_event = call("Bash", {"command": "ls pears"})
    call_event.ts = "2026-05-04T10:00:00Z"
    call_event.model = "gpt"
    whole = transcript(
        Title("A title", 4),
        call_event,
        of=unit(session_id="one", archived=True, imported_from="old", parent_id="up"),
        cwd="/home/dev",
    )
    (hit,) = scan(Query.of("pears"), [whole])
    assert list(json.loads(encode(hit)).items()) == [
        ("agent", "codex"),
        ("sessionId", "one"),
        ("path", "/home/dev/one.jsonl"),
        ("ts", "2026-05-04T10:00:00Z"),
        ("kind", "tool_use"),
        ("tool", "Bash"),
        ("cwd", "/home/dev"),
        ("archived", True),
        ("snippet", 'Bash ls pears {"command":"ls pears"}'),
        ("seq", 0),
        ("time", 1777888800000),
        ("model", "gpt"),
        ("title", "A title"),
        ("isSubagent", True),
        ("parentId", "up"),
        ("importedFrom", "old"),
        ("match", [8, 13]),
    ]


def test_what_is_unknown_is_absent() -> None:
    (hit,) = scan(Query.of(), [transcript(Event(kind="text", text="hello"))])
    assert json.loads(encode(hit)) == {
        "agent": "codex",
        "sessionId": "one",
        "path": "/home/dev/one.jsonl",
        "kind": "text",
        "snippet": "hello",
        "seq": 0,
        "title": "hello",
    }


def test_the_match_is_marked_in_the_snippet() -> None:
    text = "漢 \n\n" * 50 + "Straße  needle\tend" + " tail" * 40
    (hit,) = scan(Query.of("STRAẞE  NEEDLE"), [transcript(text)])
    assert hit.match is not None
    assert hit.snippet[slice(*hit.match)] == "Straße needle"


def test_the_empty_pattern_finds_all_that_has_text_and_all_calls() -> None:
    whole = transcript(
        "said", Event(kind="system"), Event(kind="tool_use"), Event(kind="tool_use", tool="Stop")
    )
    hits = list(scan(Query.of(), [whole]))
    assert [(hit.seq, hit.snippet) for hit in hits] == [(0, "said"), (2, ""), (3, "Stop")]
    assert places(scan(Query.of("x*", regex=True), [whole])) == places(hits)


def test_a_match_among_blanks_leaves_nothing_to_show() -> None:
    whole = transcript(call("Bash", {"command": "x"}, "c"), answer("c", "y" + " " * 300 + "\n\n"))
    (hit,) = scan(Query.of(r"[ \n]{100}\z", regex=True), [whole])
    assert hit.snippet == "…"
    assert hit.match is None


def test_results_hooks_and_unknown_records_are_found() -> None:
    whole = transcript(
        call("Bash", {"command": "ls"}, "c"),
        Event(kind="hook", text="label", command="guard.sh", raw={"a": ["injected context"]}),
        Event(kind="unknown", text="odd", raw={"deep": {"er": "buried words"}}),
        Event(kind="system", text="mode", bookkeeping=True, raw={"x": "hidden words"}),
        answer("c", "printed", {"patch": "+ added line"}),
    )
    assert [
        [hit.seq for hit in scan(Query.of(pattern), [whole])]
        for pattern in ("printed", "added line", "guard.sh", "injected", "words", "mode")
    ] == [[0], [0], [1], [1], [2], []]
    assert places(scan(Query.of("mode", kinds="system"), [whole])) == [("one", 3)]
    assert places(scan(Query.of("hidden", kinds="system"), [whole])) == []


def test_context_is_given_once_and_ends_at_the_next_hit() -> None:
    whole = named("a", *"..x..x.x.....")
    found = scan(Query.of("x"), [whole], before=2, after=3)
    assert around(found) == [([0, 1], 2, [3, 4]), ([], 5, [6]), ([], 7, [8, 9, 10])]
    assert around(scan(Query.of("x"), [whole], before=1)) == [
        ([1], 2, []),
        ([4], 5, []),
        ([6], 7, []),
    ]
    assert around(scan(Query.of("x"), [whole], after=1)) == [
        ([], 2, [3]),
        ([], 5, [6]),
        ([], 7, [8]),
    ]


def test_context_stays_in_its_session_and_skips_bookkeeping() -> None:
    state = Event(kind="system", text="state", bookkeeping=True)
    one = transcript("a", state, "x", of=unit(session_id="one"))
    two = transcript("b", "x", Event(kind="system", text="c"), of=unit(session_id="two"))
    hits = list(scan(Query.of("x", kinds="text"), [one, two], before=5, after=5))
    assert around(hits) == [([0], 2, []), ([0], 1, [2])]
    (hit,) = scan(Query.of("state", kinds="system"), [one], before=1, after=1)
    assert around([hit]) == [([0], 1, [2])]
    assert "before" in json.loads(encode(hit))


def test_after_the_last_hit_of_the_limit_its_context_is_still_read() -> None:
    transcripts, read = watched(named("a", *"x.x.x"), named("b", "x"))
    found = scan(Query.of("x", limit=2), transcripts, before=1, after=2)
    # What follows the last hit is context even where it would match.
    assert around(found) == [([], 0, [1]), ([], 2, [3, 4])]
    assert read == ["a"]


def test_counts_name_the_sessions_in_which_something_matches() -> None:
    transcripts, read = watched(
        named("a", "x", "y", "x"), named("b", "y"), named("c", "x"), named("d", "x")
    )
    found = counts(Query.of("x", limit=2), transcripts)
    assert [(each.id, number) for each, number in found] == [("a", 2), ("c", 1)]
    assert read == ["a", "b", "c"]


def test_sessions_with_gives_the_first_hit_of_each() -> None:
    transcripts, read = watched(
        named("a", "y", "x", "x"), named("b", "y"), named("c", "x"), named("d", "x")
    )
    assert places(sessions_with(Query.of("x", limit=2), transcripts)) == [("a", 1), ("c", 0)]
    assert read == ["a", "b", "c"]
    assert len(list(sessions_with(Query.of("x"), [named("a", "x"), named("b", "x")]))) == 2


@pytest.mark.parametrize(
    "pattern", ["日本", "本語", "語テ", "テスト", "getUser", "serNam", "中文搜索"]
)
def test_parts_of_phrases_without_blanks_are_found(pattern: str) -> None:
    whole = transcript("これは日本語テストです。getUserNameById 中文搜索测试")
    (hit,) = scan(Query.of(pattern), [whole])
    assert hit.match is not None
    assert hit.snippet[slice(*hit.match)] == pattern


@pytest.mark.parametrize(
    "pattern",
    [
        *("@nasa", "a=b", "foo&bar", "50%", "a/b", "it's", '"quoted"', "x-y", "-z", "a AND (b"),
        *("NEAR/2", "*", "?", "^$", "a.b", "[x]", "{1}", "c:\\dir", "\\", "a:b", "~", "`x`"),
        *("$HOME", "#1", ";--"),
    ],
)
def test_punctuation_is_text(pattern: str) -> None:
    whole = transcript(f"before {pattern} after", "nothing of the kind")
    assert [hit.seq for hit in scan(Query.of(pattern), [whole])] == [0]


def test_only_expressions_load_the_engine() -> None:
    """A literal search has to run where only msgspec and the standard library are."""
    script = """
import sys
from agtail.search.query import Query
from agtail.search.scan import scan
assert list(scan(Query.of("x", case="smart", tools="a*"), [])) == []
assert not {"re2", "zstandard", "rich", "click", "numpy"} & set(sys.modules)
Query.of("x", regex=True)
assert "re2" in sys.modules
"""
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


TEXTS = st.lists(st.text(st.sampled_from("aAsſßσΣé漢 \n.*"), max_size=8), max_size=5)


@given(TEXTS, st.text(st.sampled_from("aAsſßσΣé漢 \n.*"), max_size=3))
def test_a_literal_search_equals_its_definition(texts: list[str], pattern: str) -> None:
    whole = transcript(*texts)
    defined = [
        event.seq
        for event in whole.events
        if haystack(event) and fold(pattern) in fold(haystack(event))
    ]
    assert [hit.seq for hit in scan(Query.of(pattern), [whole])] == defined


@given(
    st.lists(st.sampled_from("x.b"), max_size=20),
    st.integers(0, 3),
    st.integers(0, 3),
    st.integers(0, 4),
)
def test_context_equals_its_definition(
    letters: list[str], before: int, after: int, limit: int
) -> None:
    """Every neighbour of a hit is given exactly once, and nothing else is."""
    whole = transcript(
        *(
            Event(kind="system", text=letter, bookkeeping=True) if letter == "b" else said(letter)
            for letter in letters
        )
    )
    matching = [seq for seq, letter in enumerate(letters) if letter == "x"]
    hits = matching[:limit] if limit else matching
    shown = {seq for seq, letter in enumerate(letters) if letter != "b"}
    wanted = set(hits)
    for hit in hits:
        wanted |= set(sorted(seq for seq in shown if seq < hit)[::-1][:before])
        wanted |= set(sorted(seq for seq in shown if seq > hit)[:after])
    given_out = [
        seq
        for lead, hit, tail in around(
            scan(Query.of("x", limit=limit), [whole], before=before, after=after)
        )
        for seq in (*lead, hit, *tail)
    ]
    assert given_out == sorted(wanted)
