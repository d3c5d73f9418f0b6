"""Small homes made of dice: sessions of two agents in many scripts, edits, and questions.

The same seed makes the same home. Each part has dice of its own, so that a home with fewer
sessions or records is the beginning of a larger one.
"""

from __future__ import annotations

import json
import os
import random
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import zstandard
from claude_home import Session
from codex_home import Rollout

from agtail.errors import PatternError
from agtail.instants import parse_instant
from agtail.model import KINDS, Event
from agtail.search.haystack import haystack
from agtail.search.query import Query

Line = dict[str, Any] | str
"""A record, or text that stands in a line as it is."""

LONG_AGO = 1_700_000_000
OTHER_CASE = dict(
    zip("\u2126\u212ak\u212båẞſsςİ\u00b5\u03bc", "ωk\u212aå\u212bßsſΣi\u03bc\u00b5", strict=True)
)
"""Letters whose other case Python's methods do not find, or not as one letter."""

WORDS = (
    *("error:", "disk full", "pears", "Pears", "PEARS", "a=b", "50%", "x", "i", "I", "k", "K", "s"),
    *("app.py", "/home/dev/app.py", "C:\\dev", '{"a": "b"}', "[1]", "\\n", "a.b*c", "ss", "aaaa"),
    *("Straße", "STRAẞE", "STRASSE", "ÉLAN", "élan", "e\u0301lan", "ſoft", "Soft", "ﬁne", "ﬅ", "ﬆ"),
    *(
        "Привет",
        "ПРИВЕТ",
        "мир",
        "ΟΔΥΣΣΕΥΣ",
        "Οδυσσεύς",
        "οδοσ",
        "οδος",
        "µ",
        "μ",
        "\u2126",
        "ΐ",
        "\u1fd3",
    ),
    *(
        "İstanbul",
        "ISTANBUL",
        "istanbul",
        "ısı",
        "ISI",
        "\u212aelvin",
        "kelvin",
        "\u212bse",
        "åse",
        "ǅ",
        "ǆ",
    ),
    *(
        "東京都",
        "東京",
        "漢字",
        "カタカナ",
        "한국어",
        "ＡＢＣ",
        "ａｂｃ",
        "１２３",
        "ᏸ",
        "Ᏸ",
        "ꭰ",
        "Ꭰ",
    ),
    *("👩‍👩‍👧", "🇨🇭", "🙂", "𝔘𝔫𝔦", "𐐀", "𐐨", "שלום", "مرحبا", "ไทย", "हिन्दी", "a\u0308", "\u200b"),
    *(
        "\x00",
        "\x1b[31m",
        "\x7f",
        "\u0085",
        "\u2028",
        "\ufeff",
        "\ufffd",
        "\ud83d",
        "\t",
        "  ",
        "\r\n",
    ),
    *(
        "<system-reminder>",
        "</b>",
        "[Request interrupted by user]",
        "true",
        "null",
        "-1",
        '"',
        "\\",
    ),
)
TOOLS = ("Bash", "Read", "Task", "mcp__db__query", "exec_command", "Größe")
MODELS = ("claude-opus-5-5", "gpt-5.2", "<synthetic>")
FOLDERS = ("/home/dev/app", "/home/dev/Käse", "/srv/東京")
STAMPS = (
    None,
    "",
    "yesterday",
    "2026-05-01T10:00:00Z",
    "1777629600",
    "2026-05-02T23:59:59.999+02:00",
)


class Dice(random.Random):
    """Dice of a home, which has a few words that come again and again."""

    words: Sequence[str] = WORDS


Edit = Callable[[Dice, Path], None]


def text(dice: Dice) -> str:
    """Say something: some words of any script, or a long row of a few."""
    words = [dice.choice(dice.words) for _ in range(dice.choice((1, 2, 3, 6)))]
    if dice.random() < 0.1:
        words *= dice.randint(2, 40)
    said = dice.choice((" ", " ", "\n", "")).join(words)
    return other_case(said, dice) if dice.random() < 0.2 else said


