"""The raw archive: what was kept comes back byte for byte, whatever happened in between."""

from __future__ import annotations

import errno
import io
import itertools
import os
import random
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from agtail.agents import adapter_class, agent_ids
from agtail.errors import ArchiveError, SourceError, UnknownAgentError
from agtail.records import open_source
from agtail.store import archive as module
from agtail.store import frames
from agtail.store.archive import Archive, Entry, wanted

AGENT = "claude-code"
TICKS = itertools.count(1)


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[Archive]:
    opened = Archive(tmp_path / "archive")
    yield opened
    opened.close()


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return tmp_path / "home" / "session.jsonl"


def write(path: Path, content: bytes, mode: str = "wb") -> None:
    """Write, and give the file a time it never had: two writes may fall into one tick."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, mode) as stream:
        stream.write(content)
    stamp = 1_700_000_000_000_000_000 + next(TICKS) * 1_000_000
    os.utime(path, ns=(stamp, stamp))


def lines(count: int, seed: int = 1) -> bytes:
    """Return lines that are packed to something, but not to nothing."""
    dice = random.Random(seed)
    return b"".join(
        b'{"type":"user","uuid":"%032x","text":"line %d"}\n' % (dice.getrandbits(128), number)
        for number in range(count)
    )


def content(archive: Archive, path: Path, generation: int | None = None) -> bytes:
    with archive.open(AGENT, str(path), generation) as stream:
        return stream.read()


def stored_files(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "archive").glob("*.zst"))


def generations(archive: Archive) -> list[tuple[int, int, bool]]:
    return [(each.generation, each.raw, each.newest) for each in archive.entries()]


def test_a_file_that_is_gone_comes_back_byte_for_byte(archive: Archive, source: Path) -> None:
    text = lines(500) + b"\xff\x00 no text, no line feed"
    write(source, text)
    assert archive.keep(AGENT, str(source)) == len(text)
    source.unlink()
    assert content(archive, source) == text
    assert archive.verify(AGENT, str(source))
    assert archive.read_slice(AGENT, str(source), 100, 50) == text[100:150]
    archive.restore(AGENT, str(source), source)
    assert source.read_bytes() == text


def test_an_entry_says_what_is_kept(archive: Archive, source: Path, tmp_path: Path) -> None:
    before = time.time_ns() // 1_000_000
    write(source, lines(100))
    archive.keep(AGENT, str(source))
    [entry] = archive.entries()
    [file] = stored_files(tmp_path)
    size = source.stat().st_size
    assert before <= entry.kept <= time.time_ns() // 1_000_000
    assert entry == Entry(
        agent=AGENT,
        path=str(source),
        generation=1,
        newest=True,
        raw=size,
        stored=file.stat().st_size,
        kept=entry.kept,
    )
    assert archive.size() == (size, file.stat().st_size)
    assert entry.stored < size


def test_an_empty_archive_has_no_size(archive: Archive) -> None:
    assert archive.size() == (0, 0)
    assert list(archive.entries()) == []
    assert archive.forget(AGENT, "/nowhere") == 0


def test_agents_and_paths_are_kept_apart(archive: Archive, source: Path) -> None:
    other = source.with_name("other.jsonl")
    write(source, b"one")
    write(other, b"two")
    for agent, path in ((AGENT, source), ("codex", source), (AGENT, other)):
        assert archive.keep(agent, str(path)) == 3
    archive.forget(AGENT, str(source))
    assert content(archive, other) == b"two"
    with archive.open("codex", str(source)) as stream:
        assert stream.read() == b"one"
    with pytest.raises(ArchiveError, match="not kept"):
        archive.open(AGENT, str(source))


def test_a_relative_path_is_the_same_source(
    archive: Archive, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(source, b"text")
    monkeypatch.chdir(source.parent)
    archive.keep(AGENT, source.name)
    assert content(archive, source) == b"text"
    assert archive.verify(AGENT, source.name)
    assert archive.forget(AGENT, f"./{source.name}")


def test_the_source_and_its_folder_stay_as_they_are(archive: Archive, source: Path) -> None:
    write(source, lines(10))
    before = os.stat(source)
    archive.keep(AGENT, str(source))
    archive.keep(AGENT, str(source))
    after = os.stat(source)
    assert (after.st_mtime_ns, after.st_size) == (before.st_mtime_ns, before.st_size)
    assert os.listdir(source.parent) == [source.name]


def test_everything_is_private(archive: Archive, source: Path, tmp_path: Path) -> None:
    write(source, lines(10))
    archive.keep(AGENT, str(source))
    folder = tmp_path / "archive"
    assert folder.stat().st_mode & 0o777 == 0o700
    modes = {file.name.rpartition(".")[2]: file.stat().st_mode & 0o777 for file in folder.iterdir()}
    assert {"zst", "sqlite", "sqlite-wal"} <= modes.keys()
    assert set(modes.values()) == {0o600}


def test_an_unchanged_file_is_not_opened(
    archive: Archive, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(source, lines(10))
    archive.keep(AGENT, str(source))
    monkeypatch.setattr(module, "open_source", None)
    assert archive.keep(AGENT, str(source)) == 0


def test_growth_is_added_and_the_rest_is_left_alone(
    archive: Archive, source: Path, tmp_path: Path
) -> None:
    write(source, lines(1000))
    archive.keep(AGENT, str(source))
    [file] = stored_files(tmp_path)
    before = file.read_bytes()
    more = lines(3, seed=2)
    write(source, more, "ab")
    assert archive.keep(AGENT, str(source)) == len(more)
    assert stored_files(tmp_path) == [file]
    assert file.read_bytes()[: len(before)] == before
    assert len(file.read_bytes()) < len(before) + len(more) + 100
    assert content(archive, source) == source.read_bytes()


def test_only_the_ends_and_what_is_new_are_read_of_a_file_that_grew(
    archive: Archive, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "HEAD", 100)
    monkeypatch.setattr(module, "TAIL", 1000)
    write(source, lines(2000))
    archive.keep(AGENT, str(source))
    read = spy_on_reading(monkeypatch)
    write(source, b"x" * 500, "ab")
    assert archive.keep(AGENT, str(source)) == 500
    assert sum(read) == 2 * 1100 + 500


def spy_on_reading(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Collect the number of bytes of each read of a source."""
    read: list[int] = []
    true_open = open_source

    class Spy(io.BufferedReader):
        def read(self, size: int | None = -1, /) -> bytes:
            data = super().read(size)
            read.append(len(data))
            return data

    def opened(path: str) -> IO[bytes]:
        with true_open(path) as stream:
            return Spy(io.FileIO(os.dup(stream.fileno())))

    monkeypatch.setattr(module, "open_source", opened)
    return read


