"""The published shapes are true: they are all there, and the comparison sees what does not fit."""

from __future__ import annotations

import importlib
import typing
from pathlib import Path

import pytest
from shapes import misfits

from agtail import schemas
from agtail.agents import agent_ids, package_of

TESTS = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"ts": "1"}, ".ts: str for <class 'int'>"),
        ({"ts": True}, ".ts: bool for <class 'int'>"),
        ({"extra": 1}, ".extra: not described by CodexHistoryEntry"),
    ],
)
def test_the_comparison_sees_what_does_not_fit(change: dict[str, object], fault: str) -> None:
    entry = {"session_id": "a", "ts": 1, "text": "b"}
    assert misfits(entry, schemas.CodexHistoryEntry) == []
    assert misfits({**entry, **change}, schemas.CodexHistoryEntry) == [fault]
    assert misfits({"text": "b", "ts": 1}, schemas.CodexHistoryEntry) == [".session_id: missing"]


@pytest.mark.parametrize("agent", agent_ids())
def test_all_shapes_are_published(agent: str) -> None:
    module = importlib.import_module(f"{package_of(agent)}.schema")
    own = {
        key: value
        for key, value in vars(module).items()
        if not key.startswith("_")
        and (getattr(value, "__module__", "") == module.__name__ or typing.get_args(value))
    }
    assert len(own) >= 2
    assert {key for key, value in own.items() if getattr(schemas, key, None) is not value} == set()


def test_each_name_belongs_to_one_agent() -> None:
    """Otherwise one would hide the other in ``agtail.schemas``."""
    owners: dict[str, set[str]] = {}
    for agent in agent_ids():
        module = importlib.import_module(f"{package_of(agent)}.schema")
        for key, value in vars(module).items():
            if getattr(value, "__module__", "") == module.__name__ or typing.get_args(value):
                owners.setdefault(key, set()).add(agent)
    assert {key: agents for key, agents in owners.items() if len(agents) > 1} == {}


@pytest.mark.parametrize("agent", agent_ids())
def test_every_agent_checks_its_shapes(agent: str) -> None:
    """Against its corpora, and with a program that mypy reads."""
    package = package_of(agent).rpartition(".")[2]
    text = (TESTS / "agents" / package / "test_schema.py").read_text("utf-8")
    assert "corpus_misfits(" in text
    assert "sample_misfits(" in text
    assert "check_programs(" in text
