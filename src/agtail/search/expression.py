r"""Regular expressions, read for the literal texts that none of their matches can do without.

``error: (?:disk|quota) .*full`` needs ``full``, and ``error: disk `` or ``error: quota ``. What is
not understood of an expression asks for nothing, so that no match is ever ruled out.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from agtail.search.fold import alike, fold
from agtail.search.grams import Needs, all_of, any_of, one_text_of

MOST_TEXTS = 16
"""So many spellings of one part are told apart; with more of them the part is cut there."""

LONGEST = 256
"""Code points of one text; longer ones are cut, which keeps the work linear."""


def expression_needs(pattern: str, *, sensitive: bool) -> Needs:
    """Return what an expression that RE2 accepts needs."""
    try:
        return _needs_of(_Reader(pattern, folding=not sensitive).piece())
    except _NotUnderstoodError:
        return Needs()


class _Piece(NamedTuple):
    """What is known of a part of an expression.

    Attributes:
        texts: folded; each match of the part is one of these. None when that is not known.
        spread: each match only begins with one of the texts, and ends with one of them.
        needs: what each match contains, when ``texts`` is None.
    """

    texts: tuple[str, ...] | None
    spread: bool = False
    needs: Needs = Needs()


_NOTHING = _Piece(("",))
_ANYTHING = _Piece(None)


class _NotUnderstoodError(Exception):
    """An expression is written in a way that this module does not know."""


_CHARACTER = r"""
    \\x\{(?P<hex>[0-9A-Fa-f]+)\} | \\x(?P<hex_pair>[0-9A-Fa-f]{2})
  | \\(?P<octal>[0-7]{1,3}) | \\(?P<control>[afnrtv])
  | \\(?P<escaped>[^0-9A-Za-z]) | (?P<plain>[^\\])
