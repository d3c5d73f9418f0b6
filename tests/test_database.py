"""Databases of agents: read whole, and not a byte in or beside them changed."""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agtail.databases import open_database, row_of
from agtail.errors import SourceError


def listing(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


def rows(path: Path) -> list[object]:
    """Read all rows, and prove that nothing beside the database changed."""
    before = listing(path.parent)
    with open_database(path) as connection:
        found = [row["a"] for row in connection.execute("SELECT a FROM t ORDER BY a")]
        assert listing(path.parent) == before
    assert listing(path.parent) == before
    return found


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A database whose name needs quoting, alone in its folder."""
    folder = tmp_path / "a #b?c%20d é"
    folder.mkdir()
    return folder / "state.sqlite"


class Writer:
    """A live writer, in a process of its own as agents are."""

    def __init__(self, database: Path) -> None:
        program = (
            "import sqlite3, sys\n"
            "connection = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
            "for line in sys.stdin:\n"
            "    connection.execute(line).fetchall()\n"
            "    print('done', flush=True)\n"
            "connection.close()\n"
        )
        self._process = subprocess.Popen(
            [sys.executable, "-c", program, str(database)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def execute(self, *statements: str) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        for statement in statements:
            self._process.stdin.write(f"{statement}\n")
            self._process.stdin.flush()
            assert self._process.stdout.readline() == "done\n"

    def close(self) -> None:
        """Let it end well; it removes its side files."""
        self._process.communicate()


@pytest.fixture
def writer(database: Path) -> Iterator[Writer]:
    """A live writer with row 1 in the database and row 2 in the log only."""
    live = Writer(database)
    live.execute(
        "PRAGMA journal_mode=wal",
        "PRAGMA wal_autocheckpoint=0",
        "CREATE TABLE t (a)",
        "INSERT INTO t VALUES (1)",
        "PRAGMA wal_checkpoint(TRUNCATE)",
        "INSERT INTO t VALUES (2)",
    )
    yield live
    live.close()


def copy(database: Path, folder: Path, *sides: str) -> Path:
    """Copy a database with some of its side files, as a crash or a backup leaves them."""
    folder.mkdir()
    for side in ("", *sides):
        (folder / f"copy.db{side}").write_bytes(Path(f"{database}{side}").read_bytes())
    return folder / "copy.db"


def test_a_closed_database_is_read_in_place(database: Path, writer: Writer) -> None:
    writer.close()
    assert list(listing(database.parent)) == ["state.sqlite"]
    assert rows(database) == [1, 2]


def test_a_live_writer_is_seen_and_not_disturbed(database: Path, writer: Writer) -> None:
    assert rows(database) == [1, 2]
    writer.execute("BEGIN", "INSERT INTO t VALUES (3)")
    assert rows(database) == [1, 2]
    writer.execute("COMMIT")
    assert rows(database) == [1, 2, 3]


def test_both_side_files_of_a_dead_writer_are_read_in_place(
    database: Path, writer: Writer, tmp_path: Path
) -> None:
    writer.execute("INSERT INTO t VALUES (3)")
    assert rows(copy(database, tmp_path / "dead", "-wal", "-shm")) == [1, 2, 3]


@pytest.mark.usefixtures("writer")
def test_a_log_without_shared_memory_is_read_from_a_copy(database: Path, tmp_path: Path) -> None:
    assert rows(copy(database, tmp_path / "log", "-wal")) == [1, 2]


@pytest.mark.usefixtures("writer")
def test_shared_memory_without_a_log_is_ignored(database: Path, tmp_path: Path) -> None:
    assert rows(copy(database, tmp_path / "shm", "-shm")) == [1]


def test_the_journal_of_a_killed_writer_is_undone_in_a_copy(database: Path, tmp_path: Path) -> None:
    connection = sqlite3.connect(database)
    connection.execute("PRAGMA cache_size=1")
    connection.execute("CREATE TABLE t (a, b)")
    connection.executemany("INSERT INTO t VALUES (?, ?)", [(n, "x" * 3000) for n in range(20)])
    connection.commit()
    connection.execute("UPDATE t SET a = a + 1000, b = b || 'y'")
    crashed = copy(database, tmp_path / "crashed", "-journal")
    connection.rollback()
    connection.close()
    assert rows(crashed) == list(range(20))


@pytest.mark.skipif(os.name != "posix", reason="elsewhere open files cannot be removed")
@pytest.mark.usefixtures("writer")
def test_private_copies_leave_nothing_even_when_agtail_is_killed(
    database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    with open_database(copy(database, tmp_path / "log", "-wal")):
        assert list((tmp_path / "temporary").iterdir()) == []


def test_a_private_copy_is_made_once_as_long_as_nothing_changes(
    database: Path, writer: Writer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    copyfile = shutil.copyfile

    def counted(source: str, to: str) -> None:
        made.append(source)
        copyfile(source, to)

    monkeypatch.setattr("shutil.copyfile", counted)
    path = copy(database, tmp_path / "log", "-wal")
    log = Path(f"{path}-wal")
    assert rows(path) == rows(path) == [1, 2]
    assert made == [str(path), str(log)]
    writer.execute("INSERT INTO t VALUES (3)")
    log.write_bytes(Path(f"{database}-wal").read_bytes())
    assert rows(path) == [1, 2, 3]
    assert len(made) == 4


@pytest.mark.usefixtures("writer")
def test_a_copy_in_use_outlives_another(database: Path, tmp_path: Path) -> None:
    first = copy(database, tmp_path / "first", "-wal")
    second = copy(database, tmp_path / "second", "-wal")
    with open_database(first) as connection:
        assert rows(second) == [1, 2]
        assert len(connection.execute("SELECT a FROM t").fetchall()) == 2


def test_an_empty_log_is_none(database: Path, writer: Writer, tmp_path: Path) -> None:
    writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    path = copy(database, tmp_path / "log", "-wal")
    assert Path(f"{path}-wal").stat().st_size == 0
    assert rows(path) == [1, 2]


def test_a_row_is_found_by_its_key_or_its_number(database: Path) -> None:
    connection = sqlite3.connect(database)
    connection.executescript("""
        CREATE TABLE part (id TEXT PRIMARY KEY, data TEXT);
        CREATE TABLE kv (key TEXT UNIQUE, value BLOB);
        CREATE TABLE "odd "" name" (a, b);
        CREATE TABLE step (idx INTEGER PRIMARY KEY, payload BLOB);
    """)
    connection.execute("INSERT INTO part VALUES ('p1', '{}')")
    connection.execute("INSERT INTO kv VALUES ('k', ?)", (b"caf\xc3\xa9",))
    connection.execute('INSERT INTO "odd "" name" VALUES (1, \'x\')')
    connection.execute("INSERT INTO step VALUES (7, ?)", (b"\xff\x01",))
    connection.commit()
    connection.close()
    with open_database(database) as opened:
        assert row_of(opened, "part", "p1") == {"id": "p1", "data": "{}"}
        assert row_of(opened, "kv", "k") == {"key": "k", "value": "café"}
        assert row_of(opened, 'odd " name', "1") == {"a": 1, "b": "x"}
        assert row_of(opened, "step", "7") == {"idx": 7, "payload": "ff01"}
        assert row_of(opened, "part", "p2") is None


def test_text_that_is_not_utf8_is_replaced(database: Path) -> None:
    connection = sqlite3.connect(database)
    connection.execute("CREATE TABLE t (a TEXT)")
    connection.execute("INSERT INTO t VALUES (CAST(X'61FF62' AS TEXT))")
    connection.commit()
    connection.close()
    assert rows(database) == ["a\ufffdb"]


def test_a_locked_database_is_a_source_error(database: Path, writer: Writer) -> None:
    writer.execute("PRAGMA locking_mode=EXCLUSIVE", "INSERT INTO t VALUES (4)")
    before = listing(database.parent)
    with pytest.raises(SourceError, match="locked"), open_database(database):
        pass
    assert listing(database.parent) == before


def test_what_is_no_database_is_a_source_error(database: Path) -> None:
    with pytest.raises(SourceError, match="no such file"), open_database(database):
        pass
    with pytest.raises(SourceError, match="is a directory"), open_database(database.parent):
        pass
    database.write_bytes(b"not a database" * 1000)
    with pytest.raises(SourceError, match="not a database"), open_database(database):
        pass


def test_a_damaged_database_is_a_source_error_at_the_query(database: Path) -> None:
    connection = sqlite3.connect(database)
    connection.execute("CREATE TABLE t (a)")
    connection.executemany("INSERT INTO t VALUES (?)", [("x" * 500,) for _ in range(1000)])
    connection.commit()
    connection.close()
    data = bytearray(database.read_bytes())
    data[8192:] = b"\xa5" * (len(data) - 8192)
    database.write_bytes(data)
    with (
        pytest.raises(SourceError, match="malformed"),
        open_database(database) as connection,
    ):
        connection.execute("SELECT sum(length(a)) FROM t").fetchall()


def test_a_mistake_of_the_caller_is_not_blamed_on_the_database(
    database: Path, writer: Writer
) -> None:
    writer.close()
    with pytest.raises(FileNotFoundError), open_database(database):
        raise FileNotFoundError(2, "another file")


def test_a_damaged_schema_is_a_source_error(database: Path) -> None:
    connection = sqlite3.connect(database)
    connection.execute("CREATE TABLE damage (a)")
    connection.commit()
    connection.close()
    data = database.read_bytes().replace(b"CREATE TABLE damage", b"CREATE TABLX damag\xff")
    database.write_bytes(data.replace(b"damagedamage", b"damag\xffdamag\xff"))
    with pytest.raises(SourceError) as caught, open_database(database) as connection:
        connection.execute("SELECT * FROM damage").fetchall()
    assert isinstance(caught.value.__cause__, UnicodeDecodeError)
