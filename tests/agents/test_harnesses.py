"""What is known of each agent: complete, true of its adapter, and on the pages."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

from agtail.agents import adapter_class, agent_ids
from agtail.agents.base import Surroundings
from agtail.errors import UnknownAgentError
from agtail.harnesses import Harness, Location, harness, harnesses

EVERY = pytest.mark.parametrize("each", harnesses(), ids=lambda each: each.id)

ROOTED = re.compile(r"[~$%]")


def test_every_agent_has_one() -> None:
    assert [each.id for each in harnesses()] == agent_ids()


def test_an_unknown_agent_is_told() -> None:
    with pytest.raises(UnknownAgentError):
        harness("nobody")


@EVERY
def test_it_names_the_agent_as_its_adapter_does(each: Harness) -> None:
    adapter = adapter_class(each.id)
    assert (each.id, each.name) == (adapter.agent, adapter.name)


def test_names_are_told_apart() -> None:
    names = [each.name for each in harnesses()]
    assert len(set(names)) == len(names)


@EVERY
def test_places_say_where_what_and_how(each: Harness) -> None:
    assert each.sessions
    assert each.sessions[0].holds == "sessions"
    for place in each.locations:
        assert place.systems
        assert ROOTED.match(place.pattern) or place.scope == "project"
        if place.pattern.startswith("$"):
            name = re.match(r"\$(\w+)", place.pattern)
            assert name is not None
            assert name[1] in {variable.name for variable in each.variables}


@EVERY
def test_the_first_folder_is_where_the_overview_says(each: Harness, tmp_path: Path) -> None:
    adapter = adapter_class(each.id)(Surroundings(home=tmp_path, env={}))
    begun = str(tmp_path / each.where.removeprefix("~/").partition("*")[0].rstrip("/"))
    assert any(f"{root}/".startswith(f"{begun}/") for root in adapter.roots())


@EVERY
def test_it_travels_as_json(each: Harness) -> None:
    assert msgspec.json.decode(msgspec.json.encode(each), type=Harness) == each


def test_files_that_are_no_record_are_no_place_of_sessions() -> None:
    images = Location(pattern="~/.x/images/*", holds="files", format="png")
    made = msgspec.structs.replace(harness("codex"), locations=(images,))
    assert made.sessions == ()


def test_commands_are_filled_in() -> None:
    assert harness("claude-code").resume_command("a1") == ["claude", "--resume", "a1"]
    made = msgspec.structs.replace(harness("codex"), resume=())
    assert made.resume_command("a1") is None
