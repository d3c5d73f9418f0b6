"""Recorded times, and the dates that people ask for."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agtail.errors import DateError
from agtail.instants import parse_bound, parse_instant

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
DAY = 86_400_000
BERLIN = ZoneInfo("Europe/Berlin")


def ms(*parts: int) -> int:
    return round(datetime(*parts, tzinfo=UTC).timestamp() * 1000)  # type: ignore[misc, arg-type]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-05-04T10:30:12.345Z", ms(2026, 5, 4, 10, 30, 12) + 345),
        ("2026-05-04t10:30:12.345z", ms(2026, 5, 4, 10, 30, 12) + 345),
        ("2026-05-04T10:30:12,345Z", ms(2026, 5, 4, 10, 30, 12) + 345),
        ("2026-05-04 10:30:12.3Z", ms(2026, 5, 4, 10, 30, 12) + 300),
        ("2026-05-04T10:30:12.345999999Z", ms(2026, 5, 4, 10, 30, 12) + 345),
        ("2026-05-04T10:30:12", ms(2026, 5, 4, 10, 30, 12)),
        ("2026-05-04T10:30", ms(2026, 5, 4, 10, 30)),
        ("2026-05-04T10:30:12+09:00", ms(2026, 5, 4, 1, 30, 12)),
        ("2026-05-04T10:30:12-0330", ms(2026, 5, 4, 14, 0, 12)),
        ("2026-05-04T10:30:12+09", ms(2026, 5, 4, 1, 30, 12)),
        ("2026-05-04", ms(2026, 5, 4)),
        (" 2026-05-04\n", ms(2026, 5, 4)),
        ("20260504", ms(2026, 5, 4)),
        ("20260504T103012Z", ms(2026, 5, 4, 10, 30, 12)),
        ("20260504T103012.5+0900", ms(2026, 5, 4, 1, 30, 12) + 500),
        ("2024-02-29T00:00:00Z", ms(2024, 2, 29)),
        ("1969-12-31T23:59:59.999Z", -1),
        ("0001-01-01T00:00:00+14:00", ms(1, 1, 1) - 14 * 3_600_000),
        ("9999-12-31T23:59:59-12:00", ms(9999, 12, 31, 23, 59, 59) + 12 * 3_600_000),
        ("1777890612", 1_777_890_612_000),
        ("1777890612.5", 1_777_890_612_500),
        ("1777890612.34567", 1_777_890_612_345),
        ("1777890612345", 1_777_890_612_345),
        ("1777890612345.9", 1_777_890_612_345),
        # Python would read this one as a quarter to midnight in the year 1712.
        ("1712011512345", 1_712_011_512_345),
    ],
)
def test_recorded_times(text: str, expected: int) -> None:
    assert parse_instant(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "garbage",
        "2026-13-01",
        "2026-02-30",
        "2023-02-29",
        "0000-01-01",
        "10000-01-01",
        "2026-05-04T25:00",
        "2026-05-04T10:30:60Z",
        "2026-05-04T10:30+25:00",
        "2026-05",
        "2026",
        "12345",
        "177789061",
        "17778906123456789",
        "202605041",
        "２０２６-05-04",
        "１７７７８９０６１２",
        "2026-05-04T10:30:00Zzz",
        "2026-05-04�",
        "\x00",
        "now",
        "2d",
    ],
)
def test_what_is_no_recorded_time(text: str) -> None:
    assert parse_instant(text) is None


def test_no_time_is_none() -> None:
    assert parse_instant(None) is None


@given(
    st.datetimes(
        min_value=datetime(2, 1, 1),  # noqa: DTZ001 - the strategy adds the zone
        max_value=datetime(9998, 1, 1),  # noqa: DTZ001 - as above
        timezones=st.integers(-14 * 60, 14 * 60).map(lambda m: timezone(timedelta(minutes=m))),
    )
)
def test_every_written_time_comes_back(moment: datetime) -> None:
    expected = (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)
    assert parse_instant(moment.isoformat()) == expected


@given(st.text(st.characters() | st.sampled_from("0123456789-:TZ.+ "), max_size=30))
def test_any_text_is_an_instant_or_none(text: str) -> None:
    instant = parse_instant(text)
    assert instant is None or isinstance(instant, int)
    for end in (False, True):
        try:
            bound = parse_bound(text, end=end)
        except DateError:
            continue
        assert isinstance(bound, int)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("now", ms(2026, 5, 4, 12)),
        (" NOW ", ms(2026, 5, 4, 12)),
        ("30m", ms(2026, 5, 4, 11, 30)),
        ("30min", ms(2026, 5, 4, 11, 30)),
        ("3h", ms(2026, 5, 4, 9)),
        ("2d", ms(2026, 5, 2, 12)),
        ("2 D", ms(2026, 5, 2, 12)),
        ("1w", ms(2026, 4, 27, 12)),
        ("0d", ms(2026, 5, 4, 12)),
        ("2026-05-04T10:30", ms(2026, 5, 4, 10, 30)),
        ("2026-05-04 10:30:15.250", ms(2026, 5, 4, 10, 30, 15) + 250),
        ("2026-05-04t10:30z", ms(2026, 5, 4, 10, 30)),
        ("2026-05-04T10:30+09:00", ms(2026, 5, 4, 1, 30)),
    ],
)
def test_a_moment_is_the_same_for_both_bounds(text: str, expected: int) -> None:
    for end in (False, True):
        assert parse_bound(text, end=end, zone=UTC, now=NOON) == expected


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("2026-05-04", ms(2026, 5, 4)),
        ("2024-02-29", ms(2024, 2, 29)),
        ("today", ms(2026, 5, 4)),
        ("Yesterday", ms(2026, 5, 3)),
        ("0001-01-01", ms(1, 1, 1)),
        ("9999-12-31", ms(9999, 12, 31)),
    ],
)
def test_a_date_is_its_whole_day(text: str, first: int) -> None:
    assert parse_bound(text, end=False, zone=UTC, now=NOON) == first
    assert parse_bound(text, end=True, zone=UTC, now=NOON) == first + DAY - 1


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "zzz",
        "2026-13-01",
        "2026-02-30",
        "2023-02-29",
        "2026-5-4",
        "2026",
        "20260504",
        "2026-05-04T",
        "2026-05-04T25:00",
        "2026-05-04x10:30",
        "2026-W19-1",
        "1777890612",
        "２d",
        "2d3h",
        "-2d",
        "1.5h",
        "2y",
        "999999w",
        "9999999d",
        "tomorrow",
        "2026-05-04T10:30Zzz",
    ],
)
def test_what_is_no_date(text: str) -> None:
    for end in (False, True):
        with pytest.raises(DateError, match="not a date"):
            parse_bound(text, end=end, now=NOON)


@pytest.mark.parametrize(
    ("date", "first", "hours"),
    [
        ("2026-03-29", ms(2026, 3, 28, 23), 23),
        ("2026-10-25", ms(2026, 10, 24, 22), 25),
        ("2026-07-01", ms(2026, 6, 30, 22), 24),
    ],
)
def test_days_on_which_clocks_are_changed(date: str, first: int, hours: int) -> None:
    assert parse_bound(date, end=False, zone=BERLIN) == first
    assert parse_bound(date, end=True, zone=BERLIN) == first + hours * 3_600_000 - 1


def test_a_day_that_begins_at_one() -> None:
    """In Sao Paulo clocks went from midnight to one o'clock on 2018-11-04."""
    zone = ZoneInfo("America/Sao_Paulo")
    first = ms(2018, 11, 4, 3)
    assert parse_bound("2018-11-04", end=False, zone=zone) == first
    assert parse_bound("2018-11-03", end=True, zone=zone) == first - 1
    assert parse_bound("2018-11-04", end=True, zone=zone) == first + 23 * 3_600_000 - 1


