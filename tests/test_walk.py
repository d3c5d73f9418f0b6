"""Walks: what is found below a folder, and what is told about the rest."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agtail.errors import SourceError
from agtail.model import Integrity
from agtail.records import Found, read_jsonl, walk


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
