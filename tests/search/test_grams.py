"""Needs of literals, and what is made of needs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agtail.search.fold import fold
from agtail.search.grams import (
    DEEPEST,
    MOST_ALTERNATIVES,
    MOST_REQUIRED,
    Needs,
    all_of,
    any_of,
    holds,
    needs,
    one_text_of,
)
from agtail.search.query import Query

LETTERS = "aAbkK\u212asSſΣςσéÉ漢字🙂 \n\x00"


def literals(*texts: str) -> Needs:
    return Needs(all_of=tuple(text.encode() for text in texts))


def either(*texts: str) -> Needs:
    return Needs(any_of=(tuple(map(literals, texts)),))


@pytest.mark.parametrize("case", ["ignore", "match", "smart"])
@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("", Needs()),
        ("ab", Needs()),
        ("é", Needs()),
        ("Abc", literals("abc")),
        ("漢", literals("漢")),
        ("STRAẞE", literals("straße")),
        ("a.*b", literals("a.*b")),
        ("\udc80", literals("\ufffd")),
    ],
)
def test_a_literal_needs_itself_folded(pattern: str, expected: Needs, case: str) -> None:
    assert needs(Query.of(pattern, case=case)) == expected


@given(
    pattern=st.text(st.sampled_from(LETTERS), max_size=5),
    text=st.text(st.sampled_from(LETTERS), max_size=12),
    case=st.sampled_from(["ignore", "match", "smart"]),
)
def test_where_a_literal_is_found_its_needs_hold(*, pattern: str, text: str, case: str) -> None:
    for each in (text, text + pattern + text):
        query = Query.of(pattern, case=case)
        found = query.find(each) is not None
        assert holds(needs(query), fold(each).encode()) >= found


@pytest.mark.parametrize(
    ("wanted", "text", "there"),
    [
        (Needs(), "", True),
        (literals("abc", "def"), "defabc", True),
        (literals("abc", "def"), "abc", False),
        (either("abc", "def"), "def", True),
        (either("abc", "def"), "abde", False),
        (Needs((b"abc",), either("def", "ghi").any_of), "abc", False),
        (Needs((b"abc",), either("def", "ghi").any_of), "ghi abc", True),
        (Needs(any_of=(*either("abc", "def").any_of, *either("ghi", "jkl").any_of)), "abc", False),
    ],
)
def test_needs_hold(wanted: Needs, text: str, *, there: bool) -> None:
    assert holds(wanted, text.encode()) is there


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["abc"], literals("abc")),
        (["abc", "abc"], literals("abc")),
        (["abc", "de"], Needs()),
        (["abc", ""], Needs()),
        (["error", "errors", "an error"], literals("error")),
        (["color", "colour"], either("color", "colour")),
    ],
)
def test_one_text_of_several(texts: list[str], expected: Needs) -> None:
    assert one_text_of(texts) == expected


def test_a_choice_of_anything_asks_for_nothing() -> None:
    assert any_of([literals("abc"), Needs()]) == Needs()


def test_a_choice_among_choices_is_one() -> None:
    assert any_of([either("abc", "def"), literals("ghi")]) == either("abc", "def", "ghi")
    assert any_of([literals("abc"), literals("abc")]) == literals("abc")


def test_several_needs_are_one() -> None:
    together = all_of([literals("abc"), Needs(), either("def", "ghi"), literals("abc", "jkl")])
    assert together == Needs((b"abc", b"jkl"), either("def", "ghi").any_of)


def test_needs_stay_small() -> None:
    many = [literals(f"{number:04}") for number in range(MOST_ALTERNATIVES + 1)]
    assert len(any_of(many[1:]).any_of[0]) == MOST_ALTERNATIVES
    assert any_of(many) == Needs()
    assert all_of(many) == literals(*(f"{number:04}" for number in range(MOST_REQUIRED)))


def test_needs_stay_shallow() -> None:
    deep = literals("abc")
    for _ in range(5000):
        deep = any_of([all_of([literals("abc"), deep]), literals("def")])
        deep = all_of([literals("ghi"), deep])
    assert not holds(deep, b"ghi")
    assert holds(deep, b"ghi def")
    assert repr(deep).count("any_of=((") <= DEEPEST
