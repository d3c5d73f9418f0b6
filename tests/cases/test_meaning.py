"""Public reports about titles, days, branches, prompts, and words that were not found."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from claude_home import Session, read, transcripts, write
from codex_home import Rollout, texts
from codex_home import read as read_codex

from agtail.history import History


def agtail(home: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run the command line over a home."""
    return subprocess.run(
        [sys.executable, "-m", "agtail", *arguments],
        env={"HOME": str(home), "PATH": os.environ["PATH"], **env},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


@pytest.mark.parametrize(
    ("zone", "day", "days"),
    [
        ("America/Los_Angeles", "2026-05-03", 1),
        ("America/Los_Angeles", "2026-05-04", 0),
        ("UTC", "2026-05-04", 1),
        ("UTC", "2026-05-03", 0),
        ("Asia/Tokyo", "2026-05-04", 1),
    ],
)
def test_an_evening_belongs_to_the_day_it_was_there(
    tmp_path: Path, zone: str, day: str, days: int
) -> None:
    """https://github.com/ccusage/ccusage/issues/349: evening work landed on the next day."""
    session = Session()
    session.user("Look at the orchard", timestamp="2026-05-04T03:30:00.000Z")
    write(tmp_path, session)
    listed = agtail(tmp_path, "list", "--since", day, "--until", day, "--json", TZ=zone)
    assert len(listed.stdout.splitlines()) == days
    in_utc = agtail(tmp_path, "list", "--since", day, "--until", day, "--utc", "--json", TZ=zone)
    assert len(in_utc.stdout.splitlines()) == (day == "2026-05-04")


def test_a_title_is_what_a_human_typed(tmp_path: Path) -> None:
    """https://github.com/d-kimuson/claude-code-viewer/issues/150: two thirds were caveats."""
    session = Session()
    session.state("file-history-snapshot", messageId="m1", snapshot={"trackedFileBackups": {}})
    session.add("progress", data={"type": "hook_progress", "hookEvent": "SessionStart"})
    session.user(
        "<local-command-caveat>Caveat: The messages below…</local-command-caveat>", isMeta=True
    )
    session.user("<command-name>/clear</command-name><command-args></command-args>")
    session.user("<local-command-stdout></local-command-stdout>")
    session.user(
        [
            {"type": "text", "text": "<system-reminder>As you answer…</system-reminder>"},
            {"type": "text", "text": "Prune the apple trees"},
        ]
    )
    session.say("Pruning.")
    assert read(tmp_path, session).session.title == "Prune the apple trees"


def test_a_title_never_comes_from_a_woven_in_reminder(tmp_path: Path) -> None:
    """https://github.com/d-kimuson/claude-code-viewer/issues/150, the form with one string."""
    session = Session()
    session.user("<system-reminder>\nAs you answer…\n</system-reminder>\nPrune the apple trees")
    session.say("Pruning.")
    assert read(tmp_path, session).session.title == "Prune the apple trees"


def test_rewound_messages_are_kept_found_and_marked(tmp_path: Path) -> None:
    """https://github.com/backnotprop/plannotator/pull/1141: they appeared as current."""
    session = Session()
    session.user("Look at the orchard")
    fork = session.say("It has 12 trees.")["uuid"]
    session.user("Cut them all down")
    session.say("Cutting them down now.")
    session.parent = fork
    session.user("Prune them")
    session.say("Pruning them now.")
    session.state("last-prompt", lastPrompt="Prune them")
    found = read(tmp_path, session)
    said = {event.text: event.rewound for event in found.events if event.kind == "text"}
    assert said == {
        "Look at the orchard": False,
        "It has 12 trees.": False,
        "Cut them all down": True,
        "Cutting them down now.": True,
        "Prune them": False,
        "Pruning them now.": False,
    }
    assert found.session.branches == 1
    (hit,) = History(home=tmp_path, env={}).search("cutting them")
    assert hit.rewound


def test_a_prompt_may_stand_only_among_the_models_items(tmp_path: Path) -> None:
    """https://github.com/siteboon/claudecodeui/issues/1205: prompts vanished after a reload."""
    rollout = Rollout(cli_version="0.147.0")
    rollout.user(
        "<environment_context>\n<cwd>/home/dev/app</cwd>\n</environment_context>", shown=False
    )
    rollout.user("# AGENTS.md instructions for /home/dev/app\n\nBe kind.", shown=False)
    rollout.user("Prune the apple trees", shown=False)
    rollout.assistant("Pruning.")
    found = read_codex(tmp_path, rollout)
    assert texts(found, "text", "user") == ["Prune the apple trees"]
    assert found.session.title == "Prune the apple trees"
    assert any("Be kind." in (event.text or "") for event in found.events if event.kind == "system")


PHRASES = (
    "修复登录页面的错误并部署到生产环境",
    "ログイン画面を直してデプロイする",
    "로그인 화면을 고치고 배포한다",
    'mail @nasa about a=b, foo&bar, 50%, it\'s src/app/main.py -- "quoted" (x) [y] {z} *.py ^$ a|b',
    "renameUserAccountServiceFactoryImpl",
    "Größe und Straße, naïve café",
    "C:\\Users\\dev\\app\\n.txt",
)


@pytest.mark.parametrize(
    "wanted",
    [
        *("登录页面", "生产环境", "到生", "画面を", "デプロイ", "화면을", "배포"),
        *("@nasa", "a=b", "foo&bar", "50%", "it's", "src/app/main.py", "--", '"quoted"', "(x)"),
        *("[y]", "{z}", "*.py", "^$", "a|b", "AccountService", "serviceFACTORY", "straße", "naïve"),
        *("C:\\Users", "\\n.txt", "app\\n"),
    ],
)
def test_text_is_found_as_it_is_written(tmp_path: Path, wanted: str) -> None:
    """https://github.com/tommy0103/obelisk/issues/9 and
    https://github.com/calebevans/mulder/issues/152: words within words, and punctuation."""
    session = Session()
    for phrase in PHRASES:
        session.user(phrase)
    write(tmp_path, session)
    holding = [phrase for phrase in PHRASES if wanted.casefold() in phrase.casefold()]
    assert len(holding) == 1
    hits = list(History(home=tmp_path, env={}).search(wanted))
    assert [PHRASES[hit.seq] for hit in hits] == holding


@pytest.mark.parametrize("pattern", ["(", "[a", "*", "(?<=a)b", "\\"])
def test_a_bad_expression_is_an_error_and_never_no_result(tmp_path: Path, pattern: str) -> None:
    """https://github.com/calebevans/mulder/issues/152: a syntax error was reported as 0 hits."""
    done = agtail(tmp_path, "grep", "--regex", pattern)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "Traceback" not in done.stderr


def test_nothing_found_and_nothing_there_are_no_errors(tmp_path: Path) -> None:
    """https://github.com/calebevans/mulder/issues/152: 0 hits mean that nothing fits."""
    done = agtail(tmp_path, "grep", "orchard")
    assert (done.returncode, done.stderr) == (1, "no matches\n")


def test_a_session_without_times_is_listed_by_its_files_time(tmp_path: Path) -> None:
    """https://github.com/kenn-io/agentsview/pull/1322: dates of 1970, dropped as invalid."""
    session = Session()
    session.user("Look at the orchard", timestamp="yesterday at noon")
    session.say("It has 12 trees.")["timestamp"] = 12345
    write(tmp_path, session)
    found = transcripts(tmp_path)["s1"].session
    assert found.started is None
    assert found.order == found.mtime > 0
    assert found.messages == 2
