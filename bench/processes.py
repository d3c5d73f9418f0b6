"""Runs commands as whole processes: seconds, peak memory of the family, lines printed."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple


class Measured(NamedTuple):
    """One command: its name, seconds of each run, peak megabytes of all its processes, lines."""

    name: str
    seconds: list[float]
    megabytes: float
    lines: int

    @property
    def median(self) -> float:
        """Median of the seconds."""
        return statistics.median(self.seconds)


def measure(
    name: str, command: list[str], env: Mapping[str, str], runs: int = 5, *, warm: bool = True
) -> Measured:
    """Run a command several times; the first run, when ``warm``, only fills the page cache."""
    seconds: list[float] = []
    peak, lines = 0.0, 0
    for _ in range(runs + warm):
        taken, memory, lines = run_once(name, command, env)
        seconds.append(taken)
        peak = max(peak, memory)
    return Measured(name, seconds[warm:], peak, lines)


def run_once(name: str, command: list[str], env: Mapping[str, str]) -> tuple[float, float, int]:
    """Run a command; return seconds, peak megabytes and lines printed."""
    started = time.perf_counter()
    process = subprocess.Popen(
        command, env=dict(env), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    sampler = Sampler(process.pid)
    sampler.start()
    assert process.stdout is not None
    lines = sum(1 for _ in process.stdout)
    code = process.wait()
    taken = time.perf_counter() - started
    sampler.stop()
    if code not in (0, 1):
        sys.exit(f"{name} failed with {code}")
    return taken, sampler.peak, lines


class Sampler(threading.Thread):
    """Samples the memory of a process and its descendants: each page counts once (PSS)."""

    INTERVAL = 0.05

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.peak = 0.0
        self._pid = pid
        self._done = threading.Event()

    def run(self) -> None:
        """Sample until told to stop."""
        while not self._done.wait(self.INTERVAL):
            self.peak = max(self.peak, sum(map(_megabytes, _family(self._pid))))

    def stop(self) -> None:
        """End the sampling."""
        self._done.set()
        self.join()


def _family(pid: int) -> list[int]:
    family = [pid]
    for member in family:
        try:
            children = Path(f"/proc/{member}/task/{member}/children").read_text()
        except OSError:
            continue
        family.extend(int(child) for child in children.split())
    return family


def _megabytes(pid: int) -> float:
    try:
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0.0
    for line in rollup.splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1024
    return 0.0


def folder_bytes(folder: Path) -> int:
    """Return the bytes of all files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def environment(**more: str) -> dict[str, str]:
    """Return a small environment; bytecode is cached, as on a user's machine."""
    return {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", **more}