def other_case(said: str, dice: Dice) -> str:
    """Write some letters in the other case; the text keeps its length."""

    def changed(letter: str) -> str:
        if dice.random() < 0.5:
            return letter
        other = OTHER_CASE.get(letter) or dice.choice((letter.upper(), letter.lower()))
        return other if len(other) == 1 else letter

    return "".join(map(changed, said))


def value(dice: Dice, depth: int = 2) -> Any:
    """Make up a JSON value."""
    match dice.randrange(9 if depth else 6):
        case 0:
            return dice.choice((None, True, False, 0, -1, 2**63 - 1, -(2**63), 2**64 - 1))
        case 1:
            return dice.choice((0.1, -0.0, 1e300, 1.5, 5e-324))
        case 6:
            return [value(dice, depth - 1) for _ in range(dice.randrange(3))]
        case 7 | 8:
            return {text(dice)[:8]: value(dice, depth - 1) for _ in range(dice.randrange(3))}
        case _:
            return text(dice)


class Home:
    """Agents' files below a folder, the edits that are made to them, and a clock for their times.

    Args:
        path: the home directory.
        seed: of all that happens in it.
    """

    def __init__(self, path: Path, seed: int) -> None:
        self.path = path
        self.seed = seed
        self.words = random.Random(seed).sample(WORDS, 12)
        self.clock = LONG_AGO
        self.lines: dict[Path, list[Line]] = {}
        self.copied: set[Path] = set()
        self.edited: set[Path] = set()
        self.deleted: dict[Path, bytes] = {}
        self.log: list[str] = []

    def dice(self, *what: object) -> Dice:
        """Return dice for one purpose."""
        dice = Dice(repr((self.seed, *what)))
        dice.words = self.words
        return dice

    def fill(self, sessions: int, records: int) -> None:
        """Write some sessions with about so many records."""
        for number in range(sessions):
            self.add(number, records)

    def add(self, number: int, records: int) -> None:
        """Write one session, maybe with relatives."""
        dice = self.dice("session", number)
        if dice.random() < 0.6:
            self._claude(dice, number, records)
        else:
            self._codex(dice, number, records)

    def edit(self, number: int) -> None:
        """Change something."""
        dice = self.dice("edit", number)
        paths = sorted(path for path in self.lines if path.exists())
        path = dice.choice(paths) if paths else self.path
        edit = dice.choice(self._edits(path))
        if dice.random() < 0.1 or not paths:
            self.log.append(f"add {number}")
            self.add(100 + number, dice.randrange(8))
        elif dice.random() < 0.1 and self.deleted:
            path = dice.choice(sorted(self.deleted))
            self.log.append(f"restore {path.name}")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(self.deleted.pop(path))
            self._stamp(path)
        else:
            self.log.append(f"{edit.__name__} {path.name}")
            self.edited.add(path)
            edit(dice, path)

    def settle(self) -> None:
        """Begin a new round: in each, the content of a file changes once at most."""
        self.edited.clear()

    def write(self, path: Path, lines: list[Line], tail: bytes = b"") -> None:
        """Write a transcript; ``tail`` stands behind the last whole line."""
        self.lines[path] = lines
        path.parent.mkdir(parents=True, exist_ok=True)
        content = b"".join(map(_encoded, lines)) + tail
        if path.suffix == ".zst":
            content = zstandard.ZstdCompressor().compress(content)
        path.write_bytes(content)
        self._stamp(path)

    def _stamp(self, path: Path) -> None:
        """Give a file a time of its own, long ago: nothing is taken for still being written."""
        self.clock += 1
        os.utime(path, (self.clock, self.clock))

    # Sessions

    def _claude(self, dice: Dice, number: int, records: int) -> None:
        projects = self.path / ".claude/projects/-home-dev-app"
        session = Session(f"claude-{number}", **_envelope(dice))
        for _ in range(dice.randint(1, records + 1)):
            claude_record(session, dice)
        path = projects / f"{session.session_id}.jsonl"
        self.write(path, list(session.lines), _torn(dice))
        match dice.randrange(8):
            case 0:  # a fork that copies the beginning
                fork = Session(f"fork-{number}", **session.envelope)
                fork.lines = [
                    {**line, "sessionId": fork.session_id}
                    for line in session.lines[: dice.randint(1, len(session.lines))]
                ]
                fork.parent, fork.count = session.parent, 500
                for _ in range(dice.randint(1, 3)):
                    claude_record(fork, dice)
                self.write(projects / f"{fork.session_id}.jsonl", list(fork.lines))
                self.copied.add(path)
            case 1 | 2:  # a subagent in a file of its own
                agent = Session(session.session_id, agentId="sub", isSidechain=True)
                agent.count = 900
                for _ in range(dice.randint(1, 4)):
                    claude_record(agent, dice)
                folder = projects / session.session_id / "subagents"
                self.write(folder / f"agent-sub{number}.jsonl", list(agent.lines))
                facts = {"agentType": dice.choice(("Explore", "Käse")), "description": text(dice)}
                meta = folder / f"agent-sub{number}.meta.json"
                meta.write_text(json.dumps(facts))
                self._stamp(meta)

    def _codex(self, dice: Dice, number: int, records: int) -> None:
        thread = f"01a22e00-0000-7000-8000-{number:012d}"
        facts: dict[str, Any] = {"originator": dice.choice(("codex_cli_rs", "codex_exec"))}
        rollout = Rollout(thread, meta=dice.random() < 0.9, **facts)
        for _ in range(dice.randint(1, records + 1)):
            codex_record(rollout, dice)
        folder = ".codex/archived_sessions" if dice.random() < 0.2 else ".codex/sessions/2026/05/01"
        path = self.path / folder / (rollout.name + dice.choice(("", "", "", ".zst")))
        self.write(path, list(rollout.lines), _torn(dice))
        if dice.random() < 0.3:
            child = Rollout(
                f"01a22e00-0000-7000-9000-{number:012d}",
                forked_from_id=thread,
                source=dice.choice(("cli", {"subagent": "review"})),
            )
            child.lines += rollout.lines[: dice.randint(1, len(rollout.lines))]
            for _ in range(dice.randint(1, 3)):
                codex_record(child, dice)
            self.write(self.path / ".codex/sessions/2026/05/01" / child.name, list(child.lines))
            self.copied.add(path)

    # Edits

    def _edits(self, path: Path) -> list[Edit]:
        """Return what may happen to a file."""
        edits: list[Edit] = [self._delete, self._move, self._pack, self._touch, self._label]
        if path in self.edited:
            return edits
        edits += [*[self._append] * 3, self._swap, self._shrink]
        # One that was copied from does not grow by losing records.
        return edits if path in self.copied else [*edits, self._rewrite, self._cut]

    def _append(self, dice: Dice, path: Path) -> None:
        lines = self.lines[path]
        added = _claude_lines(dice, lines) if _is_claude(path) else _codex_lines(dice, lines)
        self.write(path, [*lines, *added], _torn(dice))

    def _rewrite(self, dice: Dice, path: Path) -> None:
        """Write other lines: none of what is read on from is where it was."""
        lines = self.lines[path][:-1]
        dice.shuffle(lines)
        if dice.random() < 0.5:
            lines += _claude_lines(dice, []) if _is_claude(path) else _codex_lines(dice, [])
        self.write(path, lines)

    def _swap(self, dice: Dice, path: Path) -> None:
        """Change a letter: the size stays."""
        del dice
        swapped = [
            json.dumps(line) if isinstance(line, dict) else line for line in self.lines[path]
        ]
        self.write(path, [line.replace("pear", "peer").replace("PEA", "PEE") for line in swapped])

    def _shrink(self, dice: Dice, path: Path) -> None:
        lines = self.lines[path]
        self.write(path, lines[: dice.randrange(len(lines) + 1)])

    def _cut(self, dice: Dice, path: Path) -> None:
        raw = path.read_bytes()
        path.write_bytes(raw[: dice.randrange(len(raw) + 1)])
        self._stamp(path)

    def _delete(self, dice: Dice, path: Path) -> None:
        del dice
        self.deleted[path] = path.read_bytes()
        path.unlink()

    def _move(self, dice: Dice, path: Path) -> None:
        """Archive a rollout, or take it back; another transcript moves to another project."""
        if _is_claude(path):
            folder = path.parent.parent / dice.choice(("-home-dev-app", "-srv"))
            target = folder / path.name if path.parent.name != "subagents" else path
        elif "archived_sessions" in path.parts:
            target = self.path / ".codex/sessions/2026/05/01" / path.name
        else:
            target = self.path / ".codex/archived_sessions" / path.name
        self._rename(path, target)

    def _pack(self, dice: Dice, path: Path) -> None:
        del dice
        if path.suffix == ".zst":
            return
        packed = path.with_name(f"{path.name}.zst")
        packed.write_bytes(zstandard.ZstdCompressor().compress(path.read_bytes()))
        self._stamp(packed)
        self._follow(path, packed)
        path.unlink()

    def _touch(self, dice: Dice, path: Path) -> None:
        del dice
        self._stamp(path)

    def _label(self, dice: Dice, path: Path) -> None:
        """Name a session, or mark it, beside its transcript."""
        if _is_claude(path):
            folder = path.with_name(path.name.partition(".jsonl")[0])
            folder.mkdir(exist_ok=True)
            name, content = dice.choice(
                (
                    ("custom-title.json", {"customTitle": text(dice)}),
                    ("archived.json", {"archived": True}),
                )
            )
            (folder / name).write_text(json.dumps(content))
            self._stamp(folder / name)
        else:
            thread = path.name[28:64]
            index = self.path / ".codex/session_index.jsonl"
            self.clock += 1
            moment = f"2026-05-03T{self.clock % 24:02}:{self.clock // 24 % 60:02}:00Z"
            entry = {"id": thread, "thread_name": text(dice), "updated_at": moment}
            with index.open("a") as stream:
                stream.write(f"{json.dumps(entry)}\n")
            self._stamp(index)

    def _rename(self, path: Path, target: Path) -> None:
        if target != path and not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            path.rename(target)
            self._follow(path, target)

    def _follow(self, path: Path, target: Path) -> None:
        self.lines[target] = self.lines.pop(path)
        for those in (self.copied, self.edited):
            if path in those:
                those.add(target)


