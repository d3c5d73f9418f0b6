"""What is known of Claude Code without looking at the disk."""

from __future__ import annotations

from agtail.agents.harness import Harness, Location, Variable

HARNESS = Harness(
    id="claude-code",
    name="claude",
    title="Claude Code",
    where="~/.claude/projects",
    versions="1.0.88 to 2.1.332",
    evidence="run",
    locations=(
        Location(
            pattern="~/.claude/projects/*/*.jsonl",
            holds="sessions",
            format="jsonl",
            note="a folder a project: every character of its path outside A-Z a-z 0-9 becomes -",
        ),
        Location(
            pattern="~/.claude/projects/*/*/subagents/agent-*.jsonl",
            holds="sessions",
            format="jsonl",
            note="subagents, in a folder named by the session; older ones lie beside it",
        ),
        Location(
            pattern="~/.config/claude/projects/*/*.jsonl",
            holds="sessions",
            format="jsonl",
            systems=("linux", "macos"),
            note="as well as the former; below $XDG_CONFIG_HOME when that is set",
        ),
        Location(
            pattern="~/.claude/history.jsonl",
            holds="history",
            format="jsonl",
            note="prompts of all projects; they outlive the sessions",
        ),
        Location(
            pattern="~/.claude/projects/*/*/tool-results/*",
            holds="files",
            format="text",
            note="whole outputs of tools that a session has only the beginning of",
        ),
    ),
    variables=(
        Variable("CLAUDE_CONFIG_DIR", "in place of ~/.claude"),
        Variable("XDG_CONFIG_HOME", "in place of ~/.config"),
    ),
    binaries=("claude",),
    marks=("CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT"),
    resume=("claude", "--resume", "{id}"),
    headless=("claude", "-p", "{prompt}"),
    headless_json=("--output-format", "json"),
)
"""Subagents cannot be resumed, and a session only from its own directory."""
