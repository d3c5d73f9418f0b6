"""Damages transcripts the way disks, crashes, other versions and jokers do; seeded."""

from __future__ import annotations

import contextlib
import json
import random
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

NASTY: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    -1,
    2**64,
    10**400,
    1e308,
    float("nan"),
    float("inf"),
    "",
    " ",
    "\x00",
    "\ud83d",
    "\u2028\u0085\x1b[31m",
    "<command-name>",
    "2026-13-45T99:99:99Z",
    "9999999999999999999999",
    "-0001-01-01",
    "../../../etc/passwd",
    "data:image/png;base64,!!!!",
    [],
    {},
    [None],
    [[]],
    [{}],
    {"": None},
    {"type": None},
    [1, "two", None, {"three": []}],
)
"""Values that stand where something else is expected."""

Dice = random.Random


def mutated(raw: bytes, dice: Dice) -> bytes:
    """Return a damaged copy of a JSON Lines file (or of any other)."""
    for _ in range(dice.choice((1, 1, 1, 2, 3))):
        raw = dice.choice(_MUTATIONS)(raw, dice)
    return raw


def mutate_cells(path: Path, dice: Dice) -> None:
    """Damage what stands in the cells of a database, which stays a sound one."""
    connection = sqlite3.connect(path, isolation_level=None)
    query = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    for (table,) in connection.execute(query).fetchall():
        columns = [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')]
        for (number,) in connection.execute(f'SELECT rowid FROM "{table}"').fetchall():
            if dice.random() < 0.3:
                column = dice.choice(columns)
                where = f'FROM "{table}" WHERE rowid = {number}'
                (old,) = connection.execute(f'SELECT "{column}" {where}').fetchone()
                new = _damaged_cell(old, dice)
                update = f'UPDATE OR IGNORE "{table}" SET "{column}" = ? WHERE rowid = {number}'
                with contextlib.suppress(sqlite3.Error, UnicodeEncodeError):
                    connection.execute(update, (new,))
    connection.close()


def _damaged_cell(value: Any, dice: Dice) -> Any:
    if isinstance(value, str | bytes) and dice.random() < 0.8:
        raw = value.encode() if isinstance(value, str) else value
        new = mutated(raw, dice)
        return new.decode("utf-8", "replace") if isinstance(value, str) else new
    return dice.choice((None, "", 0, -1, 2**62, 1e308, b"\xff\x00", "9999999999999999999999", "{"))


def _flip_bytes(raw: bytes, dice: Dice) -> bytes:
    data = bytearray(raw)
    for _ in range(dice.choice((1, 3, 30))):
        if data:
            data[dice.randrange(len(data))] = dice.randrange(256)
    return bytes(data)


def _cut_end(raw: bytes, dice: Dice) -> bytes:
    return raw[: dice.randrange(len(raw) + 1)]


def _cut_start(raw: bytes, dice: Dice) -> bytes:
    return raw[dice.randrange(len(raw) + 1) :]


def _lines(change: Callable[[list[bytes], Dice], None]) -> Callable[[bytes, Dice], bytes]:
    def mutation(raw: bytes, dice: Dice) -> bytes:
        lines = raw.split(b"\n")
        change(lines, dice)
        return b"\n".join(lines)

    return mutation


def _cut_lines(lines: list[bytes], dice: Dice) -> None:
    for _ in range(dice.randint(1, 4)):
        at = dice.randrange(len(lines))
        lines[at] = lines[at][: dice.randrange(len(lines[at]) + 1)]


def _repeat_lines(lines: list[bytes], dice: Dice) -> None:
    for _ in range(dice.randint(1, 4)):
        line = dice.choice(lines)
        lines.insert(dice.randrange(len(lines) + 1), line)


def _drop_lines(lines: list[bytes], dice: Dice) -> None:
    for _ in range(dice.randint(1, 4)):
        if lines:
            del lines[dice.randrange(len(lines))]


def _shuffle_lines(lines: list[bytes], dice: Dice) -> None:
    dice.shuffle(lines)


def _glue_lines(lines: list[bytes], dice: Dice) -> None:
    at = dice.randrange(len(lines))
    lines[at : at + 2] = [b"".join(lines[at : at + 2])]


def _insert_noise(lines: list[bytes], dice: Dice) -> None:
    noise = (
        b"\x00" * dice.randint(1, 4096),
        b"\x00" * 64 + dice.choice(lines),
        b"",
        b" \t\r",
        b"\xff\xfe\xfd",
        b"null",
        b"[]",
        b'"text"',
        b"[" * 100_000,
        b'{"a":' * 5_000 + b"1" + b"}" * 5_000,
        b'{"type":"user","message":' + b"[" * 70 + b"]" * 70 + b"}",
        b'{"type":"brand-new","payload":{"type":"newer"}}',
        dice.randbytes(dice.randint(1, 200)),
        dice.choice(lines) + b"\r",
    )
    lines.insert(dice.randrange(len(lines) + 1), dice.choice(noise))


def _records(change: Callable[[Any, Dice], None], *, all_of_them: bool = False) -> Any:
    """Turn a change of one decoded record into a mutation of some or all of them."""

    def mutation(raw: bytes, dice: Dice) -> bytes:
        lines = raw.split(b"\n")
        some = dice.choices(range(len(lines)), k=dice.randint(1, 8))
        for at in range(len(lines)) if all_of_them else some:
            try:
                record = json.loads(lines[at])
            except (ValueError, RecursionError):
                continue
            change(record, dice)
            lines[at] = json.dumps(record).encode()
        return b"\n".join(lines)

    return mutation


def _places(value: Any, depth: int = 0) -> list[tuple[Any, Any]]:
    """Return every (container, key) of a value."""
    if depth > 30 or not isinstance(value, (dict, list)):
        return []
    keys = list(value) if isinstance(value, dict) else range(len(value))
    found: list[tuple[Any, Any]] = [(value, key) for key in keys]
    for key in keys:
        found.extend(_places(value[key], depth + 1))
    return found


def _swap_value(record: Any, dice: Dice) -> None:
    if places := _places(record):
        container, key = dice.choice(places)
        container[key] = dice.choice(NASTY)


def _swap_two(record: Any, dice: Dice) -> None:
    if places := _places(record):
        (one, at), (two, there) = dice.choice(places), dice.choice(places)
        value = json.loads(json.dumps(two[there]))
        one[at] = value


def _delete_key(record: Any, dice: Dice) -> None:
    if places := _places(record):
        container, key = dice.choice(places)
        del container[key]


def _wrap(record: Any, dice: Dice) -> None:
    if places := _places(record):
        container, key = dice.choice(places)
        value = container[key]
        for _ in range(dice.choice((1, 80))):
            value = dice.choice(([value], {"type": value}, {"content": [value]}))
        container[key] = value


def _all_null(record: Any, dice: Dice) -> None:
    for container, key in _places(record):
        if not isinstance(container[key], (dict, list)) and dice.random() < 0.5:
            container[key] = None


def _rename_type(record: Any, dice: Dice) -> None:
    places = [place for place in _places(record) if place[1] == "type"]
    if places:
        container, key = dice.choice(places)
        container[key] = dice.choice(("user", "assistant", "message", "x" * 300, "", 7, None, []))


def _same_ids(record: Any, dice: Dice) -> None:
    for container, key in _places(record):
        if isinstance(key, str) and key.lower().endswith(("id", "uuid")):
            container[key] = dice.choice(("same", None, 0))


def _self_parent(record: Any, _dice: Dice) -> None:
    if isinstance(record, dict) and "uuid" in record:
        record["parentUuid"] = record["uuid"]


_MUTATIONS: tuple[Callable[[bytes, Dice], bytes], ...] = (
    _flip_bytes,
    _cut_end,
    _cut_start,
    _lines(_cut_lines),
    _lines(_repeat_lines),
    _lines(_drop_lines),
    _lines(_shuffle_lines),
    _lines(_glue_lines),
    _lines(_insert_noise),
    _lines(_insert_noise),
    _records(_swap_value),
    _records(_swap_value, all_of_them=True),
    _records(_swap_two),
    _records(_delete_key),
    _records(_delete_key, all_of_them=True),
    _records(_wrap),
    _records(_wrap, all_of_them=True),
    _records(_all_null),
    _records(_all_null, all_of_them=True),
    _records(_rename_type),
    _records(_rename_type, all_of_them=True),
    _records(_same_ids, all_of_them=True),
    _records(_self_parent, all_of_them=True),
)
