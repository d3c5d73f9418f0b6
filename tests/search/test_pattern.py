"""Literals, RE2 expressions and globs, each against its plain definition."""

from __future__ import annotations

import re

import pytest
import re2
from hypothesis import example, given
from hypothesis import strategies as st

from agtail.errors import PatternError
from agtail.search.fold import fold
from agtail.search.pattern import (
    LONG_PATTERN,
    glob,
    has_capital,
    literal,
    regular_expression,
    well_formed,
)

# Few letters, so that matches happen; case in many scripts, characters that regexes treat as
# their own, and line ends.
LETTERS = "aAbBſsSßẞİiıIςσΣéÉ漢字ａＡКк🙂.*?+()[]{}\\^$|@=&%/'\"- \n\x00"
TEXTS = st.text(st.sampled_from(LETTERS), max_size=12)


@given(pattern=TEXTS, text=TEXTS, sensitive=st.booleans())
@example(pattern="Σ", text="οδος ΟΔΟΣ", sensitive=False)
def test_literal_equals_its_definition(*, pattern: str, text: str, sensitive: bool) -> None:
    span = literal(pattern, sensitive=sensitive)(text)
    left, right = (pattern, text) if sensitive else (fold(pattern), fold(text))
    assert (span is not None) == (left in right)
    if span is not None:
        assert span == (right.index(left), right.index(left) + len(left))


@pytest.mark.parametrize("length", [LONG_PATTERN, LONG_PATTERN + 1, 20_000])
@pytest.mark.parametrize("before", ["", "漢", "a" * 50_000, "漢" + "a" * 50_000])
def test_long_literals_are_found_as_short_ones_are(length: int, before: str) -> None:
    pattern = "S" * length
    assert literal(pattern, sensitive=False)(f"{before}{'sſ' * length}") == (
        len(before),
        len(before) + length,
    )


@given(pattern=TEXTS, text=TEXTS, sensitive=st.booleans())
def test_an_escaped_literal_as_expression_finds_the_same(
    *, pattern: str, text: str, sensitive: bool
) -> None:
    as_expression = regular_expression(re2.escape(pattern), sensitive=sensitive)
    assert as_expression(text) == literal(pattern, sensitive=sensitive)(text)


@pytest.mark.parametrize(
    ("pattern", "text", "span"),
    [
        ("a+", "漢字🙂aaa", (3, 6)),
        ("^b", "a\nb", None),
        ("a$", "a\nb", None),
        ("b$", "a\nb\n", None),
        ("(?m)^b$", "a\nb\nc", (2, 3)),
        ("a.b", "a\nb", None),
        ("(?s)a.b", "a\nb", (0, 3)),
        ("É", "é", (0, 1)),
        ("(?-i)É", "é", None),
        (r"\pL+", "1漢é", (1, 3)),
        (r"\bdone\b", "undone, done", (8, 12)),
        ("x*", "aaa", (0, 0)),
    ],
)
def test_the_dialect(pattern: str, text: str, span: tuple[int, int] | None) -> None:
    assert regular_expression(pattern, sensitive=False)(text) == span


@pytest.mark.parametrize("pattern", ["(", "a{2,1}", "(?=a)", r"(a)\1", "[z-a]", "a{5000}", "\\"])
def test_what_re2_refuses_is_said_in_its_words(
    pattern: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(PatternError) as caught:
        regular_expression(pattern, sensitive=True)
    assert str(caught.value).startswith(f"bad regular expression {pattern!r}: ")
    assert "\n" not in str(caught.value)
    assert "b'" not in str(caught.value)
    assert capfd.readouterr() == ("", "")


def test_a_hostile_expression_takes_linear_time() -> None:
    assert regular_expression("(a*)*(a|aa)*b", sensitive=True)("a" * 100_000) is None


@pytest.mark.parametrize(
    ("pattern", "fitting", "other"),
    [
        ("mcp__*", ["mcp__a__b", "MCP__", "mcp__"], ["amcp__a", "mcp_"]),
        ("Rea?", ["rea?"], ["Read"]),
        ("[Rr]ead", ["[RR]EAD"], ["Read"]),
        ("read", ["Read"], ["ReadFile", "xRead"]),
        ("*", ["", "a\nb"], []),
        ("a*a", ["aa", "aba"], ["a", "ab"]),
        ("*a*b*", ["ab", "xaxbx"], ["ba", "a"]),
        ("", [""], ["a"]),
    ],
)
def test_globs(pattern: str, fitting: list[str], other: list[str]) -> None:
    fits = glob([pattern])
    assert [name for name in [*fitting, *other] if fits(name)] == fitting


def test_any_of_several_globs() -> None:
    fits = glob(["Web*", "read"])
    assert [fits(name) for name in ("WebFetch", "Read", "Bash")] == [True, True, False]
    assert not glob([])("Read")


@given(st.text(st.sampled_from("aAb*?[].\n"), max_size=8), st.text(st.sampled_from("aAb?[].\n")))
def test_a_glob_equals_its_definition(pattern: str, name: str) -> None:
    defined = ".*".join(map(re.escape, pattern.lower().split("*")))
    assert glob([pattern])(name) == bool(re.fullmatch(defined, name.lower(), re.DOTALL))


def test_a_hostile_glob_takes_linear_time() -> None:
    assert not glob(["*a" * 500 + "*b"])("a" * 10_000)


@pytest.mark.parametrize(
    ("pattern", "regex", "capital"),
    [
        ("pears", False, False),
        ("Pears", False, True),
        ("éÉ", False, True),
        ("ǅ", False, True),
        ("漢字 12", False, False),
        (r"\S", False, True),
        (r"\S+\B\W", True, False),
        (r"\\S", True, True),
        (r"\pL\p{Greek}\PN", True, False),
        (r"\x4A\x{4A}", True, False),
        (r"\Qa.B\E", True, True),
        (r"\QAb", True, True),
        (r"\\QA\E", True, True),
        (r"(?P<Name>a)(?U)(?i-sU:b)", True, False),
        (r"(?P<name>A)", True, True),
        ("[A-Z]", True, True),
        ("[[:alpha:]]", True, False),
        ("\\", True, False),
    ],
)
def test_capitals_that_count(pattern: str, *, regex: bool, capital: bool) -> None:
    assert has_capital(pattern, regex=regex) is capital


def test_lone_surrogates_become_replacement_characters() -> None:
    assert well_formed("a\udc80b\ud83d") == "a\ufffdb\ufffd"
    assert well_formed("漢🙂") == "漢🙂"
