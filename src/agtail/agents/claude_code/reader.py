"""Records of one Claude Code transcript → items, in the order of the file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from agtail.agents.base import (
    TITLE_FALLBACK,
    TITLE_GENERATED,
    TITLE_NAMED,
    TITLE_PROMPT,
    TITLE_SUMMARY,
    Abandoned,
    CannotGoOnError,
    Checkpoint,
    Item,
    Meta,
    Rest,
    Spend,
    Title,
    ToolResult,
    Within,
)
from agtail.agents.blobs import strip_base64
from agtail.agents.claude_code import text as texts
from agtail.agents.claude_code.attachments import attachment_event, prompt_of_queue
from agtail.agents.claude_code.ending import Ending
from agtail.agents.claude_code.hooks import stop_summary
from agtail.agents.claude_code.metadata import Metadata
from agtail.agents.claude_code.parts import blobs_of, odd_block, usage_of
from agtail.agents.claude_code.results import tool_result
from agtail.agents.claude_code.state import State
from agtail.agents.claude_code.text import string
from agtail.agents.claude_code.tree import Ids, Tree
from agtail.model import Blob, Event, Integrity, Source
from agtail.records import Json, Position, Record, read_slice

WORTH_SPARING = 64 * 1024
"""Bytes below which a file is as well read again from its beginning."""

TAIL = 256
"""Bytes before a checkpoint by which the file is known again."""

_PROGRAMMATIC_ENTRY = "sdk"
_NO_ENTRYPOINT_BEFORE = "1."
_CHAIN = frozenset({"user", "assistant", "system", "attachment", "progress"})
"""Types whose records carry the session's facts; some of the others name other versions."""


