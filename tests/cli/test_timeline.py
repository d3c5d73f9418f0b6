from __future__ import annotations

from collections.abc import Callable

import pytest

from agtail.cli.timeline import Timeline, header, hidden_line
from agtail.cli.wording import Wording
from agtail.model import Blob, Event, Integrity, Result, Session, Usage

Build = Callable[..., Event]
AT = "05-01 08:00:02"
PAD = " " * 11


@pytest.fixture
def show(wording: Wording) -> Callable[..., list[str]]:
    def lines(event: Event, *, full: bool = False) -> list[str]:
        shown = Timeline(wording, full=full).lines(event)
        return ["".join(span.text for span in line) for line in shown]

    return lines


Show = Callable[..., list[str]]


def test_speakers(show: Show, event: Build) -> None:
    assert show(event(role="user", text=" hello\nyou \n")) == [f"{AT}   user: hello\n{PAD}you"]
    assert show(event(role="assistant", text="yes")) == [f"{AT}   assistant: yes"]
    assert show(event(role="user", text="go", sidechain=True)) == [f"{AT} ¦ agent: go"]
    assert show(event(role="assistant", text="gone", sidechain=True)) == [f"{AT} ¦ assistant: gone"]


def test_events_without_time(show: Show, event: Build) -> None:
    assert show(event(ts=None, role="user", text="when?")) == ["           user: when?"]
    assert show(event(ts="not a date", role="user", text="x")) == ["not a date   user: x"]


def test_marks_of_copies_and_branches(show: Show, event: Build) -> None:
    assert show(event(role="user", text="a", inherited=True)) == [f"{AT} ⊂ user: a"]
    assert show(event(role="user", text="a", rewound=True)) == [f"{AT} ⟲ user: a"]
    assert show(event(role="user", text="a", rewound=True, inherited=True)) == [f"{AT} ⊂⟲user: a"]


def test_usage_is_a_badge(show: Show, event: Build) -> None:
    spent = Usage(
        input_tokens=1000, output_tokens=10, cache_read_tokens=500, cache_creation_tokens=50
    )
    assert show(event(role="assistant", text="Reading.", usage=spent)) == [
        f"{AT}   assistant: Reading.  [1,560 tok]"
    ]
    assert show(event("thinking", text="hm", usage=spent)) == [f"{AT}   thinking hm  [1,560 tok]"]


def test_a_call_and_its_result(show: Show, event: Build) -> None:
    call = event(
        "tool_use",
        tool="Bash",
        input={"command": "wc -l\necho", "description": "count"},
        result=Result(text="120\ndone", is_error=False),
    )
    assert show(call) == [f"{AT}   ⚙ Bash  wc -l echo   « count", f"{PAD}✓ 120 done"]
    call.result = Result(text="no such file", is_error=True)
    assert show(call)[1] == f"{PAD}✗ no such file"
    call.result = Result()
    assert show(call)[1] == f"{PAD}✓"
    call.result = None
    assert len(show(call)) == 1


def test_a_result_without_its_call_is_shown(show: Show, event: Build) -> None:
    orphan = event("tool_result", result=Result(text="orphan\ntext", is_error=True))
    assert show(orphan) == [f"{AT}   ✗ orphan text  (its call is not recorded)"]


def test_hooks(show: Show, event: Build) -> None:
    hook = event("hook", hook_event="PreToolUse", tool="Bash", plugin="guard", text="guard.sh")
    assert show(hook) == [f"{AT}   🪝 PreToolUse [guard] Bash  guard.sh"]
    assert show(event("hook", text="x")) == [f"{AT}   🪝 ?  x"]


def test_other_kinds(show: Show, event: Build) -> None:
    assert show(event("summary", text="Pear ledger")) == [f"{AT} — Pear ledger"]
    assert show(event("system", text="model set\nto opus")) == [f"{AT}   system model set to opus"]
    assert show(event("unknown", text="relic")) == [f"{AT}   ? relic"]
    assert show(event("unknown")) == [f"{AT}   ?"]


