"""Damaged histories never raise, never hang, and account for every line.

``AGTAIL_FUZZ`` sets how many files are damaged (2,000 by default), ``AGTAIL_FUZZ_SEED`` other
damage. Each failure names the case; ``_damaged_home`` makes that home again.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import msgspec
import pytest
from conformance.kit import LONG_AGO, Scenario, scenarios
from fuzz.mutate import mutate_cells, mutated

from agtail.errors import SourceError
from agtail.history import History
from agtail.model import Integrity
from agtail.records import Record, read_jsonl

FILES = int(os.environ.get("AGTAIL_FUZZ", "2000"))
SEED = os.environ.get("AGTAIL_FUZZ_SEED", "1")
SHARDS = 20
SECONDS = 10
"""Limit for one home of a few small files: a thousand times what it takes."""

PACKED_MAGIC = b"\x28\xb5\x2f\xfd"


@pytest.mark.slow
@pytest.mark.parametrize("shard", range(SHARDS))
def test_damaged_homes_are_read_to_the_end(shard: int, tmp_path: Path) -> None:
    failures: list[str] = []
    files = case = 0
    while files < FILES // SHARDS:
        name = f"{SEED}-{shard}-{case}"
        home = tmp_path / name
        scenario, damaged = _damaged_home(home, name)
        files += len(damaged)
        case += 1
        try:
            with _limit(SECONDS):
                _read_everything(home, search=case % 5 == 0)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
            steps = traceback.extract_tb(error.__traceback__)[-3:]
            places = " < ".join(f"{Path(step.filename).name}:{step.lineno}" for step in steps)
            failures.append(f"{name} ({scenario}): {type(error).__name__}: {error!s:.200} {places}")
        shutil.rmtree(home)
    assert not failures, "\n".join(failures)


def _damaged_home(home: Path, name: str) -> tuple[Scenario, list[Path]]:
    """Copy a scenario and damage some of its files; the same name gives the same home."""
    dice = random.Random(name)
    scenario = dice.choice(scenarios())
    shutil.copytree(scenario.folder, home)
    (home / "expected.json").unlink()
    files = sorted(path for path in home.rglob("*") if path.is_file())
    transcripts = [path for path in files if ".jsonl" in path.name]
    transcripts += [path for path in files if path.suffix in (".db", ".vscdb")]
    damaged = [path for path in transcripts if dice.random() < 0.6] or transcripts[:1] or files[:1]
    damaged.extend(path for path in files if path not in transcripts and dice.random() < 0.2)
    for path in damaged:
        raw = path.read_bytes()
        if raw.startswith(b"SQLite format 3") and dice.random() < 0.7:
            mutate_cells(path, dice)
        else:
            path.write_bytes(mutated(raw, dice))
    for path in files:
        os.utime(path, (LONG_AGO, LONG_AGO))
    return scenario, damaged


def _read_everything(home: Path, *, search: bool) -> None:
    warnings: list[str] = []
    history = History(home=home, env={}, warn=warnings.append)
    for unit in history.units():
        main, *within = history.read(unit)
        for transcript in (main, *within):
            _encodes(msgspec.json.encode(transcript.session))
            for seq, event in enumerate(transcript.events):
                assert event.seq == seq
                assert event == msgspec.json.decode(msgspec.json.encode(event), type=type(event))
                msgspec.msgpack.encode(event)
        health = main.session.integrity or Integrity()
        if not health.unreadable:
            _lines_add_up(unit.parts or (unit.path,), health)
    if search:
        for hit in history.search("the"):
            _encodes(msgspec.json.encode(hit))
    assert all("\n" not in line for line in warnings)


def _encodes(raw: bytes) -> None:
    raw.decode("utf-8")


def _lines_add_up(parts: tuple[str, ...], health: Integrity) -> None:
    """Every line that is not blank is a record or counted, and the session says the count."""
    if not all(".jsonl" in part for part in parts):
        return  # documents and databases have no lines
    dropped = 0
    for part in parts:
        counted = Integrity()
        kept = sum(1 for _ in read_jsonl(part, counted))
        dropped += counted.dropped
        raw = Path(part).read_bytes()
        if not raw.startswith(PACKED_MAGIC):
            assert kept + counted.dropped == _written_lines(raw), "lines do not add up"
    assert health.dropped == dropped, f"session says {health.dropped} dropped of {dropped}"


@contextmanager
def _limit(seconds: int) -> Iterator[None]:
    """Raise :class:`TimeoutError` in the block when it takes longer."""

    def ring(_signal: int, _frame: FrameType | None) -> None:
        raise TimeoutError(f"longer than {seconds} s")

    before: Callable[..., object] | int | None = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("shard", range(4))
def test_damaged_files_account_for_every_line(shard: int, tmp_path: Path) -> None:
    sources = [
        path for scenario in scenarios() for path in sorted(scenario.folder.rglob("*.jsonl*"))
    ]
    path = tmp_path / "damaged.jsonl"
    for case in range(FILES // 40):
        dice = random.Random(f"records-{SEED}-{shard}-{case}")
        raw = mutated(dice.choice(sources).read_bytes(), dice)
        path.write_bytes(raw)
        os.utime(path, (LONG_AGO, LONG_AGO))
        found, health = list[Record](), Integrity()
        with _limit(SECONDS):
            try:
                found.extend(read_jsonl(path, health))
            except SourceError:
                assert raw.startswith(PACKED_MAGIC)
        for record in found:
            msgspec.json.encode(record.data)
            msgspec.msgpack.encode(record.data)
        if not raw.startswith(PACKED_MAGIC):
            assert len(found) + health.dropped == _written_lines(raw)


def _written_lines(raw: bytes) -> int:
    """Count the lines that are not blank."""
    return sum(1 for line in raw.removeprefix(b"\xef\xbb\xbf").split(b"\n") if line.strip())
