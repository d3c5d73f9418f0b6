"""What is known of Codex without looking at the disk."""

from __future__ import annotations

from agtail.agents.harness import Harness, Location, Variable

HARNESS = Harness(
    id="codex",
    name="codex",
    title="Codex",
    where="~/.codex/sessions",
    versions="0.8.0 to 0.171.0",
    evidence="run",
    locations=(
        Location(
            pattern="~/.codex/sessions/*/*/*/rollout-*.jsonl",
            holds="sessions",
            format="jsonl",
            note="folders for year, month and day; idle ones .jsonl.zst; a rewind adds a file",
        ),
        Location(
            pattern="~/.codex/archived_sessions/rollout-*.jsonl",
            holds="sessions",
            format="jsonl",
            note="rollouts of archived threads, without folders",
        ),
        Location(
            pattern="~/.codex/session_index.jsonl",
            holds="index",
            format="jsonl",
            note="names that were given to threads; the last one counts",
        ),
        Location(
            pattern="~/.codex/state_*.sqlite",
            holds="index",
            format="sqlite",
            note="threads: the name a human gave; the number is the schema's",
        ),
        Location(
            pattern="~/.codex/history.jsonl",
            holds="history",
            format="jsonl",
            note="prompts of all projects",
        ),
    ),
    variables=(Variable("CODEX_HOME", "in place of ~/.codex"),),
    binaries=("codex",),
    resume=("codex", "resume", "{id}"),
    headless=("codex", "exec", "--skip-git-repo-check", "{prompt}"),
    headless_json=("--json",),
)
"""An archived thread has to be unarchived before it is resumed."""
