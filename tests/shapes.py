"""Compares records with their published shapes, and programs that use these with mypy."""

from __future__ import annotations

import json
import subprocess
import sys
import types
import typing
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from agtail.sample import sample_home

CORPORA = Path(__file__).parent / "corpora"


def misfits(value: Any, shape: Any, where: str = "") -> list[str]:
    """Say how a decoded value differs from a type: wrong types, missing keys, unknown keys."""
    origin, arguments = typing.get_origin(shape), typing.get_args(shape)
    if shape in (object, Any):
        return []
    if typing.is_typeddict(shape):
        return _dict_misfits(value, shape, where)
    if origin in (types.UnionType, typing.Union):
        return _union_misfits(value, arguments, where)
    if origin is typing.Literal:
        return [] if value in arguments else [f"{where}: {value!r} is none of {arguments}"]
    if origin in (typing.Required, typing.NotRequired):
        return misfits(value, arguments[0], where)
    if origin is list:
        if not isinstance(value, list):
            return [f"{where}: {type(value).__name__} for a list"]
        return [fault for item in value for fault in misfits(item, arguments[0], f"{where}[]")]
    if origin is dict:
        if not isinstance(value, dict):
            return [f"{where}: {type(value).__name__} for an object"]
        return [
            fault
            for key, item in value.items()
            for fault in misfits(item, arguments[1], f"{where}.{key}")
        ]
    return _plain_misfits(value, shape, where)


def _dict_misfits(value: Any, shape: Any, where: str) -> list[str]:
    if not isinstance(value, dict):
        return [f"{where}: {type(value).__name__} for {shape.__name__}"]
    hints = typing.get_type_hints(shape)
    faults = [f"{where}.{key}: missing" for key in shape.__required_keys__ if key not in value]
    for key, item in value.items():
        if key not in hints:
            faults.append(f"{where}.{key}: not described by {shape.__name__}")
        else:
            faults.extend(misfits(item, hints[key], f"{where}.{key}"))
    return faults


def _union_misfits(value: Any, members: tuple[Any, ...], where: str) -> list[str]:
    """Return the faults against the member that fits best: the one with the fewest."""
    return min((misfits(value, member, where) for member in members), key=len)


def _plain_misfits(value: Any, shape: Any, where: str) -> list[str]:
    wanted = type(None) if shape is None else shape
    if wanted is float:
        fits = isinstance(value, int | float) and not isinstance(value, bool)
    else:
        fits = type(value) is wanted
    return [] if fits else [f"{where}: {type(value).__name__} for {shape}"]


def lines(folder: Path, pattern: str) -> Iterator[tuple[str, Any]]:
    for path in sorted(folder.rglob(pattern)):
        for number, line in enumerate(path.read_bytes().split(b"\n"), 1):
            try:
                yield f"{path.relative_to(folder)}:{number}", json.loads(line)
            except ValueError:  # damaged on purpose, or the end of the file
                continue


Find = Callable[[Path], Iterable[tuple[str, Any]]]
"""Finds records in a home, each with words for where it was."""


def corpus_misfits(agent: str, find: Find, shape: Any) -> list[str]:
    """Say how the records of an agent's corpora differ from a shape; there has to be one."""
    faults, records = set[str](), 0
    for home in sorted((CORPORA / agent).iterdir()):
        for where, record in find(home):
            records += 1
            faults.update(f"{home.name}: {where}{fault}" for fault in misfits(record, shape))
    return sorted(faults)[:20] if records else ["no records"]


def sample_misfits(find: Find, shape: Any) -> list[str]:
    """Say how the records of the bundled history differ from a shape."""
    found = find(sample_home())
    return [f"{where}{fault}" for where, record in found for fault in misfits(record, shape)]


def check_program(folder: Path, program: str) -> str:
    """Return what mypy says of a program, nothing when all is well."""
    path = folder / "program.py"
    path.write_text(program, "utf-8")
    result = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", f"--cache-dir={folder}/cache", str(path)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    return result.stdout if result.returncode else ""


def check_programs(folder: Path, program: str, word: str) -> None:
    """Assert that a program passes, and that it does not with a word misspelt."""
    assert check_program(folder, program) == ""
    wrong = program.replace(f'["{word}"]', f'["{word[::-1]}"]')
    assert wrong != program
    assert "has no key" in check_program(folder, wrong)
