"""The registry: one explicit line per coding agent, loaded when it is first needed."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, cast

from agtail.errors import UnknownAgentError

if TYPE_CHECKING:
    from agtail.agents.base import Adapter
    from agtail.agents.harness import Harness

# The package, and its class in the module "adapter"; the package has "harness" and "schema", too.
_AGENTS = {
    "claude-code": "claude_code:ClaudeCode",
    "codex": "codex:Codex",
    "pi": "pi:Pi",
    "gemini-cli": "gemini_cli:GeminiCli",
    "omp": "omp:Omp",
}


def agent_ids() -> list[str]:
    """Return the ids of all agents, in order of registration."""
    return list(_AGENTS)


def package_of(agent: str) -> str:
    """Return the name of an agent's package.

    Raises:
        UnknownAgentError: no agent has that id.
    """
    return f"{__name__}.{_entry(agent)[0]}"


def adapter_class(agent: str) -> type[Adapter]:
    """Load the adapter of an agent.

    Raises:
        UnknownAgentError: no agent has that id.
    """
    module = importlib.import_module(f"{package_of(agent)}.adapter")
    return cast("type[Adapter]", getattr(module, _entry(agent)[1]))


def harness_of(agent: str) -> Harness:
    """Load what is known of an agent.

    Raises:
        UnknownAgentError: no agent has that id.
    """
    module = importlib.import_module(f"{package_of(agent)}.harness")
    return cast("Harness", module.HARNESS)


def _entry(agent: str) -> tuple[str, str]:
    try:
        package, _, name = _AGENTS[agent].partition(":")
    except KeyError:
        raise UnknownAgentError(agent, _AGENTS) from None
    return package, name
