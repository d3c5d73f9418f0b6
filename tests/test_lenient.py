"""JSON decoding: what clean, damaged and hostile texts become."""

from __future__ import annotations

import json
import time
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agtail.lenient import BROKEN, MAX_DEPTH, decode, decode_text
from agtail.model import Integrity


def decoded(text: str | bytes) -> Any:
    """Decode, and prove that the value can leave the process in both forms."""
    raw = text if isinstance(text, bytes) else text.encode()
    value = decode(raw, Integrity())
    if value is not BROKEN:
        assert msgspec.json.decode(msgspec.json.encode(value)) == value
        assert msgspec.msgpack.decode(msgspec.msgpack.encode(value)) == value
    return value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a":NaN}', "NaN"),
        ('{"a":Infinity}', "Infinity"),
        ('{"a":-Infinity}', "-Infinity"),
        ('{"a":1e999}', "1e999"),
        ('{"a":-1e999}', "-1e999"),
        ('{"a":9223372036854775807}', 9223372036854775807),
        ('{"a":18446744073709551615}', 18446744073709551615),
        ('{"a":18446744073709551616}', "18446744073709551616"),
        ('{"a":-9223372036854775808}', -9223372036854775808),
        ('{"a":-9223372036854775809}', "-9223372036854775809"),
        ('{"a":123456789012345678901234567890}', "123456789012345678901234567890"),
        ('{"a":' + "7" * 4300 + "}", "7" * 4300),
        ('{"a":' + "7" * 4301 + "}", "7" * 4301),
        ('{"a":' + "7" * 100_000 + "}", "7" * 100_000),
        ('{"a":0.1}', 0.1),
        ('{"a":"id 12345678901234567890123"}', "id 12345678901234567890123"),
    ],
)
def test_numbers_no_machine_type_holds_keep_their_digits(text: str, value: object) -> None:
    assert decoded(text)["a"] == value


@pytest.mark.parametrize(
    "number", ["9223372036854775807", "-9223372036854775808", "18446744073709551616", "1e999"]
)
def test_a_number_means_the_same_beside_damage(number: str) -> None:
    clean = decoded(f'{{"a":{number},"b":"x"}}')["a"]
    damaged = decoded(f'{{"a":{number},"b":"\\ud800"}}')["a"]
    assert clean == damaged


def test_lone_surrogates_become_replacement_characters_in_values_and_keys() -> None:
    value = decoded('{"a":"x\\ud83dy","b\\udc00":["\\ude00"],"ok":"\\ud83d\\ude00"}')
    assert value == {"a": "x\ufffdy", "b\ufffd": ["\ufffd"], "ok": "😀"}


def test_raw_control_characters_are_kept() -> None:
    assert decoded(b'{"a":"x\x00\x01\x1b[0m\ty"}') == {"a": "x\x00\x01\x1b[0m\ty"}


@pytest.mark.parametrize(
    ("raw", "text", "invalid"),
    [
        (b'{"a":"x\xffy"}', "x\ufffdy", 1),
        (b'{"a":"\xff\xfe\xfd"}', "\ufffd\ufffd\ufffd", 3),
        (b'{"a":"\xe2\x82"}', "\ufffd", 2),  # a euro sign cut short
        (b'{"a":"\xed\xa0\x80"}', "\ufffd\ufffd\ufffd", 3),  # a surrogate in UTF-8
        ('{"a":"\ufffd"}'.encode(), "\ufffd", 0),  # the character itself is no damage
        ('{"a":"\ufffd\x01é'.encode() + b'\xff"}', "\ufffd\x01é\ufffd", 1),
    ],
)
def test_bytes_that_are_not_utf8_are_replaced_and_counted(
    raw: bytes, text: str, invalid: int
) -> None:
    health = Integrity()
    assert decode(raw, health) == {"a": text}
    assert health.invalid_bytes == invalid


def test_bytes_of_a_line_that_is_dropped_are_not_counted() -> None:
    health = Integrity()
    assert decode(b'{"a":"\xff', health) is BROKEN
    assert health.invalid_bytes == 0


def test_a_megabyte_of_bad_bytes_takes_no_time() -> None:
    health = Integrity()
    started = time.process_time()
    decode(b'{"a":"' + b"\xff" * 1_000_000 + b'"}', health)
    assert health.invalid_bytes == 1_000_000
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        '{"a":1}{"b":2}',
        '{"a":1} x',
        "{'a':1}",
        '{"a"}',
        '{"a":"',
        "\x00",
        "nul",
        '{"a":1,}',
    ],
)
def test_what_is_not_json_is_broken(text: str) -> None:
    assert decoded(text) is BROKEN


@pytest.mark.parametrize("opening", ["[", '{"a":'])
@pytest.mark.parametrize("depth", [1, 62, 63, 64, 65, 66, 200, 900, 1000, 5000, 300_000])
def test_any_depth_is_kept(opening: str, depth: int) -> None:
    closing = "]" if opening == "[" else "}"
    text = '{"b":' + opening * depth + '"needle"' + closing * depth + "}"
    value = decoded(text)
    levels = 0
    while isinstance(value, (dict, list)):
        (value,) = value.values() if isinstance(value, dict) else value
        levels += 1
    assert levels == min(depth + 1, MAX_DEPTH)
    beyond = depth + 1 - levels
    assert value == (opening * beyond + '"needle"' + closing * beyond if beyond else "needle")


@pytest.mark.parametrize("depth", [65, 300_000])
def test_brackets_without_end_are_broken(depth: int) -> None:
    assert decoded('{"a":' + "[" * depth) is BROKEN
    assert decoded("[" * depth + "}" * depth) is BROKEN


def test_brackets_in_strings_are_no_depth() -> None:
    text = json.dumps({"code": "[" * 500, "more": ["]" * 500, '"{\\"' * 200], "n": [[1]]})
    assert decoded(text) == json.loads(text)


def test_closing_brackets_in_strings_do_not_hide_depth() -> None:
    text = '{"a":"' + "]" * 1000 + '","b":' + "[" * 900 + "]" * 900 + "}"
    value = decoded(text)["b"]
    levels = 0
    while isinstance(value, list):
        (value,) = value
        levels += 1
    assert levels == MAX_DEPTH - 1


def test_endless_escapes_take_no_time() -> None:
    started = time.process_time()
    assert decoded('{"a":"' + '\\"[' * 300_000) is BROKEN
    assert time.process_time() - started < 5


def test_json_inside_a_string_is_decoded_alike() -> None:
    assert decode_text('{"a": 1e999, "é": "\\ud800"}') == {"a": "1e999", "é": "\ufffd"}
    assert decode_text("{") is BROKEN


def test_of_two_equal_keys_the_last_holds() -> None:
    assert decoded('{"a":1,"a":2}') == {"a": 2}
    assert decoded('{"a":1,"a":"\\ud800"}') == {"a": "\ufffd"}


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(json_values)
def test_clean_values_come_back_as_they_are(value: object) -> None:
    expected = json.loads(json.dumps(value), parse_int=_machine_int)
    assert decoded(json.dumps(value)) == expected
    assert decoded(json.dumps(value, ensure_ascii=False)) == expected


def _machine_int(digits: str) -> int | str:
    return int(digits) if -(2**63) <= int(digits) < 2**64 else digits


@given(st.binary())
def test_no_bytes_raise(raw: bytes) -> None:
    decoded(raw)


@given(json_values, st.data())
def test_no_damage_raises(value: object, data: st.DataObject) -> None:
    raw = bytearray(json.dumps({"a": value}).encode())
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    decoded(bytes(raw))
