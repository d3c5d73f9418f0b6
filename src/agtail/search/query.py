"""The question: every filter of a search, checked once, then applied to sources and events.

The command line, the Python API and the page all ask through :meth:`Query.of`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable
from datetime import UTC
from typing import Final, Literal, Protocol, cast, get_args

import msgspec

from agtail.agents import agent_ids
from agtail.agents.base import Unit
from agtail.errors import ChoiceError, CountError
from agtail.instants import parse_bound
from agtail.model import ENDINGS, KINDS, Session
from agtail.search.fold import fold
from agtail.search.pattern import (
    Find,
    glob,
    has_capital,
    literal,
    regular_expression,
    well_formed,
)
from agtail.search.snippet import Span

Case = Literal["ignore", "match", "smart"]
Choice = Literal["all", "only", "none"]

LOCAL: Final = "@local"
"""The source that stands for this machine: no collection can be called so."""

_CASES: Final[tuple[str, ...]] = get_args(Case)
_CHOICES: Final[tuple[str, ...]] = get_args(Choice)
_WHOLE_NUMBER = re.compile(r"[0-9]{1,18}")


class Filterable(Protocol):
    """What the filters on events look at: an event, or what an index knows of one."""

    @property
    def kind(self) -> str:
        """As in :class:`~agtail.model.Event`, like all that follow."""
        ...

    @property
    def tool(self) -> str | None:
        """Name of the tool."""
        ...

    @property
    def time(self) -> int | None:
        """Instant in UTC milliseconds."""
        ...

    @property
    def inherited(self) -> bool:
        """A copy."""
        ...

    @property
    def bookkeeping(self) -> bool:
        """State of the agent's own."""
        ...


