"""Each way in which files change, and what a refresh makes of it."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sqlite3
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import zstandard
from claude_home import Session, write, write_lines
from codex_home import OTHER, Rollout

from agtail import records
from agtail.agents.base import Adapter, Place, Unit
from agtail.agents.claude_code import reader
from agtail.agents.claude_code.adapter import ClaudeCode
from agtail.agents.codex.adapter import Codex
from agtail.errors import StoreError
from agtail.history import History
from agtail.records import Report
from agtail.store import refresh
from agtail.store.catalogue import Catalogue
from agtail.store.changes import Change
from agtail.store.refresh import writing
from agtail.store.verify import verify

NOTHING = (0, 0, 0, 0)


class Home:
    """A home and its store, asked anew each time, as separate commands would."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.warnings: list[str] = []
        self.folder = path / "data/agtail/store"

    def history(self, *, store: bool = True, roots: dict[str, Path] | None = None) -> History:
        return History(
            home=self.path,
            env={"XDG_DATA_HOME": str(self.path / "data")},
            roots=roots,
            store=store,
            warn=self.warnings.append,
        )

    @contextlib.contextmanager
    def opened(self) -> Iterator[History]:
        history = self.history()
        yield history
        if history.store is not None:
            history.store.close()

    def refresh(self) -> Change:
        with self.opened() as history:
            change = history.refresh()
        assert change is not None
        return change

    def changes(self) -> tuple[int, int, int, int]:
        """Refresh; return what was read, what had grown, what was gone and what had moved."""
        change = self.refresh()
        return change.read, change.grown, change.vanished, change.moved

    def find(self, pattern: str) -> list[str]:
        """Return the sessions of the hits, which have to be those of the files."""
        with self.opened() as history:
            found = [(hit.session_id, hit.snippet) for hit in history.search(pattern)]
        read = self.history(store=False).search(pattern)
        assert found == [(hit.session_id, hit.snippet) for hit in read]
        return [session for session, _ in found]

    def find_stored(self, pattern: str) -> list[str]:
        """Return the sessions of the hits, whatever the files say."""
        with self.opened() as history:
            return [hit.session_id for hit in history.search(pattern)]

    def gone(self) -> list[str]:
        with self.opened() as history:
            return [session.id for session in history.sessions() if session.source_gone]

    def assert_whole(self) -> None:
        with self.opened() as history:
            assert history.store is not None
            assert list(verify(history.store.catalogue)) == []


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    made = Home(tmp_path)
    yield made
    if made.folder.is_dir():
        made.assert_whole()


def claude(home: Home, name: str = "s1", *texts: str) -> Path:
    session = Session(name)
    session.user(f"prompt of {name}")
    for text in texts:
        session.say(text)
    return write(home.path, session)


def codex(home: Home, text: str) -> Path:
    rollout = Rollout(OTHER)
    rollout.user(text)
    return rollout.write(home.path)


def owner_and_fork(first: str = "pears") -> tuple[Session, Session]:
    """Return a session of two prompts, and one that copies these and adds another."""
    owner, fork = Session("owner"), Session("fork")
    owner.user(first)
    owner.user("figs")
    fork.lines = [
        {**line, "sessionId": "fork", "forkedFrom": {"sessionId": "owner"}} for line in owner.lines
    ]
    fork.parent, fork.count = owner.parent, 500
    fork.user("plums")
    return owner, fork


def stamp(path: Path, seconds: int) -> None:
    os.utime(path, (seconds, seconds))


def test_nothing_is_read_when_nothing_changed(home: Home) -> None:
    claude(home, "s1", "pears")
    codex(home, "juice")
    assert home.changes() == (2, 0, 0, 0)
    assert home.changes() == NOTHING
    assert home.refresh().bytes == 0


