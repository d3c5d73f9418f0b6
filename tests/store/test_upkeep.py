"""The store is looked after: what is in it is told, checked, tidied, rebuilt and forgotten."""

from __future__ import annotations

import os
import sqlite3
import time
from pathlib import Path

import pytest
from claude_home import Session, write
from codex_home import Rollout

from agtail.history import History
from agtail.store import refresh, upkeep
from agtail.store.archive import Archive
from agtail.store.catalogue import Catalogue
from agtail.store.changes import Change
from agtail.store.choice import Choice
from agtail.store.rebuild import distrust, saved
from agtail.store.store import Store
from agtail.store.upkeep import Status, forget, status, tidy
from agtail.store.verify import Fault, verify

SMALL = 4
"""Signatures in a segment here."""


@pytest.fixture(autouse=True)
def _small_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refresh, "SEGMENT_BLOCKS", SMALL)
    monkeypatch.setattr(upkeep, "SEGMENT_BLOCKS", SMALL)


def home_with(home: Path, count: int, text: str = "prompt") -> Path:
    for number in range(count):
        session = Session(f"s{number}")
        session.user(f"{text} number{number}")
        session.say(f"answer {number}")
        write(home, session)
    return home


def transcript(home: Path, number: int) -> Path:
    return home / f".claude/projects/-home-dev-app/s{number}.jsonl"


def opened(home: Path) -> tuple[History, Store]:
    history = History(home=home, env={}, store=True)
    assert history.store is not None
    return history, history.store


def filled(home: Path) -> tuple[History, Store]:
    history, store = opened(home)
    history.refresh(wait=True)
    return history, store


def found(history: History, pattern: str) -> list[str]:
    return [hit.session_id for hit in history.search(pattern)]


def faults(store: Store) -> list[Fault]:
    return list(verify(store.catalogue))


def segment_files(store: Store) -> list[Path]:
    return sorted((store.catalogue.folder / "segments").iterdir())


def remove(home: Path, *numbers: int) -> None:
    for number in numbers:
        transcript(home, number).unlink()


def choose(history: History, store: Store, *ids: str) -> Choice:
    choice = Choice(history.sessions(), store.catalogue.sources())
    for name in ids:
        choice.add(history.session(name).session)
    return choice


def test_status_counts_what_is_there(tmp_path: Path) -> None:
    history, store = filled(home_with(tmp_path, 9))
    remove(tmp_path, 0)
    history.refresh()
    raw = sum(transcript(tmp_path, number).stat().st_size for number in range(1, 9))
    seen = status(store.catalogue)
    assert (seen.sources, seen.present, seen.gone, seen.offline) == (9, 8, 1, {})
    assert (seen.sessions, seen.unreadable, seen.events, seen.blocks) == (9, 0, 18, 9)
    assert seen.source_bytes > raw
    assert seen.segment_bytes == sum(file.stat().st_size for file in segment_files(store))
    assert seen.catalogue_bytes >= os.path.getsize(store.catalogue.folder / "catalogue.sqlite")
    own = seen.catalogue_bytes + seen.segment_bytes
    assert seen.ratio == pytest.approx(own / seen.source_bytes, abs=1e-4)
    assert (seen.archive_bytes, seen.old_bytes) == (0, 0)


def test_status_tells_what_is_offline_and_what_is_unreadable(tmp_path: Path) -> None:
    home_with(tmp_path, 2)
    broken = tmp_path / ".claude/projects/-home-dev-app/broken.jsonl"
    broken.mkdir()
    _, store = filled(tmp_path)
    assert status(store.catalogue).unreadable == 1
    projects = tmp_path / ".claude/projects"
    projects.rename(tmp_path / "unplugged")
    seen = status(store.catalogue)
    assert (seen.offline, seen.present, seen.gone) == ({str(projects): 3}, 0, 0)


def test_status_counts_archive_and_old_stores_apart(tmp_path: Path) -> None:
    _, store = filled(home_with(tmp_path, 1))
    before = status(store.catalogue)
    folder = store.catalogue.folder
    (folder / "catalogue.sqlite.20260101-000000.old").write_bytes(b"x" * 100)
    (folder / "catalogue.sqlite.20260101-000000.old-wal").write_bytes(b"x" * 10)
    (folder / "archive").mkdir()
    (folder / "archive/one.zst").write_bytes(b"x" * 7)
    after = status(store.catalogue)
    assert (after.archive_bytes, after.old_bytes) == (7, 110)
    assert after.catalogue_bytes == before.catalogue_bytes


