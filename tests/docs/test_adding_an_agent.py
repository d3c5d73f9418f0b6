"""``docs/adding-an-agent.md``, followed to the letter in a copy of the project."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/adding-an-agent.md").read_text("utf-8")

FILE = re.compile(r"^`([\w./-]+)`:\n\n```\w+\n(.*?)^```$", re.DOTALL | re.MULTILINE)
LINE = re.compile(
    r"^In `([\w./]+)`, at the end of the table:\n\n```python\n(.*?)^```$", re.DOTALL | re.MULTILINE
)

COPIED = (".ci", "src", "tests", "docs", "bench", "README.md", "CHANGELOG.md", "CONTRIBUTING.md")
SETTINGS = ("pyproject.toml", "constraints.txt", "LICENSE", "Makefile", ".gitignore")

OWN = (
    "src/agtail/agents/parrot/",
    "src/agtail/sample/home/.parrot/",
    "tests/agents/parrot/",
    "tests/corpora/parrot/",
    "docs/agents/parrot.md",
)
"""What belongs to the agent alone."""

GENERATED = {"README.md", "docs/install.md", "src/agtail/schemas/__init__.py"}
"""What ``make docs`` makes anew."""


def state(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file() and "cache" not in str(path.relative_to(folder))
    }


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """Make a copy of the project with Parrot in it; return what it was like before."""
    copy = tmp_path_factory.mktemp("project")
    ignored = shutil.ignore_patterns("__pycache__", "data", "*_cache", ".hypothesis")
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, copy / name, ignore=ignored)
    for name in (*COPIED, *SETTINGS):
        if (ROOT / name).is_file():
            shutil.copy(ROOT / name, copy / name)
    known = state(copy)
    for name, content in FILE.findall(PAGE):
        path = copy / name
        assert not path.exists()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, "utf-8")
    [(name, line)] = LINE.findall(PAGE)
    text = (copy / name).read_text("utf-8")
    begun = text.index("_AGENTS = {")
    end = text.index("}\n", begun)
    (copy / name).write_text(text[:end] + line + text[end:], "utf-8")
    run(copy, "docs/generate.py")
    return copy, known


def run(copy: Path, *arguments: str) -> str:
    """Run Python in the copy, which has to succeed; return what it printed."""
    result = subprocess.run(
        [sys.executable, *arguments],
        cwd=copy,
        env={**os.environ, "PYTHONPATH": str(copy / "src"), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.mark.slow
def test_the_agent_is_read_and_searched(before: tuple[Path, dict[str, str]]) -> None:
    copy, _ = before
    out = run(copy, "-m", "agtail", "--sample", "grep", "Which port", "--agent", "parrot")
    assert "Which port has the highest tide?" in out
    out = run(copy, "-m", "agtail", "--sample", "agents", "parrot")
    assert "parrot --again {id}" in out


@pytest.mark.slow
def test_it_touches_its_own_and_one_line_in_the_registry(
    before: tuple[Path, dict[str, str]],
) -> None:
    copy, known = before
    touched = {name for name, digest in state(copy).items() if known.get(name) != digest}
    others = {name for name in touched if not name.startswith(OWN)}
    assert others - GENERATED == {"src/agtail/agents/__init__.py"}
    assert others >= GENERATED
    added = [
        line
        for line in (copy / "src/agtail/agents/__init__.py").read_text().splitlines()
        if line not in (ROOT / "src/agtail/agents/__init__.py").read_text().splitlines()
    ]
    assert added == ['    "parrot": "parrot:Parrot",']


@pytest.mark.slow
def test_its_tests_and_the_conformance_kit_pass(before: tuple[Path, dict[str, str]]) -> None:
    copy, _ = before
    own = ("tests/conformance", "tests/agents/parrot", "tests/agents/test_harnesses.py")
    shared = ("tests/schemas", "tests/sample", "tests/docs/test_pages.py", "tests/test_house.py")
    run(
        *(copy, "-m", "pytest", "-p", "no:cacheprovider", "-q", "-n", "0"),
        *(*own, *shared, "tests/cli/test_agents.py"),
        *("-k", "parrot or shapes or sample or house or pages or agents"),
    )


@pytest.mark.slow
def test_the_house_is_in_order(before: tuple[Path, dict[str, str]]) -> None:
    copy, _ = before
    run(copy, "-m", "ruff", "format", "--check", "src", "tests/agents/parrot")
    run(copy, "-m", "ruff", "check", "src", "tests/agents/parrot")
    run(copy, "-m", "mypy", "src/agtail/agents/parrot", "tests/agents/parrot")
