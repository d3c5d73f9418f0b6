"""A home full of made-up histories, of any size: the same seed gives the same bytes.

Sessions of Claude Code (with subagents) and Codex, log-normal in size, with prose, code, tool
output and a share of Chinese and Japanese. Two words are planted: :data:`RARE` in a few tool
outputs, :data:`COMMON` nearly everywhere.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Protocol

import msgspec

RARE = "quokka-beacon-7431"
RARE_EVERY = 32_000_000  # bytes, on average
COMMON = "deploy"

_LAST_DAY = datetime(2026, 6, 30, 18, tzinfo=UTC)
_DAYS = 180
_MEDIAN_BYTES, _SPREAD, _MOST_BYTES = 180_000, 1.4, 60_000_000
_CODEX_SHARE, _SUBAGENT_SHARE = 0.35, 0.25
_PROJECTS = ("northwind-api", "harbor-web", "lantern-cli", "data_pipeline", "notes.app")
_SYLLABLES = ("ba", "cor", "den", "el", "fi", "gra", "hol", "in", "jo", "ka", "lum", "mar", "nor")
_ENDINGS = ("", "s", "ed", "ing", "er", "ion", "able", "ly", "_id", "()", ".py", "/src", "Error")
_FREQUENT = ("the", "to", "a", "of", "test", "function", "return", "file", "error", COMMON)
_FOREIGN = (
    "的一是不了人我在有他这为之大来以个中上们到说国和地也子时道出而要于就下得可你年生"
    "あいうえおかきくけこさしすせそたちつてとなにぬねのはひふへほまみむめもやゆよアイウエオカキク"
)

Json = dict[str, Any]


def generate(home: Path, *, megabytes: int, cjk: float = 0.1, seed: int = 1) -> dict[str, int]:
    """Fill a home with about so many megabytes of transcripts.

    Args:
        home: an empty or missing folder.
        megabytes: millions of bytes in all.
        cjk: share of sessions that are held in Chinese or Japanese.
        seed: what to roll the dice with.

    Returns:
        What was written: ``sessions``, ``files``, ``records``, ``bytes`` and ``rare``.
    """
    writer = _Writer(home, random.Random(seed), cjk)
    while writer.counts["bytes"] < megabytes * 1_000_000:
        writer.session()
    return writer.counts


class Story(Protocol):
    """A conversation without end; the writer stops when it is long enough."""

    now: datetime

    def records(self) -> Iterator[Json]:
        """Yield record after record."""
        ...


class _Writer:
    """Writes sessions one after the other, and counts."""

    def __init__(self, home: Path, dice: random.Random, cjk: float) -> None:
        self.home = home
        self.dice = dice
        self.cjk = cjk
        self.counts = dict.fromkeys(("sessions", "files", "records", "bytes", "rare"), 0)
        self.words = _Words(dice, self.counts)

    def session(self) -> None:
        """Write one session of an agent, with its subagents."""
        dice = self.dice
        size = int(min(dice.lognormvariate(0, _SPREAD) * _MEDIAN_BYTES, _MOST_BYTES))
        start = _LAST_DAY - timedelta(milliseconds=dice.randrange(_DAYS * 86_400_000))
        self.words.foreign = dice.random() < self.cjk
        self.counts["sessions"] += 1
        session_id, project = _uuid(dice), dice.choice(_PROJECTS)
        if dice.random() < _CODEX_SHARE:
            folder = self.home / ".codex" / "sessions" / start.strftime("%Y/%m/%d")
            name = f"rollout-{start.strftime('%Y-%m-%dT%H-%M-%S')}-{session_id}.jsonl"
            self._write(folder / name, _Codex(self.words, session_id, project, start), size)
            return
        slug = "".join(letter if letter.isalnum() else "-" for letter in project)
        folder = self.home / ".claude" / "projects" / f"-home-dev-projects-{slug}"
        main = _Claude(self.words, session_id, project, start)
        self._write(folder / f"{session_id}.jsonl", main, size)
        while dice.random() < _SUBAGENT_SHARE:
            agent_id = f"a{dice.getrandbits(64):016x}"
            child = _Claude(self.words, session_id, project, start, agent_id)
            beside = folder / session_id / "subagents"
            self._write(beside / f"agent-{agent_id}.jsonl", child, size // 4 + 1)
            facts = {"agentType": "Explore", "description": self.words.prose(5)}
            sidecar = beside / f"agent-{agent_id}.meta.json"
            sidecar.write_bytes(msgspec.json.encode(facts))
            _set_time(sidecar, child.now)

    def _write(self, path: Path, story: Story, size: int) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        written = 0
        with open(path, "wb") as stream:
            for record in story.records():
                line = msgspec.json.encode(record) + b"\n"
                stream.write(line)
                written += len(line)
                self.counts["records"] += 1
                self.counts["bytes"] += len(line)
                if written >= size:
                    break
        self.counts["files"] += 1
        _set_time(path, story.now)


def _set_time(path: Path, moment: datetime) -> None:
    os.utime(path, (moment.timestamp(), moment.timestamp()))


class _Words:
    """Makes text: a vocabulary in which few words are frequent and many are rare."""

    def __init__(self, dice: random.Random, counts: dict[str, int]) -> None:
        self.dice = dice
        self.counts = counts
        self.foreign = False
        made = {
            "".join(dice.choices(_SYLLABLES, k=dice.randint(1, 4))) + dice.choice(_ENDINGS)
            for _ in range(12_000)
        }
        self._vocabulary = [*_FREQUENT, *sorted(made)]
        weights = (1 / rank**0.9 for rank in range(3, len(self._vocabulary) + 3))
        self._cumulated = [total := 0.0] + [total := total + weight for weight in weights]
        del self._cumulated[0]

    def some(self, count: int) -> list[str]:
        """Return so many words in the session's language."""
        if self.foreign:
            letters = "".join(self.dice.choices(_FOREIGN, k=count * 3))
            return [letters[at : at + 3] for at in range(0, len(letters), 3)]
        return self.dice.choices(self._vocabulary, cum_weights=self._cumulated, k=count)

    def prose(self, count: int) -> str:
        """Return a sentence or more."""
        text = (" ", "")[self.foreign].join(self.some(count))
        return text[:1].upper() + text[1:] + "."

    def output(self) -> str:
        """Return what a tool printed: lines of code or listing, now and then the rare word."""
        self.foreign, foreign = False, self.foreign
        count = int(min(self.dice.lognormvariate(3.2, 1.2), 3000)) + 1
        words = self.some(count * 7)
        self.foreign = foreign
        lines = [
            f"{number:>4}: {' ' * (number % 3 * 4)}{' '.join(words[number * 7 : number * 7 + 7])}"
            for number in range(count)
        ]
        if self.counts["bytes"] >= (self.counts["rare"] + 0.5) * RARE_EVERY:
            self.counts["rare"] += 1
            lines.append(f"found {RARE} here")
        return "\n".join(lines)


