"""The one model that every surface sees: sessions, their events, and how whole they are.

Every struct here is also the wire format: camelCase names, absent fields left out (never
``null``), the same for the command line's ``--json``, the Python API and exported files.
"""

from __future__ import annotations

from typing import Any, Final, Literal, get_args

import msgspec

Kind = Literal[
    "text", "thinking", "tool_use", "tool_result", "hook", "summary", "system", "unknown"
]
Role = Literal["user", "assistant", "system"]
Ending = Literal["interrupted", "limit", "error"]

KINDS: Final[tuple[str, ...]] = get_args(Kind)
ENDINGS: Final[tuple[str, ...]] = get_args(Ending)

CONTENT_KINDS: Final = frozenset({"text", "thinking", "tool_use"})
"""A session without any event of these kinds is empty: it is not listed or searched."""


class Wire(msgspec.Struct, rename="camel", omit_defaults=True):
    """Base of every struct that leaves the process: camelCase, absent means absent."""


class Source(Wire, kw_only=True):
    """Where an event was read, exactly enough to print the record again.

    Attributes:
        line: 1-based number of the line, for line-oriented files.
        offset: byte offset of the record in the (decompressed) file.
        length: bytes of the record, without the line feed.
        path: the file, when it is not the session's own ``path`` (a second segment).
        table: table name, for databases.
        row: row id, for databases.
    """

    line: int | None = None
    offset: int | None = None
    length: int | None = None
    path: str | None = None
    table: str | None = None
    row: str | None = None


class Blob(Wire, kw_only=True):
    """An image or document that was cut out of an event: what it was, not its bytes.

    Attributes:
        media_type: such as ``image/png``; empty when the record does not say.
        size: bytes after base64 decoding.
        sha256: hex digest of those bytes.
        name: file name or path, when recorded.
        url: where it lies, for images that are only linked.
    """

    media_type: str = ""
    size: int | None = None
    sha256: str | None = None
    name: str | None = None
    url: str | None = None