def claude_record(session: Session, dice: Dice) -> None:
    """Add a record, or a few that belong together."""
    call = f"t{session.count}"
    match dice.randrange(16):
        case 0 | 1 | 2:
            session.user(text(dice))
        case 3 | 4:
            usage = {"input_tokens": dice.randrange(9), "output_tokens": dice.randrange(9)}
            session.say(
                text(dice), message_id=f"{session.session_id}-{session.count // 2}", usage=usage
            )
        case 5:
            session.answer(
                [{"type": "thinking", "thinking": text(dice)}], model=dice.choice(MODELS)
            )
        case 6 | 7:
            session.call(dice.choice(TOOLS), call, command=text(dice), extra=value(dice))
        case 8 | 9:
            session.call(dice.choice(TOOLS), call, file_path=text(dice))
            if dice.random() < 0.8:
                detail = {"stdout": text(dice), "more": value(dice)}
                session.result(call, text(dice), is_error=dice.random() < 0.3, toolUseResult=detail)
        case 10:
            session.attach(
                type="hook_success", hookEvent="PreToolUse", toolUseID=call, command=text(dice)
            )
        case 11:
            session.add(
                dice.choice(("brand-new", "system")), content=text(dice), payload=value(dice)
            )
        case 12:
            session.state(
                dice.choice(("custom-title", "mode")), customTitle=text(dice), mode="plan"
            )
        case 13:
            session.user(text(dice), isCompactSummary=True)
        case 14:
            session.user(text(dice), timestamp=dice.choice(STAMPS))
        case _:
            session.user(text(dice), isSidechain=True)


