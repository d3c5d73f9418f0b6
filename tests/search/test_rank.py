from __future__ import annotations

from pathlib import Path

import pytest
from claude_home import Session, write

from agtail.history import History
from agtail.search.query import Query


def _home(tmp_path: Path) -> History:
    session = Session()
    for text in (
        "tide",
        "tide " * 5,
        "tide " + "lorem ipsum " * 200,
        "tide tide tide " * 3 + "and more words",
    ):
        session.user(text)
    write(tmp_path, session)
    other = Session("other")
    other.user("tide", timestamp="2026-05-01T09:00:00Z")
    write(tmp_path, other)
    return History(home=tmp_path, env={}, agents=["claude-code"])


def test_many_matches_in_a_short_text_come_first(tmp_path: Path) -> None:
    hits = list(_home(tmp_path).search("tide", rank=True))
    assert [hit.matches for hit in hits] == [9, 5, 1, 1, 1]
    scores = [hit.score or 0 for hit in hits]
    assert scores == sorted(scores, reverse=True)
    assert hits[-1].size == max(hit.size or 0 for hit in hits)
    # Two are equal: the newer session's comes first.
    assert [hit.session_id for hit in hits[2:4]] == ["s1", "other"]


def test_limit_takes_the_best_of_all(tmp_path: Path) -> None:
    history = _home(tmp_path)
    everything = list(history.search("tide", rank=True))
    assert list(history.search("tide", rank=True, limit=2)) == everything[:2]


def test_hits_carry_no_score_when_nobody_asked(tmp_path: Path) -> None:
    assert all(hit.score is None for hit in _home(tmp_path).search("tide"))


def test_nothing_found_is_nothing(tmp_path: Path) -> None:
    assert list(_home(tmp_path).search("ebb", rank=True)) == []


@pytest.mark.parametrize(
    ("pattern", "options", "count"),
    [
        ("aa", {}, 2),
        ("A", {}, 4),
        ("A", {"case": "match"}, 0),
        ("a+", {"regex": True}, 1),
        ("", {}, 5),
        ("a$", {"regex": True}, 1),
    ],
)
def test_occurrences(pattern: str, options: dict[str, str], count: int) -> None:
    assert Query.of(pattern, **options).occurrences("aaaa") == count  # type: ignore[arg-type]