def test_a_whole_store_has_no_faults(tmp_path: Path) -> None:
    home_with(tmp_path, 9)
    rollout = Rollout()
    rollout.user("juice the pears")
    rollout.assistant("done")
    rollout.write(tmp_path)
    history, store = filled(tmp_path)
    remove(tmp_path, 3)
    history.refresh()
    assert faults(store) == []


def break_block(store: Store, column: str, value: str) -> str:
    """Change the block of one session behind the catalogue's back; return the session's name."""
    run = store.catalogue.connection.execute
    block, name = run(
        "SELECT blocks.id, session_id FROM blocks JOIN sessions ON sessions.id = session LIMIT 1"
    ).fetchone()
    run(f"UPDATE blocks SET {column} = {value} WHERE id = ?", (block,))
    return f"claude-code:{name}"


@pytest.mark.parametrize(
    ("column", "value", "what"),
    [
        ("hay", "x'00'", "cannot be opened"),
        ("rest", "zeroblob(40)", "cannot be opened"),
        ("kinds", "kinds + 128", "other kinds or times"),
        ("time_min", "time_min - 1", "other kinds or times"),
        ("count", "count + 1", "other events"),
        ("first", "first + 1", "other events"),
        (
            "hay",
            "(SELECT hay FROM blocks ORDER BY id DESC LIMIT 1)",
            "its signature is not of its text",
        ),
    ],
)
def test_a_damaged_block_is_named(tmp_path: Path, column: str, value: str, what: str) -> None:
    _, store = filled(home_with(tmp_path, 9))
    name = break_block(store, column, value)
    named = [fault for fault in faults(store) if fault.where.startswith(f"{name}, block ")]
    assert [fault.what.startswith(what) for fault in named] == [True]
    assert named[0].remedy == "agtail index rebuild"


def test_a_damaged_block_whose_file_is_gone_can_only_be_forgotten(tmp_path: Path) -> None:
    _, store = filled(home_with(tmp_path, 1))
    remove(tmp_path, 0)
    break_block(store, "hay", "x'00'")
    [fault] = faults(store)
    assert "agtail forget claude-code:s0" in fault.remedy


def test_gaps_and_missing_events_are_faults(tmp_path: Path) -> None:
    _, store = filled(home_with(tmp_path, 1))
    run = store.catalogue.connection.execute
    run("UPDATE blocks SET first = 1")
    assert "event 0 should follow, and 1 does" in [fault.what for fault in faults(store)]
    run("DELETE FROM blocks")
    run("DELETE FROM fresh")
    assert [fault.what for fault in faults(store)] == ["0 events instead of 2"]


def test_a_wrong_signature_is_a_fault_in_a_segment_and_among_the_fresh(tmp_path: Path) -> None:
    _, store = filled(home_with(tmp_path, 5))
    [file] = segment_files(store)
    content = bytearray(file.read_bytes())
    content[-20_000:] = bytes(20_000)
    file.write_bytes(content)
    store.catalogue.connection.execute("UPDATE fresh SET bits = zeroblob(4096)")
    assert len(faults(store)) == SMALL + 1
    assert {fault.what for fault in faults(store)} == {"its signature is not of its text"}


def test_what_belongs_to_nothing_is_found_and_removed(tmp_path: Path) -> None:
    history, store = filled(home_with(tmp_path, 5))
    run = store.catalogue.connection.execute
    run("INSERT INTO fresh VALUES (999, x'00')")
    run("DELETE FROM sources WHERE path LIKE '%s1.jsonl'")
    (store.catalogue.folder / "segments" / "stray.bits").write_bytes(b"")
    (store.catalogue.folder / "segments" / "stray.bits").chmod(0o600)
    assert {(fault.where, fault.remedy) for fault in faults(store)} == {
        ("sessions", "agtail index gc"),
        ("fresh", "agtail index gc"),
        ("segments/stray.bits", "agtail index gc"),
    }
    done = tidy(store.catalogue)
    assert done.rows == 3  # the session, its block, the signature
    assert done.files == 1
    assert faults(store) == []
    assert found(history, "number1") == ["s1"]  # the file is still there, and read again


@pytest.mark.parametrize("damage", ["missing", "cut"])
def test_a_segment_that_is_lost_is_told_and_made_anew(tmp_path: Path, damage: str) -> None:
    history, store = filled(home_with(tmp_path, 5))
    [file] = segment_files(store)
    if damage == "missing":
        file.unlink()
    else:
        file.write_bytes(file.read_bytes()[:-1])
    [fault] = faults(store)
    assert fault.what.startswith({"missing": "missing", "cut": "damaged"}[damage])
    done = tidy(store.catalogue)
    assert done.resealed == 1
    assert faults(store) == []
    assert segment_files(store) != [file]
    assert found(history, "number2") == ["s2"]


