"""``agtail index``: status, refresh, rebuild, verify and gc, for people and for programs."""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from claude_home import Session, write

from agtail.store.refresh import writing

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def transcripts(machine: Path) -> list[Path]:
    """Three sessions in the home."""
    paths = []
    for name in ("one", "two", "three"):
        session = Session(name)
        session.user(f"prompt of {name}")
        session.say("answer")
        paths.append(write(machine, session))
    return paths


def folder(machine: Path) -> Path:
    return machine / ".local/share/agtail/store"


def change(machine: Path, statement: str) -> None:
    with sqlite3.connect(folder(machine) / "catalogue.sqlite") as connection:
        connection.execute(statement)
    connection.close()


@pytest.mark.parametrize("command", ["status", "verify", "gc"])
def test_without_a_store_there_is_nothing_to_look_after(
    run: Run, machine: Path, command: str
) -> None:
    code, out, err = run("index", command)
    assert (code, out) == (1, "")
    assert err == f"agtail: {folder(machine)}: no store yet (agtail index refresh makes one)\n"
    assert not folder(machine).exists()


@pytest.mark.usefixtures("transcripts")
@pytest.mark.parametrize("command", ["status", "refresh", "rebuild", "verify", "gc"])
@pytest.mark.parametrize("option", ["--sample", "--no-store"])
def test_options_that_mean_no_store_are_refused(run: Run, command: str, option: str) -> None:
    code, out, err = run("index", command, option)
    assert (code, out) == (2, "")
    assert "store" in err


@pytest.mark.parametrize("command", ["refresh", "rebuild"])
def test_refreshing_without_refreshing_is_refused(run: Run, machine: Path, command: str) -> None:
    code, _, err = run("--no-refresh", "index", command)
    assert code == 2
    assert "--no-refresh" in err
    assert not folder(machine).exists()


def test_refresh_says_what_it_did(run: Run, transcripts: list[Path]) -> None:
    code, out, err = run("index", "refresh")
    assert (code, err) == (0, "")
    assert re.fullmatch(r"read 3 sources, 1\.\d kB in \d+\.\d s \(\d+\.\d .?B/s\)\n", out)
    transcripts[0].unlink()
    assert run("index", "refresh")[1] == "read 0 sources, 0 B in 0.0 s; 1 gone, kept here\n"
    told = json.loads(run("index", "refresh", "--json")[1])
    assert told.pop("seconds") >= 0
    assert told == {"sources": 0, "bytes": 0, "vanished": 0, "moved": 0}


@pytest.mark.usefixtures("transcripts")
def test_refresh_waits_for_another_writer(run: Run, machine: Path) -> None:
    folder(machine).mkdir(parents=True, mode=0o700)
    with writing(folder(machine), wait=True) as mine:
        assert mine
        command = [sys.executable, "-m", "agtail", "index", "refresh", "--json"]
        waiting = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        with pytest.raises(subprocess.TimeoutExpired):
            waiting.communicate(timeout=2)
        assert "another agtail" in run("list")[2]
    out, _ = waiting.communicate(timeout=60)
    assert json.loads(out)["sources"] == 3


def test_a_store_that_cannot_be_made_is_an_error(run: Run, machine: Path) -> None:
    (machine / ".local").write_text("")
    code, out, err = run("index", "refresh")
    assert (code, out) == (1, "")
    assert err.startswith(f"agtail: {folder(machine)}: ")
    assert err.count("\n") == 1


def test_status_for_people_and_programs(run: Run, machine: Path, transcripts: list[Path]) -> None:
    run("index", "refresh")
    transcripts[0].unlink()
    run("index", "refresh")
    code, out, err = run("index", "status")
    assert (code, err) == (0, "")
    assert out.startswith(f"store     {folder(machine)}  schema ")
    assert "sources   3 (2 present, 1 gone, kept here)\n" in out
    assert "sessions  3\nevents    6 in 3 blocks\n" in out
    assert "archive   " in out
    told = json.loads(run("index", "status", "--json")[1])
    assert told["folder"] == str(folder(machine))
    assert (told["sources"], told["present"], told["gone"], told["blocks"]) == (3, 2, 1, 3)
    assert told["ratio"] > 0
    (machine / ".claude/projects").rename(machine / "unplugged")
    assert "2 sources below" in run("index", "status")[1]


@pytest.mark.usefixtures("transcripts")
def test_verify_exits_with_1_and_names_the_remedy(run: Run, machine: Path) -> None:
    run("index", "refresh")
    assert run("index", "verify") == (0, "all is well\n", "")
    assert run("index", "verify", "--json") == (0, "", "")
    change(machine, "UPDATE blocks SET hay = x'00' WHERE id = 1")
    code, out, err = run("index", "verify")
    assert (code, err) == (1, "")
    assert re.fullmatch(
        r"claude-code:\w+, block 1: cannot be opened: .* \(agtail index rebuild\)\n", out
    )
    code, out, _ = run("index", "verify", "--json")
    assert code == 1
    assert json.loads(out).keys() == {"where", "what", "remedy"}
    assert run("index", "rebuild")[0] == 0
    assert run("index", "verify") == (0, "all is well\n", "")


def test_rebuild_says_what_it_kept(run: Run, transcripts: list[Path]) -> None:
    run("index", "refresh")
    transcripts[0].unlink()
    code, out, err = run("index", "rebuild")
    assert (code, err) == (0, "")
    read, kept = out.splitlines()
    assert read.startswith("read 2 sources, ")
    assert read.endswith("; 1 gone, kept here")
    assert kept == "kept 1 source that cannot be read again"
    told = json.loads(run("index", "rebuild", "--json")[1])
    assert (told["kept"], told["lost"], told["refresh"]["sources"]) == (1, 0, 2)
    assert run("list", "--json")[1].count("\n") == 3


@pytest.mark.usefixtures("transcripts")
def test_rebuild_makes_a_store_of_another_version_anew(run: Run, machine: Path) -> None:
    run("index", "refresh")
    change(machine, "UPDATE meta SET value = '99/0'")
    code, out, err = run("index", "status")
    assert (code, out) == (1, "")
    assert "agtail index rebuild makes it anew" in err
    code, out, err = run("index", "rebuild")
    assert code == 0
    assert out.startswith("read 3 sources")
    assert "moved aside" in err
    assert run("index", "verify") == (0, "all is well\n", "")
    assert "in stores that were moved aside" in run("index", "status")[1]


@pytest.mark.usefixtures("transcripts")
def test_gc_says_what_it_won(run: Run, machine: Path) -> None:
    run("index", "refresh")
    run("index", "gc")
    assert run("index", "gc") == (0, "won 0 B\n", "")
    stray = folder(machine) / "segments" / "stray.bits"
    stray.parent.mkdir(mode=0o700, exist_ok=True)
    stray.write_bytes(b"x" * 5000)
    code, out, err = run("index", "gc")
    assert (code, err) == (0, "")
    assert out == "1 file removed that belonged to nothing\nwon 5.0 kB\n"
    told = json.loads(run("index", "gc", "--json")[1])
    assert (told["files"], told["bytes"], told["vacuumed"]) == (0, 0, False)
