"""Binary payloads are described and cut out, whatever record holds them."""

from __future__ import annotations

import base64
import hashlib
from typing import Any

import pytest

from agtail.agents.blobs import (
    blob_from_base64,
    blob_from_data_url,
    placeholder,
    strip_base64,
)
from agtail.model import Blob

PIXELS = bytes(range(256)) * 2
CODE = base64.b64encode(PIXELS).decode()
DIGEST = hashlib.sha256(PIXELS).hexdigest()
PICTURE = Blob(media_type="image/png", size=512, sha256=DIGEST)
MARK = f"[image/png, 512 bytes, sha256 {DIGEST[:12]}…]"


def test_base64_is_measured_after_decoding() -> None:
    assert blob_from_base64(CODE, "image/png") == PICTURE
    assert blob_from_base64(CODE.rstrip("="), "image/png", "a.png").name == "a.png"


def test_url_safe_alphabet_gives_the_same_bytes() -> None:
    safe = base64.urlsafe_b64encode(PIXELS).decode()
    assert safe != CODE
    assert blob_from_base64(safe, "image/png") == PICTURE


@pytest.mark.parametrize("broken", ["a", "ü" * 9])
def test_broken_base64_is_a_blob_without_size(broken: str) -> None:
    assert blob_from_base64(broken, "image/png") == Blob(media_type="image/png")


def test_data_url() -> None:
    assert blob_from_data_url(f"data:image/png;base64,{CODE}") == PICTURE
    plain = blob_from_data_url("data:text/plain;charset=utf-8,caf%C3%A9")
    assert (plain.media_type, plain.size) == ("text/plain", 5)


def test_linked_image_keeps_its_address() -> None:
    linked = blob_from_data_url("https://example.org/red.png")
    assert linked == Blob(url="https://example.org/red.png")


@pytest.mark.parametrize(
    ("value", "stripped"),
    [
        (
            {
                "type": "image",
                "source": {"type": "base64", "media_type": "image/png", "data": CODE},
            },
            {
                "type": "image",
                "source": {"type": "base64", "media_type": "image/png", "data": MARK},
            },
        ),
        (
            {"file": {"base64": CODE, "type": "image/png", "originalSize": 512}},
            {"file": {"base64": MARK, "type": "image/png", "originalSize": 512}},
        ),
        (
            [{"type": "image", "data": CODE, "mimeType": "image/png"}, "kept"],
            [{"type": "image", "data": MARK, "mimeType": "image/png"}, "kept"],
        ),
        ({"image_url": f"data:image/png;base64,{CODE}"}, {"image_url": MARK}),
        (f"see data:image/png;base64,{CODE} here", f"see {MARK} here"),
    ],
)
def test_payloads_are_cut_wherever_they_stand(value: Any, stripped: Any) -> None:
    assert strip_base64(value) == (stripped, [PICTURE])


def test_payload_without_media_type() -> None:
    value, blobs = strip_base64({"type": "pdf", "file": {"filePath": "a.pdf", "base64": CODE}})
    assert value["file"]["base64"] == placeholder(blobs[0])
    assert blobs[0].size == 512


@pytest.mark.parametrize(
    "value",
    [
        {"data": "plain text of a field called data"},
        {"type": "text", "text": CODE},
        "a short data:image/png;base64,AAAA in a sentence",
        [1, None, 2.5, True],
    ],
)
def test_everything_else_comes_back_untouched(value: object) -> None:
    stripped, blobs = strip_base64(value)
    assert stripped is value
    assert blobs == []


def test_the_record_itself_is_not_changed() -> None:
    record = {"a": [{"image_url": f"data:image/png;base64,{CODE}"}], "b": {"c": 1}}
    stripped, _ = strip_base64(record)
    assert record["a"] == [{"image_url": f"data:image/png;base64,{CODE}"}]
    assert stripped["b"] is record["b"]