def test_a_thousand_small_additions_leave_few_frames_and_little_waste(
    archive: Archive, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed_bytes = []

    def counted(raw: frames.Joined, length: int, *rest: Any) -> list[frames.Frame]:
        packed_bytes.append(length)
        return frames.pack(raw, length, *rest)

    monkeypatch.setattr(module, "pack", counted)
    text = lines(1000)
    write(source, b"")
    for line in text.splitlines(keepends=True):
        write(source, line, "ab")
        assert archive.keep(AGENT, str(source)) == len(line)
    assert content(archive, source) == text
    assert sum(packed_bytes) < 10 * len(text)
    [file] = stored_files(tmp_path)
    with open(file, "rb") as packed:
        survey = frames.survey(packed)
    assert survey is not None
    assert len(survey.frames) <= frames.SMALL_FRAMES + 10
    [entry] = archive.entries()
    assert entry.generation == 1
    at_once = Archive(tmp_path / "at_once")
    at_once.keep(AGENT, str(source))
    assert entry.stored < 1.1 * at_once.size()[1]
    at_once.close()


def test_a_large_file_is_cut_into_full_frames(
    archive: Archive, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frames, "FRAME", 1000)
    text = lines(100)
    write(source, text[:2500])
    archive.keep(AGENT, str(source))
    for end in range(2500, len(text), 100):
        write(source, text[:end])
        archive.keep(AGENT, str(source))
        assert content(archive, source) == text[:end]
    with open(stored_files(tmp_path)[0], "rb") as packed:
        survey = frames.survey(packed)
    assert survey is not None
    assert [each.raw_length for each in survey.frames[:2]] == [1000, 1000]
    assert max(each.raw_length for each in survey.frames) == 1000
    assert [entry.generation for entry in archive.entries()] == [1]


def test_any_place_can_be_read_in_any_order(
    archive: Archive, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frames, "FRAME", 1000)
    text = lines(100)
    write(source, text)
    archive.keep(AGENT, str(source))
    dice = random.Random(7)
    with archive.open(AGENT, str(source)) as stream:
        for _ in range(300):
            offset, length = dice.randrange(len(text) + 50), dice.choice((1, 10, 1500, 5000))
            assert stream.seek(offset) == offset
            assert stream.read(length) == text[offset : offset + length]
        assert stream.seek(-10, os.SEEK_END) == len(text) - 10
        assert stream.read() == text[-10:]
        assert stream.tell() == len(text)
        assert stream.seek(-5, os.SEEK_CUR) == len(text) - 5
        assert stream.read(2) == text[-5:-3]
    assert archive.read_slice(AGENT, str(source), len(text) + 9, 5) == b""


def test_a_packed_source_is_kept_as_it_is_and_read_as_records_are(
    archive: Archive, source: Path
) -> None:
    text = lines(200)
    packed = zstandard.compress(text)
    write(source, packed)
    assert archive.keep(AGENT, str(source)) == len(packed)
    source.unlink()
    assert content(archive, source) == packed
    assert archive.read_slice(AGENT, str(source), 1000, 80) == text[1000:1080]


def test_a_touched_file_adds_nothing(archive: Archive, source: Path) -> None:
    write(source, lines(10))
    archive.keep(AGENT, str(source))
    kept = list(archive.entries())
    write(source, lines(10))
    assert archive.keep(AGENT, str(source)) == 0
    assert list(archive.entries()) == kept


def test_an_edit_in_the_middle_is_seen_when_the_size_is_the_same(
    archive: Archive, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "HEAD", 10)
    monkeypatch.setattr(module, "TAIL", 10)
    write(source, b"a" * 100)
    archive.keep(AGENT, str(source))
    edited = b"a" * 50 + b"b" + b"a" * 49
    write(source, edited)
    assert archive.keep(AGENT, str(source)) == 100
    assert content(archive, source) == edited
    assert content(archive, source, generation=1) == b"a" * 100


@pytest.mark.parametrize("text", [b"other than before, and longer than it was", b"short", b""])
def test_a_rewritten_file_is_a_new_generation_and_the_old_one_stays(
    archive: Archive, source: Path, text: bytes
) -> None:
    write(source, b"what was there before")
    archive.keep(AGENT, str(source))
    write(source, text)
    assert archive.keep(AGENT, str(source)) == len(text)
    assert generations(archive) == [(2, len(text), True), (1, 21, False)]
    assert content(archive, source) == text
    assert content(archive, source, generation=1) == b"what was there before"
    assert archive.verify(AGENT, str(source), 1)
    with pytest.raises(ArchiveError, match="not kept"):
        archive.open(AGENT, str(source), 3)


def test_of_earlier_generations_the_largest_is_kept(
    archive: Archive, source: Path, tmp_path: Path
) -> None:
    for text in (b"a" * 30, b"b" * 50, b"c" * 20, b"d" * 40, b"e" * 10):
        write(source, text)
        archive.keep(AGENT, str(source))
    assert generations(archive) == [(5, 10, True), (2, 50, False)]
    assert len(stored_files(tmp_path)) == 2
    assert content(archive, source, generation=2) == b"b" * 50


def test_an_earlier_generation_survives_the_growth_of_the_newest(
    archive: Archive, source: Path
) -> None:
    write(source, lines(10))
    archive.keep(AGENT, str(source))
    write(source, b"")
    archive.keep(AGENT, str(source))
    for number in range(50):
        write(source, b"line %d\n" % number, "ab")
        archive.keep(AGENT, str(source))
    assert content(archive, source) == source.read_bytes()
    assert content(archive, source, generation=1) == lines(10)


@pytest.mark.parametrize("change", [b"more", b""])
def test_what_changes_while_it_is_read_is_compared_wholly_the_next_time(
    archive: Archive, source: Path, monkeypatch: pytest.MonkeyPatch, change: bytes
) -> None:
    """The file is edited in place after it was packed, and its ends are looked at afterwards."""
    true_pack = frames.pack

    def pack_and_edit(*arguments: Any) -> list[frames.Frame]:
        packed = true_pack(*arguments)
        write(source, b"b" * 100 + change)
        return packed

    write(source, b"a" * 100)
    with monkeypatch.context() as patched:
        patched.setattr(module, "pack", pack_and_edit)
        archive.keep(AGENT, str(source))
    assert content(archive, source) == b"a" * 100
    archive.keep(AGENT, str(source))
    assert content(archive, source) == b"b" * 100 + change


def test_what_shrinks_while_it_is_read_is_not_kept(
    archive: Archive, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def shrink_and_pack(*arguments: Any) -> list[frames.Frame]:
        write(source, b"")
        return true_pack(*arguments)

    write(source, b"a" * 100)
    archive.keep(AGENT, str(source))
    true_pack = frames.pack
    write(source, b"a" * 100_000)
    monkeypatch.setattr(module, "pack", shrink_and_pack)
    with pytest.raises(SourceError, match="became shorter while it was read"):
        archive.keep(AGENT, str(source))
    assert content(archive, source) == b"a" * 100


def test_a_source_that_cannot_be_read_is_told(archive: Archive, source: Path) -> None:
    with pytest.raises(SourceError, match="no such file"):
        archive.keep(AGENT, str(source))
    source.mkdir(parents=True)
    with pytest.raises(SourceError, match="is a directory"):
        archive.keep(AGENT, str(source))
    assert list(archive.entries()) == []


@pytest.mark.parametrize("broken", [1, 2, 3])
def test_a_source_that_fails_at_any_read_is_told(
    archive: Archive, source: Path, monkeypatch: pytest.MonkeyPatch, broken: int
) -> None:
    write(source, lines(10))
    archive.keep(AGENT, str(source))
    write(source, b"more", "ab")
    count = itertools.count(1)

    class Failing(io.BufferedReader):
        def read(self, size: int | None = -1, /) -> bytes:
            if next(count) == broken:
                raise OSError(errno.EIO, "Input/output error")
            return super().read(size)

    monkeypatch.setattr(module, "open_source", lambda path: Failing(io.FileIO(path)))
    with pytest.raises(SourceError, match="input/output error"):
        archive.keep(AGENT, str(source))
    assert content(archive, source) == lines(10)


@pytest.mark.skipif(sys.platform != "linux", reason="file names are text elsewhere")
def test_a_path_that_is_no_text(archive: Archive, tmp_path: Path) -> None:
    path = os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xfe.jsonl")
    write(Path(path), b"text")
    archive.keep(AGENT, path)
    assert [entry.path for entry in archive.entries()] == [path]
    archive.close()
    (tmp_path / "archive" / "index.sqlite").unlink()
    again = Archive(tmp_path / "archive")
    assert content(again, Path(path)) == b"text"
    again.close()


def test_any_changed_byte_is_noticed(archive: Archive, source: Path, tmp_path: Path) -> None:
    text = lines(30)
    write(source, text)
    archive.keep(AGENT, str(source))
    [file] = stored_files(tmp_path)
    good = file.read_bytes()
    begin = good.index(b"\x28\xb5\x2f\xfd")
    noticed = 0
    for place in range(begin, len(good)):
        file.write_bytes(good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :])
        if archive.verify(AGENT, str(source)):
            assert content(archive, source) == text
        else:
            noticed += 1
            with pytest.raises(OSError, match="damaged"):
                content(archive, source)
    assert noticed > 0.9 * (len(good) - begin)
    file.write_bytes(good)
    assert archive.verify(AGENT, str(source))


def test_whole_frames_of_another_source_are_noticed(
    archive: Archive, source: Path, tmp_path: Path
) -> None:
    """The checksum of the frame is right: only the SHA-256 tells."""
    other = source.with_name("another.jsonl")
    for path, seed in ((source, 1), (other, 2)):
        write(path, random.Random(seed).randbytes(500))
        archive.keep(AGENT, str(path))
    one, two = stored_files(tmp_path)
    assert one.stat().st_size == two.stat().st_size
    one.write_bytes(two.read_bytes())
    assert sorted(archive.verify(AGENT, str(path)) for path in (source, other)) == [False, True]


@pytest.mark.parametrize("keep", [0, 0.5, 0.99])
def test_a_cut_off_file_is_noticed(
    archive: Archive, source: Path, tmp_path: Path, keep: float
) -> None:
    write(source, lines(300))
    archive.keep(AGENT, str(source))
    [file] = stored_files(tmp_path)
    os.truncate(file, int(keep * file.stat().st_size))
    assert not archive.verify(AGENT, str(source))
    with pytest.raises(ArchiveError, match="kept bytes are damaged"):
        archive.read_slice(AGENT, str(source), len(lines(300)) - 10, 10)


def test_what_is_damaged_is_not_restored(archive: Archive, source: Path, tmp_path: Path) -> None:
    damage_one_byte(archive, source, tmp_path)
    target = tmp_path / "restored" / "session.jsonl"
    with pytest.raises(ArchiveError) as caught:
        archive.restore(AGENT, str(source), target)
    assert str(caught.value) == f"archive: {source}: kept bytes are damaged"
    assert list(target.parent.iterdir()) == []


def damage_one_byte(archive: Archive, source: Path, tmp_path: Path) -> None:
    write(source, lines(50))
    archive.keep(AGENT, str(source))
    [file] = stored_files(tmp_path)
    with open(file, "r+b") as stream:
        stream.seek(-100, os.SEEK_END)
        [byte] = stream.read(1)
        stream.seek(-100, os.SEEK_END)
        stream.write(bytes([byte ^ 1]))


def test_what_is_damaged_is_mended_from_the_source_when_it_would_be_read(
    archive: Archive, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    damage_one_byte(archive, source, tmp_path)
    monkeypatch.setattr(frames, "SMALL_FRAMES", 1)
    write(source, lines(100, seed=3), "ab")
    assert archive.keep(AGENT, str(source)) == source.stat().st_size
    assert archive.verify(AGENT, str(source))
    assert content(archive, source) == source.read_bytes()
    assert [entry.generation for entry in archive.entries()] == [1]
    assert len(stored_files(tmp_path)) == 1


@pytest.mark.parametrize("left", [None, 10])
def test_a_lost_file_is_kept_anew(
    archive: Archive, source: Path, tmp_path: Path, left: int | None
) -> None:
    write(source, lines(50))
    archive.keep(AGENT, str(source))
    [file] = stored_files(tmp_path)
    file.unlink() if left is None else os.truncate(file, left)
    if left is None:
        with pytest.raises(ArchiveError, match="its file in the archive is gone"):
            archive.open(AGENT, str(source))
    assert not archive.verify(AGENT, str(source))
    write(source, b"more", "ab")
    archive.keep(AGENT, str(source))
    assert content(archive, source) == lines(50) + b"more"
    assert [entry.generation for entry in archive.entries()] == [1]


def test_restoring_makes_folders_and_private_files_and_never_overwrites(
    archive: Archive, source: Path, tmp_path: Path
) -> None:
    write(source, lines(50))
    archive.keep(AGENT, str(source))
    target = tmp_path / "deep" / "down" / "copy.jsonl"
    archive.restore(AGENT, str(source), target)
    assert target.read_bytes() == lines(50)
    assert target.stat().st_mode & 0o777 == 0o600
    assert abs(target.stat().st_mtime - time.time()) < 60
    target.write_bytes(b"precious")
    with pytest.raises(ArchiveError, match=r"copy\.jsonl: file exists"):
        archive.restore(AGENT, str(source), target)
    assert target.read_bytes() == b"precious"
    assert os.listdir(target.parent) == ["copy.jsonl"]


def test_restoring_an_earlier_generation(archive: Archive, source: Path, tmp_path: Path) -> None:
    for text in (b"first, long", b"second"):
        write(source, text)
        archive.keep(AGENT, str(source))
    archive.restore(AGENT, str(source), tmp_path / "old", generation=1)
    assert (tmp_path / "old").read_bytes() == b"first, long"


def test_restoring_below_a_file_is_told(archive: Archive, source: Path) -> None:
    write(source, b"text")
    archive.keep(AGENT, str(source))
    with pytest.raises(ArchiveError, match="/below: file exists"):
        archive.restore(AGENT, str(source), source / "below")


def test_forgetting_leaves_nothing(archive: Archive, source: Path, tmp_path: Path) -> None:
    for text in (b"first, long", b"second"):
        write(source, text)
        archive.keep(AGENT, str(source))
    other = source.with_name("other.jsonl")
    write(other, b"stays")
    archive.keep(AGENT, str(other))
    [old, new] = [file for file in stored_files(tmp_path) if b"session" in file.read_bytes()]
    orphan = Path(str(new).replace("-2.zst", "-3.zst"))  # its writer was killed before it said so
    orphan.write_bytes(new.read_bytes())
    expected = sum(file.stat().st_size for file in (old, new, orphan))
    assert archive.forget(AGENT, str(source)) == expected
    assert archive.forget(AGENT, str(source)) == 0
    for file in (tmp_path / "archive").iterdir():
        assert b"session.jsonl" not in file.read_bytes(), file
    assert [entry.path for entry in archive.entries()] == [str(other)]
    assert content(archive, other) == b"stays"


def test_tidying_removes_what_nobody_knows_and_nothing_else(
    archive: Archive, source: Path, tmp_path: Path
) -> None:
    write(source, lines(10))
    archive.keep(AGENT, str(source))
    folder = tmp_path / "archive"
    (folder / f"{'0' * 64}-1.zst").write_bytes(b"12345")
    for name, age in ((".new.draft", 10), (".old.draft", 100_000)):
        (folder / name).write_bytes(b"123")
        os.utime(folder / name, (time.time() - age,) * 2)
    assert archive.tidy() == 8
    assert archive.tidy() == 0
    assert (folder / ".new.draft").exists()
    assert content(archive, source) == lines(10)


def test_any_zstd_unpacks_what_is_kept_and_the_beginning_says_what_it_is(
    archive: Archive, source: Path, tmp_path: Path
) -> None:
    for number in range(40):
        write(source, lines(20, seed=number), "ab")
        archive.keep(AGENT, str(source))
    [file] = stored_files(tmp_path)
    with open(file, "rb") as packed:
        reader = zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True)
        assert reader.read() == source.read_bytes()
    assert str(source).encode() in file.read_bytes()[:300]
    assert AGENT.encode() in file.read_bytes()[:300]


def missing(index: Path) -> None:
    index.unlink()


def no_database(index: Path) -> None:
    index.write_bytes(b"this is no database, and it is longer than the header of one" * 100)


def cut_off(index: Path) -> None:
    os.truncate(index, 1000)


def from_the_future(index: Path) -> None:
    connection = sqlite3.connect(index)
    connection.execute("PRAGMA user_version = 99")
    connection.close()


@pytest.mark.parametrize("ruin", [missing, no_database, cut_off, from_the_future])
def test_a_lost_index_is_made_anew_from_the_files(source: Path, tmp_path: Path, ruin: Any) -> None:
    archive = Archive(tmp_path / "archive")
    for text in (lines(5), b"", b"new\n"):
        write(source, text)
        archive.keep(AGENT, str(source))
    for number in range(50):
        write(source, b"line %d\n" % number, "ab")
        archive.keep(AGENT, str(source))
    before = [(each.path, each.generation, each.raw, each.stored) for each in archive.entries()]
    archive.close()
    (tmp_path / "archive" / "notes-1.zst").write_bytes(b"not ours")
    (tmp_path / "archive" / "notes-2.zst").write_bytes(b"\x50\x2a\x4d\x18\x02\x00\x00\x00[]")
    ruin(tmp_path / "archive" / "index.sqlite")

    told: list[str] = []
    again = Archive(tmp_path / "archive", told.append)
    assert len(told) == (ruin is not missing)
    assert all("moved aside and built anew" in line for line in told)
    after = [(each.path, each.generation, each.raw, each.stored) for each in again.entries()]
    assert after == before
    assert content(again, source) == source.read_bytes()
    assert content(again, source, generation=1) == lines(5)
    assert again.keep(AGENT, str(source)) == 0
    write(source, b"more\n", "ab")
    assert again.keep(AGENT, str(source)) == 5
    again.close()


def test_an_index_made_anew_knows_a_torn_file_by_its_whole_frames(
    source: Path, tmp_path: Path
) -> None:
    archive = Archive(tmp_path / "archive")
    write(source, lines(5))
    archive.keep(AGENT, str(source))
    write(source, lines(20), "ab")
    archive.keep(AGENT, str(source))
    archive.close()
    [file] = stored_files(tmp_path)
    os.truncate(file, file.stat().st_size - 3)
    (tmp_path / "archive" / "index.sqlite").unlink()
    again = Archive(tmp_path / "archive")
    assert content(again, source) == lines(5)
    again.keep(AGENT, str(source))
    assert content(again, source) == source.read_bytes()
    again.close()


def test_a_folder_that_cannot_be_used_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ArchiveError) as caught:
        Archive(tmp_path / "file" / "archive")
    assert len(str(caught.value).splitlines()) == 1