def test_yesterday_is_the_day_before_here_whatever_its_length() -> None:
    now = datetime(2026, 3, 29, 23, 30, tzinfo=UTC)  # half past one on the 30th in Berlin
    assert parse_bound("today", end=False, zone=BERLIN, now=now) == ms(2026, 3, 29, 22)
    assert parse_bound("yesterday", end=False, zone=BERLIN, now=now) == ms(2026, 3, 28, 23)
    assert parse_bound("yesterday", end=True, zone=BERLIN, now=now) == ms(2026, 3, 29, 22) - 1


@pytest.fixture(params=["Asia/Tokyo", "America/New_York", "UTC"])
def local_zone(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[ZoneInfo]:
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield ZoneInfo(request.param)
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    "text", ["2026-05-04", "2026-03-08", "2026-11-01", "today", "yesterday", "2026-05-04T10:30"]
)
def test_without_a_zone_the_local_one_counts(local_zone: ZoneInfo, text: str) -> None:
    for end in (False, True):
        local = parse_bound(text, end=end, now=NOON)
        assert local == parse_bound(text, end=end, zone=local_zone, now=NOON)


@pytest.mark.usefixtures("local_zone")
def test_the_ends_of_the_calendar_are_dates() -> None:
    assert parse_bound("0001-01-01", end=False) < ms(1, 1, 3)
    assert parse_bound("9999-12-31", end=True) > ms(9999, 12, 31)