class Reader:
    """Reads one file. Make a new one for each.

    Args:
        session_id: the session's id, as its file is named.
        folder: the session's own folder, with out-of-line tool output.
        subagent: the file holds a subagent, whose records are all side chain.
        owned: ids of records that other, older files own.
        fork_of: the session those belong to.
        warm_up: nobody asked for this file: keep it, but not as conversation.
    """

    def __init__(
        self,
        session_id: str,
        folder: str,
        *,
        subagent: bool = False,
        owned: Ids | None = None,
        fork_of: str | None = None,
        warm_up: bool = False,
    ) -> None:
        self.session_id = session_id
        self.folder = folder
        self.subagent = subagent
        self.owned = owned
        self.fork_of = fork_of
        self.warm_up = warm_up
        self.tree = Tree()
        self.ending = Ending()
        self.metadata = Metadata()
        self.chains: dict[str, str] = {}
        self.tasks: dict[str, str] = {}
        self.summaries: list[tuple[str, str]] = []
        self.facts = Meta()
        self.boundary = False
        self.first = True
        self.marked: frozenset[int] = frozenset()

    def items(
        self, records: Iterable[Record], path: str, health: Integrity, position: Position
    ) -> Iterator[Item]:
        """Map all records, then what only the end of the file tells.

        Args:
            records: the records of ``path``, whose reading moves ``position``.
            path: the file.
            health: what its reading gave up so far.
            position: how far the reading came.
        """
        for record in records:
            yield from self._record(record)
        lines, branches = self.tree.abandoned()
        if not lines >= self.marked:
            raise CannotGoOnError
        if self._can_go_on(path, position):

            def save() -> Checkpoint:
                behind = min(TAIL, position.offset)
                return Checkpoint(
                    state=self._state(lines, branches).encode(),
                    offset=position.offset,
                    line=position.line,
                    tail=read_slice(path, position.offset - behind, behind),
                    dropped=health.dropped,
                    invalid_bytes=health.invalid_bytes,
                )

            yield Rest(position.offset, save)
        yield from self.metadata.unsent()
        if branches:
            yield Abandoned(lines=lines - self.marked, branches=branches)
        for leaf, summary in self.summaries:
            if leaf in self.tree and not summary.startswith("API Error"):
                yield Title(summary, TITLE_SUMMARY)
        yield self.ending.item()

    def resume(self, state: State) -> None:
        """Remember what an earlier reader of the file knew at its end."""
        self.facts, self.boundary, self.first = state.facts, state.boundary, state.first
        self.summaries, self.marked = state.summaries, frozenset(state.marked)
        self.tree, self.ending, self.metadata = state.tree(), state.ending(), state.metadata()

    def _can_go_on(self, path: str, position: Position) -> bool:
        """Whether reading can go on here, and sparing the beginning is worth a checkpoint."""
        version = self.facts.version or _NO_ENTRYPOINT_BEFORE
        return (
            position.whole
            and position.offset >= WORTH_SPARING
            and path.endswith(".jsonl")
            # Files of 1.x hold their subagents: two sessions would have to go on.
            and not version.startswith(_NO_ENTRYPOINT_BEFORE)
        )

    def _state(self, marked: frozenset[int], branches: int) -> State:
        ending, metadata = self.ending, self.metadata
        uuids, parents, lines, prompts = self.tree.parts()
        return State(
            facts=self.facts,
            boundary=self.boundary,
            first=self.first,
            summaries=self.summaries,
            uuids=uuids,
            parents=parents,
            lines=lines,
            prompts=prompts,
            marked=sorted(marked),
            branches=branches,
            verdict=ending.verdict,
            certain=ending.certain,
            pending=sorted(ending.pending),
            latest=ending.latest,
            queued_first=metadata.queued_first,
            states=metadata.states,
            queued=metadata.queued,
        )

    def _record(self, record: Record) -> Iterator[Item]:
        data = record.data
        kind = string(data.get("type"))
        source = Source(line=record.line, offset=record.offset, length=record.length)
        inherited = self._is_copy(data)
        if inherited and self.fork_of is not None:
            yield Meta(fork_of=self.fork_of)
        yield from self._facts(data, kind)
        chain = self._chain(data) if data.get("isSidechain") is True else None
        if chain is None:
            self._link(record, data, kind)
            self.ending.see(data)
        for item in self._map(data, kind, source):
            if isinstance(item, Event | ToolResult):
                item.src = item.src or source
                item.inherited = inherited
                item.sidechain = item.sidechain or data.get("isSidechain") is True
                if item.ts is None:
                    item.ts = string(data.get("timestamp"))
                if isinstance(item, Event) and self.warm_up:
                    item.kind, item.bookkeeping = "system", True
            elif isinstance(item, Spend):
                item.inherited = inherited
            yield item if chain is None else Within(chain, item)

    def _is_copy(self, data: Json) -> bool:
        owned = self.owned
        if owned is None:
            return False
        return (
            string(data.get("uuid")) in owned.uuids
            or string(_message(data).get("id")) in owned.messages
        )

    def _facts(self, data: Json, kind: object) -> Iterator[Item]:
        """Session facts stand on nearly every record; the first of each is enough."""
        facts = self.facts
        first, self.first = self.first, False
        if facts.cwd is None and (cwd := string(data.get("cwd"))):
            facts.cwd = cwd
            yield Meta(cwd=cwd)
        version = string(data.get("version"))
        if version and facts.version is None and kind in _CHAIN:
            facts.version = version
            yield Meta(
                version=version,
                git_branch=string(data.get("gitBranch")),
                parent_id=string(data.get("sessionId")) if self.subagent else None,
            )
        forked = data.get("forkedFrom")
        if isinstance(forked, dict) and (origin := string(forked.get("sessionId"))):
            yield Meta(fork_of=origin)
        if facts.programmatic is None:
            yield from self._launch(data, kind, first=first)

    def _launch(self, data: Json, kind: object, *, first: bool) -> Iterator[Item]:
        """Find out who started the session: a human, a program, or nothing that tells."""
        entrypoint = string(data.get("entrypoint"))
        asked = "sdk" in (data.get("promptSource"), data.get("turnOrigin"))
        if asked or (entrypoint or "").startswith(_PROGRAMMATIC_ENTRY):
            self.facts.programmatic = True
            yield Meta(programmatic=True, origin=entrypoint)
        elif first and kind == "queue-operation":
            self.metadata.queued_first = True
        elif entrypoint and kind == "assistant":
            self.facts.programmatic = False
            yield Meta(programmatic=False, origin=entrypoint)
        elif entrypoint:
            yield Meta(origin=entrypoint)
        elif kind == "assistant" and not self.subagent:
            # Up to 2.1.20 no record names the launcher; only a queued first prompt shows -p.
            version = self.facts.version or _NO_ENTRYPOINT_BEFORE
            if not version.startswith(_NO_ENTRYPOINT_BEFORE):
                self.facts.programmatic = self.metadata.queued_first
                yield Meta(programmatic=self.metadata.queued_first)

    def _chain(self, data: Json) -> str | None:
        """Return the id of the in-file subagent (1.0.x) that a side-chain record belongs to."""
        if self.subagent:
            return None
        uuid, parent = string(data.get("uuid")) or "", string(data.get("parentUuid"))
        known = self.chains.get(parent or "")
        if known is None:
            prompt = texts.joined(_message(data).get("content"))
            call = self.tasks.pop(prompt, uuid)
            known = f"{self.session_id}#{call}"
        self.chains[uuid] = known
        return known

    def _link(self, record: Record, data: Json, kind: object) -> None:
        uuid = string(data.get("uuid"))
        if uuid is None:
            return
        content = _message(data).get("content")
        prompt = kind == "user" and texts.speaker(data, texts.joined(content)) == "human"
        has_result = isinstance(content, list) and any(
            isinstance(block, dict) and block.get("type") == "tool_result" for block in content
        )
        self.tree.add(
            uuid, string(data.get("parentUuid")), record.line, prompt=prompt and not has_result
        )

    def _map(self, data: Json, kind: object, source: Source) -> Iterator[Item]:
        message = data.get("message")
        if isinstance(message, dict) and kind not in ("progress", "api-request-blob"):
            if kind == "assistant" or message.get("role") == "assistant":
                yield from self._assistant(data, message)
            else:
                yield from self._user(data, message)
        elif kind == "system":
            yield from self._system(data)
        elif kind == "attachment" and isinstance(data.get("attachment"), dict):
            yield from self._attachment(data)
        elif kind == "summary":
            summary = string(data.get("summary")) or ""
            self.summaries.append((string(data.get("leafUuid")) or "", summary))
            yield Event(kind="summary", role="system", text=summary, bookkeeping=True, raw=data)
        else:
            yield from self._labels(data, kind)
            yield from self.metadata.items(data, kind, source)

    def _labels(self, data: Json, kind: object) -> Iterator[Item]:
        if kind == "custom-title":
            yield Title(string(data.get("customTitle")) or "", TITLE_NAMED)
        elif kind == "ai-title":
            yield Title(string(data.get("aiTitle")) or "", TITLE_GENERATED)
        elif kind == "last-prompt":
            yield Title(texts.title_of(string(data.get("lastPrompt")) or ""), TITLE_FALLBACK)

    def _attachment(self, data: Json) -> Iterator[Item]:
        attachment = data["attachment"]
        if (queued := prompt_of_queue(attachment)) is not None:
            self.metadata.sent(queued)
        yield from attachment_event(data, attachment)

    def _user(self, data: Json, message: Json) -> Iterator[Item]:
        content = message.get("content")
        if isinstance(content, str):
            yield from self._said(data, content, [])
            return
        said: list[str] = []
        images: list[Blob] = []
        for block in content if isinstance(content, list) else [content]:
            kind = block.get("type") if isinstance(block, dict) else None
            if isinstance(block, str) or kind == "text":
                said.append(texts.block_text(block))
            elif isinstance(block, dict) and kind in ("image", "document"):
                images.extend(blobs_of(block))
            elif isinstance(block, dict) and kind == "tool_result":
                yield tool_result(block, data, self.folder)
            elif block is not None:
                yield odd_block(block, kind, "user")
        if said or images:
            human = [part for part in said if not texts.is_injected(part)]
            for part in said:
                if texts.is_injected(part):
                    yield from self._said(data, part, [])
            if human or images:
                yield from self._said(data, "\n".join(human), images)

    def _said(self, data: Json, said: str, images: list[Blob]) -> Iterator[Item]:
        self.metadata.sent(said)
        speaker = texts.speaker(data, said)
        if speaker == "summary":
            compact, self.boundary = not self.boundary, False
            yield Event(kind="summary", role="system", text=said, compact=compact)
        elif speaker == "system":
            if command := texts.slash_command(said):
                yield Title(command, TITLE_FALLBACK)
            if said.strip() or images:
                yield Event(kind="system", role="system", text=said, images=images)
        elif said.strip() or images:
            if title := texts.title_of(said):
                yield Title(title, TITLE_PROMPT)
            yield Event(kind="text", role="user", text=said, images=images)

    def _assistant(self, data: Json, message: Json) -> Iterator[Item]:
        model = string(message.get("model"))
        ids = (message.get("id"), data.get("requestId"), data.get("uuid"))
        key = next((each for each in ids if isinstance(each, str) and each), None)
        if data.get("isApiErrorMessage") is True or (model or "").startswith("<"):
            yield Event(
                kind="system", role="system", text=texts.joined(message.get("content")), raw=data
            )
            return
        content = message.get("content")
        for block in content if isinstance(content, list) else [content]:
            for item in self._block(block, data):
                if isinstance(item, Event):
                    item.model, item.message_id = model, key
                yield item
        if isinstance(message.get("usage"), dict):
            yield Spend(key=key or "", usage=usage_of(message["usage"]), model=model)

    def _block(self, block: Any, data: Json) -> Iterator[Item]:
        kind = block.get("type") if isinstance(block, dict) else None
        if isinstance(block, str) or kind == "text":
            said = texts.block_text(block)
            if said.strip():
                yield Event(kind="text", role="assistant", text=said)
        elif kind in ("thinking", "redacted_thinking"):
            thought = string(block.get("thinking")) or ""
            yield Event(kind="thinking", role="assistant", text=thought)
        elif kind in ("tool_use", "server_tool_use", "mcp_tool_use"):
            call, name = string(block.get("id")), string(block.get("name")) or ""
            tool_input, images = strip_base64(block.get("input") or {})
            if isinstance(tool_input, dict) and call and "prompt" in tool_input:
                self.tasks[str(tool_input["prompt"])] = call
            yield Event(
                kind="tool_use",
                role="assistant",
                tool=name,
                tool_use_id=call,
                input=tool_input,
                images=images,
            )
        elif isinstance(kind, str) and kind.endswith("tool_result"):
            yield tool_result(block, data, self.folder)
        elif block is not None:
            yield odd_block(block, kind, "assistant")

    def _system(self, data: Json) -> Iterator[Item]:
        subtype = string(data.get("subtype")) or ""
        content = texts.joined(data.get("content"))
        if subtype == "stop_hook_summary" or data.get("hookInfos"):
            yield stop_summary(data)
        elif subtype == "compact_boundary":
            self.boundary = True
            yield Event(
                kind="summary", role="system", text=content or subtype, compact=True, raw=data
            )
        elif subtype == "microcompact_boundary":
            yield Event(kind="summary", role="system", text=content or subtype, raw=data)
        else:
            if command := texts.slash_command(content):
                yield Title(command, TITLE_FALLBACK)
            if not content and isinstance(data.get("error"), dict):
                content = string(data["error"].get("formatted")) or ""
            yield Event(
                kind="system",
                role="system",
                text=content or subtype or "system",
                raw=data,
                bookkeeping=not content,
            )


def _message(data: Json) -> Json:
    message = data.get("message")
    return message if isinstance(message, dict) else {}
