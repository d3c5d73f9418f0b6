"""The coding agents that agtail knows: where they write, how to go back, what is on this machine.

:func:`harnesses` is data that needs no look at the disk; :func:`presences` looks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agtail.agents import agent_ids, harness_of
from agtail.agents.harness import Harness, Location, Variable
from agtail.model import Wire

if TYPE_CHECKING:
    from agtail.history import History

__all__ = ["Harness", "Location", "Presence", "Variable", "harness", "harnesses", "presences"]


class Presence(Wire, kw_only=True):
    """What there is of an agent on this machine.

    Attributes:
        harness: what is known of it anyway.
        present: whether there is anything of it.
        roots: the folders (or databases) that are looked into, and whether they are there.
        sessions: sessions, subagents included; imported ones and kept ones as well.
        subagents: those of them that are subagents.
        bytes: what the files hold that these sessions are read from, imported ones aside.
        last_time: end of the latest session, UTC milliseconds.
    """

    harness: Harness
    present: bool
    roots: dict[str, bool]
    sessions: int = 0
    subagents: int = 0
    bytes: int = 0
    last_time: int | None = None


def harness(agent: str) -> Harness:
    """Return what is known of an agent.

    Raises:
        UnknownAgentError: no agent has that id.

    >>> harness("codex").resume_command("0199")
    ['codex', 'resume', '0199']
    """
    return harness_of(agent)


def harnesses() -> list[Harness]:
    """Return what is known of all agents, in order of registration."""
    return [harness_of(agent) for agent in agent_ids()]


def presences(history: History) -> list[Presence]:
    """Look for the agents of a history on this machine, in order of registration.

    >>> from agtail import History
    >>> [(each.harness.id, each.sessions) for each in presences(History.sample())][:2]
    [('claude-code', 5), ('codex', 2)]
    """
    found = {}
    for agent in history.agents:
        adapter = history.adapter(agent)
        places = adapter.find(lambda _error: None)
        roots = {str(root): root.exists() for root in adapter.roots()}
        found[agent] = Presence(
            harness=harness_of(agent),
            present=any(roots.values()),
            roots=roots,
            bytes=sum(
                file.size for place in places if place.imported_from is None for file in place.files
            ),
        )
    for session in history.sessions():
        here = found[session.agent]
        here.present = True
        here.sessions += 1
        here.subagents += session.is_subagent
        if session.ended_time is not None:
            here.last_time = max(here.last_time or 0, session.ended_time)
    return list(found.values())
