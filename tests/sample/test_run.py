"""``make run``: own histories or the sample, and words that arrive as they were written."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from agtail.sample import sample_home

ROOT = Path(__file__).parents[2]

NOTICE = "No sessions of any coding agent here: this is the bundled sample.\n"


def surroundings(home: Path) -> dict[str, str]:
    """Return an environment in which only ``home`` holds histories."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")
    }
    return {**kept, "HOME": str(home), "TZ": "UTC"}


def run(home: Path, line: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "agtail.sample.run"],
        env={**surroundings(home), "AGTAIL_ARGS": line},
        capture_output=True,
        text=True,
        check=False,
    )


def test_without_histories_the_sample_is_searched_and_said_so(tmp_path: Path) -> None:
    result = run(tmp_path, "grep 'rm -rf' --json")
    assert result.returncode == 0
    assert '"sessionId":"92c3e6f4-18b0-4a7d-9d52-6ab0f7e41c88"' in result.stdout
    assert result.stderr == NOTICE


def test_own_histories_go_first(tmp_path: Path) -> None:
    own = "0e9b6f12-77ad-4d0f-b6c3-91a5e4c80d37.jsonl"
    [source] = sample_home().rglob(own)
    target = tmp_path / ".claude" / "projects" / "-own" / own
    target.parent.mkdir(parents=True)
    shutil.copyfile(source, target)
    result = run(tmp_path, "list --json")
    assert result.stdout.count("\n") == 1
    assert str(target) in result.stdout
    assert result.stderr == ""


def test_a_place_that_is_named_is_the_one_that_is_searched(tmp_path: Path) -> None:
    projects = sample_home() / ".claude" / "projects"
    result = run(tmp_path, f"list --json --claude-dir '{projects}'")
    assert result.stdout.count('"agent":"claude-code"') == result.stdout.count("\n") == 5
    assert result.stderr == ""


def test_without_words_there_is_a_tour(tmp_path: Path) -> None:
    result = run(tmp_path, "")
    assert result.returncode == 0
    assert "$ agtail --sample list --limit 5\n" in result.stdout
    assert "$ agtail --sample grep 'rm -rf' --limit 5\n" in result.stdout
    assert "Healthz endpoint" in result.stdout
    assert "rm -rf build/ && make tables" in result.stdout


def test_an_open_quote_is_one_clear_line(tmp_path: Path) -> None:
    result = run(tmp_path, "grep don't")
    assert result.returncode == 2
    assert result.stderr == 'agtail: cannot read ARGS: No closing quotation in "grep don\'t"\n'


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("grep 'rm -rf' --tool Bash", ["grep", "rm -rf", "--tool", "Bash"]),
        ('grep "a  b" --tool mcp__*', ["grep", "a  b", "--tool", "mcp__*"]),
        ("grep 'cost: 5$' --regex", ["grep", "cost: 5$", "--regex"]),
        ("grep $HOME|;&`id`>x", ["grep", "$HOME|;&`id`>x"]),
        ("", []),
    ],
)
def test_make_hands_the_words_on_as_they_are_written(
    tmp_path: Path, line: str, expected: list[str]
) -> None:
    """A stand-in for Python prints what reaches it, in place of running agtail."""
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.write_text(f"#!/bin/sh\nexec '{sys.executable}' -c '{PRINTER}'\n")
    python.chmod(0o755)
    (tmp_path / ".installed").touch()
    result = subprocess.run(
        ["make", "--no-print-directory", "run", f"VENV={tmp_path}", f"ARGS={line}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout == f"{expected}\n"


PRINTER = 'import os, shlex; print(shlex.split(os.environ["AGTAIL_ARGS"]))'


def test_a_machine_without_a_fitting_python_is_told_so(tmp_path: Path) -> None:
    result = subprocess.run(
        ["make", "run", f"VENV={tmp_path / 'new'}", "PYTHON=no-such-python"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 2
    assert "agtail needs Python 3.11 or newer with venv" in result.stderr
    assert not (tmp_path / "new").exists()