def test_blocks_without_signature_are_told_and_signed(tmp_path: Path) -> None:
    history, store = filled(home_with(tmp_path, 2))
    store.catalogue.connection.execute("DELETE FROM fresh")
    assert [fault.what for fault in faults(store)] == ["no search finds it: unsigned"] * 2
    assert found(history, "number1") == []
    assert tidy(store.catalogue).signed == 2
    assert faults(store) == []
    assert found(history, "number1") == ["s1"]


def test_segments_of_replaced_blocks_are_made_anew(tmp_path: Path) -> None:
    history, store = filled(home_with(tmp_path, 2 * SMALL))
    first, second = segment_files(store)
    home_with(tmp_path, 3, text="other words and")
    history.refresh()
    done = tidy(store.catalogue)
    assert (done.resealed, done.files) == (1, 1)
    assert sum(file in (first, second) for file in segment_files(store)) == 1
    assert faults(store) == []
    for number in range(2 * SMALL):
        assert found(history, f"number{number}") == [f"s{number}"]


def test_peeks_at_files_that_are_no_more_go(tmp_path: Path) -> None:
    history, store = filled(home_with(tmp_path, 3))
    remove(tmp_path, 1)
    history.refresh()
    peeks = "SELECT path FROM peeks WHERE path LIKE '%s1.jsonl'"
    assert store.catalogue.connection.execute(peeks).fetchall()
    assert tidy(store.catalogue).peeks == 1
    assert store.catalogue.connection.execute(peeks).fetchall() == []
    assert tidy(store.catalogue).peeks == 0


def test_stores_moved_aside_go_after_a_month(tmp_path: Path) -> None:
    _, store = filled(home_with(tmp_path, 1))
    folder = store.catalogue.folder
    lately = time.strftime("%Y%m%d-%H%M%S", time.localtime(time.time() - 29 * 86400))
    kept = folder / f"catalogue.sqlite.{lately}.old"
    kept.write_bytes(b"x")
    old = time.strftime("%Y%m%d-%H%M%S", time.localtime(time.time() - 31 * 86400))
    for ending in ("", "-wal", "-shm"):
        (folder / f"catalogue.sqlite.{old}.old{ending}").write_bytes(b"x")
    assert tidy(store.catalogue).old_stores == 3
    assert list(folder.glob("*.old*")) == [kept]


def test_a_database_of_holes_is_written_anew_and_says_what_that_won(tmp_path: Path) -> None:
    words = " ".join(map(str, range(9000)))
    history, store = filled(home_with(tmp_path, 8, text=words))
    full = status(store.catalogue).catalogue_bytes
    forget(store.catalogue, choose(history, store, *(f"s{n}" for n in range(1, 8))).sources)
    done = tidy(store.catalogue)
    assert done.vacuumed
    assert done.bytes > 0
    assert status(store.catalogue).catalogue_bytes < full
    assert not tidy(store.catalogue).vacuumed
    assert faults(store) == []


def test_others_must_not_read_it(tmp_path: Path) -> None:
    _, store = filled(home_with(tmp_path, 5))
    assert faults(store) == []
    store.catalogue.folder.chmod(0o755)
    segment_files(store)[0].chmod(0o644)
    assert [fault.what for fault in faults(store)] == ["others on this machine may read it"] * 2


def test_a_damaged_archive_is_told(tmp_path: Path) -> None:
    home_with(tmp_path, 1)
    _, store = filled(tmp_path)
    archive = Archive(store.catalogue.folder / "archive")
    archive.keep("claude-code", str(transcript(tmp_path, 0)))
    archive.close()
    assert faults(store) == []
    [file] = (store.catalogue.folder / "archive").glob("*.zst")
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 0xFF
    file.write_bytes(content)
    [fault] = faults(store)
    assert fault.where.startswith(f"archive: {transcript(tmp_path, 0)}")


