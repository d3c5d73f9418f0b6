"""Binary payloads in records: what they are is kept, their base64 text is not."""

from __future__ import annotations

import binascii
import hashlib
import re
from typing import Any, Final
from urllib.parse import unquote_to_bytes

from agtail.model import Blob

EMBEDDED_LENGTH: Final = 128
"""Base64 inside a longer text is cut from this many characters on; shorter is left readable."""

_OPENINGS = {
    "iVBORw0KGgo": "image/png",
    "/9j/": "image/jpeg",
    "UklGR": "image/webp",
    "R0lGOD": "image/gif",
    "JVBERi0": "application/pdf",
}
"""How the base64 of a file of a known type begins."""

_OPENING = tuple(_OPENINGS)
_PAYLOADS = ("base64", "data")
_MEDIA_KEYS = ("media_type", "mediaType", "mime_type", "mimeType", "type")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{128,}={0,2}")
_DATA_URL = re.compile(
    r"data:([\w.+-]+/[\w.+-]+)?(?:;[\w.+-]+=[^;,\s]*)*;base64,([A-Za-z0-9+/=_-]*)"
)


def blob_from_base64(data: str, media_type: str, name: str | None = None) -> Blob:
    """Describe a base64 payload; size and digest are absent when it cannot be decoded."""
    try:
        content = binascii.a2b_base64(f"{data.translate(_FROM_URL_SAFE)}==")
    except ValueError:
        return Blob(media_type=media_type, name=name)
    return _describe(content, media_type, name)


_FROM_URL_SAFE = str.maketrans("-_", "+/")


def blob_from_data_url(url: str, name: str | None = None) -> Blob:
    """Describe what an image URL holds: the payload of a ``data:`` URL, else only where it lies."""
    if not url.startswith("data:"):
        return Blob(url=url, name=name)
    head, _, body = url.removeprefix("data:").partition(",")
    media_type, *parameters = head.split(";")
    if "base64" in parameters:
        return blob_from_base64(body, media_type, name)
    return _describe(unquote_to_bytes(body), media_type, name)


def _describe(content: bytes, media_type: str, name: str | None) -> Blob:
    digest = hashlib.sha256(content).hexdigest()
    return Blob(media_type=media_type, size=len(content), sha256=digest, name=name)


def placeholder(blob: Blob) -> str:
    """Return the short text that stands where a payload was cut out.

    >>> placeholder(blob_from_base64("aGVsbG8=", "text/plain"))
    '[text/plain, 5 bytes, sha256 2cf24dba5fb0…]'
    """
    facts = [blob.media_type or "binary data"]
    if blob.size is not None:
        facts.append(f"{blob.size} bytes")
    if blob.sha256 is not None:
        facts.append(f"sha256 {blob.sha256[:12]}…")
    return f"[{', '.join(facts)}]"


def strip_base64(value: object) -> tuple[Any, list[Blob]]:
    """Cut base64 payloads out of any JSON value.

    A payload is the value of a ``base64`` key, a ``data`` key beside a media type (or beside
    ``"type": "base64"``), a string that is a base64 ``data:`` URL, a long one inside a text, and
    a long string that is nothing but the base64 of an image or a PDF. Each becomes
    :func:`placeholder`.

    Returns:
        The value (the same object when nothing was cut; never changed in place), and what was
        cut, in order.
    """
    blobs: list[Blob] = []
    return _strip(value, blobs), blobs


def _strip(value: Any, blobs: list[Blob]) -> Any:
    if isinstance(value, str):
        if value.startswith(_OPENING) and _BASE64.fullmatch(value):
            return _cut(blob_from_base64(value, _opened(value)), blobs)
        return _strip_text(value, blobs) if ";base64," in value else value
    if isinstance(value, list):
        items = [_strip(item, blobs) for item in value]
        return (
            items if any(new is not old for new, old in zip(items, value, strict=True)) else value
        )
    if isinstance(value, dict):
        fields = {key: _strip_field(value, key, blobs) for key in value}
        return fields if any(fields[key] is not value[key] for key in value) else value
    return value


def _opened(data: str) -> str:
    return next(kind for opening, kind in _OPENINGS.items() if data.startswith(opening))


def _strip_field(record: dict[str, Any], key: str, blobs: list[Blob]) -> Any:
    field = record[key]
    if key in _PAYLOADS and isinstance(field, str) and field and not field.startswith("data:"):
        media_type = _media_type(record)
        if key == "base64" or media_type is not None or record.get("type") == "base64":
            return _cut(blob_from_base64(field, media_type or ""), blobs)
    return _strip(field, blobs)


def _media_type(record: dict[str, Any]) -> str | None:
    for key in _MEDIA_KEYS:
        value = record.get(key)
        if isinstance(value, str) and "/" in value:
            return value
    return None


def _strip_text(text: str, blobs: list[Blob]) -> str:
    def cut(match: re.Match[str]) -> str:
        whole = match.end() - match.start() == len(text)
        if not whole and len(match[2]) < EMBEDDED_LENGTH:
            return match[0]
        return _cut(blob_from_base64(match[2], match[1] or ""), blobs)

    stripped = _DATA_URL.sub(cut, text)
    return text if stripped == text else stripped


def _cut(blob: Blob, blobs: list[Blob]) -> str:
    blobs.append(blob)
    return placeholder(blob)