def codex_record(rollout: Rollout, dice: Dice) -> None:
    """Add a record, or a few that belong together."""
    call = f"c{len(rollout.lines)}"
    match dice.randrange(12):
        case 0 | 1 | 2:
            rollout.user(text(dice), shown=dice.random() < 0.8)
        case 3 | 4:
            rollout.assistant(text(dice))
            rollout.count(len(rollout.lines), dice.randrange(9), output_tokens=dice.randrange(9))
        case 5 | 6 | 7:
            arguments = json.dumps({"cmd": text(dice), "more": value(dice)})
            rollout.call(dice.choice(TOOLS), call, dice.choice((arguments, text(dice))))
            if dice.random() < 0.8:
                rollout.output(call, dice.choice((text(dice), {"output": text(dice)})))
        case 8:
            summary = [{"type": "summary_text", "text": text(dice)}]
            rollout.item("reasoning", summary=summary)
        case 9:
            rollout.record(
                dice.choice(("brand_new", "compacted")), message=text(dice), more=value(dice)
            )
        case 10:
            rollout.record("turn_context", cwd=dice.choice(FOLDERS), model=dice.choice(MODELS))
        case _:
            rollout.event(
                dice.choice(("task_started", "task_complete", "turn_aborted")), turn_id=call
            )


