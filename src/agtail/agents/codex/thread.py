"""Facts about a thread, as the first record of its rollout states them."""

from __future__ import annotations

from agtail.agents.base import Meta, text_of
from agtail.agents.codex.lines import mapping
from agtail.records import Json

_PROGRAMS = ("codex_exec", "codex_sdk_", "codex_python_sdk")
_PEOPLE = frozenset({"codex-tui", "codex_vscode", "Codex Desktop"})


def facts(payload: Json, copied: str | None) -> Meta:
    """Read a ``session_meta``.

    Args:
        payload: its payload, or the whole first line of the first generation.
        copied: the thread whose records the file begins with, when it does; versions up to
            0.98 do not state a fork otherwise.
    """
    thread = text_of(payload, "id") or text_of(payload, "session_id")
    base = text_of(mapping(payload, "history_base"), "thread_id")
    fork = text_of(payload, "forked_from_id") or copied or (base if base != thread else "")
    parent = parent_of(payload)
    root = text_of(payload, "session_id")
    return Meta(
        id=thread or None,
        cwd=text_of(payload, "cwd") or None,
        git_branch=text_of(mapping(payload, "git"), "branch") or None,
        version=text_of(payload, "cli_version") or None,
        origin=text_of(payload, "originator") or None,
        programmatic=_programmatic(payload),
        parent_id=parent or None,
        parent_agent_id=parent if parent and root not in ("", parent) else None,
        agent_name=_agent_name(payload) or None,
        fork_of=fork or None,
        started=text_of(payload, "timestamp") or None,
    )


def parent_of(payload: Json) -> str:
    """Return the thread that spawned this one, empty for a session of its own."""
    spawn = mapping(mapping(mapping(payload, "source"), "subagent"), "thread_spawn")
    return text_of(payload, "parent_thread_id") or text_of(spawn, "parent_thread_id")


def _agent_name(payload: Json) -> str:
    """Name a subagent: its nickname, its role, or what the program made it for."""
    source = mapping(payload, "source").get("subagent")
    if isinstance(source, str):
        return source
    if not isinstance(source, dict):
        return text_of(payload, "agent_nickname")
    spawn = mapping(source, "thread_spawn")
    names = [
        text_of(place, key)
        for key in ("agent_nickname", "agent_role")
        for place in (payload, spawn)
    ]
    return next(filter(None, names), text_of(source, "other"))


def _programmatic(payload: Json) -> bool | None:
    """Whether a program started the thread; ``None`` where the record does not tell."""
    source, originator = payload.get("source"), text_of(payload, "originator")
    if source in ("exec", "mcp") or originator.startswith(_PROGRAMS):
        return True
    return False if source in ("cli", "vscode") or originator in _PEOPLE else None
