"""Oh My Pi: what its corpora do not show."""

from __future__ import annotations

import gzip
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from agtail.agents.base import Surroundings
from agtail.agents.omp.adapter import Omp
from agtail.assemble import Transcript
from agtail.history import History

SLOT = {"type": "title", "v": 1, "title": "", "updatedAt": "2026-05-01T10:00:00.000Z", "pad": "  "}
HEADER = {
    "type": "session",
    "version": 3,
    "id": "s1",
    "timestamp": "2026-05-01T10:00:00.000Z",
    "cwd": "/w",
}
NAME = "2026-05-01T10-00-00-000Z_s1"
FOLDER = ".omp/agent/sessions/-w"


def entry(number: int, parent: int | None, **fields: Any) -> dict[str, Any]:
    above = None if parent is None else f"e{parent}"
    time = f"2026-05-01T10:00:{number:02d}.000Z"
    return {"type": "message", "id": f"e{number}", "parentId": above, "timestamp": time, **fields}


def user(text: str, **fields: Any) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "text", "text": text}], **fields}


def answer(*blocks: dict[str, Any], stop: str = "stop", **fields: Any) -> dict[str, Any]:
    return {
        "role": "assistant",
        "content": list(blocks),
        "model": "m",
        "stopReason": stop,
        **fields,
    }


