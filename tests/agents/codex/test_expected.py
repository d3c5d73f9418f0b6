"""The comparison with what was counted by hand notices every difference."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from codex_home import transcripts
from expected import check_scenario

CORPUS = Path(__file__).parents[2] / "corpora" / "codex"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("title", "another"),
        ("userMessages", 7),
        ("tools", []),
        ("tokens", {"input": 1, "cacheRead": 0, "cacheWrite": 0, "output": 0}),
        ("texts", ["words that nobody wrote"]),
        ("absent", ["And in French?"]),
        ("ending", "limit"),
        ("id", "no-such-id"),
    ],
)
def test_the_comparison_notices(tmp_path: Path, field: str, value: object) -> None:
    folder = tmp_path / "basic"
    shutil.copytree(CORPUS / "basic", folder)
    path = folder / "expected.json"
    expected = json.loads(path.read_text("utf-8"))
    expected["sessions"][0][field] = value
    path.write_text(json.dumps(expected), "utf-8")
    assert check_scenario("codex", folder) != []


def test_spawning_call_is_found_in_the_parent(tmp_path: Path) -> None:
    shutil.copytree(CORPUS / "subagent", tmp_path, dirs_exist_ok=True)
    child = transcripts(tmp_path)["01a22de6-53b0-71e1-8073-82725dd28cf4"].session
    assert child.spawned_by_tool_use_id == "call_0004b0aa5a20e4d34ed7a24a"