def test_only_agents_whose_files_changed_are_looked_at_closely(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = claude(home, "s1", "pears")
    codex(home, "juice")
    home.refresh()
    told: list[str] = []
    for adapter in (ClaudeCode, Codex):

        def units(
            self: Adapter,
            places: list[Place],
            report: Report,
            tell: Callable[..., Iterator[Unit]] = adapter.units,
        ) -> Iterator[Unit]:
            told.append(self.agent)
            return tell(self, places, report)

        monkeypatch.setattr(adapter, "units", units)
    assert home.changes() == NOTHING
    assert told == []
    stamp(path, 1_700_000_100)
    assert home.changes() == (1, 0, 0, 0)
    assert home.changes() == NOTHING
    assert told == ["claude-code"]


def test_root_that_is_emptied_while_nobody_looks(home: Home) -> None:
    """Not there, and there but empty, are different things."""
    path = claude(home, "s1", "pears")
    home.refresh()
    projects = home.path / ".claude/projects"
    projects.rename(home.path / "unplugged")
    assert home.changes() == NOTHING
    projects.mkdir()
    assert home.changes() == (0, 0, 1, 0)
    assert home.gone() == ["s1"]
    projects.rmdir()
    (home.path / "unplugged").rename(projects)
    assert path.exists()
    assert home.changes() == (1, 0, 0, 0)
    assert home.gone() == []


def test_appended_record_is_found(home: Home) -> None:
    path = claude(home, "s1", "pears")
    home.refresh()
    claude(home, "s1", "pears", "plums")
    stamp(path, 1_700_000_100)
    change = home.refresh()
    assert change.read + change.grown == 1
    assert home.find("plums") == ["s1"]
    assert home.changes() == NOTHING


def test_rewritten_file_of_the_same_size_is_read_again(home: Home) -> None:
    path = claude(home, "s1", "pears")
    home.refresh()
    path.write_text(path.read_text().replace("pears", "plums"))
    stamp(path, 1_700_000_100)
    assert home.changes() == (1, 0, 0, 0)
    assert home.find("plums") == ["s1"]
    assert home.find("pears") == []


def test_shrunk_file_loses_what_it_lost(home: Home) -> None:
    path = claude(home, "s1", "pears", "plums")
    home.refresh()
    claude(home, "s1", "pears")
    stamp(path, 1_700_000_100)
    assert home.changes() == (1, 0, 0, 0)
    assert home.find("pears") == ["s1"]
    assert home.find("plums") == []


def test_emptied_file_is_no_session(home: Home) -> None:
    path = claude(home, "s1", "pears")
    home.refresh()
    path.write_text("")
    assert home.changes() == (1, 0, 0, 0)
    assert home.find("pears") == []
    assert home.changes() == NOTHING


def test_archived_rollout_has_moved_and_is_there_once(home: Home) -> None:
    path = codex(home, "juice")
    home.refresh()
    archive = home.path / ".codex/archived_sessions"
    archive.mkdir()
    path.rename(archive / path.name)
    assert home.changes() == (1, 0, 0, 1)
    assert home.find("juice") == [OTHER]
    assert home.gone() == []
    with home.opened() as history:
        assert [session.archived for session in history.sessions()] == [True]


def test_compressed_rollout_has_moved(home: Home) -> None:
    path = codex(home, "juice")
    home.refresh()
    packed = path.with_name(f"{path.name}.zst")
    packed.write_bytes(zstandard.ZstdCompressor().compress(path.read_bytes()))
    assert home.changes() == NOTHING, "as long as both are there, the plain one is read"
    path.unlink()
    assert home.changes() == (1, 0, 0, 1)
    assert home.find("juice") == [OTHER]
    assert home.gone() == []


def test_vanished_session_is_kept_and_comes_back(home: Home) -> None:
    path = claude(home, "s1", "pears")
    claude(home, "s2", "pears")
    home.refresh()
    raw = path.read_bytes()
    path.unlink()
    assert home.changes() == (0, 0, 1, 0)
    assert home.changes() == NOTHING
    assert home.find_stored("pears") == ["s1", "s2"]
    assert home.gone() == ["s1"]
    with home.opened() as history:
        events = history.session("s1").events
        assert [event.text for event in events] == ["prompt of s1", "pears"]
    path.write_bytes(raw)
    stamp(path, 1_700_000_000)
    assert home.changes() == (1, 0, 0, 0)
    assert home.find("pears") == ["s1", "s2"]
    assert home.gone() == []


def test_vanished_session_comes_back_with_more(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refresh, "GROWING", 10**15)
    monkeypatch.setattr(reader, "WORTH_SPARING", 0)
    path = claude(home, "s1", "pears")
    home.refresh()
    path.unlink()
    assert home.changes() == (0, 0, 1, 0)
    claude(home, "s1", "pears", "plums")
    stamp(path, 1_700_000_100)
    assert home.changes() == (0, 1, 0, 0)
    assert home.gone() == []
    assert home.find("plums") == ["s1"]


def test_copies_stay_copies_when_their_owner_is_gone(home: Home) -> None:
    owner = Session("owner")
    owner.user("pears")
    fork = Session("fork")
    fork.lines = [{**owner.lines[0], "sessionId": "fork", "forkedFrom": {"sessionId": "owner"}}]
    fork.parent, fork.count = owner.parent, 500
    fork.user("plums")
    path = write(home.path, owner)
    write(home.path, fork)
    assert home.find("pears") == ["owner"]
    path.unlink()
    assert home.changes() == (0, 0, 1, 0)
    assert home.find_stored("pears") == ["owner"]
    assert home.changes() == NOTHING


def test_copies_follow_an_owner_that_is_rewritten_comes_or_moves(home: Home) -> None:
    owner, fork = owner_and_fork()
    write(home.path, fork)
    assert home.find("figs") == ["fork"]
    path = write(home.path, owner)
    assert home.find("figs") == ["owner"]
    owner.lines.pop()
    write(home.path, owner)
    stamp(path, 1_700_000_100)
    assert home.find("figs") == ["fork"]
    fork.user("apples")
    owner.lines.pop()
    owner.user("nuts")
    write(home.path, fork)
    write(home.path, owner)
    assert home.find("pears") == ["fork"], "the fork has grown while its owner was rewritten"
    moved = path.parent.parent / "-srv"
    moved.mkdir()
    path.rename(moved / path.name)
    assert home.find("nuts") == ["owner"]


@pytest.mark.parametrize("goes_on", [True, False], ids=["appended", "read anew"])
def test_copies_follow_an_owner_that_arrives_in_pieces(
    home: Home, monkeypatch: pytest.MonkeyPatch, *, goes_on: bool
) -> None:
    if goes_on:
        monkeypatch.setattr(refresh, "GROWING", 10**15)
        monkeypatch.setattr(reader, "WORTH_SPARING", 0)
    owner, fork = owner_and_fork()
    write(home.path, fork)
    path = write(home.path, owner)
    first, second = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first)
    assert home.find("figs") == ["fork"]
    with path.open("ab") as stream:
        stream.write(second)
    stamp(path, 1_700_000_100)
    assert home.changes() == ((1, 1, 0, 0) if goes_on else (2, 0, 0, 0))
    assert home.find("figs") == ["owner"]
    owner.count = 30  # later than what the fork says
    owner.user("dates")
    write(home.path, owner)
    stamp(path, 1_700_000_200)
    assert home.changes() == ((0, 1, 0, 0) if goes_on else (2, 0, 0, 0))
    assert home.find("plums") == ["fork"]