class Usage(Wire, kw_only=True):
    """Tokens of one API response, or a sum of such; one meaning for all agents.

    Attributes:
        input_tokens: prompt tokens, without any cache read or write.
        cache_read_tokens: prompt tokens served from the cache.
        cache_creation_tokens: prompt tokens written to the cache, all durations.
        cache_creation_5m_tokens: the part of them kept five minutes, when known.
        cache_creation_1h_tokens: the part of them kept one hour, when known.
        output_tokens: generated tokens, reasoning included.
        reasoning_tokens: the part of the output spent on reasoning, when known.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_creation_tokens: int = 0
    cache_creation_5m_tokens: int | None = msgspec.field(default=None, name="cacheCreation5mTokens")
    cache_creation_1h_tokens: int | None = msgspec.field(default=None, name="cacheCreation1hTokens")
    reasoning_tokens: int | None = None

    @property
    def total(self) -> int:
        """All four counters; reasoning is inside the output already."""
        return (
            self.input_tokens
            + self.output_tokens
            + self.cache_read_tokens
            + self.cache_creation_tokens
        )

    def __add__(self, other: Usage) -> Usage:
        """Sum field by field; a part is known when either side knows it."""
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cache_read_tokens=self.cache_read_tokens + other.cache_read_tokens,
            cache_creation_tokens=self.cache_creation_tokens + other.cache_creation_tokens,
            cache_creation_5m_tokens=_add(
                self.cache_creation_5m_tokens, other.cache_creation_5m_tokens
            ),
            cache_creation_1h_tokens=_add(
                self.cache_creation_1h_tokens, other.cache_creation_1h_tokens
            ),
            reasoning_tokens=_add(self.reasoning_tokens, other.reasoning_tokens),
        )


def _add(left: int | None, right: int | None) -> int | None:
    if left is None or right is None:
        return right if left is None else left
    return left + right


class Result(Wire, kw_only=True):
    """What a tool answered.

    Attributes:
        is_error: failed by the format's own sign or a recorded non-zero exit code; absent
            when the format cannot tell.
        text: the answer as text, all parts joined by newline.
        detail: structured leftovers of the record that the text and the call do not hold
            already (a patch with its context, an exit code), binary data cut out.
        before: the whole file as it was before an edit, when the agent recorded it; kept and
            shown, not searched, for it would match every edit of that file.
        ts: when the answer was recorded, as recorded.
        src: where the answer's record lies, when it is another than the call's.
    """

    text: str = ""
    is_error: bool | None = None
    detail: Any = None
    before: str | None = None
    ts: str | None = None
    src: Source | None = None


class Event(Wire, kw_only=True):
    """One thing that happened in a session.

    Attributes:
        seq: index in the session; ``agent:session-id#seq`` names the event everywhere.
        kind: one of :data:`KINDS`.
        ts: time as recorded.
        time: the same instant as UTC milliseconds; absent when ``ts`` cannot be read.
        role: who spoke. ``user`` is what a human (or the program that launched the session)
            said, ``assistant`` what the model said; everything injected is ``system``.
        text: the message, the thought, or a one-line description.
        tool: tool name of a call, or of the call that triggered a hook.
        tool_use_id: the agent's id of the call.
        input: the call's arguments, any JSON.
        summary: one line for the input, when the agent's adapter knows better than the
            shared rule.
        result: the answer, folded into its call.
        hook_event: such as ``PreToolUse``.
        command: the hook's command as configured.
        plugin: the plugin that owns the hook; filled in when shown.
        model: the model that spoke.
        message_id: the API response this event is a part of, when recorded.
        usage: tokens of that response, on one of its events only.
        images: images and documents that were cut out of the record.
        raw: the record itself, for ``unknown``, ``hook`` and bookkeeping records.
        src: where the record lies.
        sidechain: part of a subagent's conversation.
        inherited: a copy of an event that another session on this machine owns.
        rewound: on a branch that was abandoned by a rewind or rollback.
        compact: a compaction boundary.
        bookkeeping: the agent's own state record, hidden unless asked for.
    """

    seq: int = -1
    kind: Kind
    ts: str | None = None
    time: int | None = None
    role: Role | None = None
    text: str | None = None
    tool: str | None = None
    tool_use_id: str | None = None
    input: Any = None
    summary: str | None = None
    result: Result | None = None
    hook_event: str | None = None
    command: str | None = None
    plugin: str | None = None
    model: str | None = None
    message_id: str | None = None
    usage: Usage | None = None
    images: list[Blob] = []
    raw: Any = None
    src: Source | None = None
    sidechain: bool = False
    inherited: bool = False
    rewound: bool = False
    compact: bool = False
    bookkeeping: bool = False


class Integrity(Wire, kw_only=True):
    """How much of the source could be read. All zero and false for a clean one.

    Attributes:
        dropped: lines (or rows) that hold no readable record; blank lines never count.
        truncated: the last record is cut off.
        invalid_bytes: bytes that are not UTF-8, shown as U+FFFD.
        unreadable: why the source could not be read at all, such as ``permission denied``.
        size: bytes of an unreadable source.
    """

    dropped: int = 0
    truncated: bool = False
    invalid_bytes: int = 0
    unreadable: str | None = None
    size: int | None = None

    @property
    def clean(self) -> bool:
        """True when nothing was lost."""
        return not (self.dropped or self.truncated or self.invalid_bytes or self.unreadable)


class Session(Wire, kw_only=True):
    """What is known of a session without its events.

    Attributes:
        agent: id of the coding agent, such as ``claude-code``.
        id: the agent's own id of the session.
        path: the transcript (for several segments, the newest).
        cwd: working directory, as recorded.
        title: the name a human or the agent gave it, else what the human typed first.
        started: earliest instant of its events, as recorded.
        ended: latest instant of its events, as recorded.
        started_time: ``started`` as UTC milliseconds.
        ended_time: ``ended`` as UTC milliseconds.
        mtime: last change of the source, milliseconds since 1970.
        messages: user and assistant texts, copies left out.
        event_count: all events, copies and bookkeeping included.
        tools: calls by tool name, copies left out.
        model: the first of ``models``.
        models: in order of first sight.
        usage: what this session itself spent, each response once: no children, nothing
            inherited. Absent when the format records none.
        model_usage: the same by model; the empty name holds responses without one.
        archived: put aside by the user, in the agent's own way.
        imported: it lies in the import store; ``imported_from`` names the collection.
        imported_from: the collection it was imported into.
        programmatic: started by a program. Absent: the format does not say.
        origin: the launcher as recorded.
        spawned_by: the plugin that launched it; filled in when shown.
        is_subagent: it belongs to another session.
        parent_id: the session it belongs to.
        parent_agent_id: the subagent that spawned it, when nested.
        agent_name: the subagent's name or type.
        spawned_by_tool_use_id: the call that spawned it.
        fork_of: the session whose records it copies or continues.
        inherited_events: texts, thoughts and calls that are copies from ``fork_of``.
        branches: abandoned branches.
        compactions: how often its history was compacted.
        ending: how the last turn failed; absent when it ended well.
        integrity: absent when the source is clean.
        source_gone: the agent deleted the file.
        git_branch: as recorded first.
        version: of the agent, as recorded first.
        bytes: size of the source.
    """

    agent: str
    id: str
    path: str
    cwd: str | None = None
    title: str | None = None
    messages: int = 0
    event_count: int = 0
    started: str | None = None
    ended: str | None = None
    started_time: int | None = None
    ended_time: int | None = None
    mtime: float = 0.0
    bytes: int = 0
    git_branch: str | None = None
    model: str | None = None
    models: list[str] = []
    version: str | None = None
    tools: dict[str, int] = {}
    usage: Usage | None = None
    model_usage: dict[str, Usage] = {}
    archived: bool = False
    imported: bool = False
    imported_from: str | None = None
    programmatic: bool | None = None
    origin: str | None = None
    spawned_by: str | None = None
    is_subagent: bool = False
    parent_id: str | None = None
    parent_agent_id: str | None = None
    agent_name: str | None = None
    spawned_by_tool_use_id: str | None = None
    fork_of: str | None = None
    inherited_events: int = 0
    branches: int = 0
    compactions: int = 0
    ending: Ending | None = None
    integrity: Integrity | None = None
    source_gone: bool = False

    @property
    def order(self) -> float:
        """Milliseconds used to put sessions in order: the end, else the file's time."""
        return float(self.ended_time) if self.ended_time is not None else self.mtime


def encode(value: object) -> bytes:
    """Write structs as compact JSON, the one form that leaves the process."""
    return msgspec.json.encode(value)
