"""The generated parts of the documentation are up to date."""

from __future__ import annotations

import importlib.util
import os
import re
from pathlib import Path
from types import ModuleType

import pytest

DOCS = Path(__file__).parents[2] / "docs"


def script(name: str) -> ModuleType:
    """Load one of the scripts that stand beside the pages."""
    spec = importlib.util.spec_from_file_location(f"docs_{name}", DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", script("generate").PAGES)
def test_pages_say_what_the_code_says(page: str) -> None:
    assert script("generate").regenerate(page) == (DOCS / page).read_text("utf-8")


def test_the_shapes_of_every_agent_are_published() -> None:
    generate = script("generate")
    assert generate.schemas() == generate.SCHEMAS.read_text("utf-8")


def test_every_page_with_marks_is_generated() -> None:
    marked = {
        os.path.relpath(path, DOCS)
        for path in (*DOCS.rglob("*.md"), DOCS.parent / "README.md")
        if re.search(r"^<!-- begin ", path.read_text("utf-8"), re.MULTILINE)
        and path.name != "adding-an-agent.md"  # it shows a page with marks
    }
    assert marked == set(script("generate").PAGES)


def test_the_picture_is_what_agtail_prints() -> None:
    picture = (DOCS / "terminal.svg").read_text("utf-8")
    assert script("picture").draw() == picture


def test_the_picture_loads_nothing() -> None:
    picture = (DOCS / "terminal.svg").read_text("utf-8")
    assert "url(" not in picture.replace("url(#", "")
    assert "@font-face" not in picture
    assert "href" not in picture
