"""Measures agtail on a generated history, beside what else is installed, in one run.

``python bench/run.py --megabytes 1000`` makes the history (kept in ``bench/data``), measures with
a warm page cache, prints a table and writes it to ``bench/results``. Beside agtail: ripgrep when
``rg`` is there, and agentsview when ``--agentsview PATH`` names its program.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import sys
from datetime import UTC, datetime
from pathlib import Path

from generate import COMMON, RARE, generate
from growing import NEEDLE, add_line, long_session
from processes import Measured, environment, folder_bytes, measure, run_once

HERE = Path(__file__).parent
AGTAIL = str(Path(sys.executable).with_name("agtail"))
NONE = "no such phrase anywhere"
HARD = "the of and to in"
TARGETS = {
    "grep RARE": "≤ 0.150 s at 1 GB",
    "grep COMMON --limit 50": "≤ 0.200 s",
    "grep COMMON -c": "≥ 500 MB/s of text",
    "list": "≤ 0.150 s over 5,000 sessions",
    "stats": "≤ 0.150 s over 5,000 sessions",
    "one line added to 100 MB, then grep": "≤ 0.250 s",
    "--version": "≤ 0.060 s",
}


def main() -> None:
    """Measure and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=300)
    parser.add_argument("--cjk", type=float, default=0.1)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--label", default="store", help="ends the name of the result file")
    parser.add_argument("--agentsview", help="the program, when it is to be measured as well")
    parser.add_argument("--scan", action="store_true", help="measure the scan without store, too")
    asked = parser.parse_args()
    home, counts = prepared(asked.megabytes, asked.cjk)
    facts, measured = ours(home, counts, asked.runs, scan=asked.scan)
    measured += growing(asked.runs)
    measured += ripgrep(home, asked.runs)
    if asked.agentsview:
        more, peers = agentsview(asked.agentsview, home, counts, asked.runs)
        facts += more
        measured += peers
    report = table(facts, measured, counts, asked.runs)
    print(report)
    results = HERE / "results"
    results.mkdir(exist_ok=True)
    day = datetime.now(UTC).date().isoformat()
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


def ours(
    home: Path, counts: dict[str, int], runs: int, *, scan: bool
) -> tuple[list[str], list[Measured]]:
    """Measure agtail: first the index, then questions, then the raw archive."""
    data = HERE / "data" / "store"
    shutil.rmtree(data, ignore_errors=True)
    config = data / "config" / "agtail" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('archive = "off"\n', encoding="utf-8")
    env = environment(HOME=str(home), XDG_DATA_HOME=str(data), XDG_CONFIG_HOME=str(data / "config"))
    run_once("warm", [AGTAIL, "--no-store", "list", "--limit", "1"], env)
    index = measure("first index", [AGTAIL, "index", "refresh"], env, 1, warm=False)
    store = data / "agtail" / "store"
    raw = counts["bytes"]
    size = folder_bytes(store)
    facts = [
        (
            f"first index: {index.median:.1f} s, {raw / 1e6 / index.median:.0f} MB/s of raw, "
            f"peak {index.megabytes:.0f} MB over all processes (target ≥ 60 MB/s, ≤ 400 MB)"
        ),
        f"store: {size / 1e6:.0f} MB, {100 * size / raw:.1f} % of raw (target ≤ 30 %)",
    ]
    questions = {
        "--version": ["--version"],
        "grep RARE": ["grep", RARE],
        "grep NONE": ["grep", NONE],
        "grep hard phrase": ["grep", HARD],
        "grep COMMON --limit 50": ["grep", COMMON, "--limit", "50"],
        "grep COMMON -c": ["grep", COMMON, "-c"],
        "grep --regex": ["grep", "--regex", rf"{RARE.split()[0]}\w*"],
        "list": ["list"],
        "stats": ["stats"],
    }
    measured = [
        measure(f"agtail {name}", [AGTAIL, *line], env, runs) for name, line in questions.items()
    ]
    if scan:
        line = [AGTAIL, "--no-store", "grep", RARE]
        measured.append(measure("agtail --no-store grep RARE", line, env, 1))
    config.write_text('archive = "all"\n', encoding="utf-8")
    kept = measure("archive", [AGTAIL, "index", "refresh"], env, 1, warm=False)
    archive = folder_bytes(store / "archive")
    facts.append(
        f"raw archive: {archive / 1e6:.0f} MB, {100 * archive / raw:.1f} % of raw, made in "
        f"{kept.median:.1f} s (target ≤ 15 % on text-heavy histories)"
    )
    return facts, measured


