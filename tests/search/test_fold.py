"""The folding rule: fast and defined form agree, lengths stay, and RE2 sees it the same way."""

from __future__ import annotations

import re
import sys
import unicodedata

import pytest
import re2
from hypothesis import example, given
from hypothesis import strategies as st

from agtail.search import fold as fold_module
from agtail.search.fold import fold, fold_character

EVERYTHING = [
    chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code <= 0xDFFF
]


@pytest.mark.parametrize(
    "alike",
    ["sSſ", "kKK", "åÅÅ", "σςΣ", "ßẞ", "µμΜ", "éÉ", "ａＡ", "жЖ", "ᏣꮳᏣ", "ǆǅǄ", "ΐΐ", "ﬅﬆ"],
)
def test_characters_that_are_one(alike: str) -> None:
    assert len({fold(character) for character in alike}) == 1


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("ß", "ss"),
        ("İ", "i"),
        ("ı", "i"),
        ("İ", "i\u0307"),
        ("e", "é"),
        ("é", "e\u0301"),
        ("Ａ", "a"),
        ("ﬁ", "fi"),
        ("ー", "-"),
        ("が", "か\u3099"),
    ],
)
def test_characters_that_are_not(left: str, right: str) -> None:
    assert fold(left) != fold(right)


def test_a_capital_sigma_does_not_depend_on_its_neighbours() -> None:
    assert fold("ΟΔΟΣ") == fold("οδος") == fold("οδοσ") == fold("ΟΔΟ") + fold("Σ")


def test_every_code_point_alone_and_in_a_text() -> None:
    expected = [fold_character(character) for character in EVERYTHING]
    assert [fold(character) for character in EVERYTHING] == expected
    assert fold("".join(EVERYTHING)) == "".join(expected)
    assert [fold_character(character) for character in expected] == expected


def test_lower_differs_nowhere_but_in_the_special_characters() -> None:
    special = re.compile(f"[{fold_module._SPECIAL}]")
    differing = [
        character
        for character in EVERYTHING
        if character.lower() != fold_character(character) and not special.match(character)
    ]
    assert differing == []


@given(st.text())
@example("Σ")
@example("AΣ B")
@example("İİ")
def test_length_and_places_stay(text: str) -> None:
    folded = fold(text)
    assert folded == "".join(map(fold_character, text))
    assert len(folded) == len(text)
    assert fold(folded) == folded


def test_re2_ignores_case_by_the_same_rule() -> None:
    """RE2's tables and Python's may be of different Unicode versions: newer letters are left out.

    A letter that one of the two does not know yet has no case there.
    """
    alike: dict[str, set[str]] = {}
    for character in EVERYTHING:
        alike.setdefault(fold(character), set()).add(character)
    cased = {character for group in alike.values() if len(group) > 1 for character in group}
    cased |= {c for c in EVERYTHING if c.upper() != c or c.lower() != c or c.title() != c}
    options = re2.Options()
    options.case_sensitive = False
    text = "".join(sorted(cased))
    for character in cased:
        found = set(re2.compile(re2.escape(character), options=options).findall(text))
        assert found == alike[fold(character)], f"U+{ord(character):04X}"
    # No letter without case in Python has one in RE2.
    known = {c for c in EVERYTHING if unicodedata.category(c) not in ("Cn", "Co")}
    caseless = "".join(sorted(known - cased))
    folded_by_re2 = re2.compile(r"\p{Lu}|\p{Lt}", options=re2.Options()).findall(caseless)
    assert [c for c in folded_by_re2 if _has_partner(c, options)] == []


def _has_partner(character: str, options: re2.Options) -> bool:
    pattern = re2.compile(re2.escape(character), options=options)
    return any(pattern.fullmatch(other) for other in EVERYTHING if other != character)