def _envelope(dice: Dice) -> dict[str, Any]:
    return {
        "cwd": dice.choice(FOLDERS),
        "version": dice.choice(("2.1.332", "2.0.14", "1.0.30")),
        "entrypoint": dice.choice(("cli", "sdk-py")),
    }


def _claude_lines(dice: Dice, lines: list[Line]) -> list[Line]:
    whole = [line for line in lines if isinstance(line, dict)]
    session = Session(str(whole[0].get("sessionId", "s")) if whole else "s", **_envelope(dice))
    session.count = 1000 + len(lines)
    session.parent = next((str(line["uuid"]) for line in reversed(whole) if "uuid" in line), None)
    for _ in range(dice.randint(1, 3)):
        claude_record(session, dice)
    return list(session.lines)


def _codex_lines(dice: Dice, lines: list[Line]) -> list[Line]:
    rollout = Rollout(meta=False)
    rollout.lines = [line for line in lines if isinstance(line, dict)]
    before = len(rollout.lines)
    for _ in range(dice.randint(1, 3)):
        codex_record(rollout, dice)
    return list(rollout.lines[before:])


def _encoded(line: Line) -> bytes:
    if isinstance(line, str):
        return f"{line}\n".encode("utf-8", "surrogatepass")
    return f"{json.dumps(line)}\n".encode()


def _torn(dice: Dice) -> bytes:
    """What stands behind the last whole line: mostly nothing."""
    torn = (b'{"type":"user","mess', b"null", b"\xff\xfe\n", b"\n\n", b"\x00\x00\x00", b"{}\n")
    return dice.choice(torn) if dice.random() < 0.15 else b""


def _is_claude(path: Path) -> bool:
    return ".claude" in path.parts


# Questions

OPENINGS = ("^", r"\b", "(?i)", "(?s)", "(?m)^", "(?-i)", "(?U)", "(?:)")
CLOSINGS = ("$", r"\b", r"\w+", r"\s?", ".", "..", r"\z", "{0}", "|")


