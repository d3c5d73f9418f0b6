"""What Pi puts into a prompt, so that it is not taken for what a human typed."""

from __future__ import annotations

import re

_INJECTED = re.compile(
    r'\A\s*(?:<skill name="[^"]*" location="[^"]*">.*?</skill>|<file name="[^"]*">.*?</file>)',
    re.DOTALL,
)


def split(prompt: str) -> tuple[str, str]:
    r"""Divide a prompt into what was put in front (skills, files) and what was typed.

    >>> split('<file name="/a">x</file>\nWhat is this?')
    ('<file name="/a">x</file>', 'What is this?')
    """
    end = 0
    while match := _INJECTED.match(prompt[end:]):
        end += match.end()
    return prompt[:end].strip(), prompt[end:].strip() if end else prompt
