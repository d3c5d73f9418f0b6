"""Pi: what its corpora do not show."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agtail.agents.pi.injected import split
from agtail.assemble import Transcript
from agtail.history import History

HEADER = {
    "type": "session",
    "version": 3,
    "id": "s1",
    "timestamp": "2026-05-01T10:00:00.000Z",
    "cwd": "/w",
}


def entry(number: int, parent: int | None, **fields: Any) -> dict[str, Any]:
    above = None if parent is None else f"e{parent}"
    time = f"2026-05-01T10:00:{number:02d}.000Z"
    return {"type": "message", "id": f"e{number}", "parentId": above, "timestamp": time, **fields}


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "text", "text": text}]}


def answer(*blocks: dict[str, Any], stop: str = "stop") -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks), "model": "m", "stopReason": stop}


def write(folder: Path, *records: object, name: str = "2026-05-01T10-00-00-000Z_s1") -> Path:
    path = folder / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def read(home: Path, **env: str) -> list[Transcript]:
    return list(History(home=home, env=env, agents=["pi"]).transcripts())


@pytest.mark.parametrize(
    ("variable", "folder"),
    [("PI_CODING_AGENT_DIR", "agent/sessions/--w--"), ("PI_CODING_AGENT_SESSION_DIR", "agent")],
)
def test_other_folders(tmp_path: Path, variable: str, folder: str) -> None:
    write(tmp_path / folder, HEADER, entry(1, None, message=user("pears")))
    assert read(tmp_path) == []
    (found,) = read(tmp_path, **{variable: str(tmp_path / "agent")})
    assert found.session.title == "pears"


def test_other_files_are_no_sessions(tmp_path: Path) -> None:
    folder = tmp_path / ".pi/agent/sessions/--w--"
    write(folder, {"type": "trace", "id": "x"}, name="trace")
    write(folder / "deeper/still", HEADER, entry(1, None, message=user("pears")))
    assert read(tmp_path) == []


def test_a_damaged_file_costs_only_itself(tmp_path: Path) -> None:
    folder = tmp_path / ".pi/agent/sessions/--w--"
    write(folder, HEADER, entry(1, None, message=user("pears")))
    (folder / "2026_s2.jsonl").write_bytes(b"\x00\xff{\n" * 3)
    (found,) = read(tmp_path)
    assert found.session.id == "s1"


def test_what_is_not_known_is_kept(tmp_path: Path) -> None:
    folder = tmp_path / ".pi/agent/sessions/--w--"
    odd = {"type": "hologram", "data": "kept as it is"}
    write(
        folder,
        HEADER,
        entry(1, None, message=user("pears")),
        {**entry(2, 1), "type": "dream", "about": "plums"},
        entry(3, 2, message={"role": "oracle", "content": "apples"}),
        entry(4, 3, message=answer(odd)),
    )
    (found,) = read(tmp_path)
    unknown = [event for event in found.events if event.kind == "unknown"]
    assert [event.text for event in unknown] == ["dream", "oracle", "block hologram"]
    assert unknown[2].raw == odd


@pytest.mark.parametrize(
    ("last", "ending"),
    [
        (answer(stop="length"), "limit"),
        (answer(stop="error"), "error"),
        (answer(stop="aborted"), "interrupted"),
        (answer({"type": "text", "text": "fine"}), None),
        (answer({"type": "toolCall", "id": "c", "name": "bash", "arguments": {}}), "interrupted"),
        (user("and now?"), "interrupted"),
    ],
)
def test_endings(tmp_path: Path, last: dict[str, Any], ending: str | None) -> None:
    folder = tmp_path / ".pi/agent/sessions/--w--"
    write(folder, HEADER, entry(1, None, message=user("pears")), entry(2, 1, message=last))
    (found,) = read(tmp_path)
    assert found.session.ending == ending


def test_what_is_off_the_path_is_marked(tmp_path: Path) -> None:
    folder = tmp_path / ".pi/agent/sessions/--w--"
    write(
        folder,
        HEADER,
        entry(1, None, message=user("pears")),
        entry(2, 1, message=answer({"type": "text", "text": "abandoned"})),
        entry(3, 1, message=answer({"type": "text", "text": "taken"})),
    )
    (found,) = read(tmp_path)
    assert found.session.branches == 1
    assert [event.text for event in found.events if event.rewound] == ["abandoned"]


def test_a_fork_whose_original_is_gone_owns_its_copies(tmp_path: Path) -> None:
    folder = tmp_path / ".pi/agent/sessions/--w--"
    fork = {**HEADER, "id": "s2", "parentSession": "/gone/2026-05-01T09-00-00-000Z_s1.jsonl"}
    write(folder, fork, entry(1, None, message=user("pears")))
    (found,) = read(tmp_path)
    assert (found.session.fork_of, found.session.inherited_events) == ("s1", 0)


def test_an_original_that_cannot_be_read_costs_only_itself(tmp_path: Path) -> None:
    folder = tmp_path / ".pi/agent/sessions/--w--"
    original = folder / "2026-05-01T09-00-00-000Z_s1.jsonl"
    fork = {**HEADER, "id": "s2", "parentSession": f"/w/{original.name}"}
    write(folder, fork, entry(1, None, message=user("pears")))
    original.mkdir()
    found = {each.session.id: each.session for each in read(tmp_path)}
    assert found["s1"].integrity is not None
    assert found["s1"].integrity.unreadable == "is a directory"
    assert (found["s2"].integrity, found["s2"].title) == (None, "pears")


def test_what_pi_put_in_front_is_not_the_prompt() -> None:
    skill = '<skill name="a" location="/b">do it</skill>'
    assert split(f"{skill}\n\nnow") == (skill, "now")
    assert split("<file>no</file>") == ("", "<file>no</file>")
