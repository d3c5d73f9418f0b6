"""What is known of Gemini CLI without looking at the disk."""

from __future__ import annotations

from agtail.agents.harness import Harness, Location, Variable

HARNESS = Harness(
    id="gemini-cli",
    name="gemini",
    title="Gemini CLI",
    where="~/.gemini/tmp",
    versions="0.24.0 to 0.61.0",
    evidence="run",
    locations=(
        Location(
            pattern="~/.gemini/tmp/*/chats/session-*.jsonl",
            holds="sessions",
            format="jsonl",
            note="the folder's name is made of the project's; up to 0.38 the files are .json",
        ),
        Location(
            pattern="~/.gemini/tmp/*/chats/*/*.jsonl",
            holds="sessions",
            format="jsonl",
            note="subagents, in a folder named by the session that they belong to",
        ),
        Location(
            pattern="~/.gemini/tmp/*/.project_root",
            holds="index",
            format="text",
            note="the directory of the project; projects.json has the same the other way round",
        ),
        Location(
            pattern="~/.gemini/tmp/*/logs.json",
            holds="history",
            format="json",
            note="prompts and commands typed in the terminal",
        ),
    ),
    variables=(Variable("GEMINI_CLI_HOME", "in place of the home directory"),),
    binaries=("gemini",),
    marks=("GEMINI_CLI",),
    resume=("gemini", "--resume", "{id}"),
    headless=("gemini", "-p", "{prompt}"),
    headless_json=("--output-format", "json"),
)
