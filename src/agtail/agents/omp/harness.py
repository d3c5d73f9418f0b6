"""What is known of Oh My Pi without looking at the disk."""

from __future__ import annotations

from agtail.agents.harness import Harness, Location, Variable

HARNESS = Harness(
    id="omp",
    name="omp",
    title="Oh My Pi",
    where="~/.omp/agent/sessions",
    versions="18.2.3",
    evidence="run",
    locations=(
        Location(
            pattern="~/.omp/agent/sessions/*/*.jsonl",
            holds="sessions",
            format="jsonl",
            note="subagents lie in a folder named like the session's file",
        ),
        Location(
            pattern="~/.omp/profiles/*/agent/sessions/*/*.jsonl",
            holds="sessions",
            format="jsonl",
            note="the same for each profile",
        ),
        Location(
            pattern="~/.omp/agent/custom-session-files/*",
            holds="index",
            format="text",
            note="paths of sessions that the user put elsewhere",
        ),
        Location(
            pattern="~/.omp/agent/history.db",
            holds="history",
            format="sqlite",
            note="prompts typed in the terminal, and titles",
        ),
        Location(
            pattern="~/.omp/agent/blobs/*",
            holds="files",
            format="binary",
            note="large images, by SHA-256",
        ),
    ),
    variables=(
        Variable("PI_CODING_AGENT_DIR", "in place of ~/.omp/agent; Pi has the same variable"),
        Variable("PI_CONFIG_DIR", "another folder than .omp"),
        Variable("OMP_PROFILE", "the profile in use; those of all profiles are read"),
        Variable("XDG_DATA_HOME", "omp below it, when that is there"),
        Variable("XDG_STATE_HOME", "omp below it holds paths of sessions put elsewhere"),
    ),
    binaries=("omp",),
    marks=("OMP_PROFILE", "PI_CODING_AGENT_DIR"),
    resume=("omp", "-r", "{id}"),
    headless=("omp", "-p", "{prompt}"),
    headless_json=("--mode", "json"),
)
