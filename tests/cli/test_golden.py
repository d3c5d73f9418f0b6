"""What agtail prints for the recorded cases, and where the earlier tool printed something else."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

GOLDEN = Path(__file__).parent.parent / "golden"
DIFFERENCES = Path(__file__).parent.parent.parent / "docs" / "differences.md"
CASES = {case["id"]: case for case in json.loads((GOLDEN / "cases.json").read_text())}
FIELDS = ("agent", "sessionId", "path", "ts", "kind", "tool", "cwd", "archived", "snippet")
ROW = re.compile(
    r"^\| (?P<case>[a-z0-9-]+) \| (?P<verdict>[a-z ]+) \| (?P<exit>[^|]+) \| (?P<why>[^|]+) \|$",
    re.MULTILINE,
)
TABLE = (GOLDEN / "differences.md").read_text().partition("|---|---|---|---|")[2]
ROWS = {match["case"]: match for match in ROW.finditer(TABLE)}

Run = Callable[..., tuple[int, str, str]]


def content(folder: str, name: str) -> str:
    return (GOLDEN / folder / name).read_bytes().decode()


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("case", CASES)
def test_output_is_what_was_approved(run: Run, case: str) -> None:
    code, out, err = run(*CASES[case]["args"])
    assert out == content("expected", f"{case}.out")
    assert f"{err}exit {code}\n" == content("expected", f"{case}.err")


def test_the_account_is_complete() -> None:
    assert list(ROWS) == list(CASES)


@pytest.mark.parametrize("case", CASES)
def test_the_account_is_true(case: str) -> None:
    row = ROWS[case]
    reference, ours = content("reference", f"{case}.out"), content("expected", f"{case}.out")
    assert row["verdict"] == verdict(reference, ours, as_json="--json" in CASES[case]["args"])
    code = int(content("expected", f"{case}.err").rpartition("exit ")[2])
    assert row["exit"] == (
        f"{code}" if code == CASES[case]["rc"] else f"{CASES[case]['rc']} → {code}"
    )
    assert (row["why"] == "–") == (row["verdict"] == "same" and "→" not in row["exit"])


def verdict(reference: str, ours: str, *, as_json: bool) -> str:
    if reference == ours:
        return "same"
    if as_json and ours and known_fields(reference) == known_fields(ours):
        return "same but for new fields"
    return "different"


def known_fields(lines: str) -> list[str]:
    """Return each hit as the earlier tool would have written it, in its order of fields."""

    def reduced(hit: dict[str, Any]) -> str:
        return json.dumps({name: value for name, value in hit.items() if name in FIELDS})

    return [reduced(json.loads(line)) for line in lines.splitlines()]


def test_every_reason_is_explained_and_used() -> None:
    explained = re.findall(r"^- \*\*`([a-z-]+)`\*\*", DIFFERENCES.read_text(), re.MULTILINE)
    used = {name for row in ROWS.values() for name in re.findall(r"`([a-z-]+)`", row["why"])}
    assert len(explained) == len(set(explained))
    assert used == set(explained)
