"""``agtail forget``: what goes is told and asked about, and then it is gone."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from claude_home import Session, write

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(autouse=True)
def transcripts(machine: Path) -> dict[str, Path]:
    """Sessions of three days, one with a subagent, and one of an imported collection."""
    paths = {}
    for day, name in enumerate(("one", "two", "three"), 1):
        session = Session(name)
        session.user(f"prompt of {name}", timestamp=f"2026-05-{day:02}T10:00:00.000Z")
        session.say("answer")
        paths[name] = write(machine, session)
    child = Session("two", isSidechain=True, agentId="digger")
    child.user("dig")
    child.say("dug")
    paths["digger"] = write(machine, child, "-home-dev-app/two/subagents/agent-digger.jsonl")
    far = Session("far")
    far.user("from a colleague")
    far.say("answer")
    path = write(machine, far)
    store = machine / ".local/share/agtail/imported/team/claude-code/-home-dev-app"
    store.mkdir(parents=True)
    paths["far"] = path.rename(store / "far.jsonl")
    return paths


def listed(run: Run, *options: str) -> set[str]:
    code, out, _ = run("list", "--json", *options)
    assert code == 0
    return {line.partition('"id":"')[2].partition('"')[0] for line in out.splitlines()}


EVERYTHING = {"one", "two", "three", "digger", "far"}


def test_a_session_goes_with_its_subagents_and_stays_away(run: Run) -> None:
    code, out, err = run("forget", "two", "--yes")
    assert (code, out) == (0, "")
    assert "2 sessions (1 of them subagents), 4 events, from 2 files of " in err
    assert "2 files of these are still there: their sessions stay away until they grow" in err
    assert err.endswith("removed\n")
    assert listed(run) == EVERYTHING - {"two", "digger"}
    assert listed(run, "--no-store") == EVERYTHING


def test_nothing_goes_without_a_yes(run: Run) -> None:
    code, out, err = run("forget", "one", "three")
    assert (code, out) == (2, "")
    assert "claude:one  05-01 " in err
    assert "prompt of one" in err
    assert err.endswith("agtail: nothing was removed: --yes removes without asking\n")
    assert listed(run) == EVERYTHING


@pytest.mark.parametrize(
    ("answer", "code", "left"),
    [("y\n", 0, EVERYTHING - {"one"}), ("n\n", 1, EVERYTHING), ("", 1, EVERYTHING)],
)
def test_on_a_terminal_it_asks(
    run: Run, monkeypatch: pytest.MonkeyPatch, answer: str, code: int, left: set[str]
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    shown = Terminal()
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stdin", Terminal(answer))
        patched.setattr(sys, "stderr", shown)
        assert run("forget", "one")[0] == code
    assert "Remove them for good? [y/N]" in shown.getvalue()
    assert shown.getvalue().endswith("nothing was removed\n" if code else "removed\n")
    assert listed(run) == left


def test_all_that_are_gone(run: Run, transcripts: dict[str, Path]) -> None:
    run("index", "refresh")
    transcripts["one"].unlink()
    transcripts["digger"].unlink()
    code, _, err = run("forget", "--gone", "--yes")
    assert code == 0
    assert "2 files of these are gone: there is no way back" in err
    assert "still there" not in err
    assert listed(run) == {"two", "three", "far"}
    assert run("forget", "--gone", "--yes") == (0, "", "no sessions found\n")


def test_a_collection(run: Run) -> None:
    assert run("forget", "--source", "team", "--yes")[0] == 0
    assert listed(run) == EVERYTHING - {"far"}
    assert run("forget", "--source", "@local", "--yes")[0] == 0
    assert listed(run) == set()


def test_all_that_ended_before_a_day(run: Run) -> None:
    code, _, _ = run("forget", "--before", "2026-05-02", "--utc", "--yes")
    assert code == 0
    assert listed(run) == EVERYTHING - {"one", "far"}


def test_filters_have_to_be_true_together(run: Run, transcripts: dict[str, Path]) -> None:
    run("index", "refresh")
    transcripts["three"].unlink()
    assert run("forget", "--gone", "--before", "2026-05-03", "--utc", "--yes")[0] == 0
    assert listed(run) == EVERYTHING
    assert run("forget", "--before", "2026-05-03", "--programmatic", "only", "--yes")[0] == 0
    assert listed(run) == EVERYTHING
    assert run("forget", "--gone", "--before", "2026-05-04", "--utc", "--yes")[0] == 0
    assert listed(run) == EVERYTHING - {"three"}


def test_many_are_not_all_named(run: Run, machine: Path) -> None:
    for number in range(12):
        session = Session(f"many{number}")
        session.user("one of many", timestamp=f"2025-05-01T10:00:{number:02}.000Z")
        session.user("and that", timestamp=f"2025-05-01T10:01:{number:02}.000Z")
        write(machine, session)
    code, _, err = run("forget", "--before", "2026-01-01")
    assert code == 2
    assert err.count("one of many") == 10
    assert "and 2 more\n12 sessions, 24 events, from 12 files" in err


@pytest.mark.parametrize(
    "arguments",
    [[], ["one", "--gone"], ["--before", "soon"], ["one", "--no-store"], ["one", "--sample"]],
)
def test_wrong_questions(run: Run, arguments: list[str]) -> None:
    code, out, err = run("forget", *arguments, "--yes")
    assert (code, out) == (2, "")
    assert err.count("\n") == 1


def test_an_unknown_session(run: Run) -> None:
    code, _, err = run("forget", "one", "nobody", "--yes")
    assert code == 1
    assert err == "agtail: no matching session: nobody (agtail list shows them)\n"
    assert listed(run) == EVERYTHING
