"""The words that commands share: names, times, paths, sizes, and what is odd about a session."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from agtail.cli.terminal import AMBER, DIM, RED, Line, Span
from agtail.model import Blob, Session

TIMES = "\N{MULTIPLICATION SIGN}"
NO_TIME = " " * 8
TIME_WIDTH = len("MM-DD HH:MM:SS")

# Some ids begin with a word that all of them share, such as ``agent-`` or ``ses_``.
_SHARED_WORD = re.compile(r"[A-Za-z]{1,6}[-_]")
_ENDINGS = {"interrupted": "interrupted", "limit": "output limit", "error": "error"}


class Wording:
    """How one run writes agents, times and paths.

    Args:
        names: short name by agent id.
        utc: show times in UTC; in the local zone otherwise.
        home: the folder to write as ``~``.
    """

    def __init__(
        self, names: Mapping[str, str], *, utc: bool = False, home: str | None = None
    ) -> None:
        self._names = names
        self._zone = UTC if utc else None
        self._home = (os.path.expanduser("~") if home is None else home).rstrip("/")

    def agent(self, agent: str) -> str:
        """Return the short name of an agent."""
        return self._names.get(agent, agent)

    def reference(
        self, agent: str, session_id: str, seq: int | None = None, *, whole: bool = False
    ) -> str:
        """Name a session, or one of its events, so that ``agtail show`` takes it."""
        suffix = "" if seq is None else f"#{seq}"
        return f"{self.agent(agent)}:{session_id if whole else short_id(session_id)}{suffix}"

    def time(self, time: int | None, ts: str | None) -> str:
        """Write an instant as month, day and time; what cannot be read as it was recorded."""
        if time is not None:
            try:
                return datetime.fromtimestamp(time / 1000, self._zone).strftime("%m-%d %H:%M:%S")
            except (ValueError, OverflowError, OSError):
                pass
        return ts[:19] if ts else NO_TIME

    def path(self, path: str | None) -> str:
        """Write a folder with ``~`` for the home directory; ``?`` when it is not known."""
        if not path:
            return "?"
        if self._home and (path == self._home or path.startswith(f"{self._home}/")):
            return "~" + path[len(self._home) :]
        return path


def short_id(session_id: str) -> str:
    """Return the beginning of an id that tells sessions apart: eight characters.

    A leading word such as ``agent-`` does not count. The id of a session within another's file
    consists of two, with ``#`` between, and both are shortened.
    """
    return "#".join(map(_short, session_id.split("#")))


def _short(session_id: str) -> str:
    word = _SHARED_WORD.match(session_id)
    return session_id[: (word.end() if word else 0) + 8]


def flat(text: str) -> str:
    """Write a text on one line."""
    return text.replace("\r\n", " ").replace("\n", " ")


def size(count: int) -> str:
    """Write a number of bytes for people."""
    value = float(count)
    for unit in ("B", "kB", "MB"):
        if value < 1000:
            return f"{count} B" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"


def plural(count: int, word: str) -> str:
    """Write a count with its noun."""
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def blob(image: Blob) -> str:
    """Name an image or document that was cut out of an event."""
    parts = [
        image.media_type or "file",
        size(image.size) if image.size is not None else "",
        image.name or "",
        image.url or "",
    ]
    return " ".join(filter(None, parts))


def launcher(session: Session) -> str:
    """Say that a program started the session, and which; empty when none did."""
    return f"🤖 {session.origin or 'programmatic'}" if session.programmatic else ""


def caveats(session: Session) -> Line:
    """List what a reader must know about a session; empty for an ordinary one."""
    line: Line = []
    for span in _caveats(session):
        if line:
            line.append(Span("  "))
        line.append(span)
    return line


def _caveats(session: Session) -> Iterator[Span]:
    health = session.integrity
    if health is not None:
        if health.unreadable:
            known = f" · {size(health.size)}" if health.size is not None else ""
            yield Span(f"✗ unreadable: {health.unreadable}{known}", RED)
        losses = []
        if health.dropped:
            losses.append(f"{plural(health.dropped, 'line')} unreadable")
        if health.truncated:
            losses.append("cut mid-write")
        if health.invalid_bytes:
            losses.append(f"{plural(health.invalid_bytes, 'byte')} not UTF-8")
        if losses:
            yield Span(f"⚠ {' · '.join(losses)}", RED)
    if session.source_gone:
        yield Span("⚠ source deleted", RED)
    if session.ending:
        yield Span(f"⏹ {_ENDINGS[session.ending]}", AMBER)
    if session.compactions:
        yield Span(f"⇲ compacted {TIMES}{session.compactions}", DIM)
    if session.branches:
        noun = "branch" if session.branches == 1 else "branches"
        yield Span(f"⟲ {session.branches:,} abandoned {noun}", DIM)
    if session.fork_of:
        copied = f" ({session.inherited_events:,} inherited)" if session.inherited_events else ""
        yield Span(f"⑂ fork of {short_id(session.fork_of)}{copied}", DIM)
