"""Reading files: lines, integrity, compression, walks, and databases left untouched."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import zstandard
from hypothesis import assume, given
from hypothesis import strategies as st

from agtail import records
from agtail.databases import open_database
from agtail.errors import SourceError
from agtail.model import Integrity
from agtail.records import (
    Record,
    last_timestamp,
    open_source,
    read_json,
    read_jsonl,
    read_slice,
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