def growing(runs: int) -> list[Measured]:
    """Measure a refresh and a search after one line was added to a session of 100 MB."""
    home = HERE / "data" / "growing"
    shutil.rmtree(home, ignore_errors=True)
    path = long_session(home, 100)
    env = environment(HOME=str(home), XDG_DATA_HOME=str(home / "data"))
    run_once("index", [AGTAIL, "grep", NEEDLE], env)
    seconds, peak, lines = list[float](), 0.0, 0
    for _ in range(runs + 1):
        add_line(path)
        taken, memory, lines = run_once("added", [AGTAIL, "grep", NEEDLE], env)
        seconds.append(taken)
        peak = max(peak, memory)
    shutil.rmtree(home)
    name = "agtail one line added to 100 MB, then grep"
    return [Measured(name, seconds[1:], peak, lines)]


def ripgrep(home: Path, runs: int) -> list[Measured]:
    """Measure ripgrep over the raw files, when it is there."""
    rg = shutil.which("rg")
    if rg is None:
        return []
    env = environment()
    return [
        measure(f"rg -uu -c {name}", [rg, "-uu", "-c", text, str(home)], env, runs)
        for name, text in (("RARE", RARE), ("COMMON", COMMON))
    ]


def agentsview(
    program: str, home: Path, counts: dict[str, int], runs: int
) -> tuple[list[str], list[Measured]]:
    """Measure agentsview, offline and without its server, on the same files."""
    data = HERE / "data" / "agentsview"
    shutil.rmtree(data, ignore_errors=True)
    data.mkdir(parents=True)
    for folder in (".claude", ".codex"):
        if (home / folder).exists():
            (data / folder).symlink_to(home / folder)
    env = environment(
        HOME=str(data),
        AGENTSVIEW_NO_DAEMON="1",
        AGENTSVIEW_TELEMETRY_ENABLED="false",
        AGENTSVIEW_DISABLE_UPDATE_CHECK="1",
    )
    index = measure("agentsview sync", [program, "sync"], env, 1, warm=False)
    size = folder_bytes(data / ".agentsview") if (data / ".agentsview").exists() else 0
    raw = counts["bytes"]
    everything = ["--include-automated", "--include-children", "--include-one-shot"]
    search = [program, "session", "search", RARE, *everything]
    facts = [
        (
            f"agentsview first sync: {index.median:.1f} s, {raw / 1e6 / index.median:.0f} MB/s, "
            f"peak {index.megabytes:.0f} MB; its store {size / 1e6:.0f} MB, "
            f"{100 * size / raw:.0f} % of raw"
        )
    ]
    return facts, [measure("agentsview session search RARE", search, env, runs)]


def table(facts: list[str], measured: list[Measured], counts: dict[str, int], runs: int) -> str:
    """Lay the numbers out as Markdown."""
    base = next((each.median for each in measured if each.name == "rg -uu -c RARE"), None)
    lines = [
        f"# {datetime.now(UTC).date().isoformat()}",
        "",
        (
            f"{counts['bytes'] / 1e6:,.0f} MB in {counts['files']:,} files, "
            f"{counts['sessions']:,} sessions without subagents, {counts['records']:,} records; "
            f"{os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}; "
            f"whole processes, warm page cache, medians of {runs} runs."
        ),
        "",
        *(f"- {fact}" for fact in facts),
        "",
        "| command | median | fastest | peak memory | lines printed | times rg | target |",
        "|---|---|---|---|---|---|---|",
    ]
    for each in measured:
        ratio = f"{each.median / base:.1f}" if base else "no rg"
        target = TARGETS.get(each.name.removeprefix("agtail "), "")
        lines.append(
            f"| `{each.name}` | {each.median:.3f} s | {min(each.seconds):.3f} s "
            f"| {each.megabytes:.0f} MB | {each.lines:,} | {ratio} | {target} |"
        )
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    main()
