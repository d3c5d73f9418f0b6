from __future__ import annotations

from collections.abc import Callable

import pytest

from agtail.cli.hits import HitLines
from agtail.cli.terminal import MATCH, Line, cells, fitted
from agtail.cli.wording import Wording
from agtail.model import Event
from agtail.search.scan import Hit

Build = Callable[..., Event]
AT = "05-01 08:00:02"


def hit(snippet: str, match: tuple[int, int] | None = None, seq: int = 12, **fields: object) -> Hit:
    given: dict[str, object] = {
        "agent": "claude-code",
        "session_id": "11111111-aaaa",
        "path": "/t/1.jsonl",
        "ts": "2026-05-01T08:00:02Z",
        "time": 1777622402000,
        "kind": "text",
    }
    return Hit(snippet=snippet, match=match, seq=seq, **(given | fields))  # type: ignore[arg-type]


def text(line: Line) -> str:
    return "".join(span.text for span in line)


def test_one_line_a_hit(wording: Wording) -> None:
    lines = HitLines(wording, None, context=False)
    assert [text(line) for line in lines.lines(hit("Count the pears", (10, 15)))] == [
        f"claude:11111111#12 {AT} text  Count the pears"
    ]
    called = hit("Bash ls", kind="tool_use", tool="Bash", ts=None, time=None)
    assert [text(line) for line in lines.lines(called)] == [
        "claude:11111111#12          tool_use Bash  Bash ls"
    ]


def test_the_match_is_marked(wording: Wording) -> None:
    (line,) = HitLines(wording, None, context=False).lines(hit("Count the pears", (10, 15)))
    assert [span.text for span in line if span.style == MATCH] == ["pears"]


@pytest.mark.parametrize("width", [60, 80, 200])
@pytest.mark.parametrize("tool", ["Bash", "mcp__" + "x" * 60])
@pytest.mark.parametrize("filler", ["a", "木", "🍐"])
def test_the_match_is_seen_however_narrow_the_terminal(
    wording: Wording, width: int, tool: str, filler: str
) -> None:
    found = hit(f"…{filler * 60}NEEDLE{filler * 60}", (61, 67), kind="tool_use", tool=tool)
    (line,) = HitLines(wording, width, context=False).lines(found)
    shown = fitted(line, width)
    assert cells(text(shown)) <= width
    assert "NEEDLE" in text(shown)
    assert f"claude:11111111#12 {AT} tool_use " in text(shown)


def test_context_stands_around_hits(wording: Wording, event: Build) -> None:
    def near(seq: int) -> Event:
        return event(seq=seq, text=f"line\n{seq}")

    lines = HitLines(wording, None, context=True)
    hits = [
        hit("one", seq=3, before=[near(2)], after=[near(4)]),
        hit("two", seq=6, before=[near(5)], after=[near(7)]),
        hit("far", seq=20, before=[near(19)]),
        hit("other", seq=21, session_id="22222222-aaaa"),
    ]
    assert [text(line) for each in hits for line in lines.lines(each)] == [
        f"  claude:11111111#2 {AT} text  line 2",
        f"> claude:11111111#3 {AT} text  one",
        f"  claude:11111111#4 {AT} text  line 4",
        f"  claude:11111111#5 {AT} text  line 5",
        f"> claude:11111111#6 {AT} text  two",
        f"  claude:11111111#7 {AT} text  line 7",
        "--",
        f"  claude:11111111#19 {AT} text  line 19",
        f"> claude:11111111#20 {AT} text  far",
        "--",
        f"> claude:22222222#21 {AT} text  other",
    ]
