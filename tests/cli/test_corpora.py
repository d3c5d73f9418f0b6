"""Every command over every recorded home: nothing fails, and what is printed can be asked for."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

CORPORA = Path(__file__).parent.parent / "corpora"
HOMES = sorted(path.parent for path in CORPORA.glob("*/*/expected.json"))

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(params=HOMES, ids=lambda home: f"{home.parent.name}-{home.name}")
def sessions(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, run: Run
) -> list[dict[str, object]]:
    """Make a recorded home the user's, and list its sessions."""
    monkeypatch.setenv("HOME", str(request.param))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    for variable in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(variable, raising=False)
    code, out, err = run("list", "--json")
    assert (code, err) == (0, "")
    return [json.loads(line) for line in out.splitlines()]


def test_every_session_can_be_shown_in_every_way(
    run: Run, sessions: list[dict[str, object]]
) -> None:
    assert sessions
    for session in sessions:
        reference = f"{session['agent']}:{session['id']}"
        for flags in ([], ["--full"], ["--tools"], ["--raw"]):
            code, out, err = run("show", reference, *flags)
            assert (code, err) == (0, ""), (reference, flags)
            assert out
        whole = json.loads(run("show", reference, "--json")[1])
        events = whole.pop("events")
        assert whole == session
        assert len(events) == session["eventCount"]


def test_what_grep_prints_is_found_again(run: Run, sessions: list[dict[str, object]]) -> None:
    code, out, err = run("grep", "", "--kind", "text")
    assert (code, err) == (0, "")
    references = list(dict.fromkeys(line.split()[0] for line in out.splitlines()))
    assert references
    for reference in references[:: max(1, len(references) // 12)]:
        code, shown, err = run("show", reference)
        if code == 1:
            begun = reference.partition(":")[2].partition("#")[0]
            fitting = [each for each in sessions if str(each["id"]).startswith(begun)]
            assert len(fitting) > 1
            assert f"fits {len(fitting)} sessions" in err
        else:
            assert shown


def test_totals_are_the_sum_of_the_sessions(run: Run, sessions: list[dict[str, object]]) -> None:
    totals = json.loads(run("stats", "--json")[1])
    assert totals["sessions"] == len(sessions)
    for name in ("inputTokens", "outputTokens", "cacheReadTokens", "cacheCreationTokens"):
        spent = [each["usage"].get(name, 0) for each in sessions if "usage" in each]  # type: ignore[attr-defined]
        assert totals.get("usage", {}).get(name, 0) == sum(spent)
    assert run("stats")[0] == 0
    assert run("list")[0] == 0


def test_a_session_within_a_file_does_not_stand_in_the_way(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, run: Run
) -> None:
    home = CORPORA / "claude-code" / "old-1.0.88"
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    (path,) = home.rglob("96ae28b4-*.jsonl")
    for reference in (path.stem, "96ae28b4", "claude:96ae28b4", str(path)):
        code, out, _ = run("show", reference)
        assert (code, out.splitlines()[0]) == (0, f"claude · {path.stem}")
    for reference in ("96ae28b4#toolu_01GbofWu", "claude:96ae28b4#toolu_01GbofWu#1"):
        code, out, _ = run("show", reference)
        assert (code, out.partition("#toolu_01GbofWu")[0]) == (0, f"claude · {path.stem}")


@pytest.mark.parametrize(
    ("flags", "field", "fits"),
    [
        (["--ending", "interrupted,limit"], "ending", {"interrupted", "limit"}.__contains__),
        (["--compacted"], "compactions", bool),
        (["--damaged"], "integrity", bool),
    ],
)
def test_signals_choose_what_is_listed_and_found(
    run: Run,
    sessions: list[dict[str, object]],
    flags: list[str],
    field: str,
    fits: Callable[[object], bool],
) -> None:
    wanted = {each["id"] for each in sessions if fits(each.get(field))}
    listed = [json.loads(line) for line in run("list", "--json", *flags)[1].splitlines()]
    assert {each["id"] for each in listed} == wanted
    hits = [json.loads(line) for line in run("grep", "", "-l", "--json", *flags)[1].splitlines()]
    assert {hit["sessionId"] for hit in hits} <= wanted
    assert json.loads(run("stats", "--json", *flags)[1])["sessions"] == len(listed)
