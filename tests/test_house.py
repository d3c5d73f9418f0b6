"""The house rules that no other tool checks: what may be imported, named and pinned."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import agtail
from agtail.agents import agent_ids, package_of

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
PAGES = [ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")] + sorted(
    (ROOT / "docs").rglob("*.md")
)
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PINNED = dict(
    line.split("==") for line in (ROOT / "constraints.txt").read_text("utf-8").splitlines()
)

MAX_LINES = 450

NOT_OURS = {".git", ".venv", ".hypothesis", "__pycache__", "dist", "corpora", "data"}

CORE = (
    "model",
    "errors",
    "instants",
    "records",
    "assemble",
    "agents.base",
    "agents.claude_code.adapter",
    "agents.codex.adapter",
    "search.query",
    "search.scan",
)
HEAVY = ("zstandard", "re2", "click", "rich", "numpy", "sqlite3")

SCHEMA_MODULES = {
    *("agtail", "agtail.agents", "agtail.errors", "agtail.schemas"),
    *(package_of(agent) for agent in agent_ids()),
    *(f"{package_of(agent)}.schema" for agent in agent_ids()),
}
"""The schemas with the packages around them; the registry names its errors, which are tiny."""


def texts() -> Iterator[tuple[Path, str]]:
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [name for name in folders if name not in NOT_OURS and "cache" not in name]
        for name in names:
            path = Path(folder, name)
            try:
                yield path, path.read_text("utf-8")
            except UnicodeDecodeError:
                continue


def run(code: str) -> str:
    """Run a program of its own and return what it printed."""
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert not result.returncode, result.stderr
    return result.stdout


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_says_first_what_it_is_for(path: Path) -> None:
    docstring = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
    assert docstring.splitlines()[:1], "no docstring"
    assert docstring.splitlines()[0].endswith((".", "?")), "the first line is no sentence"


def test_modules_fit_on_few_screens() -> None:
    """All but schemas, which are looked up in and not read."""
    long = [path for path in SOURCES if len(path.read_text("utf-8").splitlines()) > MAX_LINES]
    assert [path for path in long if path.name != "schema.py"] == []


def test_nothing_names_a_registry_or_this_checkout() -> None:
    hosts = ["pypi" + ".org", "python" + "hosted", "registry." + "npmjs", str(ROOT)]
    found = [
        f"{path.relative_to(ROOT)}: {host}"
        for path, text in texts()
        for host in hosts
        if host in text
    ]
    assert found == []


def test_constraints_are_exact_versions_and_nothing_else() -> None:
    for line in (ROOT / "constraints.txt").read_text("utf-8").splitlines():
        assert re.fullmatch(r"[A-Za-z0-9_.-]+==[0-9][0-9a-z.]*", line)


def test_everything_that_is_asked_for_is_pinned() -> None:
    asked = [
        *PROJECT["build-system"]["requires"],
        *PROJECT["project"]["dependencies"],
        *PROJECT["dependency-groups"]["dev"],
    ]
    assert {requirement.split()[0] for requirement in asked} <= PINNED.keys()


def test_make_installs_the_development_group() -> None:
    [line] = re.findall(r"install -c constraints.txt (hypothesis .*)", makefile())
    wanted = [requirement.split()[0] for requirement in PROJECT["dependency-groups"]["dev"]]
    assert line.split() == wanted


def test_the_commands_of_the_readme_exist() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    named = set(re.findall(r"^\$ make (\w+)", readme, re.MULTILINE))
    targets = set(re.findall(r"^(\w+):", makefile(), re.MULTILINE))
    assert {"run", "test"} <= named <= targets


def test_ci_runs_the_command_of_the_readme() -> None:
    assert "make test" in (ROOT / ".ci" / "run").read_text("utf-8").splitlines()
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


def test_the_version_is_one() -> None:
    assert agtail.__version__ == PROJECT["project"]["version"]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_of_the_documentation_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#\s]+)", page.read_text("utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_schemas_are_types_and_nothing_else() -> None:
    loaded = run("import sys, agtail.schemas; print(*sorted(sys.modules))").split()
    assert {name for name in loaded if name.partition(".")[0] == "agtail"} <= SCHEMA_MODULES
    assert "msgspec" not in loaded


@pytest.mark.parametrize("module", CORE)
def test_the_core_does_with_msgspec_and_the_standard_library(module: str) -> None:
    code = f"""
import sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {HEAVY!r}:
            raise ImportError(name)

sys.meta_path.insert(0, Refuse())
import agtail.{module}
print(*sorted({{name.partition(".")[0] for name in sys.modules}} & {set(HEAVY)!r}))
"""
    assert run(code).strip() == ""


def makefile() -> str:
    return (ROOT / "Makefile").read_text("utf-8")
