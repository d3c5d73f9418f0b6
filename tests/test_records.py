"""Reading files: lines, integrity, compression, walks, and databases left untouched."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import zstandard
from hypothesis import assume, given
from hypothesis import strategies as st

from agtail import records
from agtail.errors import SourceError
from agtail.model import Integrity
from agtail.records import (
    Found,
    Record,
    last_timestamp,
    open_database,
    open_source,
    read_json,
    read_jsonl,
    read_slice,
    walk,
)


def write(path: Path, data: bytes, *, age: float = 60) -> Path:
    """Write a file that was last changed ``age`` seconds ago."""
    path.write_bytes(data)
    then = time.time() - age
    os.utime(path, (then, then))
    return path


def read(path: Path) -> tuple[list[Record], Integrity]:
    health = Integrity()
    return list(read_jsonl(path, health)), health


def packed(data: bytes, *, frames: int = 1) -> bytes:
    size = len(data) // frames + 1
    return b"".join(
        zstandard.compress(data[at : at + size]) for at in range(0, max(1, len(data)), size)
    )


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "session.jsonl"


# Lines


def test_lines_end_at_line_feed_only(file: Path) -> None:
    text = "a\u2028b\u2029c\u0085d\x7f"
    write(file, f'{{"a":"{text}"}}\r\n{{"a":"x\x0cy\x0bz\x1ew\rv"}}\n'.encode())
    found, health = read(file)
    assert [record.data["a"] for record in found] == [text, "x\x0cy\x0bz\x1ew\rv"]
    assert health.clean


def test_marks_blanks_and_nuls_around_records_are_passed_over(file: Path) -> None:
    write(
        file,
        b'\xef\xbb\xbf{"a":1}\r\n\r\n  \t\n\x0c\n'
        + b"\x00" * 64
        + b'{"a":2}\n\x00 \x00{"a":3}\n \t {"a":4} \r\n',
    )
    found, health = read(file)
    assert [record.data["a"] for record in found] == [1, 2, 3, 4]
    assert [record.line for record in found] == [1, 5, 6, 7]
    assert health.clean


def test_a_byte_order_mark_counts_at_the_beginning_only(file: Path) -> None:
    write(file, b'{"a":1}\n\xef\xbb\xbf{"a":2}\n{"a":3}\n')
    found, health = read(file)
    assert [record.data["a"] for record in found] == [1, 3]
    assert health == Integrity(dropped=1)


def test_lines_that_hold_no_object_are_counted(file: Path) -> None:
    write(
        file,
        b'null\n1\n"x"\n[{"a":1}]\n\x00\x00\x00\n{"a":1}{"a":2}\n{"a":\nnot json\n{"a":3}\n',
    )
    found, health = read(file)
    assert [record.data for record in found] == [{"a": 3}]
    assert health == Integrity(dropped=8)


def test_each_record_says_where_it_lies(file: Path) -> None:
    data = b'\xef\xbb\xbf{"a":1}\r\n\n bad\n{"b":"\xc3\xa9"}\n{"c":3}'
    write(file, data)
    found, _ = read(file)
    assert [data[each.offset : each.offset + each.length] for each in found] == [
        b'\xef\xbb\xbf{"a":1}\r',
        b'{"b":"\xc3\xa9"}',
        b'{"c":3}',
    ]
    assert [read_slice(file, each.offset, each.length) for each in found] == [
        data[each.offset : each.offset + each.length] for each in found
    ]


@pytest.mark.parametrize("data", [b"", b"\n", b"\r\n\r\n", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n  "])
def test_an_empty_file_is_clean(file: Path, data: bytes) -> None:
    found, health = read(write(file, data))
    assert found == []
    assert health.clean


# The last line


def test_a_torn_last_line_is_pending_while_the_file_is_fresh(file: Path) -> None:
    found, health = read(write(file, b'{"a":1}\n{"a":2', age=0))
    assert len(found) == 1
    assert health.clean


def test_a_torn_last_line_is_lost_when_nobody_writes_any_more(file: Path) -> None:
    found, health = read(write(file, b'{"a":1}\n{"a":2'))
    assert len(found) == 1
    assert health == Integrity(dropped=1, truncated=True)


def test_a_file_from_the_future_is_not_fresh_for_ever(file: Path) -> None:
    _, health = read(write(file, b'{"a":2', age=-3600))
    assert health == Integrity(dropped=1, truncated=True)


def test_a_complete_bad_line_is_counted_even_in_a_fresh_file(file: Path) -> None:
    _, health = read(write(file, b'{"a":1}\n{"a":2\n{"a":3}\n{"a":4', age=0))
    assert health == Integrity(dropped=1)


def test_a_last_line_without_line_feed_that_parses_is_clean(file: Path) -> None:
    for age in (0, 60):
        found, health = read(write(file, b'{"a":1}\n{"a":2}', age=age))
        assert len(found) == 2
        assert health.clean


def test_only_a_bad_last_line_means_truncated(file: Path) -> None:
    _, health = read(write(file, b'{"a":1}\n{"a"\n{"a":2}\n\n'))
    assert health == Integrity(dropped=1)
    _, health = read(write(file, b'{"a":1}\n{"a"\n\n'))
    assert health == Integrity(dropped=1, truncated=True)


# Every file


@given(st.lists(st.sampled_from([b'{"a":1}', b"\n", b"\r", b" ", b"\x00", b"{", b"\xff", b"[]"])))
def test_every_line_is_kept_dropped_or_blank(
    tmp_path_factory: pytest.TempPathFactory, parts: list[bytes]
) -> None:
    _assert_all_lines_accounted_for(tmp_path_factory, b"".join(parts))


@given(st.binary())
def test_every_line_of_any_bytes_is_kept_dropped_or_blank(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    _assert_all_lines_accounted_for(tmp_path_factory, data)


def _assert_all_lines_accounted_for(factory: pytest.TempPathFactory, data: bytes) -> None:
    assume(not data.startswith(records._ZSTD_MAGIC))
    path = factory.getbasetemp() / "any.jsonl"
    found, health = read(write(path, data))
    lines = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    blank = sum(not line.strip() for line in lines)
    assert health.dropped + len(found) + blank == len(lines)
    for record in found:
        assert data[record.offset : record.offset + record.length].count(b"\n") == 0


@pytest.mark.parametrize("chunk", range(1, 40))
def test_lines_may_cross_the_borders_of_reading_anywhere(
    file: Path, monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    data = b'{"a":"first \xf0\x9f\x98\x80"}\r\n\n{"b":2}\nbad\n{"c":"last"}'
    write(file, data)
    whole = read(file)
    monkeypatch.setattr(records, "_CHUNK", chunk)
    assert read(file) == whole
    write(file, packed(data))
    monkeypatch.setattr(records, "_PACKED_CHUNK", chunk)
    assert read(file) == whole


@pytest.mark.parametrize("chunk", [7, 100, 1024])
def test_a_line_beyond_the_limit_is_dropped_and_the_next_is_whole(
    file: Path, monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    monkeypatch.setattr(records, "_CHUNK", chunk)
    monkeypatch.setattr(records, "MAX_LINE", 50)
    fits = b'{"a":"' + b"x" * 42 + b'"}'
    beyond = b'{"a":"' + b"x" * 43 + b'"}'
    far = b'{"a":"' + b"x" * 900 + b'"}'
    write(file, b"\n".join([fits, beyond, far, b'{"b":1}', b""]))
    found, health = read(file)
    assert [record.line for record in found] == [1, 4]
    assert found[1].offset == len(fits) + len(beyond) + len(far) + 3
    assert health == Integrity(dropped=2)


# Compression


@pytest.mark.parametrize("frames", [1, 2, 7])
def test_compressed_files_read_as_their_content(file: Path, frames: int) -> None:
    data = b"".join(b'{"a":%d,"b":"%s"}\n' % (n, b"text " * (n % 50)) for n in range(500))
    write(file, data)
    whole = read(file)
    assert len(whole[0]) == 500
    compressed = file.with_name(f"{file.name}.zst")
    write(compressed, packed(data, frames=frames))
    assert read(compressed) == whole
    record = whole[0][333]
    assert read_slice(compressed, record.offset, record.length) == read_slice(
        file, record.offset, record.length
    )


def test_a_compressed_file_that_is_cut_off_keeps_what_came_before(file: Path) -> None:
    lines = [b'{"a":"%s"}' % hashlib.sha256(b"%d" % n).hexdigest().encode() for n in range(20_000)]
    whole = packed(b"\n".join(lines))
    write(file, whole[: len(whole) // 2])
    found, health = read(file)
    assert 1000 < len(found) < 19_000
    assert health.truncated


def test_a_compressed_file_cut_between_two_lines_is_truncated_all_the_same(file: Path) -> None:
    context = zstandard.ZstdCompressor().compressobj()
    head = context.compress(b'{"a":1}\n') + context.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)
    found, health = read(write(file, head))
    assert [record.data for record in found] == [{"a": 1}]
    assert health == Integrity(truncated=True)


def test_damage_behind_the_first_frame_keeps_the_first(file: Path) -> None:
    write(file, packed(b'{"a":1}\n{"a":2}\n') + b"garbage behind the frame")
    found, health = read(file)
    assert len(found) == 2
    assert health == Integrity(truncated=True)


def test_compressed_garbage_is_a_source_error(file: Path) -> None:
    write(file, b"\x28\xb5\x2f\xfd" + b"garbage" * 20)
    with pytest.raises(SourceError, match="compressed data is"):
        read(file)
    with pytest.raises(SourceError, match="compressed data is"):
        read_json(file, Integrity())
    with pytest.raises(SourceError, match="compressed data is"):
        read_slice(file, 5, 5)


def test_a_file_that_only_has_the_name_is_read_by_its_bytes(tmp_path: Path) -> None:
    found, health = read(write(tmp_path / "plain.jsonl.zst", b'{"a":1}\n'))
    assert len(found) == 1
    assert health.clean


def test_a_tiny_file_that_unpacks_to_much_is_read_piece_by_piece(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "MAX_LINE", 1000)
    write(file, packed(b"x" * 50_000_000 + b'\n{"a":1}\n'))
    assert file.stat().st_size < 10_000
    found, health = read(file)
    assert [record.line for record in found] == [2]
    assert health == Integrity(dropped=1)


# What cannot be opened


def test_missing_files_folders_and_links_without_target_are_source_errors(tmp_path: Path) -> None:
    (tmp_path / "dangling.jsonl").symlink_to(tmp_path / "gone")
    (tmp_path / "folder.jsonl").mkdir()
    (tmp_path / "loop.jsonl").symlink_to(tmp_path / "loop.jsonl")
    for name, reason in {
        "missing.jsonl": "no such file or directory",
        "dangling.jsonl": "no such file or directory",
        "folder.jsonl": "is a directory",
        "loop.jsonl": "too many levels of symbolic links",
    }.items():
        path = tmp_path / name
        for reader in (read, open_source, lambda at: read_json(at, Integrity())):
            with pytest.raises(SourceError) as caught:
                reader(path)
            assert caught.value.reason == reason
            assert str(caught.value) == f"{path}: {reason}; skipped"
        assert last_timestamp(path) is None


def test_a_file_without_permission_is_a_source_error(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: str, _flags: int) -> int:
        raise PermissionError(13, "Permission denied", path)

    write(file, b'{"a":1}\n')
    monkeypatch.setattr(records, "_open_without_waiting", refuse)
    with pytest.raises(SourceError, match="permission denied; skipped"):
        read(file)


def test_a_named_pipe_is_refused_at_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.jsonl"
    os.mkfifo(pipe)
    started = time.monotonic()
    with pytest.raises(SourceError, match="not a regular file"):
        read(pipe)
    with pytest.raises(SourceError, match="not a regular file"), open_database(pipe):
        pass
    assert last_timestamp(pipe) is None
    assert time.monotonic() - started < 2


@pytest.mark.parametrize("good", [0, 2])
def test_a_disk_that_fails_midway_keeps_what_came_before(
    file: Path, monkeypatch: pytest.MonkeyPatch, good: int
) -> None:
    class Failing:
        def __init__(self) -> None:
            self.answers = [b'{"a":1}\n{"a":', b'2}\n{"a":3'][:good]

        def read(self, _size: int) -> bytes:
            if self.answers:
                return self.answers.pop(0)
            raise OSError(5, "Input/output error")

    write(file, b"", age=0)
    monkeypatch.setattr(records, "unpack", lambda _stream: Failing())
    if not good:
        with pytest.raises(SourceError, match="input/output error"):
            read(file)
    else:
        found, health = read(file)
        assert [record.data["a"] for record in found] == [1, 2]
        assert health == Integrity(dropped=1, truncated=True)


# Whole documents


def test_whole_documents_are_read_and_damage_is_counted(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    health = Integrity()
    assert read_json(write(file, b'\xef\xbb\xbf {"a": [1, 2]}\r\n'), health) == {"a": [1, 2]}
    assert read_json(write(file, b"[NaN]"), health) == ["NaN"]
    assert read_json(write(file, packed(b'{"a": 1}')), health) == {"a": 1}
    assert read_json(write(file, b" \n"), health) is None
    assert health.clean
    assert read_json(write(file, b'{"a": [1, 2'), health) is None
    assert health.dropped == 1
    monkeypatch.setattr(records, "MAX_LINE", 5)
    assert read_json(write(file, b'{"a": 1}'), health) is None
    assert health.dropped == 2


def test_the_latest_timestamp_of_the_tail_is_found(file: Path) -> None:
    line = b'{"timestamp":"2026-05-04T10:00:0%d.000Z","text":"\\"timestamp\\":\\"9999\\""}\n'
    write(file, line % 1 + b"x" * 70_000 + b"\n" + line % 3 + line % 2)
    assert last_timestamp(file) == b"2026-05-04T10:00:03.000Z"
    assert last_timestamp(write(file, b'{"type":"mode"}\n')) is None
    assert last_timestamp(write(file, b"")) is None
    assert last_timestamp(write(file, packed(line % 1 * 100))) is None


# Walks


def names(root: Path, wanted: Callable[[str], bool] | None = None) -> tuple[list[str], list[str]]:
    """Walk, and return what was found and what was reported, relative to the root."""
    reported: list[SourceError] = []
    accept = wanted or (lambda path: path.endswith(".jsonl"))
    found = [os.path.relpath(each.path, root) for each in walk(root, accept, reported.append)]
    return found, [f"{os.path.relpath(each.path, root)}: {each.reason}" for each in reported]


def test_files_come_in_order_of_name_folder_by_folder(tmp_path: Path) -> None:
    for name in ("b/x.jsonl", "a/z.jsonl", "a/b/y.jsonl", "m.jsonl", "c.jsonl", "a/skip.txt"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"12345")
    assert names(tmp_path) == (
        ["c.jsonl", "m.jsonl", "a/z.jsonl", "a/b/y.jsonl", "b/x.jsonl"],
        [],
    )
    first = next(walk(tmp_path, lambda path: path == "c.jsonl", lambda _: None))
    info = (tmp_path / "c.jsonl").stat()
    assert first == Found(str(tmp_path / "c.jsonl"), 5, info.st_mtime_ns)


def test_the_path_that_is_asked_about_is_relative_with_slashes(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "c.jsonl").touch()
    asked: list[str] = []

    def ask(path: str) -> bool:
        asked.append(path)
        return False

    names(tmp_path, ask)
    assert asked == ["a", "a/b", "a/b/c.jsonl"]


def test_links_are_followed_and_each_file_comes_once(tmp_path: Path) -> None:
    root, elsewhere = tmp_path / "root", tmp_path / "elsewhere"
    (root / "real").mkdir(parents=True)
    elsewhere.mkdir()
    (elsewhere / "far.jsonl").touch()
    (elsewhere / "single").touch()
    (root / "real" / "one.jsonl").touch()
    (root / "real" / "two.jsonl").symlink_to(root / "real" / "one.jsonl")
    (root / "linked").symlink_to(elsewhere)
    (root / "linked-again").symlink_to(elsewhere)
    (root / "file.jsonl").symlink_to(elsewhere / "single")
    (root / "hard.jsonl").hardlink_to(root / "real" / "one.jsonl")
    found, reported = names(root)
    assert found == ["file.jsonl", "hard.jsonl", "linked/far.jsonl"]
    assert reported == []


def test_loops_end(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "a" / "b").mkdir(parents=True)
    (root / "a" / "b" / "up").symlink_to(root / "a")
    (root / "a" / "top").symlink_to(root)
    (root / "a" / "above").symlink_to(tmp_path)
    (root / "a" / "b" / "s.jsonl").touch()
    (root / "self.jsonl").symlink_to(root / "self.jsonl")
    found, reported = names(root)
    assert found == ["a/b/s.jsonl"]
    assert reported == ["self.jsonl: too many levels of symbolic links"]


def test_a_missing_root_is_silent_and_a_file_as_root_is_told(tmp_path: Path) -> None:
    assert names(tmp_path / "missing") == ([], [])
    (tmp_path / "file").touch()
    assert names(tmp_path / "file") == ([], [".: not a directory"])


def test_a_wanted_link_without_target_is_told(tmp_path: Path) -> None:
    (tmp_path / "gone.jsonl").symlink_to(tmp_path / "nowhere")
    (tmp_path / "other.txt").symlink_to(tmp_path / "nowhere")
    assert names(tmp_path) == ([], ["gone.jsonl: no such file or directory"])


def test_a_folder_with_a_wanted_name_is_told_and_entered(tmp_path: Path) -> None:
    (tmp_path / "d.jsonl").mkdir()
    (tmp_path / "d.jsonl" / "inner.jsonl").touch()
    assert names(tmp_path) == (["d.jsonl", "d.jsonl/inner.jsonl"], [])


def test_a_folder_that_refuses_is_told_and_the_rest_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "closed").mkdir()
    (tmp_path / "open.jsonl").touch()
    scandir = os.scandir

    def refuse(path: str) -> Iterator[os.DirEntry[str]]:
        if path.endswith("closed"):
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    assert names(tmp_path) == (["open.jsonl"], ["closed: permission denied"])


def test_names_that_are_not_utf8_are_found_and_read(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path) + b"/caf\xe9"
    os.mkdir(folder)
    with open(folder + b"/s\xff.jsonl", "wb") as stream:
        stream.write(b'{"a":1}\n')
    (found,) = walk(tmp_path, lambda path: path.endswith(".jsonl"), lambda _: None)
    assert [each.data for each in read_jsonl(found.path, Integrity())] == [{"a": 1}]


# Databases


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


def test_private_copies_are_removed(
    database: Path, writer: Writer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    path = copy(database, tmp_path / "log", "-wal")
    with open_database(path):
        assert len(list((tmp_path / "temporary").iterdir())) == 1
    assert list((tmp_path / "temporary").iterdir()) == []
    writer.close()


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
    write(database, b"not a database" * 1000)
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
    write(database, bytes(data))
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


# Size


@pytest.mark.slow
def test_memory_stays_bounded_however_long_the_file(file: Path) -> None:
    line = b'{"type":"user","timestamp":"2026-05-04T10:00:00.000Z","text":"%s"}\n' % (
        b"word " * 600
    )
    with open(file, "wb") as stream:
        stream.writelines(line for _ in range(120_000_000 // len(line)))
    program = (
        "import re, sys\n"
        "from agtail.model import Integrity\n"
        "from agtail.records import read_jsonl\n"
        "count = sum(1 for _ in read_jsonl(sys.argv[1], Integrity()))\n"
        "print(count, re.search(r'VmHWM:\\s*(\\d+)', open('/proc/self/status').read())[1])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(file)], check=True, capture_output=True, text=True
    )
    count, kilobytes = map(int, done.stdout.split())
    assert count == 120_000_000 // len(line)
    assert kilobytes < 60_000


def test_a_file_that_vanishes_while_it_is_read_is_read_to_its_end(file: Path) -> None:
    write(file, b'{"a":1}\n' * 300_000)
    reading = read_jsonl(file, Integrity())
    next(reading)
    threading.Thread(target=file.unlink).start()
    assert sum(1 for _ in reading) == 299_999
