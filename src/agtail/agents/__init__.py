"""The registry: one explicit line per coding agent, loaded when it is first needed."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, cast

from agtail.errors import UnknownAgentError

if TYPE_CHECKING:
    from agtail.agents.base import Adapter

_ADAPTERS = {
    "claude-code": "agtail.agents.claude_code.adapter:ClaudeCode",
    "codex": "agtail.agents.codex.adapter:Codex",
    "pi": "agtail.agents.pi.adapter:Pi",
    "gemini-cli": "agtail.agents.gemini_cli.adapter:GeminiCli",
    "omp": "agtail.agents.omp.adapter:Omp",
}


def agent_ids() -> list[str]:
    """Return the ids of all agents, in order of registration."""
    return list(_ADAPTERS)


def adapter_class(agent: str) -> type[Adapter]:
    """Load the adapter of an agent.

    Raises:
        UnknownAgentError: no adapter has that id.
    """
    try:
        module, _, name = _ADAPTERS[agent].partition(":")
    except KeyError:
        raise UnknownAgentError(agent, _ADAPTERS) from None
    return cast("type[Adapter]", getattr(importlib.import_module(module), name))
