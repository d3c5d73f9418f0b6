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
from agtail.search.fold import alike, fold, fold_character

EVERYTHING = [chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code <= 0xDFFF]


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


def test_alike_names_all_that_fold_to_the_same() -> None:
    groups: dict[str, str] = {}
    for character in EVERYTHING:
        folded = fold_character(character)
        groups[folded] = groups.get(folded, "") + character
    assert alike("k") == "Kk\u212a"
    for folded, group in groups.items():
        if len(group) > 1 or ord(folded) < 0x3000:
            assert {alike(character) for character in group} == {group}


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
    """Over all code points that both know: their tables may be of different Unicode versions."""
    assigned = set(re2.compile(r"[\pL\pM\pN\pS]").findall("".join(EVERYTHING)))
    known = [c for c in EVERYTHING if c in assigned and unicodedata.category(c) != "Cn"]
    alike: dict[str, set[str]] = {}
    for character in known:
        alike.setdefault(fold(character), set()).add(character)
    cased = {character for group in alike.values() if len(group) > 1 for character in group}
    assert len(cased) > 2700
    text = "".join(sorted(cased))
    for group in alike.values():
        if len(group) > 1:
            for character in group:
                assert set(_without_case(re2.escape(character)).findall(text)) == group

    # Two letters that only RE2 holds for one differ in some bit: ask for each bit at once.
    caseless = [character for character in known if character not in cased]
    for bit in range(21):
        ones = "".join(character for character in caseless if ord(character) >> bit & 1)
        zeros = "".join(character for character in caseless if not ord(character) >> bit & 1)
        for asked, text in ((ones, zeros + "".join(cased)), (zeros, "".join(cased))):
            if asked:
                assert _without_case(f"[{re2.escape(asked)}]").findall(text) == []


def _without_case(pattern: str) -> re2._Regexp:
    options = re2.Options()
    options.case_sensitive = False
    options.max_mem = 1 << 30
    return re2.compile(pattern, options=options)
