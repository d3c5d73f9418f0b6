"""The coding agents that agtail knows: where they write, how to go back, what moves their files.

Data that needs no look at the disk; ``agtail agents`` puts what is on this machine beside it.
"""

from __future__ import annotations

from agtail.agents import agent_ids, harness_of
from agtail.agents.harness import Harness, Location, Variable

__all__ = ["Harness", "Location", "Variable", "harness", "harnesses"]


def harness(agent: str) -> Harness:
    """Return what is known of an agent.

    Raises:
        UnknownAgentError: no agent has that id.

    >>> harness("codex").resume_command("0199")
    ['codex', 'resume', '0199']
    """
    return harness_of(agent)


def harnesses() -> list[Harness]:
    """Return all of them, in order of registration."""
    return [harness_of(agent) for agent in agent_ids()]
