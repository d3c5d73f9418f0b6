from __future__ import annotations

from collections.abc import Callable

import pytest

from agtail.cli.listing import Row, arranged, lines
from agtail.cli.terminal import Span, cells, fitted
from agtail.cli.wording import Wording
from agtail.model import Integrity, Session

Sessions = Callable[..., Session]


def texts(row: Row, wording: Wording, width: int | None = None) -> list[str]:
    return ["".join(span.text for span in line) for line in lines(row, wording, width)]


def order(sessions: list[Session]) -> list[tuple[str, int, bool]]:
    return [(row.session.id, row.depth, row.orphan) for row in arranged(sessions)]


def test_two_lines(wording: Wording, session: Sessions) -> None:
    assert texts(Row(session()), wording) == [
        "claude 11111111  05-01 08:00:19     3 msg  /work/pears",
        "         Count the pears",
    ]


def test_marks_before_the_title_and_caveats_below(wording: Wording, session: Sessions) -> None:
    odd = session(
        archived=True, programmatic=True, origin="sdk-ts", agent_name="Explore", ending="error"
    )
    assert texts(Row(odd), wording)[1:] == [
        "         🗄 archived 🤖 sdk-ts [Explore] Count the pears",
        "         ⏹ error",
    ]


def test_a_child_is_indented_by_its_depth(wording: Wording, session: Sessions) -> None:
    child = session("agent-x1", is_subagent=True, parent_id="11111111-aaaa")
    assert texts(Row(child, depth=1), wording) == [
        "  ↳ claude agent-x1  05-01 08:00:19     3 msg  /work/pears",
        "               Count the pears",
    ]
    assert texts(Row(child, depth=2), wording)[0].startswith("      ↳ claude agent-x1")


def test_an_orphan_says_whose_child_it_is(wording: Wording, session: Sessions) -> None:
    orphan = session("agent-x1", is_subagent=True, parent_id="99999999-gone", agent_name="Plan")
    assert texts(Row(orphan, depth=1, orphan=True), wording)[1] == (
        "               [Plan] (of 99999999, not listed) Count the pears"
    )


def test_what_is_missing(wording: Wording, session: Sessions) -> None:
    bare = session(title=None, cwd=None, ended=None, messages=0)
    assert texts(Row(bare), wording) == [
        "claude 11111111" + " " * 21 + "0 msg  ?",
        "         (no prompt)",
    ]


def test_an_unreadable_session_is_listed_with_its_size(wording: Wording, session: Sessions) -> None:
    lost = session(title=None, integrity=Integrity(unreadable="permission denied", size=1234))
    assert texts(Row(lost), wording)[1:] == ["         ✗ unreadable: permission denied · 1.2 kB"]


def test_children_follow_their_parents_and_orphans_come_last(session: Sessions) -> None:
    def child(name: str, parent: str, spawner: str | None = None) -> Session:
        return session(name, is_subagent=True, parent_id=parent, parent_agent_id=spawner)

    listed = [
        child("lost", "gone"),
        session("new"),
        child("old-1", "old"),
        child("old-1-1", "old", "old-1"),
        child("old-2", "old", "gone"),
        session("old"),
    ]
    assert order(listed) == [
        ("new", 0, False),
        ("old", 0, False),
        ("old-1", 1, False),
        ("old-1-1", 2, False),
        ("old-2", 1, False),
        ("lost", 1, True),
    ]


def test_parents_in_a_circle_lose_nothing(session: Sessions) -> None:
    listed = [
        session("a", is_subagent=True, parent_id="b"),
        session("b", is_subagent=True, parent_id="a"),
        session("self", is_subagent=True, parent_id="self"),
    ]
    assert sorted(name for name, _, _ in order(listed)) == ["a", "b", "self"]


def test_one_id_in_two_agents_does_not_mix_families(session: Sessions) -> None:
    listed = [
        session("a", agent="codex"),
        session("child", agent="claude-code", is_subagent=True, parent_id="a"),
    ]
    assert order(listed) == [("a", 0, False), ("child", 1, True)]


@pytest.mark.parametrize("width", [80, 200])
@pytest.mark.parametrize("title", ["short", "x" * 300, "木" * 120, "🍐" * 120, "e\u0301" * 120])
def test_no_line_is_wider_than_the_terminal(
    wording: Wording, session: Sessions, title: str, width: int
) -> None:
    long = session(title=title, cwd="/very" * 30 + "/木/pears", archived=True, ending="limit")
    for line in lines(Row(long, depth=1), wording, width):
        shown = fitted(line, width)
        assert cells("".join(span.text for span in shown)) <= width
    path = next(lines(Row(long), wording, width))[-1]
    assert isinstance(path, Span)
    assert path.text.endswith("/木/pears")
