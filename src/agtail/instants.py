"""Instants: recorded times read as UTC milliseconds, and the dates that people ask for."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, tzinfo

from agtail.errors import DateError

_RELATIVE = re.compile(r"(\d{1,6})\s*(m|min|h|d|w)")
_UNITS = {
    "m": timedelta(minutes=1),
    "min": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
    "w": timedelta(weeks=1),
}
_DATE_ONLY = re.compile(r"\d{4}-\d{2}-\d{2}")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_DAY = timedelta(days=1)


def parse_instant(text: str | None) -> int | None:
    """Read a recorded ISO time as UTC milliseconds since 1970; ``None`` when it is none.

    A time without offset counts as UTC, which is what the agents write.
    """
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return (moment - _EPOCH) // _MILLISECOND
    except (ValueError, OverflowError):
        return None


def parse_bound(
    text: str, *, end: bool, zone: tzinfo | None = None, now: datetime | None = None
) -> int:
    """Read a ``--since`` or ``--until`` value as UTC milliseconds.

    Accepts an ISO date (the whole day in ``zone``, the local zone by default: its first
    millisecond, or its last when ``end``), an ISO time with or without offset, ``today``,
    ``yesterday``, ``now``, and ages such as ``30m``, ``3h``, ``2d``, ``1w``.

    Raises:
        DateError: the text is none of these.
    """
    asked = text.strip().lower()
    current = now or datetime.now(UTC)
    if asked == "now":
        return _milliseconds(current)
    if age := _RELATIVE.fullmatch(asked):
        try:
            return _milliseconds(current - int(age[1]) * _UNITS[age[2]])
        except OverflowError:
            raise DateError(text) from None
    try:
        if asked in ("today", "yesterday"):
            day = current.astimezone(zone).replace(tzinfo=None) - (
                _DAY if asked == "yesterday" else timedelta()
            )
            return _day_bound(day.replace(hour=0, minute=0, second=0, microsecond=0), end, zone)
        if _DATE_ONLY.fullmatch(asked):
            return _day_bound(datetime.fromisoformat(asked), end, zone)
        moment = datetime.fromisoformat(text.strip())
        return _milliseconds(_localized(moment, zone))
    except (ValueError, OverflowError):
        raise DateError(text) from None


def _day_bound(midnight: datetime, end: bool, zone: tzinfo | None) -> int:
    """Return the first or the last millisecond of a day, however long it is there."""
    if end:
        return _milliseconds(_localized(midnight + _DAY, zone)) - 1
    return _milliseconds(_localized(midnight, zone))


def _localized(moment: datetime, zone: tzinfo | None) -> datetime:
    if moment.tzinfo is not None:
        return moment
    return moment.astimezone(UTC) if zone is None else moment.replace(tzinfo=zone)


def _milliseconds(moment: datetime) -> int:
    return (moment.astimezone(UTC) - _EPOCH) // _MILLISECOND
