"""The one parser of filters, and what each filter lets through."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from search.build import call, said, transcript, unit

from agtail.agents import agent_ids
from agtail.errors import ChoiceError, CountError, DateError, PatternError, UsageError
from agtail.model import KINDS, Event, Integrity, Session
from agtail.search.query import Query


@pytest.fixture
def in_tokyo(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def session(**facts: Any) -> Session:
    return Session(agent="codex", id="one", path="/one.jsonl", **facts)


def at(ts: str | None) -> Event:
    return transcript(said("stamp", ts)).events[0]


def test_the_plain_query_wants_everything() -> None:
    query = Query.of()
    assert query == Query.of("", agents="", kinds=" ", since="", until="", source="", limit="0")
    assert query.wants_unit(unit(archived=True, imported_from="old"))
    assert query.wants_session(session())
    assert query.wants_event(at(None))
    assert query.find("") == (0, 0)


@pytest.mark.parametrize(
    ("filters", "valid"),
    [
        ({"kinds": "nope"}, KINDS),
        ({"kinds": "text,"}, KINDS),
        ({"kinds": ","}, KINDS),
        ({"kinds": ["text", "Thinking"]}, KINDS),
        ({"agents": "codex, nobody"}, agent_ids()),
        ({"archived": "maybe"}, ("all", "only", "none")),
        ({"programmatic": ""}, ("all", "only", "none")),
        ({"case": "upper"}, ("ignore", "match", "smart")),
    ],
)
def test_a_value_outside_a_list_is_named_with_the_list(filters: Any, valid: Any) -> None:
    with pytest.raises(ChoiceError) as caught:
        Query.of(**filters)
    assert str(caught.value).endswith(f"(valid: {', '.join(valid)})")


@pytest.mark.parametrize("limit", ["abc", "-1", "1.5", "", "1e3", "٣", "9" * 5000, -1])
def test_a_limit_is_a_whole_number(limit: int | str) -> None:
    with pytest.raises(CountError, match="limit must be a whole number from 0 on"):
        Query.of(limit=limit)


def test_limits_that_are_whole_numbers() -> None:
    assert [Query.of(limit=limit).limit for limit in (0, 3, "0", " 12 ")] == [0, 3, 0, 12]


@pytest.mark.parametrize("bound", ["since", "until"])
@pytest.mark.parametrize("text", ["zzz", "2026-13-01", "2026-02-30", " "])
def test_a_bad_date_is_a_mistake_in_the_question(bound: str, text: str) -> None:
    with pytest.raises(DateError):
        Query.of(**{bound: text})  # type: ignore[arg-type]


def test_a_bad_expression_is_a_mistake_in_the_question() -> None:
    with pytest.raises(PatternError):
        Query.of("(", regex=True)
    assert Query.of("(").find("a(b") == (1, 2)


def test_names_in_one_text_or_several_with_blanks_around_commas() -> None:
    expected = Query.of(kinds=["thinking", "system"])
    assert Query.of(kinds="thinking, system") == expected
    assert Query.of(kinds=["system ,thinking"]) == expected
    assert Query.of(kinds=("thinking", "system,thinking")) == expected
    both = Query.of(agents="codex , claude-code")
    assert both.agents == {"codex", "claude-code"}


def test_case_ignored_matched_or_smart() -> None:
    def found(pattern: str, case: str, *, regex: bool = False) -> bool:
        return Query.of(pattern, case=case, regex=regex).find("Pears élan") is not None

    assert found("PEARS ÉLAN", "ignore")
    assert not found("pears", "match")
    assert found("Pears", "match")
    assert found("pears", "smart")
    assert not found("PEARS", "smart")
    assert found("Pears", "smart")
    assert found(r"pears\S?\s", "smart", regex=True)
    assert not found(r"PEARS\s", "smart", regex=True)


def test_units_are_left_out_by_what_is_known_before_reading() -> None:
    assert not Query.of(agents="claude-code").wants_unit(unit("codex"))
    assert Query.of(agents="codex").wants_unit(unit("codex"))
    assert not Query.of(archived="none").wants_unit(unit(archived=True))
    # A record inside may say so; the session decides.
    assert Query.of(archived="only").wants_unit(unit(archived=False))
    assert Query.of(source="@local").wants_unit(unit())
    assert not Query.of(source="@local").wants_unit(unit(imported_from="old"))
    assert Query.of(source="old").wants_unit(unit(imported_from="old"))
    assert not Query.of(source="old").wants_unit(unit())
    assert not Query.of(source="old").wants_unit(unit(imported_from="older"))


def test_signals_choose_sessions() -> None:
    cut = session(ending="interrupted", compactions=2)
    torn = session(integrity=Integrity(dropped=1))
    clean = session()
    every = [cut, torn, clean]

    def wanted(**filters: Any) -> list[Session]:
        query = Query.of(**filters)
        assert query.about_sessions
        return [each for each in every if query.wants_session(each)]

    assert wanted(endings="interrupted") == wanted(endings=["limit,interrupted"]) == [cut]
    assert wanted(endings="error") == []
    assert wanted(damaged="only") == [torn]
    assert wanted(damaged="none") == [cut, clean]
    assert wanted(compacted="only") == [cut]
    with pytest.raises(ChoiceError, match="unknown ending: done"):
        Query.of(endings="done")


@pytest.mark.parametrize("name", ["archived", "programmatic"])
def test_all_only_none(name: str) -> None:
    verdicts = {
        choice: [
            Query.of(**{name: choice}).wants_session(session(**{name: marked}))  # type: ignore[arg-type]
            for marked in (True, False)
        ]
        for choice in ("all", "only", "none")
    }
    assert verdicts == {"all": [True, True], "only": [True, False], "none": [False, True]}


def test_an_unknown_launch_counts_as_a_human_one() -> None:
    unknown = session(programmatic=None)
    assert Query.of(programmatic="none").wants_session(unknown)
    assert not Query.of(programmatic="only").wants_session(unknown)


def test_models_any_of_the_sessions_whole_or_by_glob() -> None:
    used = session(models=["opus-4-1", "sonnet-4-5"], model="opus-4-1")
    for wanted in (["sonnet-4-5"], ["nope", "opus-4-1"], ["sonnet*"], "OPUS-*"):
        assert Query.of(models=wanted).wants_session(used)
    for wanted in (["sonnet"], ["sonnet-4-?"], ["nope"]):
        assert not Query.of(models=wanted).wants_session(used)
    assert not Query.of(models="*").wants_session(session())


def test_folders_any_of_the_parts_folded() -> None:
    there = session(cwd="/home/dev/Órchard/ODD")
    assert Query.of(cwds=["nope", "óRCHARD"]).wants_session(there)
    assert Query.of(cwds="dev/").wants_session(there)
    assert not Query.of(cwds=["orchard"]).wants_session(there)
    assert not Query.of(cwds=["dev"]).wants_session(session())


def test_sessions_are_checked_for_agent_and_source_too() -> None:
    assert not Query.of(agents="claude-code").wants_session(session())
    assert not Query.of(source="@local").wants_session(session(imported_from="old"))
    assert Query.of(source="old").wants_session(session(imported_from="old"))


def test_tools_want_calls_with_a_fitting_name() -> None:
    query = Query.of(tools=["read", "Web*"])
    assert query.wants_event(call("Read", {}))
    assert query.wants_event(call("WebFetch", {}))
    assert not query.wants_event(call("Bash", {}))
    assert not query.wants_event(Event(kind="tool_use"))
    assert not query.wants_event(Event(kind="hook", tool="Read"))
    hooks = Query.of(tools="Read", kinds="hook")
    assert not hooks.wants_event(Event(kind="hook", tool="Read"))
    assert not hooks.wants_event(call("Read", {}))


def test_copies_are_found_at_their_owner() -> None:
    copy = Event(kind="text", text="x", inherited=True)
    assert not Query.of().wants_event(copy)
    assert Query.of(inherited=True).wants_event(copy)


def test_bookkeeping_is_found_when_its_kind_is_asked_for() -> None:
    state = Event(kind="system", text="mode", bookkeeping=True)
    assert not Query.of().wants_event(state)
    assert not Query.of(kinds="text").wants_event(state)
    assert Query.of(kinds="text, system").wants_event(state)
    assert Query.of().wants_event(Event(kind="system", text="notice"))


@pytest.mark.usefixtures("in_tokyo")
def test_a_date_is_the_whole_local_day() -> None:
    query = Query.of(since="2026-05-04", until="2026-05-04")
    passing = ["2026-05-03T15:00:00.000Z", "2026-05-04T14:59:59.999Z", "2026-05-05T01:00+11:00"]
    failing = ["2026-05-03T14:59:59.999Z", "2026-05-04T15:00:00.000Z", "2026-05-04T23:00:00Z"]
    assert all(query.wants_event(at(ts)) for ts in passing)
    assert not any(query.wants_event(at(ts)) for ts in failing)


@pytest.mark.usefixtures("in_tokyo")
def test_utc_makes_it_the_day_of_utc() -> None:
    query = Query.of(since="2026-05-04", until="2026-05-04", utc=True)
    assert query.wants_event(at("2026-05-04T23:59:59.999Z"))
    assert query.wants_event(at("2026-05-05T01:00:00+09:00"))
    assert not query.wants_event(at("2026-05-03T23:59:59.999Z"))


def test_instants_are_compared_not_their_spelling() -> None:
    query = Query.of(since="2026-05-04T10:00:00.000Z", until="2026-05-04T11:00Z")
    for ts in ("2026-05-04T10:00:00Z", "2026-05-04T20:00:00+09:00", "2026-05-04T11:00:00"):
        assert query.wants_event(at(ts))
    for ts in ("2026-05-04T10:30:00+09:00", "2026-05-04T11:00:00.001Z"):
        assert not query.wants_event(at(ts))


def test_an_event_without_readable_time_always_passes() -> None:
    query = Query.of(since="2026-05-04", until="2026-05-04")
    assert query.wants_event(at(None))
    assert query.wants_event(at("yesterday-ish"))


def test_patterns_that_cannot_be_encoded_find_what_was_replaced() -> None:
    assert Query.of("a\udcff").find("a\ufffd") == (0, 2)
    assert Query.of("a\udcff", regex=True).find("a\ufffd") == (0, 2)


WORDS = st.text(max_size=20) | st.text(st.characters(categories=["Cs"]), max_size=3)


def mostly(*valid: str) -> st.SearchStrategy[str]:
    return st.sampled_from(valid) | st.sampled_from(valid) | WORDS


LISTS = {
    "agents": mostly("codex", "codex , claude-code"),
    "kinds": mostly("text", "text, hook"),
    **dict.fromkeys(["tools", "models", "cwds"], WORDS),
}


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "pattern": WORDS,
            "regex": st.booleans(),
            "case": mostly("ignore", "match", "smart"),
            "since": mostly("2d", "2026-05-04"),
            "until": mostly("now", "yesterday"),
            "source": mostly("@local", ""),
            "archived": mostly("all", "only", "none"),
            "programmatic": mostly("all", "only", "none"),
            "damaged": mostly("all", "only", "none"),
            "compacted": mostly("all", "only", "none"),
            "endings": mostly("", "interrupted", "limit,error"),
            "limit": mostly("0", "5") | st.integers(),
            **{name: words | st.lists(words, max_size=3) for name, words in LISTS.items()},
        },
    )
)
def test_whatever_is_asked_it_is_a_query_or_a_usage_error(filters: dict[str, Any]) -> None:
    try:
        query = Query.of(**filters)
    except UsageError:
        return
    query.wants_unit(unit())
    query.wants_session(session(cwd="/", models=["gpt"]))
    query.wants_event(call("Bash", {}))
    place = query.find("some text")
    assert place is None or 0 <= place[0] <= place[1] <= len("some text")


@given(st.text(), st.booleans())
def test_any_expression_is_compiled_or_refused(pattern: str, dotted: bool) -> None:  # noqa: FBT001
    try:
        query = Query.of(pattern, regex=True, case="smart")
    except PatternError:
        return
    text = f"漢{pattern}字" if dotted else pattern
    place = query.find(text)
    assert place is None or 0 <= place[0] <= place[1] <= len(text)