def test_copies_are_read_later_when_the_refresh_was_ended_in_between(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner, fork = owner_and_fork("pears" * 1000)
    write(home.path, fork)
    path = write(home.path, owner)
    assert home.find("figs") == ["owner"]
    owner.lines.pop()
    write(home.path, owner)
    stamp(path, 1_700_000_100)

    put = Catalogue.put

    def end(catalogue: Catalogue, unit: Unit, *rest: Any) -> None:
        if unit.id == "fork":
            raise KeyboardInterrupt
        put(catalogue, unit, *rest)

    with monkeypatch.context() as patched:
        patched.setattr(refresh, "_BATCH", 1)
        patched.setattr(Catalogue, "put", end)
        with pytest.raises(KeyboardInterrupt):
            home.refresh()
    assert home.find("figs") == ["fork"]


def test_missing_root_is_offline(home: Home) -> None:
    claude(home, "s1", "pears")
    home.refresh()
    projects = home.path / ".claude/projects"
    projects.rename(home.path / "unplugged")
    assert home.changes() == NOTHING
    assert home.find_stored("pears") == ["s1"]
    assert home.gone() == []
    (home.path / "unplugged").rename(projects)
    assert home.changes() == NOTHING


def test_root_that_cannot_be_looked_into_is_offline(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    claude(home, "s1", "pears")
    home.refresh()
    projects = str(home.path / ".claude/projects")
    scandir = os.scandir

    def refuse(folder: str) -> Iterator[os.DirEntry[str]]:
        if folder == projects:
            raise PermissionError(1, "Operation not permitted", folder)
        return scandir(folder)

    with monkeypatch.context() as patched:
        patched.setattr(os, "scandir", refuse)
        assert home.changes() == NOTHING
        assert home.find_stored("pears") == ["s1"]
        assert home.gone() == []
    assert home.changes() == NOTHING


def test_unreadable_source_is_tried_again_each_time(home: Home) -> None:
    path = claude(home, "s1", "pears")
    raw = path.read_bytes()
    path.unlink()
    path.mkdir()
    assert home.changes() == (1, 0, 0, 0)
    assert home.warnings == [f"{path}: is a directory; skipped"]
    with home.opened() as history:
        (session,) = history.sessions()
        assert session.integrity is not None
        assert session.integrity.unreadable == "is a directory"
    assert home.changes() == (1, 0, 0, 0)
    path.rmdir()
    path.write_bytes(raw)
    assert home.changes() == (1, 0, 0, 0)
    assert home.find("pears") == ["s1"]


def test_what_was_not_seen_of_an_unreadable_file_is_looked_at_later(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its time and size stay the same, while what is known without reading it does not."""
    newer, older = claude(home, "newer", "pears"), claude(home, "older", "pears")
    for path, day in ((older, "01"), (newer, "02")):
        path.write_text(path.read_text().replace("2026-05-01", f"2026-05-{day}"))
        stamp(path, 1_700_000_000)
    rollout = codex(home, "pears")
    opener = records._open_without_waiting

    def refuse(path: str, flags: int) -> int:
        if path in (str(newer), str(rollout)):
            raise PermissionError(13, "Permission denied", path)
        return opener(path, flags)

    with monkeypatch.context() as patched:
        patched.setattr(records, "_open_without_waiting", refuse)
        home.refresh()
        assert home.find("pears") == ["older"]
    assert home.find("pears") == ["newer", "older", OTHER]


def test_file_that_goes_while_it_is_to_be_read_is_kept_as_it_was(home: Home) -> None:
    path = claude(home, "s1", "pears")
    home.refresh()
    claude(home, "s1", "pears", "plums")
    stamp(path, 1_700_000_100)
    with home.opened() as history:
        units = history.units()
        path.unlink()
        history.units = lambda: units  # type: ignore[method-assign]
        history.refresh()
    assert home.find_stored("pears") == ["s1"]
    assert home.gone() == ["s1"]


def test_torn_line_is_waited_for_and_then_given_up(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = claude(home, "s1", "pears")
    with path.open("a") as stream:
        stream.write('{"type":"user","message":')
    for module in (records, refresh):
        monkeypatch.setattr(module, "FRESH_SECONDS", 0.4)
    stamp(path, int(time.time()) + 1)
    time.sleep(max(0.0, path.stat().st_mtime - time.time()) + 0.01)

    def cut_off(*, store: bool) -> bool:
        history = home.history(store=store)
        (session,) = history.sessions()
        if history.store is not None:
            history.store.close()
        return session.integrity is not None and session.integrity.truncated

    assert (cut_off(store=True), cut_off(store=False)) == (False, False)
    time.sleep(0.5)
    assert (cut_off(store=True), cut_off(store=False)) == (True, True)
    assert home.changes() == NOTHING


def test_open_turn_is_no_longer_running_after_a_while(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = Session("s1")
    session.user("pears", timestamp="2026-05-01T10:00:00.000Z")
    write(home.path, session)
    clock = time.time

    def at(minutes: int) -> None:
        monkeypatch.setattr(time, "time", lambda: 1_777_629_600.0 + 60 * minutes)
        monkeypatch.setattr(time, "time_ns", lambda: int(time.time() * 1e9))

    def ending(*, store: bool) -> str | None:
        history = home.history(store=store)
        (found,) = history.sessions()
        if history.store is not None:
            history.store.close()
        return found.ending

    # The clock of the machine that wrote it may be ahead of this one.
    for minutes, expected in ((-60, None), (1, None), (11, "interrupted")):
        at(minutes)
        assert (ending(store=True), ending(store=False)) == (expected, expected), minutes
    monkeypatch.setattr(time, "time", clock)


def test_name_beside_a_transcript_is_noticed(home: Home) -> None:
    path = claude(home, "s1", "pears")
    home.refresh()
    path.with_suffix("").mkdir()
    (path.with_suffix("") / "custom-title.json").write_text('{"customTitle": "named"}')
    with home.opened() as history:
        assert [session.title for session in history.sessions()] == ["named"]


def test_mark_in_the_register_of_the_desktop_app_is_noticed(home: Home) -> None:
    claude(home, "s1", "pears")
    home.refresh()
    register = home.path / "Library/Application Support/Claude/claude-code-sessions/a/b"
    register.mkdir(parents=True)
    entry = {"cliSessionId": "s1", "title": "named", "isArchived": True}
    (register / "local_1.json").write_text(json.dumps(entry))
    with home.opened() as history:
        assert [(each.title, each.archived) for each in history.sessions()] == [("named", True)]
        assert [hit.session_id for hit in history.search("pears", archived="none")] == []
    assert home.changes() == NOTHING


def test_imported_collection_is_read_kept_and_named(home: Home) -> None:
    claude(home, "near", "pears")
    session = Session("far")
    session.user("pears from afar")
    imported = home.path / "data/agtail/imported/team/claude-code"
    write_lines(home.path, "-home-dev-app/far.jsonl", session.lines)
    imported.mkdir(parents=True)
    (home.path / ".claude/projects/-home-dev-app/far.jsonl").rename(imported / "far.jsonl")
    assert home.find("pears") == ["near", "far"]
    with home.opened() as history:
        found = list(history.search("pears", source="team"))
        assert [(hit.session_id, hit.imported_from) for hit in found] == [("far", "team")]
    (imported / "far.jsonl").unlink()
    assert home.changes() == (0, 0, 1, 0)
    assert home.gone() == ["far"]


def test_two_roots_in_one_store_do_not_see_each_other(home: Home) -> None:
    claude(home, "here", "pears")
    session = Session("there")
    session.user("pears")
    write(home.path / "other", session)
    elsewhere = {"claude-code": home.path / "other/.claude/projects"}
    for _ in range(2):
        assert home.find("pears") == ["here"]
        history = home.history(roots=elsewhere)
        assert [hit.session_id for hit in history.search("pears")] == ["there"]
        assert [session.source_gone for session in history.sessions()] == [False]
        assert history.store is not None
        history.store.close()
    assert home.changes() == NOTHING
    only = History(
        home=home.path,
        env={"XDG_DATA_HOME": str(home.path / "data")},
        agents=["codex"],
        store=True,
    )
    assert list(only.search("pears")) == []
    assert only.store is not None
    only.store.close()
    assert home.gone() == []


def test_file_name_that_is_no_text_costs_one_line(home: Home) -> None:
    claude(home, "s1", "pears")
    odd = claude(home, "s2", "pears")
    try:
        os.rename(odd, os.path.join(os.fsencode(odd.parent), b"odd\xff.jsonl"))
    except OSError:
        return  # a file system that refuses such names
    assert home.find_stored("pears") == ["s1"]
    [line] = home.warnings
    assert line.endswith("odd?.jsonl: its name is not UTF-8; skipped (--no-store reads it)")


# One writer, many readers


def test_second_writer_uses_what_is_there(home: Home) -> None:
    claude(home, "s1", "pears")
    home.refresh()
    claude(home, "s2", "pears")
    with writing(home.folder, wait=False) as mine:
        assert mine
        assert home.refresh().busy
        assert home.find_stored("pears") == ["s1"]
        assert all("another agtail" in line for line in home.warnings)
        assert len(home.warnings) == 2
    assert home.find("pears") == ["s1", "s2"]


def test_writer_can_wait(home: Home) -> None:
    claude(home, "s1", "pears")
    home.refresh()
    claude(home, "s2", "pears")
    held, release = threading.Event(), threading.Event()

    def hold() -> None:
        with writing(home.folder, wait=False):
            held.set()
            release.wait(20)

    other = threading.Thread(target=hold)
    other.start()
    held.wait(20)
    threading.Timer(0.3, release.set).start()
    started = time.monotonic()
    with home.opened() as history:
        change = history.refresh(wait=True)
    other.join()
    assert change is not None
    assert (change.busy, change.read) == (False, 1)
    assert time.monotonic() - started >= 0.2


def test_what_another_writer_stored_meanwhile_is_not_taken_for_gone(home: Home) -> None:
    """One has looked at the files and waits, while another stores what came after the look."""
    path = claude(home, "s1", "pears")
    home.refresh()
    with home.opened() as waiting:
        units = [unit for unit in waiting.units() if unit.id != "s1"]
        waiting.units = lambda: units  # type: ignore[method-assign]
        enter = refresh.writing

        @contextlib.contextmanager
        def late(folder: Path, *, wait: bool) -> Iterator[bool]:
            refresh.writing = enter
            moved = path.parent.parent / "-srv"
            moved.mkdir()
            path.rename(moved / path.name)
            home.refresh()
            with enter(folder, wait=wait) as mine:
                yield mine

        refresh.writing = late
        try:
            waiting.refresh(wait=True)
        finally:
            refresh.writing = enter
    assert home.gone() == []
    assert home.find("pears") == ["s1"]


# Stores that cannot be used


def spoil_version(home: Home) -> None:
    with contextlib.closing(sqlite3.connect(home.folder / "catalogue.sqlite")) as connection:
        connection.execute("UPDATE meta SET value = '99/zz' WHERE key = 'schema'")
        connection.commit()


def spoil_beginning(home: Home) -> None:
    with (home.folder / "catalogue.sqlite").open("r+b") as stream:
        stream.write(b"\0" * 200)


def spoil_all(home: Home) -> None:
    (home.folder / "catalogue.sqlite").write_bytes(b"not a database at all" * 300)


def spoil_tables(home: Home) -> None:
    with contextlib.closing(sqlite3.connect(home.folder / "catalogue.sqlite")) as connection:
        connection.execute("DROP TABLE meta")
        connection.commit()


@pytest.mark.parametrize("spoil", [spoil_version, spoil_beginning, spoil_all, spoil_tables])
def test_unusable_store_is_moved_aside_and_built_anew(home: Home, spoil: object) -> None:
    claude(home, "s1", "pears")
    home.refresh()
    assert callable(spoil)
    spoil(home)
    assert home.find("pears") == ["s1"]
    assert len(home.warnings) == 1
    assert "moved aside and built anew" in home.warnings[0]
    assert len(list(home.folder.glob("catalogue.sqlite.*.old"))) == 1
    home.warnings.clear()
    assert home.changes() == NOTHING
    assert home.warnings == []


def test_lock_of_the_database_is_no_damage(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    claude(home, "s1", "pears")
    home.refresh()
    connect = sqlite3.connect
    monkeypatch.setattr(
        sqlite3,
        "connect",
        lambda path, **_: connect(path, timeout=0.1, isolation_level=None),
    )
    with contextlib.closing(connect(home.folder / "catalogue.sqlite")) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        assert home.find_stored("pears") == ["s1"]
        assert len(home.warnings) == 1
        assert "locked" in home.warnings[0]
    assert list(home.folder.glob("*.old")) == []


@pytest.mark.parametrize("seed", range(12))
def test_damage_in_the_middle_is_one_line(tmp_path: Path, seed: int) -> None:
    home = Home(tmp_path)
    for number in range(20):
        claude(home, f"s{number}", "pears" + f" {number}" * 200)
    home.refresh()
    with (home.folder / "catalogue.sqlite").open("r+b") as stream:
        size = stream.seek(0, os.SEEK_END)
        page = 4096 * (1 + seed * (size // 4096 - 1) // 12)
        stream.seek(page)
        stream.write(b"\x07" * 4096)
    try:
        found = home.find_stored("pears")
    except StoreError as error:
        found = []
        home.warnings.append(str(error))
    assert set(found) <= {f"s{number}" for number in range(20)}
    assert len(home.warnings) <= 1
    assert "\n" not in "".join(home.warnings)


def test_file_where_the_store_should_be(tmp_path: Path) -> None:
    home = Home(tmp_path)
    claude(home, "s1", "pears")
    (tmp_path / "data").write_text("a file")
    assert home.find_stored("pears") == ["s1"]
    assert len(home.warnings) == 1
    assert "--no-store" in home.warnings[0]


READ_ONLY = """
import os, sys
import numpy, re2, zstandard
import agtail.agents.claude_code.reader, agtail.agents.codex.adapter, agtail.search.engine
import agtail.store.refresh, agtail.store.append, agtail.packing, agtail.store.store
from agtail.history import History
if os.getuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
warnings = []
history = History(home=sys.argv[1], env={}, store=True, warn=warnings.append)
print([hit.session_id for hit in history.search("pears")])
print(*warnings, sep="\\n")
"""


@pytest.mark.parametrize("known", [False, True], ids=["no store yet", "a store"])
def test_folder_that_may_not_be_written_costs_one_line(known: bool) -> None:  # noqa: FBT001
    with tempfile.TemporaryDirectory() as name:
        path = Path(name)
        session = Session("s1")
        session.user("pears")
        write(path, session)
        folder = path / ".local/share/agtail/store"
        if known:
            history = History(home=path, env={}, store=True)
            history.refresh()
            assert history.store is not None
            history.store.close()
        else:
            folder.mkdir(parents=True)
        before = sorted(os.listdir(folder))
        for place, _, files in os.walk(path):
            os.chmod(place, 0o555)
            for file in files:
                os.chmod(os.path.join(place, file), 0o444)
        try:
            result = subprocess.run(
                [sys.executable, "-c", READ_ONLY, name], capture_output=True, text=True, check=False
            )
        finally:
            for place, _, _ in os.walk(path):
                os.chmod(place, 0o755)
        assert result.stderr == ""
        found, *lines = result.stdout.splitlines()
        assert found == "['s1']"
        assert len(lines) == 1, lines
        assert "--no-store" in lines[0]
        assert sorted(os.listdir(folder)) == before


# Nothing is written where the agents write


def fingerprints(folder: Path) -> dict[str, tuple[str, int]]:
    """Return the contents and times of all files below a folder, and of the folders themselves."""
    return {
        str(path): (
            hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "folder",
            path.stat().st_mtime_ns,
        )
        for path in sorted(folder.rglob("*"))
    }


def test_nothing_is_written_beside_a_source(home: Home) -> None:
    claude(home, "s1", "pears")
    rollout = codex(home, "juice")
    rollout.with_name(f"{rollout.name}.zst").write_bytes(
        zstandard.ZstdCompressor().compress(rollout.read_bytes())
    )
    index = home.path / ".codex/session_index.jsonl"
    index.write_text(f'{{"id": "{OTHER}", "thread_name": "n", "updated_at": "2026-05-01"}}\n')
    agents = [home.path / ".claude", home.path / ".codex"]
    before = list(map(fingerprints, agents))
    assert home.find("pears") == ["s1"]
    assert home.find("juice") == [OTHER]
    home.changes()
    assert list(map(fingerprints, agents)) == before
    assert sorted(os.listdir(home.path)) == [".claude", ".codex", "data"]


def test_the_store_is_private(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refresh, "SEGMENT_BLOCKS", 2)
    for number in range(5):
        claude(home, f"s{number}", "pears")
    before = os.umask(0)
    try:
        with home.opened() as history:
            history.refresh()
            modes = {
                str(path.relative_to(home.folder)): stat.S_IMODE(path.stat().st_mode)
                for path in home.folder.rglob("*")
            }
    finally:
        os.umask(before)
    assert stat.S_IMODE(home.folder.stat().st_mode) == 0o700
    assert {"catalogue.sqlite", "catalogue.sqlite-wal", "catalogue.sqlite-shm", "lock"} <= set(
        modes
    )
    folders = {name for name in modes if (home.folder / name).is_dir()}
    assert folders == {"segments"}
    assert {modes[name] for name in folders} == {0o700}
    assert {mode for name, mode in modes.items() if name not in folders} == {0o600}
    assert len([name for name in modes if name.endswith(".bits")]) == 2


def test_much_is_read_by_worker_processes(home: Home) -> None:
    """In a process of its own: forking is not safe in one with threads."""
    for number in range(12):
        claude(home, f"s{number}", "pears")
    (home.path / ".claude/projects/-home-dev-app/odd.jsonl").mkdir()
    code = (
        "import sys; from agtail.history import History; from agtail.store import refresh;"
        "refresh.PARALLEL = 1; refresh._BATCH = 2000; lines = []; steps = [];"
        "history = History(home=sys.argv[1], env={'XDG_DATA_HOME': sys.argv[1] + '/data'},"
        " store=True, warn=lines.append, progress=lambda *step: steps.append(step[:2]));"
        "change = history.refresh(); print(change.read, len(lines), steps == sorted(steps),"
        " steps[-1] == (change.bytes, change.bytes), len(steps) > 2)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code, str(home.path)], capture_output=True, text=True, check=False
    )
    assert (result.stderr, result.stdout) == ("", "13 1 True True True\n")
    assert sorted(home.find("pears")) == sorted(f"s{number}" for number in range(12))


def test_catalogue_can_be_opened_by_many_at_once(tmp_path: Path) -> None:
    """Those that find nothing yet make one store together."""
    folder = tmp_path / "store"
    failures: list[Exception] = []

    def begin() -> None:
        try:
            Catalogue(folder, failures.append).close()  # type: ignore[arg-type]
        except Exception as error:  # noqa: BLE001 - whatever it is, it is told
            failures.append(error)

    threads = [threading.Thread(target=begin) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