def test_compactions_and_images_have_lines_of_their_own(show: Show, event: Build) -> None:
    image = Blob(media_type="image/png", size=1234)
    assert show(event("system", text="squeezed", compact=True, images=[image])) == [
        f"{AT}   ⇲ compacted",
        f"{AT}   system squeezed",
        f"{PAD}🖼 image/png 1.2 kB",
    ]


@pytest.mark.parametrize(
    ("kind", "length"), [("text", 1000), ("thinking", 120), ("system", 120), ("unknown", 1000)]
)
def test_cuts_are_marked(show: Show, event: Build, kind: str, length: int) -> None:
    exact = event(kind, role="user", text="x" * length)
    longer = event(kind, role="user", text="x" * (length + 1))
    assert show(exact)[0].endswith("x" * length)
    assert show(longer)[0].endswith("x" * length + "…")
    assert "…" not in show(longer)[0].replace("x…", "")
    assert show(longer, full=True)[0].endswith("x" * (length + 1))


def test_results_are_cut(show: Show, event: Build) -> None:
    call = event("tool_use", tool="Read", input={}, result=Result(text="y" * 141))
    assert show(call)[1] == f"{PAD}✓ {'y' * 140}…"
    assert show(call, full=True)[1] == f"{PAD}✓ {'y' * 141}"


def test_full_shows_inputs_results_and_records_line_by_line(show: Show, event: Build) -> None:
    call = event(
        "tool_use",
        tool="Edit",
        input={"file_path": "/p/a.md", "old_string": "one\ntwo", "limit": 3},
        result=Result(text="first\nsecond"),
    )
    assert show(call, full=True) == [
        f"{AT}   ⚙ Edit  /p/a.md",
        f"{PAD}  old_string: one\n{PAD}    two",
        f"{PAD}  limit: 3",
        f"{PAD}✓ first\n{PAD}  second",
    ]
    relic = event("unknown", text="relic", raw={"a": [1, None]})
    assert show(relic, full=True) == [f"{AT}   ? relic", f"{PAD}  a: [1,null]"]
    assert show(relic) == [f"{AT}   ? relic"]
    text_input = event("tool_use", tool="apply_patch", input="*** Begin\n+x")
    assert show(text_input, full=True)[1:] == [f"{PAD}  *** Begin\n{PAD}    +x"]
    assert show(event("hook", text="x", raw={"stderr": "e"}), full=True)[1:] == [
        f"{PAD}  stderr: e"
    ]


def test_header(wording: Wording, session: Callable[..., Session]) -> None:
    whole = session(
        archived=True,
        programmatic=True,
        origin="sdk-py",
        git_branch="feat/pears",
        models=["opus", "sonnet"],
        version="2.1",
        integrity=Integrity(dropped=1),
        ending="limit",
    )
    assert ["".join(span.text for span in line) for line in header(whole, wording)] == [
        "claude · 11111111-aaaa  🗄 archived  🤖 sdk-py",
        "  Count the pears",
        "  /work/pears  branch=feat/pears  opus → sonnet  v2.1",
        "  ⚠ 1 line unreadable  ⏹ output limit",
    ]


def test_header_of_a_bare_subagent(wording: Wording, session: Callable[..., Session]) -> None:
    child = session(
        "agent-x1",
        title=None,
        cwd=None,
        is_subagent=True,
        parent_id="11111111-aaaa",
        agent_name="Explore",
        parent_agent_id="agent-x0",
        imported_from="friend",
    )
    assert ["".join(span.text for span in line) for line in header(child, wording)] == [
        "claude · agent-x1",
        "  ↳ subagent (Explore) of 11111111-aaaa, spawned by agent-x0",
        "  ?  branch=-  v?  imported from friend",
    ]


def test_hidden_records_are_counted() -> None:
    assert hidden_line(1)[0].text == f"{PAD}1 bookkeeping record hidden (--full shows all)"
    assert hidden_line(1200)[0].text == f"{PAD}1,200 bookkeeping records hidden (--full shows all)"
