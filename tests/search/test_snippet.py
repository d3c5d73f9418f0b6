"""Snippets: the window, squeezed whitespace, the ellipsis, and the place of the match."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agtail.search.snippet import AFTER, BEFORE, CUT, excerpt, snippet


def test_the_window_is_60_before_and_120_from_the_start() -> None:
    text = "".join(chr(0x4E00 + index) for index in range(400))
    assert snippet(text, 0) == text[:120]
    assert snippet(text, 60) == text[:180]
    assert snippet(text, 61) == CUT + text[1:181]
    assert snippet(text, 399) == CUT + text[339:]


def test_code_points_are_counted_not_utf16_units() -> None:
    assert snippet("🙂" * 200, 100) == CUT + "🙂" * 160


def test_whitespace_is_squeezed_and_trimmed() -> None:
    assert snippet(" \n a\t\t b\u00a0\u3000c \r\n", 0) == "a b c"
    assert snippet("", 0) == ""
    assert snippet("x" + " " * 100 + "needle", 101) == CUT + "needle"


@pytest.mark.parametrize(
    ("text", "match", "shown"),
    [
        ("a needle b", (2, 8), "needle"),
        ("  a\n\n needle  b", (6, 12), "needle"),
        ("x" * 100 + " needle", (101, 107), "needle"),
        ("a   b", (0, 5), "a b"),
        ("a   b", (2, 5), " b"),
        ("a   b", (1, 3), " "),
        ("a   b", (4, 5), "b"),
        ("   b", (1, 4), "b"),
        ("b   ", (0, 3), "b"),
        ("y" * 300, (10, 300), "y" * 120),
    ],
)
def test_the_match_is_found_again(text: str, match: tuple[int, int], shown: str) -> None:
    line, place = excerpt(text, match)
    assert place is not None
    assert line[place[0] : place[1]] == shown


@pytest.mark.parametrize("match", [(0, 0), (2, 2), (0, 1), (5, 7)])
def test_nothing_to_highlight(match: tuple[int, int]) -> None:
    assert excerpt(" abc  \n", match) == ("abc", None)


@given(
    st.text(st.sampled_from("ab \n\tー"), max_size=300),
    st.integers(0, 300),
    st.integers(0, 300),
)
def test_a_snippet_is_made_of_the_haystack(text: str, one: int, other: int) -> None:
    start, end = sorted((min(one, len(text)), min(other, len(text))))
    line, place = excerpt(text, (start, end))
    first = max(0, start - BEFORE)
    window = text[first : start + AFTER]
    assert line == (CUT if first else "") + " ".join(window.split())
    assert line == snippet(text, start)
    matched = text[start : min(end, start + AFTER)]
    if place is None:
        assert not matched.strip()
    else:
        piece = line[place[0] : place[1]]
        assert piece
        assert piece.split() == matched.split()
        # A blank belongs to the piece where whitespace belongs to the match, the edges aside.
        assert piece[0] == " " or not matched[0].isspace() or not line[: place[0]].strip(CUT)
        assert not piece[0].isspace() or matched[0].isspace()
        assert not piece[-1].isspace() or matched[-1].isspace()
