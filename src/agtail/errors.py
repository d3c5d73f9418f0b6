"""Typed errors: each names what went wrong and what to do, in one line.

``AgtailError`` is a run-time failure (exit 1), ``UsageError`` a mistake in what was asked
(exit 2). Subclasses take data, not sentences, so that the wording lives in one place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence


class AgtailError(Exception):
    """A run-time failure; its text is the one line that the user sees."""


class UsageError(AgtailError):
    """The question itself is wrong: a bad flag value, pattern, date or name."""


class RegistrationError(AgtailError):
    """An adapter is put together wrongly; raised when it is registered."""


class SourceError(AgtailError):
    """One source cannot be read; the others can. Carries the reason for the session list."""

    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(f"{path}: {reason}; skipped")


class UnknownAgentError(UsageError):
    """An agent id that no adapter has."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        super().__init__(f"unknown agent: {name} (valid: {', '.join(known)})")


class ChoiceError(UsageError):
    """A value outside a closed list."""

    def __init__(self, what: str, value: str, valid: Iterable[str]) -> None:
        super().__init__(f"unknown {what}: {value} (valid: {', '.join(valid)})")


class DateError(UsageError):
    """A date that no rule reads."""

    def __init__(self, value: str) -> None:
        super().__init__(
            f"not a date: {value} (try 2026-05-04, 2026-05-04T10:30, today, yesterday, 2d, 3h)"
        )


class CountError(UsageError):
    """A number of things that is none."""

    def __init__(self, what: str, value: object) -> None:
        super().__init__(f"{what} must be a whole number from 0 on: {value}")


class PatternError(UsageError):
    """A regular expression that RE2 refuses."""

    def __init__(self, pattern: str, reason: str) -> None:
        super().__init__(f"bad regular expression {pattern!r}: {reason}")


class SessionNotFoundError(AgtailError):
    """No session has that id, prefix or path."""

    def __init__(self, reference: str) -> None:
        super().__init__(f"no matching session: {reference} (agtail list shows them)")


class AmbiguousSessionError(AgtailError):
    """Several sessions fit; the candidates are listed."""

    def __init__(self, reference: str, candidates: Sequence[str]) -> None:
        self.candidates = list(candidates)
        listed = ", ".join(candidates[:10]) + (" …" if len(candidates) > 10 else "")
        super().__init__(f"{reference} fits {len(candidates)} sessions: {listed}")


class EventNotFoundError(AgtailError):
    """A session has no event with that number."""

    def __init__(self, reference: str, seq: int, count: int) -> None:
        super().__init__(f"{reference} has no event {seq} (it has 0 to {count - 1})")


class StoreError(AgtailError):
    """The store cannot be used or written; the history itself still can."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason} (--no-store searches without it)")


class StoreMissingError(AgtailError):
    """Nothing was stored so far, so there is nothing to look after."""

    def __init__(self, path: str) -> None:
        super().__init__(f"{path}: no store yet (agtail index refresh makes one)")


class ArchiveError(AgtailError):
    """Something cannot be kept in the archive, or is not to be had from it."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"archive: {path}: {reason}")


class SettingsError(UsageError):
    """The settings file says something that is none; the valid values are listed."""

    def __init__(self, path: str, problem: str, valid: Iterable[str] = ()) -> None:
        listed = ", ".join(valid)
        super().__init__(f"{path}: {problem}" + (f" (valid: {listed})" if listed else ""))
