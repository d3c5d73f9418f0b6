"""The tables of examples in the page about searching are true."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agtail.__main__ import main
from agtail.instants import parse_bound
from agtail.search.pattern import glob
from agtail.search.query import Query

PAGE = (Path(__file__).parents[2] / "docs" / "search.md").read_text("utf-8")
NOON = datetime(2026, 5, 6, 12, tzinfo=UTC)


def rows(table: str) -> list[list[str]]:
    """Return the cells of a marked table without its head, freed of marks for code."""
    lines = PAGE.partition(f"<!-- table: {table} -->\n")[2].partition("\n\n")[0].splitlines()
    cells = [re.split(r"(?<!\\)\|", line.strip("|")) for line in lines[2:]]
    return [[cell.strip().strip("`").replace("\\|", "|") for cell in row] for row in cells]


def test_the_tables_are_there() -> None:
    assert [len(rows(name)) for name in ("folding", "expressions", "globs", "dates")] == [
        *(11, 9, 6, 11)
    ]


@pytest.mark.parametrize(("pattern", "finds", "other"), rows("folding"))
def test_folding(pattern: str, finds: str, other: str) -> None:
    for regex in (False, True):
        query = Query.of(pattern, regex=regex)
        assert query.find(f"x {finds} x") is not None
        assert query.find(f"x {other} x") is None


@pytest.mark.parametrize(("pattern", "finds", "other"), rows("expressions"))
def test_expressions(pattern: str, finds: str, other: str) -> None:
    query = Query.of(pattern, regex=True)
    assert query.find(finds) is not None
    assert query.find(other) is None


@pytest.mark.parametrize(("pattern", "fits", "other"), rows("globs"))
def test_globs(pattern: str, fits: str, other: str) -> None:
    assert glob([pattern])(fits)
    assert not glob([pattern])(other)


@pytest.mark.parametrize(("text", "since", "until"), rows("dates"))
def test_dates(text: str, since: str, until: str) -> None:
    for end, expected in ((False, since), (True, until)):
        instant = parse_bound(text, end=end, zone=UTC, now=NOON)
        moment = datetime.fromtimestamp(instant / 1000, UTC)
        assert moment.isoformat(timespec="milliseconds") == f"{expected}+00:00"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["healthz"], 0),
        (["no such words anywhere"], 1),
        (["(", "--regex"], 2),
        (["x", "--kind", "nope"], 2),
        (["x", "--since", "zzz"], 2),
        (["x", "--limit", "-1"], 2),
    ],
)
def test_exit_codes(words: list[str], code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--sample", "grep", *words]) == code
    assert ("agtail: " in capsys.readouterr().err) == (code == 2)
