from __future__ import annotations

from collections.abc import Callable

import pytest

from agtail.cli.wording import Wording, blob, caveats, launcher, short_id, size
from agtail.model import Blob, Integrity, Session

Sessions = Callable[..., Session]


def text(session: Session) -> str:
    return "".join(span.text for span in caveats(session))


@pytest.mark.parametrize(
    ("session_id", "short"),
    [
        ("11111111-aaaa-4000", "11111111"),
        ("agent-a1b2c3d4e5f6", "agent-a1b2c3d4"),
        ("ses_0123456789", "ses_01234567"),
        ("abcdefab-cdef", "abcdefab"),
        ("x", "x"),
        ("11111111-aaaa#toolu_0123456789", "11111111#toolu_01234567"),
    ],
)
def test_short_ids_are_beginnings_that_tell_sessions_apart(session_id: str, short: str) -> None:
    assert short_id(session_id) == short


def test_references(wording: Wording) -> None:
    assert wording.reference("claude-code", "11111111-aaaa", 12) == "claude:11111111#12"
    assert wording.reference("codex", "11111111-aaaa", whole=True) == "codex:11111111-aaaa"
    assert wording.reference("another", "11111111-aaaa") == "another:11111111"


@pytest.mark.parametrize(
    ("time", "ts", "shown"),
    [
        (1777622402000, "2026-05-01T08:00:02Z", "05-01 08:00:02"),
        (None, None, "        "),
        (None, "", "        "),
        (None, "neither a date nor short", "neither a date nor "),
        (10**17, "2026-05-01", "2026-05-01"),
    ],
)
def test_times(wording: Wording, time: int | None, ts: str | None, shown: str) -> None:
    assert wording.time(time, ts) == shown


def test_times_are_local_unless_utc_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    import time  # noqa: PLC0415

    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        assert Wording({}).time(1777622402000, None) == "05-01 17:00:02"
        assert Wording({}, utc=True).time(1777622402000, None) == "05-01 08:00:02"
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/home/someone", "~"),
        ("/home/someone/pears", "~/pears"),
        ("/home/someoneelse", "/home/someoneelse"),
        ("", "?"),
        (None, "?"),
    ],
)
def test_paths(wording: Wording, path: str | None, shown: str) -> None:
    assert wording.path(path) == shown


@pytest.mark.parametrize(
    ("count", "shown"),
    [(0, "0 B"), (999, "999 B"), (1234, "1.2 kB"), (5_600_000, "5.6 MB"), (7e9, "7.0 GB")],
)
def test_sizes(count: int, shown: str) -> None:
    assert size(count) == shown


def test_blobs() -> None:
    assert blob(Blob(media_type="image/png", size=1234)) == "image/png 1.2 kB"
    assert blob(Blob(name="notes.pdf", url="https://pears.example")) == (
        "file notes.pdf https://pears.example"
    )


def test_a_clean_session_has_no_caveats(session: Sessions) -> None:
    assert text(session()) == ""
    assert launcher(session()) == ""


def test_launchers(session: Sessions) -> None:
    assert launcher(session(programmatic=True)) == "🤖 programmatic"
    assert launcher(session(programmatic=True, origin="sdk-py")) == "🤖 sdk-py"
    assert launcher(session(programmatic=False, origin="cli")) == ""


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        (
            {"integrity": Integrity(dropped=3, truncated=True)},
            "⚠ 3 lines unreadable · cut mid-write",
        ),
        ({"integrity": Integrity(dropped=1)}, "⚠ 1 line unreadable"),
        ({"integrity": Integrity(invalid_bytes=2)}, "⚠ 2 bytes not UTF-8"),
        (
            {"integrity": Integrity(unreadable="permission denied", size=1234)},
            "✗ unreadable: permission denied · 1.2 kB",
        ),
        ({"source_gone": True}, "⚠ source deleted"),
        ({"ending": "interrupted"}, "⏹ interrupted"),
        ({"ending": "limit"}, "⏹ output limit"),
        ({"ending": "error"}, "⏹ error"),
        ({"compactions": 2}, "⇲ compacted ×2"),
        ({"branches": 1}, "⟲ 1 abandoned branch"),
        ({"branches": 2}, "⟲ 2 abandoned branches"),
        ({"fork_of": "c1c1c1c1-0001"}, "⑂ fork of c1c1c1c1"),
        (
            {"fork_of": "c1c1c1c1-0001", "inherited_events": 40},
            "⑂ fork of c1c1c1c1 (40 inherited)",
        ),
        ({"ending": "error", "compactions": 1}, "⏹ error  ⇲ compacted ×1"),
    ],
)
def test_caveats(session: Sessions, fields: dict[str, object], said: str) -> None:
    assert text(session(**fields)) == said
