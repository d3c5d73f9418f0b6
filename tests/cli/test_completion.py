from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., tuple[int, str, str]]


def completed(words: str) -> list[str]:
    """Ask as the script for bash does: the last word is the one to complete."""
    done = subprocess.run(
        [sys.executable, "-m", "agtail"],
        env={
            **os.environ,
            "_AGTAIL_COMPLETE": "bash_complete",
            "COMP_WORDS": words,
            "COMP_CWORD": str(len(words.split(" ")) - 1),
        },
        capture_output=True,
        text=True,
        check=True,
    )
    return [line.partition(",")[2] for line in done.stdout.splitlines()]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_each_shell(run: Run, shell: str, tmp_path: Path) -> None:
    code, out, err = run("completion", shell)
    assert (code, err) == (0, "")
    assert f"_AGTAIL_COMPLETE={shell}_complete" in out
    program = shutil.which(shell)
    if program is not None:
        script = tmp_path / "script"
        script.write_text(out)
        subprocess.run([program, "-n", script], check=True)


def test_commands_and_options() -> None:
    names = ["grep", "list", "show", "stats", "agents", "index", "forget", "doctor", "completion"]
    assert completed("agtail ") == names
    assert completed("agtail st") == ["stats"]
    assert completed("agtail grep --no-c") == ["--no-color"]


def test_values_of_lists() -> None:
    assert completed("agtail grep --kind to") == ["tool_use", "tool_result"]
    assert completed("agtail grep --kind text,sum") == ["text,summary"]
    assert completed("agtail list --agent co") == ["codex"]
    assert completed("agtail list --agent codex,cl") == ["codex,claude-code"]


def test_session_ids(home: Path) -> None:
    (home / "nobody").mkdir()
    (home / "claude").rename(home / "nobody" / ".claude")
    assert completed("agtail show 1111") == ["11111111-aaaa-4000-8000-000000000001"]
    assert completed("agtail stats 6666") == [
        "66666668-toolonly",
        "66666667-noprompt",
        "66666666-cmd",
    ]
