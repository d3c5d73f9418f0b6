"""The generator of the benchmark makes histories as the agents would: read whole, and alike."""

from __future__ import annotations

from pathlib import Path

import generate
import pytest
from conformance.kit import fingerprint

from agtail.history import History


def test_the_same_seed_gives_the_same_home_and_another_another(tmp_path: Path) -> None:
    for name, seed in (("a", 7), ("b", 7), ("c", 8)):
        generate.generate(tmp_path / name, megabytes=1, seed=seed)
    assert fingerprint(tmp_path / "a") == fingerprint(tmp_path / "b")
    assert fingerprint(tmp_path / "a") != fingerprint(tmp_path / "c")


def test_a_generated_home_is_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generate, "RARE_EVERY", 500_000)
    counts = generate.generate(tmp_path, megabytes=3, cjk=0.5)
    assert counts["rare"] >= 5
    history = History(home=tmp_path, env={})
    found = list(history.transcripts())
    assert {each.session.agent for each in found} == {"claude-code", "codex"}
    assert len([each for each in found if not each.session.is_subagent]) == counts["sessions"]
    assert sum(each.session.bytes for each in found) == counts["bytes"]
    assert all(each.session.integrity is None for each in found)
    assert {event.kind for each in found for event in each.events} <= {
        *("text", "thinking", "tool_use", "system"),
    }
    assert len(list(history.search(generate.RARE))) == counts["rare"]
    assert len(list(history.search(generate.COMMON, kinds="tool_use"))) > 50