def test_a_reader_goes_on_while_the_file_is_replaced(archive: Archive, source: Path) -> None:
    write(source, lines(3000))
    archive.keep(AGENT, str(source))
    with archive.open(AGENT, str(source)) as stream:
        begin = stream.read(10)
        write(source, b"rewritten")
        archive.keep(AGENT, str(source))
        archive.forget(AGENT, str(source))
        assert begin + stream.read() == lines(3000)


def test_a_file_that_is_replaced_before_it_is_opened_is_looked_up_again(
    archive: Archive, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(source, b"first")
    archive.keep(AGENT, str(source))
    other = Archive(tmp_path / "archive")
    true_read = archive._read
    looks = itertools.count()

    def replaced(copy: Any) -> IO[bytes]:
        if not next(looks):
            for text in (b"second", b"third and longer", b"fourth"):
                write(source, text)
                other.keep(AGENT, str(source))
        return true_read(copy)

    monkeypatch.setattr(archive, "_read", replaced)
    assert content(archive, source) == b"fourth"
    other.close()


def test_the_slower_of_two_keepers_leaves_it_to_the_faster(
    archive: Archive, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Archive(tmp_path / "archive")
    true_pack = frames.pack

    def overtaken(*arguments: Any) -> list[frames.Frame]:
        monkeypatch.setattr(module, "pack", true_pack)
        other.keep(AGENT, str(source))
        return true_pack(*arguments)

    for text in (lines(20), lines(30)):
        write(source, text)
        monkeypatch.setattr(module, "pack", overtaken)
        assert archive.keep(AGENT, str(source)) == 0
        assert content(archive, source) == text
        assert archive.verify(AGENT, str(source))
    assert len(stored_files(tmp_path)) == 1
    other.close()


def full(_stream: IO[bytes]) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("text", [lines(20), lines(5), b"rewritten"])
def test_a_full_disk_is_one_line_and_loses_nothing(
    archive: Archive, source: Path, tmp_path: Path, text: bytes
) -> None:
    write(source, lines(10))
    archive.keep(AGENT, str(source))
    write(source, text)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, "to_disk", full)
        with pytest.raises(ArchiveError) as caught:
            archive.keep(AGENT, str(source))
    folder = tmp_path / "archive"
    assert str(caught.value) == f"archive: {folder}: no space left on device"
    assert content(archive, source) == lines(10)
    assert archive.verify(AGENT, str(source))
    assert list(folder.glob(".*")) == []
    archive.keep(AGENT, str(source))
    assert content(archive, source) == text


def test_restoring_to_a_full_disk_leaves_nothing(
    archive: Archive, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(source, lines(10))
    archive.keep(AGENT, str(source))
    monkeypatch.setattr(module, "to_disk", full)
    target = tmp_path / "restored" / "session.jsonl"
    with pytest.raises(ArchiveError, match="no space left on device"):
        archive.restore(AGENT, str(source), target)
    assert list(target.parent.iterdir()) == []


def test_auto_means_the_agents_that_delete_their_own() -> None:
    assert {agent for agent in agent_ids() if wanted("auto", agent)} == {
        "claude-code",
        "gemini-cli",
    }
    assert [adapter_class(agent).deletes_history for agent in ("claude-code", "codex")] == [
        True,
        False,
    ]
    assert all(wanted("all", agent) for agent in agent_ids())
    assert not any(wanted("off", agent) for agent in agent_ids())
    with pytest.raises(UnknownAgentError):
        wanted("auto", "nobody")


EDITS = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.binary(max_size=300)),
        st.tuples(st.just("rewrite"), st.binary(max_size=300)),
        st.tuples(st.just("cut"), st.integers(0, 300)),
        st.tuples(st.just("edit"), st.integers(0, 300)),
        st.tuples(st.just("touch"), st.none()),
        st.tuples(st.just("rebuild"), st.none()),
        st.tuples(st.just("keep"), st.none()),
    ),
    max_size=60,
)