def said(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def write(folder: Path, *records: object, name: str = NAME) -> Path:
    path = folder / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


PEARS = entry(1, None, message=user("pears"))


def read(home: Path, **env: str) -> list[Transcript]:
    return list(History(home=home, env=env, agents=["omp"]).transcripts())


def only(home: Path, *records: object) -> Transcript:
    write(home / FOLDER, *records)
    (found,) = read(home)
    return found


@pytest.mark.parametrize(
    ("env", "folder"),
    [
        ({"PI_CODING_AGENT_DIR": "moved"}, "moved/sessions/-w"),
        ({"PI_CONFIG_DIR": ".elsewhere"}, ".elsewhere/agent/sessions/-w"),
        ({"XDG_DATA_HOME": "data"}, "data/omp/sessions/-w"),
        ({"XDG_DATA_HOME": "data"}, "data/omp/profiles/work/sessions/-w"),
        ({}, ".omp/profiles/work/agent/sessions/-w"),
        ({}, ".omp/agent/archive/sessions/-w"),
    ],
)
def test_other_folders(tmp_path: Path, env: dict[str, str], folder: str) -> None:
    write(tmp_path / folder, SLOT, HEADER, PEARS)
    if env:
        assert read(tmp_path) == []
    relative = "PI_CONFIG_DIR"  # the others hold whole paths
    (found,) = read(
        tmp_path,
        **{key: each if key == relative else str(tmp_path / each) for key, each in env.items()},
    )
    assert found.session.title == "pears"
    assert found.session.archived == ("archive" in folder)


def test_sessions_that_were_put_elsewhere(tmp_path: Path) -> None:
    path = write(tmp_path / "elsewhere", SLOT, HEADER, PEARS)
    write(
        path.with_suffix(""),
        {**HEADER, "id": "c1", "parentSession": str(path)},
        PEARS,
        name="Scout",
    )
    write(tmp_path / "elsewhere", HEADER, PEARS, name="not-registered")
    markers = tmp_path / ".omp/agent/custom-session-files"
    markers.mkdir(parents=True)
    (markers / "1").write_text(f"{path}\n")
    (markers / "2").write_text(str(tmp_path / "gone.jsonl"))
    (markers / "3").write_bytes(b"\xff\x00")
    found = {each.session.id: each.session.parent_id for each in read(tmp_path)}
    assert found == {"s1": None, "c1": "s1"}


def test_a_root_that_is_shared_with_pi(tmp_path: Path) -> None:
    chosen = {**entry(1, None), "type": "model_change"}
    folder = tmp_path / "agent/sessions/--w--"
    write(folder, HEADER, {**chosen, "provider": "p", "modelId": "m"}, PEARS, name="x_pi")
    write(folder, {**HEADER, "id": "s2"}, {**chosen, "model": "p/m"}, PEARS, name="x_old")
    write(folder, SLOT, {**HEADER, "id": "s3"}, PEARS, name="x_new")
    env = {"PI_CODING_AGENT_DIR": str(tmp_path / "agent")}
    history = History(home=tmp_path, env=env, agents=["pi", "omp"])
    found = {(each.session.agent, each.session.id) for each in history.transcripts()}
    assert {("pi", "s1"), ("omp", "s2"), ("omp", "s3")} <= found
    assert not {("omp", "s1"), ("pi", "s3")} & found


def test_a_damaged_file_costs_only_itself(tmp_path: Path) -> None:
    folder = tmp_path / FOLDER
    write(folder, SLOT, HEADER, PEARS)
    write(folder, {"type": "trace", "id": "x"}, {"type": "trace"}, name="trace")
    (folder / "2026_s2.jsonl").write_bytes(b"\x00\xff{\n" * 3)
    headless = write(folder, SLOT, {**PEARS, "id": "e9"}, name="2026_s3")
    assert {each.session.id for each in read(tmp_path)} == {"s1", "s3"}
    headless.write_bytes(b'{"type":"ti' + headless.read_bytes())
    (found,) = [each for each in read(tmp_path) if each.session.id == "s1"]
    assert found.session.title == "pears"


def test_what_is_not_known_is_kept(tmp_path: Path) -> None:
    odd = {"type": "hologram", "text": "kept as it is"}
    found = only(
        tmp_path,
        SLOT,
        HEADER,
        PEARS,
        {**entry(2, 1), "type": "dream", "about": "plums"},
        entry(3, 2, message={"role": "oracle", "content": "apples"}),
        entry(4, 3, message=answer(odd, said("yes"), upstreamModel="grapes", duration=1)),
    )
    unknown = [event for event in found.events if event.kind == "unknown"]
    assert [event.text for event in unknown] == ["dream", "oracle", "block hologram"]
    assert unknown[2].raw == odd
    (more,) = (event for event in found.events if event.text == "answer")
    assert (more.bookkeeping, more.raw) == (True, {"upstreamModel": "grapes"})


@pytest.mark.parametrize(
    ("slot", "changes", "title"),
    [
        ({"title": "Pears", "source": "auto"}, [], "Pears"),
        ({"title": "Pears and pl…"}, ["Pears and plums"], "Pears and plums"),
        ({"title": "Newest"}, ["Older"], "Newest"),
        ({"title": ""}, ["First", "Second"], "Second"),
        ({"title": ""}, [], "From the header"),
    ],
)
def test_titles(tmp_path: Path, slot: dict[str, str], changes: list[str], title: str) -> None:
    changed = [
        {**entry(at, at - 1), "type": "title_change", "title": each, "source": "auto"}
        for at, each in enumerate(changes, 2)
    ]
    header = {**HEADER, "title": "From the header"}
    assert only(tmp_path, {**SLOT, **slot}, header, PEARS, *changed).session.title == title


def test_only_a_human_is_a_user(tmp_path: Path) -> None:
    files = [
        {"path": "a.py", "content": "plums", "lineCount": 1},
        {"path": "b", "skippedReason": "x"},
    ]
    found = only(
        tmp_path,
        SLOT,
        HEADER,
        PEARS,
        entry(2, 1, message=user("told by an agent", attribution="agent")),
        entry(3, 2, message=user("made up", synthetic=True)),
        entry(4, 3, message={**user("injected"), "role": "developer"}),
        entry(5, 4, message={"role": "fileMention", "files": files}),
        entry(6, 5, message={"role": "pythonExecution", "code": "1+1", "output": "2\n"}),
        {**entry(7, 6), "type": "reset_boundary"},
        {**entry(8, 7), "type": "credential_pin", "provider": "p", "hash": "0123456789abcdef"},
        entry(9, 8, message=answer(said("fine"))),
    )
    shown = [event for event in found.events if not event.bookkeeping]
    assert [(event.kind, event.role, event.text) for event in shown] == [
        ("text", "user", "pears"),
        ("system", "system", "told by an agent"),
        ("system", "system", "made up"),
        ("system", "system", "injected"),
        ("system", "system", "@a.py\nplums\n\n@b"),
        ("system", "system", "$ 1+1\n2"),
        ("system", "system", "context cleared"),
        ("text", "assistant", "fine"),
    ]
    assert "0123456789abcdef" not in str([event.raw for event in found.events])


def test_nested_subagents_know_their_parents(tmp_path: Path) -> None:
    folder = tmp_path / FOLDER
    tasks = {"tasks": [{"name": "Outer"}, {"name": "Asked"}]}
    call = {"type": "toolCall", "id": "call_1", "name": "task", "arguments": tasks}
    done = {"progress": [{"id": "Outer"}, {"id": "Asked-2"}]}
    result = {"role": "toolResult", "toolCallId": "call_1", "content": [], "details": done}
    root = write(
        folder, SLOT, HEADER, PEARS, entry(2, 1, message=answer(call)), entry(3, 2, message=result)
    )
    inside = root.with_suffix("")
    outer = write(inside, SLOT, {**HEADER, "id": "o", "parentSession": str(root)}, name="Outer")
    begun = {**entry(1, None), "type": "session_init", "systemPrompt": ["a", "b"], "task": "t"}
    told = entry(2, 1, message=user("do it", attribution="agent"))
    for path, above in ((outer, root), (inside / "Inner.jsonl", outer)):
        header = {**HEADER, "id": path.stem, "parentSession": f"/old/place/{above.name}"}
        write(inside, SLOT, header, begun, told, name=path.stem)
    found = {each.session.id: each for each in read(tmp_path)}
    outer_session, inner = found["Outer"].session, found["Inner"].session
    assert (outer_session.parent_id, outer_session.agent_name) == ("s1", "Outer")
    assert outer_session.spawned_by_tool_use_id == "call_1"
    assert (inner.parent_id, inner.fork_of) == ("Outer", None)
    assert [each.text for each in found["Inner"].events if each.kind == "text"] == ["do it"]
    root.unlink()
    assert {each.session.parent_id for each in read(tmp_path)} == {"s1", "Outer"}


def test_images_in_files_of_their_own(tmp_path: Path) -> None:
    digest = "ab" * 32
    linked = {"type": "image", "data": f"blob:sha256:{digest}", "mimeType": "image/png"}
    call = {"type": "toolCall", "id": "c", "name": "shot", "arguments": {}}
    result = {
        "role": "toolResult",
        "toolCallId": "c",
        "content": [said("done")],
        "details": {"images": [linked]},
        "prunedAt": 5,
    }
    shown = {"role": "user", "content": [said("see"), linked]}
    found = only(
        tmp_path,
        SLOT,
        HEADER,
        entry(1, None, message=shown),
        entry(2, 1, message=answer(call)),
        entry(3, 2, message=result),
    )
    images = [image for event in found.events for image in event.images]
    assert [image.sha256 for image in images] == [digest, digest]
    (used,) = (event for event in found.events if event.kind == "tool_use")
    assert used.result is not None
    assert used.result.detail == {"prunedAt": 5}


def test_answers(tmp_path: Path) -> None:
    cut = {"type": "toolCall", "id": "c", "name": "write", "arguments": {}, "intent": "save"}
    usage = {"input": 3, "output": 5, "cacheRead": 0, "cacheWrite": 0, "reasoningTokens": 2}
    found = only(
        tmp_path,
        SLOT,
        HEADER,
        PEARS,
        entry(
            2,
            1,
            message=answer(
                {"type": "redactedThinking", "data": "x" * 40},
                {**cut, "partialArgs": '{"content": "never fini'},
                usage=usage,
                stop="length",
            ),
        ),
    )
    thought, call = (event for event in found.events if event.kind in ("thinking", "tool_use"))
    assert thought.text == ""
    assert call.raw == {"partialArgs": '{"content": "never fini', "intent": "save"}
    assert found.session.usage is not None
    assert found.session.usage.reasoning_tokens == 2


def test_packed_sessions_are_told_of(tmp_path: Path) -> None:
    folder = tmp_path / ".omp/agent/archive/sessions/-w"
    folder.mkdir(parents=True)
    (folder / f"{NAME}.jsonl.gz").write_bytes(gzip.compress(json.dumps(HEADER).encode()))
    warnings: list[str] = []
    History(home=tmp_path, env={}, agents=["omp"], warn=warnings.append).units()
    assert ["1 archived sessions are packed" in line for line in warnings] == [True]


def test_typed_prompts_and_files_to_take_along(tmp_path: Path) -> None:
    path = write(tmp_path / FOLDER, SLOT, HEADER, PEARS)
    beside = path.with_suffix("") / "1.bash.log"
    beside.parent.mkdir()
    beside.write_text("plums")
    agent = tmp_path / ".omp/agent"
    (agent / "blobs").mkdir()
    (agent / "blobs" / "ab").write_bytes(b"image")
    with sqlite3.connect(agent / "history.db") as database:
        database.execute("CREATE TABLE history (id, prompt, created_at, cwd, session_id)")
        database.execute("INSERT INTO history VALUES (1, 'typed', 1796066608, '/w', 's1')")
        database.execute("INSERT INTO history VALUES (2, 'lost', 1796066609, '/w', NULL)")
    database.close()
    omp = Omp(Surroundings(home=tmp_path, env={}))
    assert [tuple(each) for each in omp.prompts()] == [("s1", 1796066608000, "typed")]
    names = {Path(each).name for each in omp.transfer_files()}
    assert names == {path.name, "1.bash.log", "ab"}


@pytest.mark.parametrize(
    ("tool", "arguments", "line"),
    [
        ("edit", {"input": "[a.js#80F3]\nPUT 2.=2:\n+x[1]\n[b.js#DFC4]\nCUT 1\n"}, "a.js, b.js"),
        ("task", {"tasks": [{"name": "Scout"}, {"task": "no name"}]}, "Scout"),
        ("read", {"path": "a"}, None),
        ("edit", "text", None),
    ],
)
def test_calls_in_one_line(tmp_path: Path, tool: str, arguments: object, line: str | None) -> None:
    assert Omp(Surroundings(home=tmp_path, env={})).describe_tool(tool, arguments) == line


def test_a_session_without_its_first_lines_is_one(tmp_path: Path) -> None:
    write(tmp_path / FOLDER, PEARS)
    (found,) = read(tmp_path)
    assert (found.session.id, found.session.title) == ("s1", "pears")
