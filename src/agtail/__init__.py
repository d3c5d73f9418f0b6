"""agtail: every coding agent's history on this machine, in one model, exactly searchable.

The public Python API. Names are loaded when first used, so that importing the package is cheap.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agtail.assemble import Transcript as Transcript
    from agtail.errors import AgtailError as AgtailError
    from agtail.errors import UsageError as UsageError
    from agtail.history import History as History
    from agtail.model import Event as Event
    from agtail.model import Integrity as Integrity
    from agtail.model import Result as Result
    from agtail.model import Session as Session
    from agtail.model import Usage as Usage
    from agtail.search.query import Query as Query
    from agtail.search.scan import Hit as Hit

__version__ = "0.1.0"

_PUBLIC = {
    "AgtailError": "agtail.errors",
    "Event": "agtail.model",
    "History": "agtail.history",
    "Hit": "agtail.search.scan",
    "Integrity": "agtail.model",
    "Query": "agtail.search.query",
    "Result": "agtail.model",
    "Session": "agtail.model",
    "Transcript": "agtail.assemble",
    "Usage": "agtail.model",
    "UsageError": "agtail.errors",
}

__all__ = [  # noqa: PLE0604 - made from the table above, so that no name is listed twice
    *_PUBLIC,
]


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used."""
    try:
        module = _PUBLIC[name]
    except KeyError:
        raise AttributeError(f"module 'agtail' has no attribute {name!r}") from None
    return getattr(importlib.import_module(module), name)
