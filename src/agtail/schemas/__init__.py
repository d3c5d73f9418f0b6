"""Typed shapes of what coding agents write: types and nothing else.

Import from here, as in ``from agtail.schemas import ClaudeSessionEntry``. Nothing of agtail comes
along, and nothing runs: decode a line with any JSON library and say what it is. A field whose
shape moves between versions is typed ``object``; keys that some versions leave out are
``NotRequired``.
"""

# One line an agent, written by docs/generate.py; all names begin with the agent's.
from agtail.agents.claude_code.schema import *  # noqa: F403
from agtail.agents.codex.schema import *  # noqa: F403
from agtail.agents.gemini_cli.schema import *  # noqa: F403
from agtail.agents.omp.schema import *  # noqa: F403
from agtail.agents.pi.schema import *  # noqa: F403
