"""What a corpus scenario's ``expected.json`` demands, compared with what agtail reads."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from agtail.assemble import Transcript
from agtail.history import History
from agtail.model import Event, Usage, encode

_TOKENS = {
    "input": "input_tokens",
    "cacheRead": "cache_read_tokens",
    "cacheWrite": "cache_creation_tokens",
    "output": "output_tokens",
    "reasoning": "reasoning_tokens",
}


def check_scenario(agent: str, folder: Path) -> list[str]:
    """Read a copy of a scenario and return the differences, one a line.

    Args:
        agent: id of the adapter to test, alone.
        folder: the scenario, with its ``expected.json``.
    """
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory(prefix="agtail-") as temporary:
        copy = Path(temporary).resolve() / "home"
        shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("expected.json"))
        home = copy / expected["home"]
        history = History(home=home, env={}, agents=[agent])
        found = list(history.transcripts())
        return [*_compare_sessions(expected["sessions"], found, copy)]


def _compare_sessions(
    expected: list[dict[str, Any]], found: list[Transcript], copy: Path
) -> Iterator[str]:
    left = list(found)
    for wanted in expected:
        transcript = next((each for each in left if _is(wanted, each, copy)), None)
        if transcript is None:
            yield f"{wanted['id']}: no such session"
            continue
        left.remove(transcript)
        for field in _FIELDS.keys() & wanted.keys():
            got, value = _FIELDS[field](transcript), wanted[field]
            if field == "tokens":
                got = {key: got[key] for key in value}
            elif field == "tools":
                value = [(tool["name"], tool["isError"]) for tool in value]
            if got != value:
                yield f"{wanted['id']}: {field} is {got!r}, not {value!r}"
        if "ending" not in wanted and transcript.session.ending is not None:
            yield f"{wanted['id']}: ending is {transcript.session.ending!r}, not absent"
        yield from _compare_texts(wanted, transcript)
    for transcript in left:
        yield f"{transcript.session.id}: not a session ({transcript.session.path})"


def _is(wanted: dict[str, Any], transcript: Transcript, copy: Path) -> bool:
    """Match by id, or (formats without ids) by file and parent."""
    session = transcript.session
    if session.id == wanted["id"]:
        return True
    files = {str(copy / file.partition("#")[0]) for file in wanted.get("files", [])}
    derived = "#" in wanted["id"] and session.parent_id == wanted.get("parentId")
    return derived and session.path in files and session.parent_id is not None


def _compare_texts(wanted: dict[str, Any], transcript: Transcript) -> Iterator[str]:
    """Every text has to stand in an event of the session's own, and no absent one may."""
    own = [event for event in transcript.events if not event.inherited and not event.bookkeeping]
    said = "\n".join(json.dumps(json.loads(encode(event)), ensure_ascii=False) for event in own)
    for text in wanted.get("texts", []):
        if json.dumps(text, ensure_ascii=False)[1:-1] not in said:
            yield f"{wanted['id']}: text not found: {text!r}"
    for text in wanted.get("absent", []):
        if any(_says(event, text) for event in own):
            yield f"{wanted['id']}: text of another session found: {text!r}"


def _says(event: Event, text: str) -> bool:
    return event.kind in ("text", "thinking", "tool_use") and text in (event.text or "")


def _own(transcript: Transcript, kind: str, role: str | None = None) -> list[Event]:
    return [
        event
        for event in transcript.events
        if event.kind == kind and not event.inherited and role in (None, event.role)
    ]


def _tools(transcript: Transcript) -> list[tuple[str, bool | None]]:
    return [
        (event.tool or "", event.result.is_error if event.result else None)
        for event in _own(transcript, "tool_use")
    ]


def _tokens(transcript: Transcript) -> dict[str, int]:
    usage = transcript.session.usage or Usage()
    return {name: getattr(usage, field) or 0 for name, field in _TOKENS.items()}


def _images(transcript: Transcript) -> int:
    return sum(len(event.images) for event in transcript.events if not event.inherited)


_FIELDS: dict[str, Callable[[Transcript], Any]] = {
    "cwd": lambda it: it.session.cwd,
    "title": lambda it: it.session.title,
    "gitBranch": lambda it: it.session.git_branch,
    "version": lambda it: it.session.version,
    "models": lambda it: it.session.models,
    "userMessages": lambda it: len(_own(it, "text", "user")),
    "assistantMessages": lambda it: len(_own(it, "text", "assistant")),
    "thinking": lambda it: len(_own(it, "thinking")),
    "tools": _tools,
    "tokens": _tokens,
    "parentId": lambda it: it.session.parent_id,
    "agentName": lambda it: it.session.agent_name,
    "forkOf": lambda it: it.session.fork_of,
    "programmatic": lambda it: it.session.programmatic,
    "origin": lambda it: it.session.origin,
    "archived": lambda it: it.session.archived,
    "ending": lambda it: it.session.ending,
    "compactions": lambda it: it.session.compactions,
    "inheritedEvents": lambda it: it.session.inherited_events,
    "branches": lambda it: it.session.branches,
    "images": _images,
    "hooks": lambda it: len(_own(it, "hook")),
    "droppedLines": lambda it: it.session.integrity.dropped if it.session.integrity else 0,
    "truncated": lambda it: bool(it.session.integrity and it.session.integrity.truncated),
}