def questions(dice: Dice, events: list[Event], count: int) -> Iterator[Query]:
    """Ask about events: their texts, cut and changed, and everything that filters."""
    for _ in range(count):
        yield question(dice, events)


def question(dice: Dice, events: list[Event]) -> Query:
    """Ask one question."""
    filters: dict[str, Any] = {"case": dice.choice(("ignore", "ignore", "match", "smart"))}
    for name, choose in FILTERS.items():
        if dice.random() < 0.12:
            filters[name] = choose(dice, events)
    if dice.random() < 0.3:
        try:
            return Query.of(_expression(dice, events), regex=True, **filters)
        except PatternError:
            filters["case"] = "ignore"
    return Query.of(_piece(dice, events) if dice.random() < 0.9 else "", **filters)


def _piece(dice: Dice, events: list[Event]) -> str:
    """Cut something out of a text, or write it in the other case, or make it up."""
    said = haystack(dice.choice(events)) if events else ""
    if dice.random() < 0.1 or not said:
        said = text(dice)
    start = dice.randrange(len(said) or 1)
    piece = said[start : start + dice.choice((1, 2, 2, 3, 4, 5, 8, 12, 30))]
    return other_case(piece, dice) if dice.random() < 0.4 else piece


def _expression(dice: Dice, events: list[Event], depth: int = 2) -> str:
    piece = re.sub(r"([^\w\s])", r"\\\1", _piece(dice, events).replace("\x00", "."))
    if not depth:
        return piece

    def inner() -> str:
        return _expression(dice, events, depth - 1)

    match dice.randrange(14):
        case 0:
            return f"(?:{inner()}|{inner()})"
        case 1:
            return f"{inner()}.*{inner()}"
        case 2:
            return f"{inner()}{dice.choice(('?', '*', '+', '{1,2}', '{2}', '*?'))}{inner()}"
        case 3:
            return (
                f"[{dice.choice(('a-z', '^x', 'äÖß', 'Α-Ω', 'kK', 'sS', '東-都', '0-9'))}]{inner()}"
            )
        case 4:
            return dice.choice(OPENINGS) + inner()
        case 5:
            return inner() + dice.choice(CLOSINGS)
        case 6:
            return dice.choice(
                (r"\pL", r"\p{Greek}+", r"\p{Han}", r"\d+", r"\S+", ".", "", "x*", r"\n")
            )
        case 7:
            return f"(?i:{inner()}){inner()}"
        case 8:
            return f"(?P<name>{inner()})|{inner()}"
        case 9:
            return f"\\Q{_piece(dice, events)}\\E"
        case _:
            return piece


def _moment(dice: Dice, events: list[Event]) -> str:
    stamps = [event.ts for event in events if event.ts and parse_instant(event.ts) is not None]
    stamps = [stamp for stamp in stamps if re.match(r"\d{4}-\d\d-\d\dT", stamp)]
    return dice.choice([*stamps, "2026-05-01"]) if stamps else "2026-05-02"


FILTERS: dict[str, Callable[[Dice, list[Event]], Any]] = {
    "agents": lambda dice, _: dice.choice(("claude-code", "codex")),
    "tools": lambda dice, _: dice.choice((*TOOLS, "b*", "*e*", "größe", "*", "none")),
    "kinds": lambda dice, _: dice.sample(KINDS, dice.randint(1, 3)),
    "models": lambda dice, _: dice.choice(("*opus*", "gpt*", "none")),
    "cwds": lambda dice, _: dice.choice(("app", "käse", "東京", "none")),
    "since": _moment,
    "until": _moment,
    "source": lambda dice, _: dice.choice(("@local", "team")),
    "archived": lambda dice, _: dice.choice(("only", "none")),
    "programmatic": lambda dice, _: dice.choice(("only", "none")),
    "inherited": lambda dice, _: dice.random() < 0.9,
    "limit": lambda dice, _: dice.choice((1, 2, 5)),
}
