"""Needs of regular expressions: those that are meant, and none that a match could do without."""

from __future__ import annotations

import itertools
import time
import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agtail.errors import PatternError
from agtail.search.expression import LONGEST, MOST_TEXTS, expression_needs
from agtail.search.fold import alike, fold
from agtail.search.grams import Needs, holds, needs
from agtail.search.query import Query


def literals(*texts: str) -> Needs:
    return Needs(all_of=tuple(text.encode() for text in texts))


def either(*texts: str) -> Needs:
    return Needs(any_of=(tuple(map(literals, texts)),))


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        # text and its spellings
        ("", Needs()),
        ("ab", Needs()),
        ("abc", literals("abc")),
        ("ABC", literals("abc")),
        ("漢", literals("漢")),
        (r"\.py\n", literals(".py\n")),
        (r"\x41\x{42}\103\x{1F600}\a\f\t\r\v\_", literals("abc😀\a\f\t\r\v_")),
        (r"\0123a", literals("\n3a")),
        (r"\Qa.b\E.c", literals("a.b")),
        (r"\Qa.b", literals("a.b")),
        (r"\Qab\\Ec", literals("ab\\c")),
        ("a{b}c,{1", literals("a{b}c,{1")),
        ("a{,2}b{01}", literals("a{,2}b{01}")),
        ("ab]}", literals("ab]}")),
        # places and characters of many
        (r"^\Aabc\b$def\B\z", literals("abcdef")),
        (r"(?m)^abc$", literals("abc")),
        ("abc.def", literals("abc", "def")),
        (r"abc\pLdef\p{Greek}ghi\PNjkl", literals("abc", "def", "ghi", "jkl")),
        (r"abc\dde\Cf\sghi", literals("abc", "ghi")),
        # classes
        ("abc[^d]efg", literals("abc", "efg")),
        ("[kK\u212a]elvin", literals("kelvin")),
        ("ab[c-eC]", either("abc", "abd", "abe")),
        ("ab[]x]", either("ab]", "abx")),
        (r"ab[\]\x{78}\-]", either("ab]", "abx", "ab-")),
        ("ab[a-]", either("aba", "ab-")),
        ("ab[--/]", either("ab-", "ab.", "ab/")),
        ("ab[[:]", either("ab[", "ab:")),
        ("abc[a-z]def", literals("abc", "def")),
        ("abc[^]d]efg", literals("abc", "efg")),
        (r"abc[x\d]def", literals("abc", "def")),
        (r"abc[x\p{Lu}]def", literals("abc", "def")),
        ("abc[x[:alpha:]]def", literals("abc", "def")),
        # repetition
        ("abc?", Needs()),
        ("colou?r", either("color", "colour")),
        ("https??://", either("http://", "https://")),
        ("errors?", literals("error")),
        ("abcd*efg", literals("abc", "efg")),
        ("abcd*?efg", literals("abc", "efg")),
        ("abcd{0}efg", literals("abc", "efg")),
        ("abcd{0,3}efg", literals("abc", "efg")),
        ("foo+bar", literals("foo", "obar")),
        ("fo{2}bar", literals("foobar")),
        ("fo{2,}bar", literals("foo", "oobar")),
        ("fo{2,3}bar", literals("foo", "oobar")),
        ("(?:abc)+", literals("abc")),
        ("(?:abc.)+def", literals("abc", "def")),
        ("(?:abc.)*def", literals("def")),
        ("(?:abc.)?def", literals("def")),
        ("a(?i)*bcd", literals("bcd")),
        # groups and flags
        ("a(b)(?:c)(?P<n>d)(?<m>e)", literals("abcde")),
        ("a(?i)B(?-i:C)(?sU)d", literals("abcd")),
        ("x(?:abc.def)y", literals("abc", "def")),
        # choices
        ("abc|de", Needs()),
        ("abc|", Needs()),
        ("abc|def", either("abc", "def")),
        ("foo(bar|baz)", either("foobar", "foobaz")),
        ("(a|b)(c|d)e", either("ace", "ade", "bce", "bde")),
        ("abc(?:|d)", literals("abc")),
        ("abc.|def|(?:ghi.|jkl)", either("abc", "def", "ghi", "jkl")),
        (
            "error: (?:disk|quota) .*full",
            Needs((b"full",), either("error: disk ", "error: quota ").any_of),
        ),
        (
            "(?:abc.def|ghi)jkl",
            Needs((b"jkl",), ((literals("abc", "def"), literals("ghi")),)),
        ),
    ],
)
@pytest.mark.parametrize("case", ["ignore", "match"])
def test_what_an_expression_needs(pattern: str, expected: Needs, case: str) -> None:
    assert needs(Query.of(pattern, regex=True, case=case)) == expected


