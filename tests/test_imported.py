"""The import store: which collections there are, and which one a file belongs to."""

from __future__ import annotations

from pathlib import Path

from agtail.imported import collection_dir, collection_of, list_collections


def test_only_collections_with_the_agent_are_listed(tmp_path: Path) -> None:
    assert list_collections(tmp_path, "pi") == {}
    for name, agent in (("team", "pi"), ("team", "codex"), ("laptop", "pi"), ("old", "codex")):
        collection_dir(tmp_path, name, agent).mkdir(parents=True)
    (tmp_path / "imported/a-file").touch()
    assert list_collections(tmp_path, "pi") == {
        "laptop": tmp_path / "imported/laptop/pi",
        "team": tmp_path / "imported/team/pi",
    }


def test_a_file_knows_its_collection(tmp_path: Path) -> None:
    folder = collection_dir(tmp_path, "Tëam 1", "pi")
    assert collection_of(tmp_path, folder / "sessions/a.jsonl") == "Tëam 1"
    assert collection_of(tmp_path, str(folder)) == "Tëam 1"
    assert collection_of(tmp_path, tmp_path / "imported-not/team/pi") is None
    assert collection_of(tmp_path, folder / "../../../store/x") is None
