"""Whole runs: exit codes, what goes to which stream, options on either side of the command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from agtail.__main__ import INTERRUPTED, main
from agtail.agents import agent_ids
from agtail.agents.claude_code.adapter import ClaudeCode

Run = Callable[..., tuple[int, str, str]]
AGENTS = ", ".join(agent_ids())
ROOTS = ["--claude-dir", "claude/projects", "--codex-dir", "codex/sessions"]
PEARS = "11111111-aaaa-4000-8000-000000000001"

pytestmark = pytest.mark.usefixtures("home")


def objects(out: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in out.splitlines()]


# Exit codes and streams


def test_grep_says_by_its_exit_code_whether_it_found_something(run: Run) -> None:
    assert run("grep", "pears", *ROOTS)[0] == 0
    assert run("grep", "no such words", *ROOTS) == (1, "", "no matches\n")
    assert run("grep", "no such words", "--json", *ROOTS) == (1, "", "")
    assert run("grep", "no such words", "-c", *ROOTS) == (1, "", "no matches\n")
    assert run("grep", "no such words", "-l", *ROOTS) == (1, "", "no matches\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["grep"], "missing argument 'PATTERN'"),
        (["grep", "x", "--nope"], "no such option"),
        (["grep", "x", "y"], "got unexpected extra argument"),
        (["grep", "x", "--kind", "text,nope"], "unknown kind: nope (valid: text, thinking,"),
        (["grep", "x", "--agent", "nobody"], f"unknown agent: nobody (valid: {AGENTS})"),
        (["grep", "(", "--regex"], "bad regular expression"),
        (["grep", "x", "--limit", "-1"], "--limit"),
        (["grep", "x", "--limit", "many"], "--limit"),
        (["grep", "x", "--since", "zzz"], "not a date: zzz (try 2026-05-04"),
        (["grep", "x", "-l", "-c"], "choose one of -l and -c"),
        (["grep", "x", "--archived", "maybe"], "'maybe' is not one of 'all', 'only', 'none'"),
        (["list", "--until", "2026-13-01"], "not a date: 2026-13-01"),
        (["show"], "missing argument 'ID'"),
        (["show", PEARS, "--raw", "--json"], "choose one of --raw and --json"),
        (["show", PEARS, "--kind", "nope"], "unknown kind: nope"),
        (["show", f"{PEARS}#3-2"], "the first event comes after the last: 3-2"),
        (["stats", PEARS, "--project", "x"], "they do not go with an ID"),
        (
            ["list", "--dir", "claude-code"],
            "not agent=path: claude-code (valid agents: claude-code",
        ),
        (["list", "--dir", "codex="], "not agent=path: codex="),
        (["list", "--dir", "nobody=/x"], f"unknown agent: nobody (valid: {AGENTS})"),
        (["list", "--sample"], "--sample is a history of its own"),
        (["frobnicate"], "no such command 'frobnicate'"),
        (["completion", "tcsh"], "'tcsh' is not one of"),
    ],
)
def test_a_wrong_question_is_told_in_one_line_and_exits_with_2(
    run: Run, arguments: list[str], said: str
) -> None:
    roots = [] if arguments[0] in ("completion", "frobnicate") else ROOTS
    code, out, err = run(*arguments, *roots)
    assert (code, out) == (2, "")
    assert err.startswith("agtail: ")
    assert said in err
    assert err.count("\n") == 1


def test_no_command_prints_the_help_and_exits_with_2(run: Run) -> None:
    code, out, err = run()
    assert (code, out) == (2, "")
    assert err.startswith("Usage: agtail [OPTIONS] COMMAND")


@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help(run: Run, flag: str) -> None:
    code, out, err = run(flag)
    assert (code, err) == (0, "")
    assert out.startswith("Usage: agtail [OPTIONS] COMMAND")
    assert run("grep", flag)[1].startswith("Usage: agtail grep [OPTIONS] PATTERN")


@pytest.mark.parametrize("command", ["show", "stats"])
def test_an_id_that_is_not_there_or_not_unique_exits_with_1(run: Run, command: str) -> None:
    code, out, err = run(command, "nope", *ROOTS)
    assert (code, out) == (1, "")
    assert err == "agtail: no matching session: nope (agtail list shows them)\n"
    code, out, err = run(command, "44444444", *ROOTS)
    assert (code, out) == (1, "")
    assert err.startswith("agtail: 44444444 fits 2 sessions: claude-code:44444444-dup (claude/")
    code, out, err = run(command, "", *ROOTS)
    assert (code, out) == (1, "")


def test_an_event_that_is_not_there_exits_with_1(run: Run) -> None:
    code, out, err = run("show", "66666668#7", *ROOTS)
    assert (code, out) == (1, "")
    assert err == "agtail: 66666668 has no event 7 (it has 0 to 0)\n"


def test_an_unreadable_source_costs_one_line_and_nothing_else(run: Run, home: Path) -> None:
    lost = home / "claude/projects/-home-dev-odd/88888888-lost.jsonl"
    lost.mkdir()
    (home / "claude/projects/-home-dev-odd/99999999-gone.jsonl").symlink_to("nowhere")
    code, out, err = run("grep", "corrupt lines", *ROOTS)
    assert code == 0
    assert "corrupt lines here" in out
    assert all(line.startswith("agtail: ") for line in err.splitlines())


def test_a_folder_that_is_not_there_is_told(run: Run) -> None:
    code, out, err = run("list", "--dir", "codex=nowhere", "--claude-dir", "claude/projects")
    assert code == 0
    assert "Count the pears" in out
    assert err == "agtail: nowhere: no such folder\n"
    assert run("list", "--claude-dir", "nowhere", "--codex-dir", "nowhere")[2].endswith(
        "no sessions found\n"
    )


# Global options


@pytest.mark.parametrize(
    "arguments",
    [
        [*ROOTS, "list", "--json"],
        ["list", *ROOTS, "--json"],
        ["--claude-dir", "claude/projects", "list", "--json", "--codex-dir", "codex/sessions"],
        ["--dir", "claude-code=claude/projects", "list", "--json", "--dir", "codex=codex/sessions"],
        ["--dir", "claude=claude/projects", "--dir", "codex=codex/sessions", "list", "--json"],
    ],
)
def test_global_options_stand_on_either_side(run: Run, arguments: list[str]) -> None:
    code, out, err = run(*arguments)
    assert (code, err) == (0, "")
    assert {session["agent"] for session in objects(out)} == {"claude-code", "codex"}


def test_what_stands_after_the_command_wins(run: Run) -> None:
    def ids(*arguments: str) -> set[object]:
        return {session["id"] for session in objects(run(*arguments, "--json", *ROOTS)[1])}

    only = ids("--archived", "only", "list")
    assert len(only) == 1
    assert ids("--archived", "none", "list", "--archived", "only") == only
    assert not ids("--archived", "only", "list", "--archived", "none") & only
    started = ids("--programmatic", "only", "list")
    assert started
    assert ids("list", "--programmatic", "none") | started == ids("list")
    elsewhere = run("--claude-dir", "nowhere", "list", "--json", *ROOTS)
    assert len(objects(elsewhere[1])) > len(started)


def test_colours_are_given_and_taken_on_either_side(run: Run) -> None:
    assert "\x1b[" not in run("list", *ROOTS)[1]
    assert "\x1b[33mclaude" in run("--color", "list", *ROOTS)[1]
    assert "\x1b[33mclaude" in run("--no-color", "list", "--color", *ROOTS)[1]
    assert "\x1b[" not in run("--color", "list", "--no-color", *ROOTS)[1]


def test_short_names_of_agents_are_accepted(run: Run) -> None:
    for name in ("claude", "claude-code"):
        out = run("list", "--agent", name, "--json", *ROOTS)[1]
        assert {session["agent"] for session in objects(out)} == {"claude-code"}
    both = run("list", "--agent", "claude, codex", "--json", *ROOTS)[1]
    assert {session["agent"] for session in objects(both)} == {"claude-code", "codex"}


def test_the_sample_is_searched_without_any_home(run: Run) -> None:
    code, out, err = run("--sample", "list", "--json")
    assert (code, err) == (0, "")
    assert {session["agent"] for session in objects(out)} == set(agent_ids())
    assert run("list", "--sample", "--json")[1] == out


# grep


def test_the_last_rule_for_case_wins(run: Run) -> None:
    def hits(*flags: str) -> int:
        return len(run("grep", "PEARS", *flags, "--json", *ROOTS)[1].splitlines())

    ignoring, matching = hits(), hits("-s")
    assert ignoring > matching > 0
    assert hits("-i") == hits("-s", "-i") == hits("-S", "-s", "-i") == ignoring
    assert hits("--case-sensitive") == hits("-i", "-s") == hits("-i", "-S") == matching
    assert len(run("grep", "pears", "-S", "--json", *ROOTS)[1].splitlines()) == ignoring


def test_what_grep_prints_can_be_shown(run: Run) -> None:
    out = run("grep", "Count the pears", *ROOTS)[1]
    reference = out.split(maxsplit=1)[0]
    assert reference.startswith("claude:11111111#")
    code, shown, _ = run("show", reference, *ROOTS)
    assert code == 0
    assert "user: Count the pears\n           and write PEARS.md" in shown


def test_a_hit_as_json_names_its_event(run: Run) -> None:
    (hit,) = objects(run("grep", "Count the pears", "--json", *ROOTS)[1])
    assert list(hit)[:5] == ["agent", "sessionId", "path", "ts", "kind"]
    session = json.loads(run("show", f"{hit['agent']}:{hit['sessionId']}", "--json", *ROOTS)[1])
    assert session["events"][hit["seq"]]["text"].startswith("Count the pears")


def test_sessions_and_counts(run: Run) -> None:
    named = run("grep", "pears", "-l", *ROOTS)[1].splitlines()
    assert f"claude:{PEARS}" in named
    counted = dict(line.split("\t") for line in run("grep", "pears", "-c", *ROOTS)[1].splitlines())
    assert list(counted) == named
    hits = objects(run("grep", "pears", "--json", *ROOTS)[1])
    assert int(counted[f"claude:{PEARS}"]) == sum(hit["sessionId"] == PEARS for hit in hits) > 1
    first = objects(run("grep", "pears", "-l", "--json", *ROOTS)[1])
    assert [hit["sessionId"] for hit in first] == [name.split(":")[1] for name in named]
    numbers = objects(run("grep", "pears", "-c", "--json", *ROOTS)[1])
    assert [str(each["count"]) for each in numbers] == list(counted.values())
    assert len(run("grep", "pears", "-l", "--limit", "1", *ROOTS)[1].splitlines()) == 1


def test_context(run: Run) -> None:
    alone = run("grep", "Three calls at once", *ROOTS)[1].splitlines()
    around = run("grep", "Three calls at once", "-C", "2", *ROOTS)[1].splitlines()
    assert len(alone) == 1
    assert [line[:2] for line in around] == ["  ", "  ", "> ", "  ", "  "]
    assert around[2] == f"> {alone[0]}"
    assert len(run("grep", "Three calls at once", "-A", "1", *ROOTS)[1].splitlines()) == 2
    before = run("grep", "Three calls at once", "-C", "2", "-A", "0", *ROOTS)[1].splitlines()
    assert before == around[:3]
    (hit,) = objects(run("grep", "Three calls at once", "-B", "1", "--json", *ROOTS)[1])
    assert len(hit["before"]) == 1  # type: ignore[arg-type]


def test_a_pattern_may_begin_with_a_dash(run: Run) -> None:
    code, out, _ = run("grep", *ROOTS, "--", "-l ledger")
    assert code == 0
    assert "wc -l ledger.csv" in out


# list


def test_the_limit_of_a_list_counts_sessions(run: Run) -> None:
    every = objects(run("list", "--json", *ROOTS)[1])
    for limit in (1, 3):
        assert objects(run("list", "--json", "--limit", str(limit), *ROOTS)[1]) == every[:limit]
    assert objects(run("list", "--json", "--limit", "0", *ROOTS)[1]) == every


def test_filters_of_a_list(run: Run) -> None:
    def ids(*arguments: str) -> list[str]:
        return [
            str(each["id"])[:8] for each in objects(run("list", *arguments, "--json", *ROOTS)[1])
        ]

    assert ids("--project", "CELLAR", "--agent", "codex", "--archived", "none") == [
        "c2c2c2c2",
        "c1c1c1c1",
    ]
    assert set(ids("--since", "2026-05-07", "--until", "2026-05-07", "--utc")) == {
        f"7777777{number}" for number in range(6)
    }
    assert "11111111" in ids("--model", "claude-sonnet-4-6")
    assert "22222222" not in ids("--model", "claude-sonnet-4-6")
    assert ids("--source", "friend") == []


# show


def test_events_of_a_session(run: Run) -> None:
    whole = json.loads(run("show", PEARS, "--json", *ROOTS)[1])
    assert [each["seq"] for each in whole["events"]] == list(range(whole["eventCount"]))
    one = json.loads(run("show", f"{PEARS}#4", "--json", *ROOTS)[1])
    assert one["events"] == whole["events"][4:5]
    assert one["id"] == whole["id"]
    several = json.loads(run("show", f"claude:{PEARS}#4-6", "--json", *ROOTS)[1])
    assert several["events"] == whole["events"][4:7]
    calls = json.loads(run("show", PEARS, "--tools", "--json", *ROOTS)[1])["events"]
    assert calls == [each for each in whole["events"] if each["kind"] == "tool_use"]
    kinds = json.loads(run("show", PEARS, "--kind", "hook, thinking", "--json", *ROOTS)[1])[
        "events"
    ]
    assert {each["kind"] for each in kinds} == {"hook", "thinking"}


def test_a_path_names_a_session(run: Run, home: Path) -> None:
    relative = f"claude/projects/-home-dev-orchard/{PEARS}.jsonl"
    for path in (relative, f"./{relative}", str(home / relative)):
        code, out, _ = run("show", path, *ROOTS)
        assert code == 0
        assert out.startswith(f"claude · {PEARS}\n")


def test_bookkeeping_is_hidden_and_counted(run: Run) -> None:
    events = json.loads(run("show", PEARS, "--json", *ROOTS)[1])["events"]
    hidden = [each for each in events if each.get("bookkeeping")]
    assert hidden
    out = run("show", PEARS, *ROOTS)[1]
    assert out.endswith(f"           {len(hidden)} bookkeeping records hidden (--full shows all)\n")
    assert "hidden (--full" not in run("show", PEARS, "--full", *ROOTS)[1]
    assert "hidden (--full" not in run("show", PEARS, "--kind", hidden[0]["kind"], *ROOTS)[1]


def test_raw_is_the_file_byte_for_byte(
    home: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    name = "claude/projects/-home-dev-odd/33333334-corrupt.jsonl"
    assert main(["show", "33333334", "--raw", *ROOTS]) == 0
    assert capfdbinary.readouterr().out == (home / name).read_bytes()
    assert main(["show", "33333334#1", "--raw", *ROOTS]) == 0
    assert capfdbinary.readouterr().out == (home / name).read_bytes().splitlines(keepends=True)[7]


def test_raw_records_are_printed_once(run: Run, home: Path) -> None:
    lines = (home / f"claude/projects/-home-dev-orchard/{PEARS}.jsonl").read_text().splitlines()
    printed = run("show", PEARS, "--tools", "--raw", *ROOTS)[1].splitlines()
    assert len(printed) == len(set(printed))
    assert set(printed) <= set(lines)
    calls = [line for line in lines if '_use","' in line and '"name":' in line]
    assert [line for line in printed if line in calls] == calls
    answer = next(line for line in lines if '"tool_result"' in line and '"t1"' in line)
    assert printed.index(answer) == 1


def test_one_event_is_shown_in_full(run: Run) -> None:
    seq = next(
        event["seq"]
        for event in json.loads(run("show", PEARS, "--json", *ROOTS)[1])["events"]
        if event.get("tool") == "Bash" and event["kind"] == "tool_use"
    )
    out = run("show", f"{PEARS}#{seq}", *ROOTS)[1]
    assert "command: wc -l ledger.csv\n               echo done" in out
    assert "✓ 120 ledger.csv\n             done" in out


# stats


def test_stats_as_json_add_up(run: Run) -> None:
    totals = json.loads(run("stats", "--json", *ROOTS)[1])
    sessions = objects(run("list", "--json", *ROOTS)[1])
    assert totals["sessions"] == len(sessions)
    assert totals["messages"] == sum(each.get("messages", 0) for each in sessions)  # type: ignore[misc]
    assert totals["calls"] == sum(totals["tools"].values()) > 0
    one = json.loads(run("stats", PEARS, "--json", *ROOTS)[1])
    assert one["sessions"] == 1
    assert one["calls"] < totals["calls"]
    none = json.loads(run("stats", "--project", "nowhere", "--json", *ROOTS)[1])
    assert (none["sessions"], none["calls"]) == (0, 0)


def test_stats_of_nothing_say_zero(run: Run) -> None:
    out = run("stats", "--project", "nowhere", *ROOTS)[1]
    assert out.splitlines()[0].split() == ["total", "0"]


def test_stats_of_one_session_say_what_they_leave_out(run: Run) -> None:
    assert run("stats", PEARS, *ROOTS)[1].endswith(
        "\nthis session alone: its subagents are not included\n"
    )


# The surroundings


def started(*arguments: str, **variables: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "agtail", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **variables},
    )


@pytest.mark.parametrize(
    "arguments", [["grep", ""], ["list"], ["show", PEARS], ["show", PEARS, "--json"], ["stats"]]
)
def test_a_closed_pipe_ends_quietly(arguments: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as closed:
        done = subprocess.run(
            [sys.executable, "-m", "agtail", *arguments, *ROOTS],
            stdout=closed,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert (done.returncode, done.stderr) == (0, b"")


def test_ctrl_c_ends_quietly_with_130(monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(ClaudeCode, "find", interrupt)
    assert run("list", *ROOTS) == (INTERRUPTED, "", "")


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "utf-8"])
def test_pipes_get_utf8_whatever_the_locale(encoding: str) -> None:
    process = started("show", PEARS, *ROOTS, PYTHONIOENCODING=encoding, LANG="C", LC_ALL="C")
    out, err = process.communicate()
    assert (process.returncode, err) == (0, b"")
    assert "⚙ Bash" in out.decode()
    assert "ŞİŞLİ" in out.decode()


def test_nothing_is_written_beside_the_transcripts(run: Run, home: Path) -> None:
    def state() -> dict[Path, tuple[float, int]]:
        files = (path for path in home.rglob("*") if path.is_file())
        files = (path for path in files if home / "nobody" not in path.parents)
        return {path: (path.stat().st_mtime, path.stat().st_size) for path in files}

    before = state()
    for command in (["grep", ""], ["list"], ["show", PEARS], ["stats"]):
        assert run(*command, *ROOTS)[0] == 0
    assert state() == before