def test_parts_of_many_spellings_are_cut() -> None:
    assert len(expression_needs("abc[a-p]d", sensitive=True).any_of[0]) == MOST_TEXTS
    assert expression_needs("abc[a-q]def", sensitive=True) == literals("abc", "def")
    assert expression_needs("abc(?:a|b|c|d|e)(?:a|b|c|d|e)", sensitive=True) == either(
        "abca", "abcb", "abcc", "abcd", "abce"
    )


def test_long_literals_are_cut() -> None:
    long = "ab" * LONGEST
    assert expression_needs(long, sensitive=True) == literals(long[:LONGEST])
    assert expression_needs("(?:ab){1000}.", sensitive=True) == literals(long[:LONGEST])


@pytest.mark.parametrize("letter", ["\u0131", "\u0264", "\u0378", "\U0010fffd"])
def test_letters_whose_other_case_may_be_younger_than_this_python(letter: str) -> None:
    cased = unicodedata.category(letter) in {"Cn", "Ll"} and len(alike(letter)) == 1
    assert expression_needs(f"abc{letter}def", sensitive=True) == literals(f"abc{letter}def")
    assert expression_needs(f"abc{letter}def", sensitive=False) == (
        literals("abc", "def") if cased else literals(f"abc{fold(letter)}def")
    )


@pytest.mark.parametrize(
    "pattern",
    ["(?=abc)", "abc(?<=b", "abc)", "*abc", "[abc", "[abc-", "abc\\", r"abc\E", "(?x)a bc"],
)
def test_what_is_not_understood_asks_for_nothing(pattern: str) -> None:
    """RE2 refuses these today."""
    assert expression_needs(pattern, sensitive=True) == Needs()


@pytest.mark.parametrize(
    "pattern",
    [
        "(" * 900 + "abc" + ")" * 900,
        "(?:abc." * 900 + "def" + "|ghi.)" * 900,
        "a" * 30_000,
        "[漢字]" * 3_000,
        "|".join(f"word{number}" for number in range(5_000)),
    ],
    ids=["nested", "nested-choices", "long", "classes", "words"],
)
def test_large_expressions_take_no_long_time(pattern: str) -> None:
    query = Query.of(pattern, regex=True)
    started = time.perf_counter()
    wanted = needs(query)
    assert time.perf_counter() - started < 2
    assert len(repr(wanted)) < 100_000


Sample = tuple[str, str]
"""An expression, and a text in which it may well match."""

# Letters of three bytes, so that each of them is asked for, and letters of many forms.
LETTERS = "aAkK\u212asSſΣςσ漢字ẞß\u0264\u0131\n .|"
FLAGS = ["i", "-i", "s", "m", "U", "im-s", "s-i", "i-m"]


def spelled(letter: str) -> st.SearchStrategy[Sample]:
    """Return ways to write a letter in an expression."""
    itself = f"\\{letter}" if letter in " .|" else letter
    ways = [
        itself,
        f"\\x{{{ord(letter):x}}}",
        f"\\Q{letter}\\E",
        f"[{letter}]",
        f"[{letter}-{letter}]",
    ]
    ways += [f"[{letter}字]", f"[a{letter}]", f"[^-{letter}]", "."]
    if ord(letter) < 0o777:
        ways.append(f"\\{ord(letter):03o}")
    return st.tuples(st.sampled_from(ways), st.just(letter))


LEAVES = st.one_of(
    st.sampled_from(LETTERS).flatmap(spelled),
    st.sampled_from(LETTERS).flatmap(spelled),
    st.sampled_from(
        [
            ("", ""),
            ("^", ""),
            ("$", ""),
            (r"\b", ""),
            (r"\B", ""),
            (r"\A", ""),
            ("(?m)^", "\n"),
            (r"\pL", "漢"),
            (r"\P{Lu}", "漢"),
            (r"[\pN\s漢]", "漢"),
            (r"\C", "a"),
            (r"\S", "ß"),
            ("[[:alpha:]漢]", "a"),
            ("[]漢]", "]"),
            ("[^]漢]", "字"),
            ("[字-漢]", "漢"),
            ("{1", "{1"),
            ("漢{,2}", "漢{,2}"),
        ]
    ),
)


def composed(parts: st.SearchStrategy[Sample]) -> st.SearchStrategy[Sample]:
    return st.one_of(
        st.lists(parts, min_size=2, max_size=4).map(sequence),
        st.lists(parts, min_size=2, max_size=4).flatmap(choice),
        st.tuples(parts, st.sampled_from(["", "?:", "?P<n漢>", "?<Kn>"])).map(group),
        st.tuples(parts, st.sampled_from(FLAGS), st.booleans()).map(flagged),
        st.tuples(
            parts,
            st.sampled_from(["*", "+", "?", "{0}", "{1}", "{2}", "{0,1}", "{1,}", "{0,}", "{2,3}"]),
            st.sampled_from(["", "?"]),
            st.integers(0, 3),
        ).map(repeated),
    )


def sequence(parts: list[Sample]) -> Sample:
    return "".join(pattern for pattern, _ in parts), "".join(text for _, text in parts)


