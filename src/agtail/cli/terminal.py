"""What reaches a terminal: colours, widths, and the one place that takes the sting out of text.

Commands build lines out of spans and know nothing of terminals. A :class:`Screen` prints them:
bare into files and pipes, neutralised, coloured and cut to size on a terminal.
"""

from __future__ import annotations

import codecs
import os
import re
import shutil
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple, TextIO

BOLD: Final = "1"
DIM: Final = "2"
RED: Final = "31"
GREEN: Final = "32"
AMBER: Final = "33"
VIOLET: Final = "35"
CYAN: Final = "36"
GRAY: Final = "90"
MATCH: Final = "1;31"

ELLIPSIS: Final = "…"

# Control characters move the cursor, set titles or answer to queries; direction overrides
# make a line read as something else; line separators break columns.
_DANGEROUS = re.compile("\r\n|[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")

_WORDS = re.compile(r"\n|[^\S\n]+|\S+")


class Span(NamedTuple):
    """A piece of a line: its text, and the SGR code to show it with on a terminal."""

    text: str
    style: str = ""


Line = list[Span]


class Screen:
    """Prints lines, JSON and raw bytes to one stream, as that stream needs it.

    Args:
        stream: standard output or standard error.
        color: whether to colour; by default on a terminal, unless ``NO_COLOR`` is set.
        env: environment variables.
    """

    def __init__(
        self, stream: TextIO, *, color: bool | None = None, env: Mapping[str, str] = os.environ
    ) -> None:
        self._stream = stream
        self.terminal = stream.isatty()
        self.color = (self.terminal and not env.get("NO_COLOR")) if color is None else color
        # Forced colours mean that a terminal reads the pipe in the end.
        self._harmless = self.terminal or self.color
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.width = shutil.get_terminal_size().columns if self.terminal else None

    def line(self, spans: Iterable[Span], *, fit: bool = False, hanging: int | None = None) -> None:
        """Print one line.

        Args:
            spans: its pieces.
            fit: on a terminal, cut it to the width.
            hanging: on a terminal, break it between words, and begin what follows so far in.
        """
        if not self._harmless:
            self._stream.write("".join([span.text for span in spans]) + "\n")
            return
        shown = [Span(neutralise(span.text), span.style) for span in spans]
        if fit and self.width is not None:
            shown = fitted(shown, self.width)
        elif hanging is not None and self.width is not None:
            shown = wrapped(shown, self.width, hanging)
        if self.color:
            text = "".join(
                f"\x1b[{style}m{text}\x1b[0m" if style and text else text for text, style in shown
            )
        else:
            text = "".join(text for text, _ in shown)
        self._stream.write(text + "\n")

    def text(self, text: str, style: str = "") -> None:
        """Print one line of one style."""
        self.line([Span(text, style)])

    def json(self, data: bytes, end: str = "\n") -> None:
        """Print JSON (or a piece of it): always UTF-8, and still valid JSON on a terminal."""
        if self._harmless:
            self._stream.write(_DANGEROUS.sub(_json_escape, data.decode()) + end)
        else:
            self.raw(data + end.encode())

    def raw(self, data: bytes) -> None:
        """Print bytes unchanged; on a terminal as neutralised text, which pieces may split."""
        if self._harmless:
            self._stream.write(neutralise(self._decoder.decode(data)))
            return
        self._stream.flush()
        self._stream.buffer.write(data)


def neutralise(text: str) -> str:
    """Replace what a terminal would obey; line feeds stay and tabs become blanks.

    C0 controls and DEL are written in caret notation (``^[`` is escape), C1 controls as
    U+FFFD, direction overrides by their number.
    """
    return _DANGEROUS.sub(_visible, text)


def cells(text: str) -> int:
    """Count the terminal columns that a text takes; wide characters take two."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len  # noqa: PLC0415 - only for terminals

    return cell_len(text)


def cut(text: str, width: int) -> str:
    """Cut a one-line text to so many columns, with ``…`` for what is left out."""
    if cells(text) <= width:
        return text
    if text.isascii():
        return text[: width - 1] + ELLIPSIS
    from rich.cells import set_cell_size  # noqa: PLC0415 - only for terminals

    return set_cell_size(text, width - 1) + ELLIPSIS


def cut_left(text: str, width: int) -> str:
    """Keep the end of a text: for paths, whose last parts say the most."""
    if cells(text) <= width:
        return text
    start = len(text)
    room = width - 1
    while start and room >= 0:
        start -= 1
        room -= cells(text[start])
    return ELLIPSIS + text[start + (room < 0) :]


def fitted(spans: Line, width: int) -> Line:
    """Cut a line to so many columns. Line feeds become blanks: it is one line."""
    flat = [Span(span.text.replace("\n", " "), span.style) for span in spans]
    room = width
    for index, span in enumerate(flat):
        used = cells(span.text)
        follows = any(later.text for later in flat[index + 1 :])
        if used > room or (used == room and follows):
            return [*flat[:index], Span(cut(span.text + " " * follows, room), span.style)]
        room -= used
    return flat


def wrapped(spans: Line, width: int, hanging: int) -> Line:
    """Break a line between words so that no row is wider than ``width`` columns.

    Line feeds stay; rows that a break begins are indented by ``hanging``. A word that is longer
    than a row is broken anywhere.
    """
    indent = " " * min(hanging, width // 2 if width > 3 else 0)
    broken = f"\n{indent}"
    row = width - len(indent)
    room = width
    result: Line = []
    for text, style in spans:
        pieces: list[str] = []
        for word in _WORDS.findall(text):
            if word == "\n":
                pieces.append(word)
                room = width
                continue
            rest, needed = word, cells(word)
            if needed > room and (word.isspace() or needed <= row):
                pieces.append(broken)
                rest, room = word.lstrip(" "), row
            while cells(rest) > room:
                head = _fitting(rest, room) or rest[: int(room >= row)]
                pieces += [head, broken]
                rest, room = rest[len(head) :], row
            pieces.append(rest)
            room -= cells(rest)
        result.append(Span("".join(pieces), style))
    return result


def _fitting(text: str, room: int) -> str:
    """Return as much of the beginning as fits."""
    end = 0
    while end < len(text) and (room := room - cells(text[end])) >= 0:
        end += 1
    return text[:end]


def _visible(match: re.Match[str]) -> str:
    text = match[0]
    code = ord(text[0])
    if text == "\r\n":
        return "\n"
    if text in "\t\u2028\u2029":
        return " "
    if code < 0x20 or code == 0x7F:
        return f"^{chr(code ^ 0x40)}"
    if code < 0xA0:
        return "\ufffd"
    return f"<U+{code:04X}>"


def _json_escape(match: re.Match[str]) -> str:
    return "".join(f"\\u{ord(character):04x}" for character in match[0])