class _Clock:
    """The time in a session: each look at it is some seconds later."""

    def __init__(self, dice: random.Random, start: datetime) -> None:
        self.dice = dice
        self.now = start

    def tick(self) -> str:
        self.now += timedelta(milliseconds=self.dice.randrange(200, 20_000))
        return self.now.strftime("%Y-%m-%dT%H:%M:%S.") + f"{self.now.microsecond // 1000:03d}Z"


class _Claude(_Clock):
    """A session or subagent of Claude Code."""

    def __init__(
        self,
        words: _Words,
        session_id: str,
        project: str,
        start: datetime,
        agent_id: str | None = None,
    ) -> None:
        super().__init__(words.dice, start)
        self.words = words
        self.parent: str | None = None
        self.envelope: Json = {
            "isSidechain": agent_id is not None,
            "sessionId": session_id,
            "cwd": f"/home/dev/projects/{project}",
            "version": "2.1.332",
            "gitBranch": "main",
            "userType": "external",
            "entrypoint": "cli",
            **({"agentId": agent_id} if agent_id else {}),
        }

    def records(self) -> Iterator[Json]:
        dice = self.dice
        for turn in range(1_000_000):
            prompt = self.words.prose(dice.randint(4, 40))
            yield self._record("user", message={"role": "user", "content": prompt})
            if turn == 1:
                title = self.words.prose(4)
                session_id = self.envelope["sessionId"]
                yield {"type": "ai-title", "aiTitle": title, "sessionId": session_id}
            for _ in range(dice.randint(1, 12)):
                yield from self._response()
            yield self._answer(f"msg_{dice.getrandbits(96):024x}", [_text(self.words.prose(80))])
            yield self._record("system", subtype="turn_duration", durationMs=dice.randrange(90_000))

    def _response(self) -> Iterator[Json]:
        dice, words = self.dice, self.words
        message = f"msg_{dice.getrandbits(96):024x}"
        call = f"toolu_{dice.getrandbits(96):024x}"
        if dice.random() < 0.4:
            block = {"type": "thinking", "thinking": words.prose(60), "signature": "c2ln" * 60}
            yield self._answer(message, [block])
        if dice.random() < 0.5:
            yield self._answer(message, [_text(words.prose(25))])
        output = words.output()
        detail: Json
        if dice.random() < 0.6:
            name, asked = "Bash", {"command": " ".join(words.some(6)), "description": "Look"}
            detail = {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}
        else:
            path = f"{self.envelope['cwd']}/src/{words.some(1)[0]}"
            name, asked = "Read", {"file_path": path}
            file = {"filePath": path, "content": output, "numLines": output.count("\n") + 1}
            detail = {"type": "text", "file": file}
        yield self._answer(
            message, [{"type": "tool_use", "id": call, "name": name, "input": asked}]
        )
        result = {"type": "tool_result", "tool_use_id": call, "content": output, "is_error": False}
        yield self._record(
            "user", message={"role": "user", "content": [result]}, toolUseResult=detail
        )

    def _answer(self, message: str, content: list[Json]) -> Json:
        usage = {
            "input_tokens": self.dice.randrange(20),
            "cache_creation_input_tokens": self.dice.randrange(4000),
            "cache_read_input_tokens": self.dice.randrange(100_000),
            "output_tokens": self.dice.randrange(1500),
        }
        return self._record(
            "assistant",
            requestId=f"req_{message[4:]}",
            message={
                "id": message,
                "type": "message",
                "role": "assistant",
                "model": "claude-opus-5-5",
                "content": content,
                "stop_reason": None,
                "usage": usage,
            },
        )

    def _record(self, kind: str, **fields: Any) -> Json:
        uuid = _uuid(self.dice)
        record = {
            "parentUuid": self.parent,
            **self.envelope,
            "type": kind,
            **fields,
            "uuid": uuid,
            "timestamp": self.tick(),
        }
        self.parent = uuid
        return record


