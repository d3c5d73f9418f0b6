"""Whole-process measurements of the command line over a generated home, beside ripgrep.

``python bench/run.py --megabytes 300`` makes the home (kept in ``bench/data``), runs each command
several times with a warm page cache, prints a table and writes it to ``bench/results``.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from generate import COMMON, RARE, generate

HERE = Path(__file__).parent


class Measured(NamedTuple):
    """One command: its name, seconds of each run, peak memory in megabytes, lines it printed."""

    name: str
    seconds: list[float]
    megabytes: float
    lines: int


def main() -> None:
    """Measure and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=300)
    parser.add_argument("--cjk", type=float, default=0.1)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--label", default="foundation", help="ends the name of the result file")
    asked = parser.parse_args()
    home, counts = prepared(asked.megabytes, asked.cjk)
    measured = [measure(name, command, home, asked.runs) for name, command in commands(home)]
    report = table(measured, counts)
    print(report)
    day = datetime.now(UTC).date().isoformat()
    results = HERE / "results"
    results.mkdir(exist_ok=True)
    (results / f"{day}-{asked.label}.md").write_text(report, encoding="utf-8")


def prepared(megabytes: int, cjk: float) -> tuple[Path, dict[str, int]]:
    """Return the home of that size, made when it is not there yet, and what is in it."""
    home = HERE / "data" / f"{megabytes}-{cjk:g}"
    facts = home.with_name(f"{home.name}.json")
    if not facts.exists():
        shutil.rmtree(home, ignore_errors=True)
        counts = generate(home, megabytes=megabytes, cjk=cjk)
        facts.write_text(json.dumps(counts), encoding="utf-8")
    found: dict[str, int] = json.loads(facts.read_text("utf-8"))
    return home, found


def commands(home: Path) -> list[tuple[str, list[str]]]:
    """Return what is measured: a name and a command line each."""
    agtail = str(Path(sys.executable).with_name("agtail"))
    asked = [
        ("agtail --version", [agtail, "--version"]),
        ("agtail list", [agtail, "list"]),
        ("agtail grep RARE", [agtail, "grep", RARE]),
        ("agtail grep COMMON --limit 50", [agtail, "grep", COMMON, "--limit", "50"]),
        ("agtail grep NONE", [agtail, "grep", "no such phrase anywhere"]),
        ("agtail stats", [agtail, "stats"]),
    ]
    if rg := shutil.which("rg"):
        asked.append(("rg -uu RARE", [rg, "-uu", "-c", RARE, str(home)]))
        asked.append(("rg -uu COMMON", [rg, "-uu", "-c", COMMON, str(home)]))
    return asked


def measure(name: str, command: list[str], home: Path, runs: int) -> Measured:
    """Run a command with a home of its own; the first run warms the page cache."""
    env = {"HOME": str(home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    seconds, peak, lines = list[float](), 0.0, 0
    for _ in range(runs + 1):
        started = time.perf_counter()
        process = subprocess.Popen(
            command, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        assert process.stdout is not None
        lines = sum(1 for _ in process.stdout)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds.append(time.perf_counter() - started)
        peak = max(peak, usage.ru_maxrss / (1024 * 1024 if sys.platform == "darwin" else 1024))
        if process.returncode not in (0, 1):
            sys.exit(f"{name} failed with {process.returncode}")
    return Measured(name, seconds[1:], peak, lines)


def table(measured: list[Measured], counts: dict[str, int]) -> str:
    """Lay the numbers out as Markdown."""
    peers = {each.name: statistics.median(each.seconds) for each in measured}
    base = peers.get("rg -uu RARE")
    corpus = (
        f"{counts['bytes'] / 1e6:,.0f} MB in {counts['files']:,} files, {counts['sessions']:,} "
        f"sessions without subagents, {counts['records']:,} records; {os.cpu_count()} cores, "
        f"{platform.system()}, Python {platform.python_version()}; whole processes, warm page "
        f"cache, {len(measured[0].seconds)} runs."
    )
    lines = [
        f"# {datetime.now(UTC).date().isoformat()}",
        "",
        corpus,
        "",
        "| command | median | fastest | peak memory | lines printed | times rg |",
        "|---|---|---|---|---|---|",
    ]
    for each in measured:
        median = peers[each.name]
        ratio = f"{median / base:.1f}" if base else "no rg"
        lines.append(
            f"| `{each.name}` | {median:.3f} s | {min(each.seconds):.3f} s "
            f"| {each.megabytes:.0f} MB | {each.lines:,} | {ratio} |"
        )
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    main()