def test_rebuilding_reads_again_what_is_there_and_keeps_what_is_gone(tmp_path: Path) -> None:
    history, store = filled(home_with(tmp_path, 6))
    remove(tmp_path, 4, 5)
    history.refresh()
    # What is stored is wrong: only reading it again mends it.
    wrong = break_block(store, "hay", "x'00'")
    assert faults(store)
    idle = history.refresh()
    assert idle is not None
    assert idle._replace(seconds=0) == Change()
    begun = distrust(store.catalogue, history.units())
    assert begun.kept == 2
    change = history.refresh(wait=True)
    assert change is not None
    assert change.read == 4
    tidy(store.catalogue, distrusted=begun.last_block)
    assert faults(store) == []
    assert wrong == "claude-code:s0"
    for number in range(6):
        assert found(history, f"number{number}") == [f"s{number}"]
    gone = [session.id for session in history.sessions() if session.source_gone]
    assert sorted(gone) == ["s4", "s5"]


def test_rebuilding_signs_what_it_keeps(tmp_path: Path) -> None:
    history, store = filled(home_with(tmp_path, 5))
    remove(tmp_path, *range(5))
    history.refresh()
    [file] = segment_files(store)
    file.write_bytes(file.read_bytes()[:-20_000] + bytes(20_000))
    store.catalogue.connection.execute("UPDATE fresh SET bits = zeroblob(4096)")
    begun = distrust(store.catalogue, history.units())
    history.refresh()
    done = tidy(store.catalogue, distrusted=begun.last_block)
    assert (begun.kept, done.resealed, done.signed) == (5, 1, 1)
    assert faults(store) == []


def test_a_source_that_cannot_be_opened_is_kept_by_a_rebuild(tmp_path: Path) -> None:
    history, store = filled(home_with(tmp_path, 2))
    transcript(tmp_path, 0).unlink()
    transcript(tmp_path, 0).mkdir()
    assert distrust(store.catalogue, history.units()).kept == 1


def damage(path: Path) -> None:
    """Overwrite the pages of one table, so that the file can still be opened."""
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        (page,) = connection.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = 'peeks'"
        ).fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    connection.close()
    with open(path, "r+b") as stream:
        stream.seek((page - 1) * size)
        stream.write(b"\xff" * size)


def test_out_of_a_damaged_store_what_only_it_has_is_saved(tmp_path: Path) -> None:
    history, store = filled(home_with(tmp_path, 4))
    remove(tmp_path, 0, 1)
    history.refresh()
    forget(store.catalogue, choose(history, store, "s1", "s2").sources)
    folder = store.catalogue.folder
    store.close()
    damage(folder / "catalogue.sqlite")
    catalogue = Catalogue(folder, pytest.fail, existing=True)
    assert any(fault.where == "catalogue" for fault in verify(catalogue))
    catalogue.close()

    warnings: list[str] = []
    assert saved(folder, warnings.append) == 0
    assert len(warnings) == 1
    assert len(list(folder.glob("catalogue.sqlite.*.old"))) == 1
    history, store = filled(tmp_path)
    assert sorted(session.id for session in history.sessions()) == ["s0", "s3"]
    assert found(history, "number0") == ["s0"]
    assert [session.id for session in history.sessions() if session.source_gone] == ["s0"]
    tidy(store.catalogue)  # signatures of the damaged store
    assert faults(store) == []
    assert saved(folder, pytest.fail) == 0


def test_a_block_that_cannot_be_saved_is_counted(tmp_path: Path) -> None:
    history, store = filled(home_with(tmp_path, 3))
    remove(tmp_path, 0, 1)
    history.refresh()
    assert break_block(store, "hay", "x'00'") == "claude-code:s0"
    folder = store.catalogue.folder
    store.close()
    damage(folder / "catalogue.sqlite")
    assert saved(folder, lambda _line: None) == 1
    history, _ = filled(tmp_path)
    assert sorted(session.id for session in history.sessions()) == ["s1", "s2"]


def test_a_store_of_another_version_is_taken_over_by_a_rebuild(tmp_path: Path) -> None:
    history, store = filled(home_with(tmp_path, 2))
    remove(tmp_path, 0)
    history.refresh()
    store.catalogue.connection.execute("UPDATE meta SET value = '0/1'")
    folder = store.catalogue.folder
    store.close()
    warnings: list[str] = []
    assert saved(folder, warnings.append) == 0
    assert "store of version 0/1" in warnings[0]
    history, store = filled(tmp_path)
    assert found(history, "number0") == ["s0"]
    assert faults(store) == []


