"""The adapter for sessions in a database: what it finds, what it reopens, what it refuses to be."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agtail.agents.base import Item, Surroundings, Unit, units_of
from agtail.agents.database import Row, SqliteAdapter, sqlite_adapter
from agtail.agents.files import Context
from agtail.errors import RegistrationError, SourceError
from agtail.model import Event, Integrity, Source

LISTED = "SELECT session, max(time), count(*) FROM said GROUP BY session ORDER BY session"


def listed(database: sqlite3.Connection) -> Iterator[Row]:
    for session, time, count in database.execute(LISTED):
        yield Row(session, touched=time, size=count)


def read(database: sqlite3.Connection, context: Context) -> Iterator[Item]:
    rows = database.execute("SELECT rowid, text FROM said WHERE session = ?", (context.id,))
    for number, text in rows:
        source = Source(table="said", row=str(number))
        yield Event(kind="text", role="user", text=text, src=source)


NOTES = sqlite_adapter(
    agent="notes", db="~/.notes/notes.db", list_sessions=listed, read_session=read
)


def database(path: Path, *said: tuple[str, int, str]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE IF NOT EXISTS said (session, time, text)")
    connection.executemany("INSERT INTO said VALUES (?, ?, ?)", said)
    connection.commit()
    connection.close()
    return path


def adapter_in(home: Path, kind: type[SqliteAdapter] = NOTES, **more: Any) -> SqliteAdapter:
    return kind(Surroundings(home=home, env={}, **more))


def found(adapter: SqliteAdapter) -> list[Unit]:
    errors: list[SourceError] = []
    units = list(units_of(adapter, errors.append))
    assert errors == []
    return units


def texts(adapter: SqliteAdapter, unit: Unit, health: Integrity | None = None) -> list[str | None]:
    items = adapter.read(unit, Integrity() if health is None else health)
    return [item.text for item in items if isinstance(item, Event)]


def test_sessions_are_rows(tmp_path: Path) -> None:
    path = database(tmp_path / ".notes/notes.db", ("a", 5000, "hello"), ("b", 7000, "there"))
    adapter = adapter_in(tmp_path)
    first, second = found(adapter)
    assert (first.id, first.path, first.parts) == ("a", f"{path}#a", (str(path),))
    assert (first.root, first.touched, first.mtime_ns) == (str(path.parent), 5000, 5_000_000_000)
    assert texts(adapter, first) == ["hello"]
    assert texts(adapter, second) == ["there"]
    assert list(adapter.transfer_files()) == []


def test_nothing_there_is_an_empty_history(tmp_path: Path) -> None:
    assert found(adapter_in(tmp_path)) == []
    (tmp_path / ".notes").mkdir()
    (tmp_path / ".notes/notes.db").touch()
    assert found(adapter_in(tmp_path)) == []


def test_only_the_named_database_counts(tmp_path: Path) -> None:
    database(tmp_path / ".notes/other.db", ("a", 1, "no"))
    database(tmp_path / ".notes/below/notes.db", ("a", 1, "no"))
    assert found(adapter_in(tmp_path)) == []


@pytest.mark.parametrize("name", ["copy", "copy/any.db"])
def test_another_folder_or_database_may_be_asked_for(tmp_path: Path, name: str) -> None:
    path = database(tmp_path / "copy/notes.db", ("a", 1, "here"))
    if name.endswith(".db"):
        path = path.rename(tmp_path / name)
    database(tmp_path / ".notes/notes.db", ("b", 1, "not here"))
    adapter = adapter_in(tmp_path, root=tmp_path / name)
    (unit,) = found(adapter)
    assert (unit.id, unit.parts) == ("a", (str(path),))


def test_collections_are_looked_into(tmp_path: Path) -> None:
    database(tmp_path / "team/notes/notes.db", ("a", 1, "theirs"))
    imported = {"team": tmp_path / "team/notes"}
    (unit,) = found(adapter_in(tmp_path, imported=imported))
    assert unit.imported_from == "team"
    kind = sqlite_adapter(
        agent="notes", db="~/n.db", list_sessions=listed, read_session=read, import_store=False
    )
    assert found(adapter_in(tmp_path, kind, imported=imported)) == []


def test_a_database_is_listed_again_only_when_it_or_its_log_changed(tmp_path: Path) -> None:
    opened: list[int] = []

    def counting(connection: sqlite3.Connection) -> Iterable[Row]:
        opened.append(1)
        return listed(connection)

    kind = sqlite_adapter(agent="notes", db="~/notes.db", list_sessions=counting, read_session=read)
    path = database(tmp_path / "notes.db", ("a", 1, "one"))
    adapter = adapter_in(tmp_path, kind)
    assert found(adapter) == found(adapter)
    assert len(opened) == 1
    live = sqlite3.connect(path)
    live.execute("PRAGMA journal_mode=wal")
    live.execute("INSERT INTO said VALUES ('b', 2, 'only in the log')")
    live.commit()
    assert [unit.id for unit in found(adapter)] == ["a", "b"]
    assert len(opened) == 2
    live.close()


def test_what_cannot_be_listed_is_one_line_and_costs_only_itself(tmp_path: Path) -> None:
    database(tmp_path / ".notes/notes.db", ("a", 1, "fine"))

    class Both(NOTES):  # type: ignore[misc, valid-type]  # made at run time
        agent = "both"

        def is_database(self, name: str) -> bool:
            return name.endswith(".db")

    (tmp_path / ".notes/broken.db").write_bytes(b"no database" * 100)
    sqlite3.connect(tmp_path / ".notes/other.db").execute("CREATE TABLE t (a)").connection.close()
    errors: list[str] = []
    adapter = adapter_in(tmp_path, Both)
    units = list(units_of(adapter, lambda error: errors.append(str(error))))
    assert [unit.id for unit in units] == ["a"]
    assert errors == [
        f"{tmp_path}/.notes/broken.db: file is not a database; skipped",
        f"{tmp_path}/.notes/other.db: no such table: said; skipped",
    ]


def test_a_damaged_page_costs_what_is_on_it(tmp_path: Path) -> None:
    said = [("a", number, f"{number} " + "x" * 900) for number in range(200)]
    path = database(tmp_path / ".notes/notes.db", *said)
    adapter = adapter_in(tmp_path)
    (unit,) = found(adapter)
    content = bytearray(path.read_bytes())
    content[100_000:] = b"\xa5" * (len(content) - 100_000)
    path.write_bytes(content)
    health = Integrity()
    kept = texts(adapter, unit, health)
    assert 50 < len(kept) < 150
    assert (health.dropped, health.truncated) == (1, True)
    content[4096:] = b"\xa5" * (len(content) - 4096)
    path.write_bytes(content)
    with pytest.raises(SourceError, match="malformed"):
        texts(adapter, unit)


def test_a_simple_adapter_promises_nothing_more(tmp_path: Path) -> None:
    adapter = adapter_in(tmp_path)
    assert adapter.describe_tool("Bash", {}) is None
    assert adapter.retention() is None
    assert list(adapter.prompts()) == []


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"agent": ""}, "has no agent id"),
        ({"db": ""}, "has no database"),
        ({"list_sessions": SqliteAdapter.list_sessions}, "has no list_sessions"),
        ({"read_session": SqliteAdapter.read_session}, "has no read_session"),
    ],
)
def test_mistakes_show_when_the_adapter_is_defined(options: dict[str, Any], fault: str) -> None:
    good = {"agent": "notes", "db": "~/n.db", "list_sessions": listed, "read_session": read}
    with pytest.raises(RegistrationError, match=fault):
        type("Wrong", (SqliteAdapter,), {**good, **options})