class Query(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """A compiled question. Made by :meth:`of`; the same question finds the same events always.

    Attributes:
        pattern: what to look for; the empty pattern is in every event.
        regex: the pattern is an RE2 expression.
        sensitive: whether case counts.
        agents, kinds: any of these; empty for all.
        tools, models: globs, any of these; empty for all.
        cwds: any of these texts within the working directory, folded; empty for all.
        since, until: first and last UTC millisecond.
        source: a collection of the import store, or :data:`LOCAL`; empty for all.
        archived, programmatic: take ``all``, ``only`` or ``none`` of such sessions.
        damaged, compacted: likewise.
        endings: any of these ways in which the last turn ended; empty for all.
        inherited: find copies of events that another session owns, too.
        limit: stop after so many; 0 for no limit.
        rank: the best hits first instead of the newest.
    """

    pattern: str
    regex: bool
    sensitive: bool
    agents: frozenset[str]
    tools: tuple[str, ...]
    kinds: frozenset[str]
    models: tuple[str, ...]
    cwds: tuple[str, ...]
    since: int | None
    until: int | None
    source: str
    archived: Choice
    programmatic: Choice
    damaged: Choice
    compacted: Choice
    endings: frozenset[str]
    inherited: bool
    limit: int
    rank: bool

    @classmethod
    def of(
        cls,
        pattern: str = "",
        *,
        regex: bool = False,
        case: str = "ignore",
        agents: str | Iterable[str] = (),
        tools: str | Iterable[str] = (),
        kinds: str | Iterable[str] = (),
        models: str | Iterable[str] = (),
        cwds: str | Iterable[str] = (),
        since: str | None = None,
        until: str | None = None,
        utc: bool = False,
        source: str | None = None,
        archived: str = "all",
        programmatic: str = "all",
        damaged: str = "all",
        compacted: str = "all",
        endings: str | Iterable[str] = (),
        inherited: bool = False,
        limit: int | str = 0,
        rank: bool = False,
    ) -> Query:
        r"""Compile a question from the words in which a user puts it.

        Args:
            pattern: literal text, or an RE2 expression with ``regex``.
            regex: read the pattern as an expression.
            case: ``ignore``, ``match``, or ``smart``: case counts when the pattern holds an
                upper-case letter (escapes such as ``\S`` aside).
            agents: agent ids; in one string, or several, separated by commas.
            tools: globs of tool names, ``*`` being the only wildcard; only tool calls match.
            kinds: event kinds; in one string, or several, separated by commas.
            models: globs of model ids; a session matches that used one of them.
            cwds: parts of the working directory, case ignored.
            since: a date or time as :func:`agtail.instants.parse_bound` reads it, included.
            until: likewise; a date means its last millisecond.
            utc: days are those of UTC rather than local ones.
            source: name of an import collection, or ``@local`` for what was not imported.
            archived: ``all``, ``only`` or ``none``.
            programmatic: ``all``, ``only`` or ``none``.
            damaged: likewise; sessions of which a part could not be read.
            compacted: likewise; sessions whose context was summarised.
            endings: ``interrupted``, ``limit`` or ``error``: how the last turn ended; in one
                string, or several, separated by commas.
            inherited: include copies of events that another session owns.
            limit: a whole number, 0 for no limit.
            rank: order hits by BM25, the best first.

        Raises:
            UsageError: a value is wrong; the message says which and what would be right.
        """
        pattern = well_formed(pattern)
        _choose("case", case, _CASES)
        sensitive = case == "match" or (case == "smart" and has_capital(pattern, regex=regex))
        zone = UTC if utc else None
        query = cls(
            pattern=pattern,
            regex=regex,
            sensitive=sensitive,
            agents=frozenset(_names("agent", agents, agent_ids())),
            tools=_listed(tools),
            kinds=frozenset(_names("kind", kinds, KINDS)),
            models=_listed(models),
            cwds=tuple(map(fold, _listed(cwds))),
            since=parse_bound(since, end=False, zone=zone) if since else None,
            until=parse_bound(until, end=True, zone=zone) if until else None,
            source=well_formed(source or ""),
            archived=_choice("archived", archived),
            programmatic=_choice("programmatic", programmatic),
            damaged=_choice("damaged", damaged),
            compacted=_choice("compacted", compacted),
            endings=frozenset(_names("ending", endings, ENDINGS)),
            inherited=inherited,
            limit=_whole_number("limit", limit),
            rank=rank,
        )
        # A pattern that does not compile is a mistake in the question: say so now.
        _ = query._find
        return query

    def wants_unit(self, unit: Unit) -> bool:
        """Tell whether a source may hold something, by what is known without reading it."""
        if self.agents and unit.agent not in self.agents:
            return False
        # Only the record itself can say that a session is archived after all.
        if self.archived == "none" and unit.archived:
            return False
        return self._wants_source(unit.imported_from)

    def wants_session(self, session: Session) -> bool:
        """Tell whether a session passes the filters that are about sessions.

        A session whose format does not say whether a program started it counts as started by
        a human; one without a recorded folder or model fails a filter on that.
        """
        if self.agents and session.agent not in self.agents:
            return False
        if not _passes(self.archived, marked=session.archived):
            return False
        if not _passes(self.programmatic, marked=bool(session.programmatic)):
            return False
        if not _passes(self.damaged, marked=session.integrity is not None):
            return False
        if not _passes(self.compacted, marked=bool(session.compactions)):
            return False
        if self.endings and session.ending not in self.endings:
            return False
        if self.models and not any(map(self._fits_model, session.models)):
            return False
        if self.cwds:
            folder = fold(session.cwd or "")
            if not any(part in folder for part in self.cwds):
                return False
        return self._wants_source(session.imported_from)

    @property
    def about_sessions(self) -> bool:
        """Whether any filter is about sessions: if not, all of them are wanted."""
        return bool(
            self.agents
            or self.models
            or self.cwds
            or self.source
            or self.archived != "all"
            or self.programmatic != "all"
            or self.damaged != "all"
            or self.compacted != "all"
            or self.endings
        )

    def overlaps(self, session: Session) -> bool:
        """Tell whether a session was active between ``since`` and ``until``.

        One whose records have no readable time passes only when ``since`` is not asked for.
        """
        started, ended = session.started_time, session.ended_time
        return (self.since is None or (ended is not None and ended >= self.since)) and (
            self.until is None or started is None or started <= self.until
        )

    def wants_event(self, event: Filterable) -> bool:
        """Tell whether an event passes the filters that are about events, the pattern aside.

        An event without a readable time passes ``since`` and ``until``. The agent's own
        bookkeeping is looked at only when its kind is asked for.
        """
        if event.inherited and not self.inherited:
            return False
        if event.bookkeeping and event.kind not in self.kinds:
            return False
        if self.tools and not (
            event.kind == "tool_use" and event.tool is not None and self._fits_tool(event.tool)
        ):
            return False
        if self.kinds and event.kind not in self.kinds:
            return False
        time = event.time
        return time is None or (
            (self.since is None or time >= self.since)
            and (self.until is None or time <= self.until)
        )

    def find(self, haystack: str) -> Span | None:
        """Return where the pattern matches first, as code points from and to (exclusive)."""
        return self._find(haystack)

    def occurrences(self, haystack: str) -> int:
        """Count how often the pattern matches, one match not reaching into the next."""
        count = at = 0
        while (found := self._find(haystack[at:] if at else haystack)) is not None:
            count += 1
            at += max(found[1], 1)
            if at > len(haystack):
                break
        return count

    @functools.cached_property
    def _find(self) -> Find:
        compiler = regular_expression if self.regex else literal
        return compiler(self.pattern, sensitive=self.sensitive)

    @functools.cached_property
    def _fits_tool(self) -> Callable[[str], bool]:
        return glob(self.tools)

    @functools.cached_property
    def _fits_model(self) -> Callable[[str], bool]:
        return glob(self.models)

    def _wants_source(self, imported_from: str | None) -> bool:
        if not self.source:
            return True
        return imported_from == (None if self.source == LOCAL else self.source)


def _passes(choice: Choice, *, marked: bool) -> bool:
    return choice == "all" or marked == (choice == "only")


def _listed(values: str | Iterable[str]) -> tuple[str, ...]:
    return tuple(map(well_formed, (values,) if isinstance(values, str) else values))


def _names(what: str, values: str | Iterable[str], valid: Iterable[str]) -> list[str]:
    """Split at commas and check; a text without any name in it asks for nothing."""
    valid = list(valid)
    names = []
    for value in _listed(values):
        if value.strip():
            names += [name.strip() for name in value.split(",")]
    for name in names:
        _choose(what, name, valid)
    return names


def _choose(what: str, value: str, valid: Iterable[str]) -> None:
    if value not in valid:
        raise ChoiceError(what, value, valid)


def _choice(what: str, value: str) -> Choice:
    _choose(what, value, _CHOICES)
    return cast("Choice", value)


def _whole_number(what: str, value: int | str) -> int:
    if isinstance(value, int):
        number = value
    else:
        digits = value.strip()
        number = int(digits) if _WHOLE_NUMBER.fullmatch(digits) else -1
    if number < 0:
        raise CountError(what, value)
    return number