class _Codex(_Clock):
    """A session of Codex in its paginated form."""

    def __init__(self, words: _Words, session_id: str, project: str, start: datetime) -> None:
        super().__init__(words.dice, start)
        self.words = words
        self.session_id = session_id
        self.cwd = f"/home/dev/projects/{project}"
        self.ordinal = -1

    def records(self) -> Iterator[Json]:
        dice = self.dice
        yield self._record(
            "session_meta",
            id=self.session_id,
            timestamp=self.tick(),
            cwd=self.cwd,
            originator="codex-tui",
            cli_version="0.171.0",
            source="cli",
            history_mode="paginated",
            git={"branch": "main"},
        )
        for _ in range(1_000_000):
            turn = _uuid(dice)
            yield self._record("event_msg", type="task_started", turn_id=turn)
            yield self._record("turn_context", turn_id=turn, cwd=self.cwd, model="gpt-5.5-codex")
            prompt = self.words.prose(dice.randint(4, 40))
            yield self._message("user", "input_text", prompt)
            content = [{"type": "text", "text": prompt}]
            yield self._item(turn, type="UserMessage", id=_uuid(dice), content=content)
            for _ in range(dice.randint(1, 12)):
                yield from self._response(turn)
            answer = self.words.prose(80)
            yield self._message("assistant", "output_text", answer, id=(item := _uuid(dice)))
            blocks = [{"type": "Text", "text": answer}]
            yield self._item(turn, type="AgentMessage", id=item, content=blocks)
            yield self._record(
                "event_msg", type="task_complete", turn_id=turn, last_agent_message=answer
            )

    def _response(self, turn: str) -> Iterator[Json]:
        dice, words = self.dice, self.words
        response = f"resp_{dice.getrandbits(96):024x}"
        if dice.random() < 0.4:
            summary = [{"type": "summary_text", "text": words.prose(60)}]
            yield self._record(
                "response_item",
                type="reasoning",
                id=f"rs_{dice.getrandbits(96):024x}",
                summary=summary,
                encrypted_content="Z0FBQUFB" * 60,
            )
        call = f"call_{dice.getrandbits(96):024x}"
        asked = {"command": ["bash", "-lc", " ".join(words.some(6))], "workdir": self.cwd}
        yield self._record(
            "response_item",
            type="function_call",
            name="shell",
            arguments=msgspec.json.encode(asked).decode(),
            call_id=call,
        )
        output = f"Exit code: 0\nWall time: 0.1 seconds\nOutput:\n{words.output()}"
        yield self._record(
            "response_item", type="function_call_output", call_id=call, output=output
        )
        spent = dice.randrange(100_000)
        yield self._record(
            "token_usage_record",
            response_id=response,
            turn_id=turn,
            usage={
                "input_tokens": spent + dice.randrange(2000),
                "cached_input_tokens": spent,
                "output_tokens": dice.randrange(1500),
                "reasoning_output_tokens": 0,
            },
        )

    def _message(self, role: str, kind: str, text: str, **fields: Any) -> Json:
        return self._record(
            "response_item",
            type="message",
            role=role,
            content=[{"type": kind, "text": text}],
            **fields,
        )

    def _item(self, turn: str, **item: Any) -> Json:
        return self._record("event_msg", type="item_completed", turn_id=turn, item=item)

    def _record(self, kind: str, **payload: Any) -> Json:
        self.ordinal += 1
        return {
            "timestamp": self.tick(),
            "ordinal": self.ordinal,
            "type": kind,
            "payload": payload,
        }


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


def _uuid(dice: random.Random) -> str:
    digits = f"{dice.getrandbits(128):032x}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def main() -> None:
    """Fill the folder that is named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("home", type=Path)
    parser.add_argument("--megabytes", type=int, default=300)
    parser.add_argument("--cjk", type=float, default=0.1, help="share of sessions (0 to 1)")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    if asked.home.is_dir() and any(asked.home.iterdir()):
        sys.exit(f"{asked.home} is not empty")
    counts = generate(asked.home, megabytes=asked.megabytes, cjk=asked.cjk, seed=asked.seed)
    print(", ".join(f"{count:,} {name}" for name, count in counts.items()))


if __name__ == "__main__":
    main()