def choice(parts: list[Sample]) -> st.SearchStrategy[Sample]:
    pattern = "|".join(pattern for pattern, _ in parts)
    return st.sampled_from([text for _, text in parts]).map(lambda text: (pattern, text))


def group(drawn: tuple[Sample, str]) -> Sample:
    (pattern, text), kind = drawn
    return f"({kind}{pattern})", text


def flagged(drawn: tuple[Sample, str, bool]) -> Sample:
    (pattern, text), flags, scoped = drawn
    return f"(?{flags}:{pattern})" if scoped else f"(?{flags}){pattern}", text


def repeated(drawn: tuple[Sample, str, str, int]) -> Sample:
    (pattern, text), sign, lazy, times = drawn
    return f"(?:{pattern}){sign}{lazy}", text * times


def recased(text: str, choices: list[int]) -> str:
    return "".join(
        alike(letter)[number % len(alike(letter))]
        for letter, number in zip(text, choices, strict=False)
    )


def check(pattern: str, texts: list[str], *, case: str) -> int:
    """Check that needs hold wherever the expression matches; return in how many texts it does."""
    try:
        query = Query.of(pattern, regex=True, case=case)
    except PatternError:
        return 0
    wanted = needs(query)
    found = [text for text in texts if query.find(text) is not None]
    assert [text for text in found if not holds(wanted, fold(text).encode())] == []
    return len(found)


@settings(max_examples=400)
@given(
    sample=st.recursive(LEAVES, composed, max_leaves=12),
    around=st.text(st.sampled_from(LETTERS), max_size=3),
    choices=st.lists(st.integers(0, 3), min_size=100, max_size=100),
    case=st.sampled_from(["ignore", "match", "smart"]),
)
def test_where_an_expression_matches_its_needs_hold(
    *, sample: Sample, around: str, choices: list[int], case: str
) -> None:
    pattern, text = sample
    texts = [text, around + text + around, recased(text, choices), around, fold(text)]
    check(pattern, texts, case=case)


@settings(max_examples=400)
@given(
    pattern=st.text(st.sampled_from("漢K字ſab(|)*+?[]{}\\^$.-:,QE01xPi<>!"), max_size=12),
    texts=st.lists(st.text(st.sampled_from("漢K字ſsab[]01-:"), max_size=4), min_size=5, max_size=5),
    case=st.sampled_from(["ignore", "match"]),
)
@example(pattern="漢{01}", texts=["漢{01}"], case="match")
@example(pattern="漢{1", texts=["漢{1"], case="match")
@example(pattern="漢{0}{", texts=["{"], case="match")
@example(pattern="漢(?i)?", texts=[""], case="match")
@example(pattern="漢+\\Q\\E*", texts=[""], case="match")
@example(pattern="[漢-]字]", texts=["-字]"], case="match")
@example(pattern="(?i:K|(?-i)字)ſ", texts=["kſ", "字S"], case="match")
def test_whatever_is_typed(*, pattern: str, texts: list[str], case: str) -> None:
    check(pattern, texts, case=case)


def test_all_small_expressions_in_all_small_texts() -> None:
    parts = [
        "漢",
        "字",
        ".",
        "[漢字]",
        "[^漢]",
        "漢?",
        "漢*",
        "漢+",
        "漢{2}",
        "漢{2,}",
        "漢{1,2}",
        "漢{0}",
        "(?:漢字)+",
        "(?:漢|字)",
        "(?:漢|)",
        "|",
        "$",
    ]
    texts = ["".join(each) for n in range(6) for each in itertools.product("漢字", repeat=n)]
    patterns = ["".join(each) for each in itertools.product(parts, repeat=3)]
    patterns += [f"字(?:{pattern})字" for pattern in patterns[::7]]
    assert sum(check(pattern, texts, case="match") for pattern in patterns) > 100_000


def test_samples_match_where_they_should() -> None:
    """The tests above would say nothing if their expressions never matched."""
    assert check("(?i:漢K+)|字{2}", ["漢k", "漢K", "字字", "字"], case="match") == 3
    assert check("(", ["("], case="match") == 0


def test_case_as_re2_knows_it_and_needs_agree() -> None:
    """Over all code points: either they fold to the same, or the letter is not asked for."""
    everything = [chr(code) for code in range(0x110000) if not 0xD800 <= code <= 0xDFFF]
    unknown = [letter for letter in everything if unicodedata.category(letter) == "Cn"]
    text = "".join(set(everything) - set(unknown))
    for first in range(0, len(unknown), 50_000):
        part = "".join(unknown[first : first + 50_000])
        other = Query.of(f"[{part}]", regex=True)
        place = other.find(text)
        while place is not None:
            letter = text[place[0]]
            assert expression_needs(f"{letter}abc", sensitive=False) == literals("abc")
            text = text[place[1] :]
            place = other.find(text)
