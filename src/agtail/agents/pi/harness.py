"""What is known of Pi without looking at the disk."""

from __future__ import annotations

from agtail.agents.harness import Harness, Location, Variable

HARNESS = Harness(
    id="pi",
    name="pi",
    title="Pi",
    where="~/.pi/agent/sessions",
    versions="0.13.2 to 1.6.0",
    evidence="run",
    locations=(
        Location(
            pattern="~/.pi/agent/sessions/*/*.jsonl",
            holds="sessions",
            format="jsonl",
            note="a folder a project: -- in front and behind, every /, \\ and : becomes -",
        ),
    ),
    variables=(
        Variable("PI_CODING_AGENT_DIR", "in place of ~/.pi/agent"),
        Variable("PI_CODING_AGENT_SESSION_DIR", "the folder of sessions itself"),
    ),
    binaries=("pi",),
    marks=("PI_CODING_AGENT", "PI_SESSION_ID", "PI_SESSION_FILE"),
    resume=("pi", "--session", "{id}"),
    headless=("pi", "-p", "{prompt}"),
    headless_json=("--mode", "json"),
)
