"""The adapter for one session a file or folder: what it finds, and what it refuses to be."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agtail.agents.base import Item, Meta, Surroundings, Unit, units_of
from agtail.agents.files import Context, FileAdapter, build_session, file_adapter
from agtail.assemble import assemble
from agtail.errors import RegistrationError, SourceError
from agtail.model import Event, Integrity
from agtail.records import Record


def said(records: Iterator[Record], context: Context) -> Iterator[Item]:
    for record in records:
        yield Event(kind="text", role="user", text=f"{context.id}: {record.data['said']}")


def is_log(relative: str) -> bool:
    return relative.endswith(".jsonl")


def adapter_in(home: Path, kind: type[FileAdapter], **surroundings: Any) -> FileAdapter:
    return kind(Surroundings(home=home, env={}, **surroundings))


def write(path: Path, *texts: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps({"said": text}) + "\n" for text in texts))
    return path


def found(adapter: FileAdapter) -> list[Unit]:
    errors: list[SourceError] = []
    units = list(units_of(adapter, errors.append))
    assert errors == []
    return units


def texts(adapter: FileAdapter, unit: Unit) -> list[str | None]:
    return [item.text for item in adapter.read(unit, Integrity()) if isinstance(item, Event)]


NOTES = file_adapter(
    agent="notes", root="~/.notes", match=is_log, parse=said, archived_root="~/.notes-old"
)


def test_sessions_are_files_with_a_wanted_name(tmp_path: Path) -> None:
    first = write(tmp_path / ".notes/a/one.jsonl", "hello", "again")
    write(tmp_path / ".notes/a/one.txt", "not this")
    old = write(tmp_path / ".notes-old/two.jsonl", "long ago")
    adapter = adapter_in(tmp_path, NOTES)
    units = found(adapter)
    assert [(unit.id, unit.path, unit.archived) for unit in units] == [
        ("one", str(first), False),
        ("two", str(old), True),
    ]
    assert texts(adapter, units[0]) == ["one: hello", "one: again"]
    assert units[0].size == first.stat().st_size
    assert list(adapter.transfer_files()) == [str(first), str(old)]


def test_nothing_there_is_an_empty_history(tmp_path: Path) -> None:
    assert found(adapter_in(tmp_path, NOTES)) == []


def test_another_root_takes_the_place_of_both(tmp_path: Path) -> None:
    write(tmp_path / ".notes/one.jsonl", "hello")
    write(tmp_path / ".notes-old/two.jsonl", "long ago")
    other = write(tmp_path / "elsewhere/three.jsonl", "here")
    adapter = adapter_in(tmp_path, NOTES, root=tmp_path / "elsewhere")
    assert [unit.path for unit in found(adapter)] == [str(other)]


@pytest.mark.parametrize("wanted", [True, False])
def test_collections_are_looked_into_when_wanted(tmp_path: Path, *, wanted: bool) -> None:
    kind = file_adapter(
        agent="notes", root="~/.notes", match=is_log, parse=said, import_store=wanted
    )
    write(tmp_path / "team/notes/one.jsonl", "hello")
    units = found(adapter_in(tmp_path, kind, imported={"team": tmp_path / "team/notes"}))
    assert [unit.imported_from for unit in units] == (["team"] if wanted else [])


def test_one_document_a_file(tmp_path: Path) -> None:
    def parse_json(data: Any, context: Context) -> Iterator[Item]:
        yield Event(kind="text", role="user", text=f"{context.path == data['path']}")

    kind = file_adapter(agent="pages", root="~/.pages", match=bool, parse_json=parse_json)
    path = tmp_path / ".pages/one.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"path": str(path)}))
    adapter = adapter_in(tmp_path, kind)
    (unit,) = found(adapter)
    assert unit.id == "one"
    assert texts(adapter, unit) == ["True"]


def test_one_folder_a_session(tmp_path: Path) -> None:
    def read(context: Context) -> Iterator[Item]:
        for path in context.unit.parts:
            yield Event(kind="text", role="user", text=Path(path).read_text())

    kind = file_adapter(
        agent="boxes", root="~/.boxes", unit="dir", match=lambda name: name[0] != "_", read=read
    )
    for name in ("box/a", "box/b/c", "_hidden/a", "loose"):
        path = tmp_path / ".boxes" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    adapter = adapter_in(tmp_path, kind)
    (unit,) = found(adapter)
    assert (unit.id, unit.path, unit.size) == ("box", str(tmp_path / ".boxes/box"), 12)
    assert texts(adapter, unit) == ["box/a", "box/b/c"]


def test_a_simple_adapter_promises_nothing_more(tmp_path: Path) -> None:
    adapter = adapter_in(tmp_path, NOTES)
    assert adapter.describe_tool("Bash", {}) is None
    assert adapter.retention() is None
    assert list(adapter.prompts()) == []


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"agent": ""}, "has no agent id"),
        ({"root": ""}, "has no root"),
        ({"unit": "page"}, "neither file nor dir: page"),
        ({"parse": None}, "has no way to read"),
        ({"read": lambda _context: []}, "more than one way to read: parse, read_unit"),
        ({"unit": "dir"}, "reads folders, which only read can"),
        ({"match": None}, "has no match"),
    ],
)
def test_mistakes_are_found_when_the_adapter_is_made(options: dict[str, Any], fault: str) -> None:
    right: dict[str, Any] = {"agent": "notes", "root": "~/n", "match": is_log, "parse": said}
    file_adapter(**right)
    with pytest.raises(RegistrationError, match=fault):
        file_adapter(**{**right, **options})


def test_what_travels_may_be_told_apart_from_what_is_read(tmp_path: Path) -> None:
    kind = file_adapter(
        agent="notes",
        root="~/.notes",
        match=is_log,
        parse=said,
        transfer_match=lambda relative: not relative.endswith(".lock"),
    )
    kept = [write(tmp_path / ".notes" / name) for name in ("one.jsonl", "one.meta")]
    write(tmp_path / ".notes/one.lock")
    adapter = adapter_in(tmp_path, kind)
    assert [unit.id for unit in found(adapter)] == ["one"]
    assert list(adapter.transfer_files()) == list(map(str, kept))


@pytest.mark.parametrize("skip", [True, False])
def test_sessions_in_which_nothing_was_said_are_left_out_unless_wanted(
    tmp_path: Path, *, skip: bool
) -> None:
    kind = file_adapter(
        agent="notes", root="~/.notes", match=is_log, parse=lambda *_: [], skip_empty=skip
    )
    write(tmp_path / ".notes/one.jsonl", "nothing of it is mapped")
    adapter = adapter_in(tmp_path, kind)
    [unit] = found(adapter)
    [transcript] = assemble(unit, adapter.read(unit, Integrity()), Integrity())
    assert transcript.empty is skip


def test_a_session_made_of_plain_events(tmp_path: Path) -> None:
    def parse(_records: Iterator[Record], context: Context) -> Iterator[Item]:
        events = [
            Event(kind="text", role="user", text="How many?", ts="2026-05-01T08:00:00Z"),
            Event(kind="text", role="assistant", text="Two.", model="m-1"),
        ]
        return build_session(context, events, Meta(cwd="/work/pears"), title=titles.pop())

    titles = ["Counting", None]
    kind = file_adapter(agent="notes", root="~/.notes", match=is_log, parse=parse)
    write(tmp_path / ".notes/one.jsonl", "x")
    adapter = adapter_in(tmp_path, kind)
    [unit] = found(adapter)
    for title in ("How many?", "Counting"):
        [transcript] = assemble(unit, adapter.read(unit, Integrity()), Integrity())
        session = transcript.session
        assert (session.id, session.title, session.cwd) == ("one", title, "/work/pears")
        assert (session.models, session.messages) == (["m-1"], 2)
        assert session.started == "2026-05-01T08:00:00Z"
