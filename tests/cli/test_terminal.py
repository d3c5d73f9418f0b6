from __future__ import annotations

import io
import json

import pytest

from agtail.cli.terminal import (
    AMBER,
    RED,
    Screen,
    Span,
    cells,
    cut,
    cut_left,
    fitted,
    neutralise,
    wrapped,
)

PLAIN = [Span("amber", AMBER), Span(" and bare")]


def piped() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8")


def written(stream: io.TextIOWrapper) -> bytes:
    stream.flush()
    assert isinstance(stream.buffer, io.BytesIO)
    return stream.buffer.getvalue()


def test_a_pipe_gets_bare_text() -> None:
    stream = piped()
    Screen(stream, env={}).line([*PLAIN, Span("\x1b[31m\ttext\x07")])
    assert written(stream) == b"amber and bare\x1b[31m\ttext\x07\n"


def test_a_terminal_gets_colours(terminal: io.StringIO) -> None:
    Screen(terminal, env={}).line(PLAIN)
    assert terminal.getvalue() == "\x1b[33mamber\x1b[0m and bare\n"


def test_no_color_takes_colours_away_but_not_the_care(terminal: io.StringIO) -> None:
    Screen(terminal, env={"NO_COLOR": "1"}).line([*PLAIN, Span("\x1b[2J")])
    assert terminal.getvalue() == "amber and bare^[[2J\n"


def test_an_empty_no_color_does_not_count(terminal: io.StringIO) -> None:
    assert Screen(terminal, env={"NO_COLOR": ""}).color


def test_asking_for_colours_beats_no_color_and_pipes() -> None:
    stream = piped()
    Screen(stream, color=True, env={"NO_COLOR": "1"}).line([Span("x\x1b", RED)])
    assert written(stream) == b"\x1b[31mx^[\x1b[0m\n"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]0;title\x07", "^[]0;title^G"),
        ("nul \x00 del \x7f", "nul ^@ del ^?"),
        ("c1 \x9b31m", "c1 \ufffd31m"),
        ("tab\tand\nfeed", "tab and\nfeed"),
        ("line\r\nend\r", "line\nend^M"),
        ("abc\u202egnp.exe\u2069", "abc<U+202E>gnp.exe<U+2069>"),
        ("line\u2028separator", "line separator"),
        ("ordinary ümlaut 木 🍐 \u200d", "ordinary ümlaut 木 🍐 \u200d"),
    ],
)
def test_neutralise(text: str, shown: str) -> None:
    assert neutralise(text) == shown


def test_every_control_character_is_gone_from_a_terminal(terminal: io.StringIO) -> None:
    every = "".join(map(chr, [*range(0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F)]))
    Screen(terminal, color=False).line([Span(every)])
    shown = terminal.getvalue().replace("\n", "")
    assert all(0x20 <= ord(character) < 0x7F or character == "\ufffd" for character in shown)


def test_json_on_a_terminal_stays_the_same_json(terminal: io.StringIO) -> None:
    value = {"text": "c1 \x9b del \x7f bidi \u202e ümlaut"}
    data = json.dumps(value, ensure_ascii=False).encode()
    Screen(terminal).json(data)
    shown = terminal.getvalue()
    assert json.loads(shown) == value
    assert not {"\x9b", "\x7f", "\u202e"} & set(shown)
    assert "ümlaut" in shown


def test_json_in_a_pipe_is_utf8_whatever_the_encoding() -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="cp1252")
    Screen(stream).json('{"a":"木"}'.encode())
    assert written(stream) == '{"a":"木"}\n'.encode()


def test_raw_bytes_pass_a_pipe_unchanged() -> None:
    stream = piped()
    screen = Screen(stream)
    screen.text("first")
    screen.raw(b"\xff\x00\x1b")
    assert written(stream) == b"first\n\xff\x00\x1b"


def test_raw_bytes_are_neutralised_on_a_terminal_even_when_split(terminal: io.StringIO) -> None:
    screen = Screen(terminal)
    for piece in (b"pear \xf0\x9f", b"\x8d\x90 \x1b[0m \xff"):
        screen.raw(piece)
    assert terminal.getvalue() == "pear 🍐 ^[[0m \ufffd"


def test_cells_count_columns() -> None:
    assert [cells(text) for text in ("abc", "木木", "e\u0301", "🍐")] == [3, 4, 1, 2]


@pytest.mark.parametrize(
    ("text", "width", "result"),
    [
        ("abc", 3, "abc"),
        ("abcd", 3, "ab…"),
        ("木木木", 6, "木木木"),
        ("木木木木", 6, "木木 …"),
        ("木木木木", 7, "木木木…"),
    ],
)
def test_cut(text: str, width: int, result: str) -> None:
    assert cut(text, width) == result
    assert cells(result) <= width


@pytest.mark.parametrize(
    ("text", "width", "result"),
    [("abc", 3, "abc"), ("abcd", 3, "…cd"), ("/a/木木", 5, "…木木"), ("/a/木木", 4, "…木")],
)
def test_cut_left(text: str, width: int, result: str) -> None:
    assert cut_left(text, width) == result
    assert cells(result) <= width


@pytest.mark.parametrize("width", range(1, 14))
def test_a_fitted_line_never_overflows(width: int) -> None:
    line = fitted([Span("木ab", AMBER), Span(""), Span("\n"), Span("🍐🍐", RED), Span("z")], width)
    text = "".join(span.text for span in line)
    assert cells(text) <= width
    assert ("…" in text) == (width < 10)
    assert "\n" not in text


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("one two three", ["one two ", "  three"]),
        ("one two", ["one two"]),
        ("eight888 x", ["eight888", "  x"]),
        ("a longest-word-of-all", ["a longes", "  t-word", "  -of-al", "  l"]),
        ("first\nsecond line", ["first", "second ", "  line"]),
        ("\n\n", ["", "", ""]),
        ("eight888\nx", ["eight888", "x"]),
        ("木木 木木木木木", ["木木 木", "  木木木", "  木"]),
        ("seven77         x", ["seven77", "  x"]),
    ],
)
def test_lines_are_broken_between_words(text: str, rows: list[str]) -> None:
    shown = "".join(span.text for span in wrapped([Span(text, RED)], 8, 2))
    assert shown.split("\n") == rows


@pytest.mark.parametrize("width", range(2, 30))
def test_no_row_is_wider_than_the_terminal_and_nothing_is_lost(width: int) -> None:
    line = [Span("05-01 ", AMBER), Span("user"), Span(": 木木 é🍐 a/very/long/path\n    x y", RED)]
    shown = "".join(span.text for span in wrapped(line, width, 11))
    assert max(cells(row) for row in shown.split("\n")) <= width
    letters = "".join(span.text for span in line).split()
    assert "".join(shown.split()) == "".join(letters)
