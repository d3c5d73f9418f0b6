"""``agtail agents``: what is known of each agent, and what is on this machine."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from agtail.agents import agent_ids
from agtail.harnesses import harness

CORPORA = Path(__file__).parent.parent / "corpora"
Run = Callable[..., tuple[int, str, str]]


def rows(out: str) -> dict[str, list[str]]:
    """Return the columns of each agent by its name."""
    _, *lines = out.splitlines()
    return {name: rest for name, *rest in (re.split(r"\s{2,}", line) for line in lines)}


def test_an_empty_home_has_none(run: Run, machine: Path) -> None:
    code, out, err = run("agents")
    assert (code, err) == (0, "")
    assert len(rows(out)) == len(agent_ids())
    assert rows(out)["codex"] == ["-", "-", "~/.codex/sessions"]
    assert list(machine.iterdir()) == [machine / ".local"]  # the store


def test_those_that_are_here_come_first(run: Run, machine: Path) -> None:
    shutil.copytree(CORPORA / "pi/basic/.pi", machine / ".pi")
    out = run("agents")[1]
    assert next(iter(rows(out))) == "pi"
    listed = [json.loads(line) for line in run("list", "--json")[1].splitlines()]
    assert rows(out)["pi"][0] == str(len(listed))
    assert rows(out)["pi"][-1] == "~/.pi/agent/sessions"


def test_as_json_it_is_one_object_an_agent(run: Run, machine: Path) -> None:
    shutil.copytree(CORPORA / "pi/basic/.pi", machine / ".pi")
    found = [json.loads(line) for line in run("agents", "--json")[1].splitlines()]
    assert [each["harness"]["id"] for each in found] == agent_ids()
    (here,) = [each for each in found if each["present"]]
    assert here["harness"]["name"] == "pi"
    assert here["roots"] == {str(machine / ".pi/agent/sessions"): True}
    files = (machine / ".pi").rglob("*.jsonl")
    assert here["bytes"] == sum(path.stat().st_size for path in files)
    assert here["lastTime"] > 1_700_000_000_000


def test_one_agent_is_told_whole(run: Run, machine: Path) -> None:
    (machine / ".codex/sessions").mkdir(parents=True)
    code, out, err = run("agents", "codex")
    assert (code, err) == (0, "")
    assert out.startswith("Codex (codex)\n")
    assert "root      ~/.codex/sessions  there\n" in out
    assert "root      ~/.codex/archived_sessions  not there\n" in out
    assert "resume    codex resume {id}\n" in out
    for place in harness("codex").locations:
        assert place.pattern in out
        assert place.note in out
    assert "CODEX_HOME" in out


@pytest.mark.usefixtures("machine")
def test_agents_are_chosen_by_id_or_short_name(run: Run) -> None:
    assert run("agents", "claude", "gemini-cli")[1].count("made from") == 2
    assert run("--sample", "agents", "pi")[1].count("made from") == 1
    code, out, err = run("agents", "nobody")
    assert (code, out) == (2, "")
    assert err.startswith("agtail: unknown agent: nobody (valid: claude-code, ")


def test_what_was_only_read_about_has_a_star(run: Run, machine: Path) -> None:
    del machine
    starred = {name for name in rows(run("agents")[1]) if name.endswith("*")}
    documented = {each for each in agent_ids() if harness(each).evidence == "documented"}
    assert starred == {f"{harness(each).name}*" for each in documented}


def test_one_home_with_every_corpus(run: Run, machine: Path) -> None:
    """Every agent is there, with the sessions that were counted by hand, and is searched."""
    expected = dict.fromkeys(agent_ids(), 0)
    for agent in agent_ids():
        # Scenarios of one agent would lie over each other: its first one that is not damaged.
        for path in sorted((CORPORA / agent).glob("*/expected.json")):
            wanted = json.loads(path.read_text("utf-8"))
            if all("droppedLines" not in each for each in wanted["sessions"]):
                expected[agent] = len(wanted["sessions"])
                ignored = shutil.ignore_patterns("expected.json")
                shutil.copytree(path.parent, machine, dirs_exist_ok=True, ignore=ignored)
                break
    code, out, err = run("agents", "--json")
    assert (code, err) == (0, "")
    found = [json.loads(line) for line in out.splitlines()]
    assert {each["harness"]["id"]: each["sessions"] for each in found} == expected
    assert all(each["present"] for each in found)
    hits = [json.loads(line) for line in run("grep", "", "--json")[1].splitlines()]
    assert {hit["agent"] for hit in hits} == set(agent_ids())
