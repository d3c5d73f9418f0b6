"""The one folding rule: which characters count as the same when case is ignored.

Simple case folding, code point by code point, without locale and without normalisation, so that
a folded text is exactly as long as the text and a place in one is the same place in the other.
"""

from __future__ import annotations

import functools
import re

_SIMPLE_ONLY = {"\u1fd3": "\u0390", "\u1fe3": "\u03b0", "\ufb05": "\ufb06"}
"""Pairs that are equal in simple folding, but that Python knows only as several characters."""

_SPECIAL = (
    "\u00b5\u0130\u017f\u0345\u03a3\u03c2\u03d0\u03d1\u03d5\u03d6\u03f0\u03f1\u03f5"
    "\u13a0-\u13fd\u1c80-\u1c88\u1e9b\u1fbe\u1fd3\u1fe3\uab70-\uabbf\ufb05"
)
"""Where ``str.lower`` and the rule part: long s, variants of Greek and Cyrillic letters, Cherokee,
``İ`` (which would grow), and the capital sigma, whose lower case depends on its neighbours."""

_ONE_WAY = "\u03f4\u1e9e\u2126\u212a\u212b"
"""Capitals that their small letter does not lead back to: the Kelvin sign and such."""

_SPECIAL_RUN = re.compile(f"([{_SPECIAL}]+)")


def fold(text: str, *, plain: bool | None = None) -> str:
    """Return the text with case taken away; of the same length, and folding again changes nothing.

    The three sigmas are one letter, as are ``s`` and the long s, ``k`` and the Kelvin sign;
    ``ß`` is ``ẞ`` but not ``ss``; ``i`` with a dot above or without any is no ``i``; accents count.
    ``plain`` is what :func:`is_plain` says of the text, if that is known already.

    >>> fold("STRAẞE Éa") == fold("straße éA")
    True
    """
    if is_plain(text) if plain is None else plain:
        return text.lower()
    parts = _SPECIAL_RUN.split(text)
    for index, part in enumerate(parts):
        parts[index] = part.translate(_TABLE) if index % 2 else part.lower()
    return "".join(parts)


def is_plain(text: str) -> bool:
    """Whether ``str.lower`` alone folds a text."""
    if text.isascii():
        return True
    # Bytes are found much faster than characters: few texts have to be looked at as such.
    encoded = text.encode("utf-8", "surrogatepass")
    for lead, characters in _ENCODED.items():
        if lead in encoded and (len(characters) > 1 or characters[0] in encoded):
            return _SPECIAL_RUN.search(text) is None
    return True


def fold_character(character: str) -> str:
    """Apply the rule to one code point, as it is defined; :func:`fold` is the fast form."""
    if character in _SIMPLE_ONLY:
        return _SIMPLE_ONLY[character]
    folded = character.casefold()
    if len(folded) > 1:
        folded = character.lower()
    return folded if len(folded) == 1 else character


@functools.lru_cache(4096)
def alike(character: str) -> str:
    """Return all code points that fold to the same as this one, in order, itself included."""
    folded = fold_character(character)
    near = {character, folded, *(chr(code) for code, to in _TABLE.items() if to == folded)}
    near |= {each for each in _ONE_WAY if fold_character(each) == folded}
    for each in tuple(near):
        near |= {each.upper(), each.title(), each.lower()}
    return "".join(sorted(c for c in near if len(c) == 1 and fold_character(c) == folded))


_TABLE = {
    code: fold_character(chr(code))
    for first, last in re.findall(r"(.)(?:-(.))?", _SPECIAL)
    for code in range(ord(first), ord(last or first) + 1)
}

_ENCODED = {
    lead: [each for each in (chr(code).encode() for code in _TABLE) if each.startswith(lead)]
    for lead in dict.fromkeys(chr(code).encode()[:1] for code in _TABLE)
}
"""The characters of :data:`_SPECIAL` in UTF-8, by their first byte."""