@settings(max_examples=150, deadline=None)
@given(edits=EDITS, frame=st.integers(1, 200))
def test_after_any_history_what_is_kept_is_what_the_file_was(
    edits: list[tuple[str, Any]], frame: int
) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patched:
        patched.setattr(frames, "FRAME", frame)
        patched.setattr(frames, "SMALL_FRAMES", 3)
        path = Path(folder, "session.jsonl")
        archive = Archive(Path(folder, "archive"))
        text, largest = b"", b""
        write(path, text)
        for what, value in [*edits, ("keep", None)]:
            if what == "append":
                text += value
            elif what == "rewrite":
                text = value
            elif what == "cut":
                text = text[:value]
            elif what == "edit" and text:
                place = value % len(text)
                text = text[:place] + bytes([text[place] ^ 1]) + text[place + 1 :]
            elif what == "rebuild":
                archive.close()
                Path(folder, "archive", "index.sqlite").unlink()
                archive = Archive(Path(folder, "archive"))
            write(path, text)
            if what == "keep":
                archive.keep(AGENT, str(path))
                assert content(archive, path) == text
                if len(text) >= len(largest):
                    largest = text
        every = [content(archive, path, entry.generation) for entry in archive.entries()]
        assert len(every) <= 2
        assert max(map(len, every)) == len(largest)
        assert all(archive.verify(AGENT, str(path), each.generation) for each in archive.entries())
        assert archive.tidy() == 0
        archive.close()