def test_a_forgotten_session_stays_away_until_its_file_grows(tmp_path: Path) -> None:
    history, store = filled(home_with(tmp_path, 3))
    forget(store.catalogue, choose(history, store, "s1").sources)
    assert sorted(session.id for session in history.sessions()) == ["s0", "s2"]
    os.utime(transcript(tmp_path, 1))  # touched, not grown
    assert found(history, "number1") == []
    with open(transcript(tmp_path, 1), "a") as stream:
        session = Session("s1")
        session.parent = "s1-0002"
        session.count = 2
        session.user("and on it goes")
        write(tmp_path, session, "-tmp/line.jsonl")
        stream.write((tmp_path / ".claude/projects/-tmp/line.jsonl").read_text())
    (tmp_path / ".claude/projects/-tmp/line.jsonl").unlink()
    assert found(history, "number1") == ["s1"]
    assert found(history, "goes") == ["s1"]
    assert faults(store) == []


def test_a_forgotten_session_that_is_archived_stays_away(tmp_path: Path) -> None:
    rollout = Rollout()
    rollout.user("juice the pears")
    rollout.assistant("done")
    path = rollout.write(tmp_path)
    history, store = filled(tmp_path)
    forget(store.catalogue, choose(history, store, rollout.thread).sources)
    archived = tmp_path / ".codex/archived_sessions"
    archived.mkdir()
    path.rename(archived / path.name)
    assert history.sessions() == []
    rollout.user("once more")
    rollout.write(tmp_path, "archived_sessions")
    assert found(history, "pears") == [rollout.thread]


def test_what_was_forgotten_is_nowhere_in_the_store(tmp_path: Path) -> None:
    secret = "ghp_" + "q7" * 15
    history, store = filled(home_with(tmp_path, 2, text=secret))
    archive = Archive(store.catalogue.folder / "archive")
    for number in range(2):
        archive.keep("claude-code", str(transcript(tmp_path, number)))
    remove(tmp_path, 0)
    hay, rest = store.catalogue.connection.execute(
        "SELECT hay, rest FROM blocks JOIN sessions ON sessions.id = session"
        " WHERE session_id = 's0'"
    ).fetchone()
    forget(store.catalogue, choose(history, store, "s0").sources)
    assert [entry.path for entry in archive.entries()] == [str(transcript(tmp_path, 1))]
    archive.close()
    store.close()
    for path in store.catalogue.folder.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert hay not in content
            assert rest not in content


def test_a_family_goes_as_a_whole_and_a_part_of_a_file_not_at_all(tmp_path: Path) -> None:
    home_with(tmp_path, 2)
    child = Session("s0", isSidechain=True, agentId="a1")
    child.user("dig")
    child.say("dug")
    write(tmp_path, child, "-home-dev-app/s0/subagents/agent-a1.jsonl")
    grandchild = Session("a1", isSidechain=True, agentId="a2")
    grandchild.user("deeper")
    grandchild.say("dug")
    write(tmp_path, grandchild, "-home-dev-app/a1/subagents/agent-a2.jsonl")
    history, store = filled(tmp_path)
    choice = choose(history, store, "s0")
    assert sorted(session.id for session in choice.sessions) == ["a1", "a2", "s0"]
    assert len(choice.sources) == 3
    alone = choose(history, store, "a2")
    assert [session.id for session in alone.sessions] == ["a2"]


def test_families_that_ended_before_count_by_their_last_member(tmp_path: Path) -> None:
    for name, day in (("old", 1), ("busy", 2)):
        session = Session(name)
        session.user(f"prompt of {name}", timestamp=f"2026-05-{day:02}T10:00:00.000Z")
        session.say("answer")
        write(tmp_path, session)
    late = Session("busy", isSidechain=True, agentId="late")
    late.user("still at it", timestamp="2026-05-20T10:00:00.000Z")
    late.say("yes")
    write(tmp_path, late, "-home-dev-app/busy/subagents/agent-late.jsonl")
    history, store = filled(tmp_path)
    choice = Choice(history.sessions(), store.catalogue.sources())
    choice.add_all(lambda _session: True, 1_778_000_000_000)  # 5 May 2026
    assert [session.id for session in choice.sessions] == ["old"]
    choice = Choice(history.sessions(), store.catalogue.sources())
    choice.add_all(lambda session: session.id == "late", None)
    assert [session.id for session in choice.sessions] == ["late"]


def test_looking_makes_no_store(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    with pytest.raises(Exception, match="no store yet"):
        Catalogue(folder, pytest.fail, existing=True)
    assert not folder.exists()


def test_status_is_part_of_the_wire_format(tmp_path: Path) -> None:
    _, store = filled(home_with(tmp_path, 1))
    assert isinstance(status(store.catalogue), Status)