"""
_ONE_OF_MANY = r"\\[pP](?:\{[^}]*\}|.) | \\[dDsSwW]"


def _verbose(expression: str) -> re.Pattern[str]:
    return re.compile(expression, re.VERBOSE | re.DOTALL)


_TOKEN = _verbose(
    rf"""
    \\Q(?P<quoted>.*?)(?:\\E|\Z)
  | (?P<place>\\[AzbB]|[\^$])
  | (?P<any>\.|\\C|{_ONE_OF_MANY})
  | (?P<class>\[\^?)
  | \(\?(?P<flags>[a-zA-Z-]*)(?P<scope>[:)])
  | (?P<open>\((?:\?P?<[^>]*>|(?!\?)))
  | (?P<close>\)) | (?P<bar>\|)
  | (?:(?P<sign>[*+?])|\{{(?P<least>0|[1-9][0-9]*)(?P<comma>,(?P<most>0|[1-9][0-9]*|))?\}})\??
  | (?!\()(?:{_CHARACTER})
"""
)
_CLASS_NAME = _verbose(rf"\[:[^\]]*:\] | {_ONE_OF_MANY}")
_CLASS_CHARACTER = _verbose(_CHARACTER)
_RANGE = _verbose(r"-(?!\])")
_CONTROL = dict(zip("afnrtv", "\a\f\n\r\t\v", strict=True))
_SIGNS: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}


class _Level(NamedTuple):
    """An open parenthesis: what was read in it, and how letters are compared after it."""

    branches: list[_Piece]
    pieces: list[_Piece]
    folding: bool


class _Reader:
    """Reads an expression that RE2 accepts, from left to right and without recursion."""

    def __init__(self, pattern: str, *, folding: bool) -> None:
        self._pattern = pattern
        self._at = 0
        self._folding = folding
        self._levels = [_Level([], [], folding)]

    def piece(self) -> _Piece:
        """Return what is known of the whole."""
        while self._at < len(self._pattern):
            self._read(self._next(_TOKEN))
        return self._leave()

    def _read(self, token: re.Match[str]) -> None:
        level = self._levels[-1]
        pieces = level.pieces
        match token.lastgroup:
            case "quoted":
                pieces.extend(map(self._one, token["quoted"]))
            case "place":
                pieces.append(_NOTHING)
            case "any":
                pieces.append(_ANYTHING)
            case "class":
                piece = self._class()
                pieces.append(_ANYTHING if token["class"] == "[^" else piece)
            case "scope":
                self._enter_flags(token["flags"], scoped=token["scope"] == ":")
            case "open":
                self._levels.append(_Level([], [], self._folding))
            case "close":
                piece = self._leave()
                self._folding = level.folding
                if not self._levels:
                    raise _NotUnderstoodError
                self._levels[-1].pieces.append(piece)
            case "bar":
                level.branches.append(_sequence(pieces))
                pieces.clear()
            case "sign" | "least" | "comma":
                if not pieces:
                    raise _NotUnderstoodError
                pieces.append(_repeated(pieces.pop(), *_times(token)))
            case _:
                pieces.append(self._one(_character(token)))

    def _enter_flags(self, flags: str, *, scoped: bool) -> None:
        """Begin a group without a number, or change how what follows in this one is compared."""
        if not set(flags) <= set("imsU-"):
            raise _NotUnderstoodError
        if scoped:
            self._levels.append(_Level([], [], self._folding))
        on, _, off = flags.partition("-")
        self._folding = (self._folding or "i" in on) and "i" not in off

    def _leave(self) -> _Piece:
        level = self._levels.pop()
        return _alternatives([*level.branches, _sequence(level.pieces)])

    def _class(self) -> _Piece:
        """Read what is between brackets; a closing one that comes first is a member."""
        pieces: list[_Piece] = []
        first = True
        while first or not self._pattern.startswith("]", self._at):
            first = False
            if name := _CLASS_NAME.match(self._pattern, self._at):
                self._at = name.end()
                pieces.append(_ANYTHING)
                continue
            low = high = _character(self._next(_CLASS_CHARACTER))
            if _RANGE.match(self._pattern, self._at):
                self._at += 1
                high = _character(self._next(_CLASS_CHARACTER))
            if ord(high) - ord(low) >= 2 * MOST_TEXTS:  # too many, even if in pairs but for case
                pieces.append(_ANYTHING)
            else:
                pieces.extend(self._one(chr(code)) for code in range(ord(low), ord(high) + 1))
        self._at += 1
        return _alternatives(pieces)

    def _one(self, character: str) -> _Piece:
        """Return the piece for a letter as it stands, or in all its forms when case is ignored.

        A cased letter whose other form this Python does not know, as an unassigned code point,
        stands for anything then: the other form may have come with a newer Unicode.
        """
        if "\ud800" <= character <= "\udfff":
            return _ANYTHING
        if self._folding and not character.isascii():
            category = unicodedata.category(character)
            if category == "Cn" or (category in {"Lu", "Ll", "Lt"} and len(alike(character)) == 1):
                return _ANYTHING
        return _Piece((fold(character),))

    def _next(self, tokens: re.Pattern[str]) -> re.Match[str]:
        token = tokens.match(self._pattern, self._at)
        if token is None:
            raise _NotUnderstoodError
        self._at = token.end()
        return token


def _character(token: re.Match[str]) -> str:
    """Return the one character that is written, as itself or with a backslash."""
    if token["control"]:
        return _CONTROL[token["control"]]
    if token["octal"]:
        return chr(int(token["octal"], 8))
    if digits := token["hex"] or token["hex_pair"]:
        return chr(int(digits, 16))
    return token["escaped"] or token["plain"]


def _times(token: re.Match[str]) -> tuple[int, int | None]:
    """Return how often the part in front occurs, at least and at most; None is without end."""
    if token["sign"]:
        return _SIGNS[token["sign"]]
    least = int(token["least"])
    if not token["comma"]:
        return least, least
    return least, int(token["most"]) if token["most"] else None


def _repeated(piece: _Piece, least: int, most: int | None) -> _Piece:
    texts = piece.texts
    if least == 0:
        if texts is None or piece.spread or most != 1 or len(texts) >= MOST_TEXTS:
            return _ANYTHING
        return _Piece(tuple(dict.fromkeys(("", *texts))))
    if texts is None or piece.spread:
        return piece
    whole = texts
    for _ in range(least - 1):
        longer = _joined(whole, texts)
        if longer is None:
            return _Piece(whole, spread=True)
        whole = longer
    return _Piece(whole, spread=most != least)


def _sequence(pieces: Iterable[_Piece]) -> _Piece:
    """Put together what follows one another, as far as few enough texts are possible."""
    texts: tuple[str, ...] = ("",)
    found: list[Needs] = []
    exact = True
    for piece in pieces:
        joined = None if piece.texts is None else _joined(texts, piece.texts)
        if joined is not None and not piece.spread:
            texts = joined
            continue
        exact = False
        found += [one_text_of(joined or texts), piece.needs]
        texts = piece.texts or ("",)
    if exact:
        return _Piece(texts)
    return _Piece(None, needs=all_of([*found, one_text_of(texts)]))


def _alternatives(pieces: Sequence[_Piece]) -> _Piece:
    """Put together what stands for one another."""
    if len(pieces) == 1:
        return pieces[0]
    if all(piece.texts is not None and not piece.spread for piece in pieces):
        texts = tuple(dict.fromkeys(text for piece in pieces for text in piece.texts or ()))
        if len(texts) <= MOST_TEXTS:
            return _Piece(texts)
    return _Piece(None, needs=any_of(map(_needs_of, pieces)))


def _joined(left: tuple[str, ...], right: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return each text of the left followed by each of the right; None if that is too much."""
    if len(left) * len(right) > MOST_TEXTS:
        return None
    texts = tuple(dict.fromkeys(before + behind for before in left for behind in right))
    return texts if max(map(len, texts)) <= LONGEST else None


def _needs_of(piece: _Piece) -> Needs:
    return piece.needs if piece.texts is None else one_text_of(piece.texts)
