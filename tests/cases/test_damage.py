"""Public reports about bytes, types and sizes that nobody expected."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest
from claude_home import LONG_AGO, Session, read, transcripts, write

from agtail.history import History


def damaged(home: Path, raw: bytes) -> Path:
    """Write the bytes of a session that nobody writes any more."""
    path = home / ".claude" / "projects" / "-home-dev-app" / "s1.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(raw)
    os.utime(path, (LONG_AGO, LONG_AGO))
    return path


def lines(*texts: str) -> list[bytes]:
    session = Session()
    for text in texts:
        session.user(text)
    return [json.dumps(line, ensure_ascii=False).encode() for line in session.lines]


def test_one_bad_byte_costs_one_character(tmp_path: Path) -> None:
    """https://github.com/git-ai-project/git-ai/pull/2268: it blocked a session for ever."""
    first, second, third = lines("before", "in the middle", "after")
    damaged(tmp_path, b"\n".join([first, second.replace(b"the", b"th\xff"), third, b""]))
    found = transcripts(tmp_path)["s1"]
    assert [event.text for event in found.events] == ["before", "in th\ufffd middle", "after"]
    assert found.session.integrity is not None
    assert found.session.integrity.invalid_bytes == 1
    assert found.session.integrity.dropped == 0


def test_half_a_record_is_waited_for_and_then_read(tmp_path: Path) -> None:
    """https://github.com/QwenLM/qwen-code/issues/6316: the last record was lost."""
    first, second = lines("before", "after")
    path = damaged(tmp_path, first + b"\n" + second[:50])
    os.utime(path, (time.time(), time.time()))
    waiting = transcripts(tmp_path)["s1"]
    assert [event.text for event in waiting.events] == ["before"]
    assert waiting.session.integrity is None
    with open(path, "ab") as stream:
        stream.write(second[50:] + b"\n")
    assert [event.text for event in transcripts(tmp_path)["s1"].events] == ["before", "after"]


def test_half_a_record_that_nobody_completes_is_told(tmp_path: Path) -> None:
    """https://github.com/QwenLM/qwen-code/issues/6316, the other side of it."""
    first, second = lines("before", "after")
    damaged(tmp_path, first + b"\n" + second[:50])
    health = transcripts(tmp_path)["s1"].session.integrity
    assert health is not None
    assert (health.dropped, health.truncated) == (1, True)


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "utf-8"])
def test_any_text_survives_any_terminal(tmp_path: Path, encoding: str) -> None:
    """https://github.com/simonw/claude-code-transcripts/issues/6: a crash at ``⚙``."""
    write(tmp_path, _session_of_symbols())
    env = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "PYTHONIOENCODING": encoding}
    for command in (["show", "s1"], ["grep", "gear"], ["list"]):
        done = subprocess.run(
            [sys.executable, "-m", "agtail", *command], env=env, capture_output=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, b"")
        assert b"gear" in done.stdout


def test_json_is_utf8_on_every_terminal(tmp_path: Path) -> None:
    """https://github.com/simonw/claude-code-transcripts/issues/6: files are always UTF-8."""
    write(tmp_path, _session_of_symbols())
    env = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "PYTHONIOENCODING": "cp1252"}
    done = subprocess.run(
        [sys.executable, "-m", "agtail", "list", "--json"],
        env=env,
        capture_output=True,
        check=True,
    )
    assert json.loads(done.stdout.decode("utf-8"))["title"] == "Turn the ⚙ gear 漢字 😀"


def _session_of_symbols() -> Session:
    session = Session()
    session.user("Turn the ⚙ gear 漢字 😀")
    session.say("Turned the ⚙ gear.")
    return session


@pytest.mark.parametrize(
    "record",
    [
        {"type": "atis-latch", "latch": "orchard"},
        {"type": "mode", "mode": "orchard"},
        {"type": "brand-new-record", "payload": {"deep": ["orchard"]}},
        {"type": "attachment", "attachment": {"type": "brand_new", "note": "orchard"}},
        {"type": "system", "subtype": "brand_new", "note": "orchard"},
        {"note": "orchard"},
        {"type": 7, "note": "orchard"},
    ],
)
def test_records_of_tomorrow_are_kept_and_no_error(
    tmp_path: Path, record: dict[str, object]
) -> None:
    """https://github.com/d-kimuson/claude-code-viewer/issues/231: an error banner for each."""
    session = Session()
    session.user("Look")
    session.lines.append(record)
    warnings: list[str] = []
    write(tmp_path, session)
    history = History(home=tmp_path, env={}, warn=warnings.append)
    (found,) = history.transcripts()
    assert warnings == []
    assert found.session.integrity is None
    kept = [event for event in found.events if event.text != "Look"]
    assert len(kept) == 1
    assert b"orchard" in msgspec.json.encode(kept[0])
    assert kept[0].kind in ("unknown", "system")


def test_images_are_cut_out_and_told(tmp_path: Path) -> None:
    """https://github.com/openai/codex/issues/28531: records full of base64 stalled viewers."""
    content = os.urandom(300_000)
    payload = base64.b64encode(content).decode()
    source = {"type": "base64", "media_type": "image/png", "data": payload}
    session = Session()
    session.user([{"type": "text", "text": "What is this?"}, {"type": "image", "source": source}])
    session.call("Read", "toolu_1", file_path="/x.png")
    session.result("toolu_1", [{"type": "image", "source": source}])
    found = read(tmp_path, session)
    assert sum(len(msgspec.json.encode(event)) for event in found.events) < 5000
    for event in (found.events[0], found.events[1]):
        (image,) = event.images
        assert (image.media_type, image.size) == ("image/png", 300_000)
        assert image.sha256 == hashlib.sha256(content).hexdigest()
    history = History(home=tmp_path, env={})
    assert list(history.search(payload[1000:1040])) == []


@pytest.mark.slow
def test_memory_does_not_grow_with_the_history(tmp_path: Path) -> None:
    """https://github.com/Dicklesworthstone/coding_agent_session_search/issues/456: 36.7 GB.

    One session of 120 MB: its events go to a temporary file, and about 48 MB stay.
    """
    session = Session()
    session.user("Look " * 100)
    session.call("Bash", "toolu_0", command="ls")
    session.result("toolu_0", "an output of words " * 100, toolUseResult={"stdout": "x" * 500})
    text = "".join(json.dumps(line) + "\n" for line in session.lines)
    path = tmp_path / ".claude" / "projects" / "-home-dev-app" / "s1.jsonl"
    path.parent.mkdir(parents=True)
    rounds = 120_000_000 // len(text)
    with open(path, "w", encoding="utf-8") as stream:
        stream.writelines(
            text.replace("s1-", f"s1-{number}-").replace("toolu_0", f"t{number}")
            for number in range(rounds)
        )
    program = (
        "import sys\n"
        "from agtail.history import History\n"
        "(found,) = History(home=sys.argv[1], env={}).transcripts()\n"
        "assert found.session.messages == int(sys.argv[2])\n"
        "assert sum(1 for event in found.events if event.result) == int(sys.argv[2])\n"
        "print(open('/proc/self/status').read())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path), str(rounds)],
        check=True,
        capture_output=True,
        text=True,
    )
    (peak,) = re.findall(r"VmHWM:\s*(\d+)", done.stdout)
    assert int(peak) < 220_000
