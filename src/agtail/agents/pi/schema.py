"""Typed shapes of Pi's session files (``docs/agents/pi.md``)."""

from typing import Literal, NotRequired, TypedDict


class PiCost(TypedDict):
    """What Pi thinks that a response cost, in dollars."""

    input: float
    output: float
    cacheRead: float
    cacheWrite: float
    total: float
    totalFromProvider: NotRequired[object]


class PiUsage(TypedDict):
    """Tokens of one response; ``input`` is without cache, ``reasoning`` is part of ``output``."""

    input: int
    output: int
    cacheRead: int
    cacheWrite: int
    cacheWrite1h: NotRequired[int]
    reasoning: NotRequired[int]
    totalTokens: NotRequired[int]
    cost: NotRequired[PiCost]


class PiTextBlock(TypedDict):
    """A piece of text."""

    type: Literal["text"]
    text: str
    textSignature: NotRequired[str]


class PiImageBlock(TypedDict):
    """An image, in base64."""

    type: Literal["image"]
    data: str
    mimeType: str


class PiThinkingBlock(TypedDict):
    """A thought."""

    type: Literal["thinking"]
    thinking: str
    thinkingSignature: NotRequired[str]
    redacted: NotRequired[bool]


class PiToolCallBlock(TypedDict):
    """A tool call; ids may repeat in one file."""

    type: Literal["toolCall"]
    id: str
    name: str
    arguments: object
    thoughtSignature: NotRequired[str]
    namespace: NotRequired[str]


class PiUserMessage(TypedDict):
    """What was typed, with what Pi put in front of it."""

    role: Literal["user"]
    content: str | list[PiTextBlock | PiImageBlock]
    timestamp: NotRequired[int]


class PiAssistantMessage(TypedDict):
    """An answer of the model."""

    role: Literal["assistant"]
    content: list[PiTextBlock | PiThinkingBlock | PiToolCallBlock] | None
    api: NotRequired[str]
    provider: NotRequired[str]
    model: NotRequired[str]
    responseModel: NotRequired[str]
    responseId: NotRequired[str]
    usage: NotRequired[PiUsage]
    stopReason: NotRequired[str]
    rawStopReason: NotRequired[str]
    errorMessage: NotRequired[str]
    thinkingLevel: NotRequired[str]
    durationMs: NotRequired[float]
    timestamp: NotRequired[int]
    diagnostics: NotRequired[object]


class PiToolResultMessage(TypedDict):
    """An answer of a tool."""

    role: Literal["toolResult"]
    toolCallId: str
    toolName: str
    content: list[PiTextBlock | PiImageBlock]
    details: NotRequired[object]
    isError: bool
    usage: NotRequired[PiUsage]
    nestedCalls: NotRequired[object]
    durationMs: NotRequired[float]
    timestamp: NotRequired[int]


class PiBashMessage(TypedDict):
    """A command that the user ran with ``!``."""

    role: Literal["bashExecution"]
    command: str
    output: str
    exitCode: NotRequired[int | None]
    cancelled: bool
    truncated: bool
    fullOutputPath: NotRequired[str]
    excludeFromContext: NotRequired[bool]
    timestamp: NotRequired[int]


class PiSystemMessage(TypedDict):
    """The system prompt, or a change of it."""

    role: Literal["system"]
    content: str
    sections: NotRequired[object]
    toolsAdded: NotRequired[object]
    toolsRemoved: NotRequired[object]
    timestamp: NotRequired[int]


class PiCustomMessage(TypedDict):
    """What an extension put before the model (``hookMessage`` in format 2)."""

    role: Literal["custom", "hookMessage"]
    customType: str
    content: str | list[PiTextBlock | PiImageBlock]
    display: NotRequired[bool]
    details: NotRequired[object]
    timestamp: NotRequired[int]


PiMessage = (
    PiUserMessage
    | PiAssistantMessage
    | PiToolResultMessage
    | PiBashMessage
    | PiSystemMessage
    | PiCustomMessage
)


class PiEntryBase(TypedDict):
    """What every entry but the header has; format 1 has neither id nor parent."""

    id: NotRequired[str]
    parentId: NotRequired[str | None]
    timestamp: str


class PiSessionEntry(TypedDict):
    """The header; ``version`` is the format's, absent in format 1."""

    type: Literal["session"]
    version: NotRequired[int]
    id: str
    timestamp: str
    cwd: str
    parentSession: NotRequired[str]
    branchedFrom: NotRequired[str]
    provider: NotRequired[str]
    modelId: NotRequired[str]
    thinkingLevel: NotRequired[str]


class PiMessageEntry(PiEntryBase):
    """A message."""

    type: Literal["message"]
    message: PiMessage


class PiModelChangeEntry(PiEntryBase):
    """Another model was chosen; it may never be used."""

    type: Literal["model_change"]
    provider: str
    modelId: str


class PiThinkingLevelEntry(PiEntryBase):
    """How much the model is to think."""

    type: Literal["thinking_level_change"]
    thinkingLevel: str


class PiCompactionEntry(PiEntryBase):
    """A summary that takes the place of what came before."""

    type: Literal["compaction"]
    summary: str
    firstKeptEntryId: NotRequired[str]
    firstKeptEntryIndex: NotRequired[int]
    tokensBefore: NotRequired[int]
    details: NotRequired[object]
    fromHook: NotRequired[bool]
    usage: NotRequired[PiUsage]
    systemMessage: NotRequired[object]


class PiBranchSummaryEntry(PiEntryBase):
    """A summary of a branch that was left."""

    type: Literal["branch_summary"]
    fromId: str
    summary: str
    details: NotRequired[object]
    fromHook: NotRequired[bool]
    usage: NotRequired[PiUsage]


class PiUsageEntry(PiEntryBase):
    """Tokens that no message shows."""

    type: Literal["usage"]
    kind: str
    provider: str
    model: str
    usage: PiUsage


class PiContextEditEntry(PiEntryBase):
    """An entry that is no longer sent to the model."""

    type: Literal["context_edit"]
    targetId: str
    replacement: object


class PiCustomEntry(PiEntryBase):
    """State of an extension."""

    type: Literal["custom"]
    customType: str
    data: NotRequired[object]


class PiCustomMessageEntry(PiEntryBase):
    """What an extension put before the model."""

    type: Literal["custom_message"]
    customType: str
    content: str | list[PiTextBlock | PiImageBlock]
    display: NotRequired[bool]
    details: NotRequired[object]


class PiLabelEntry(PiEntryBase):
    """A mark on an entry."""

    type: Literal["label"]
    targetId: str
    label: NotRequired[str]


class PiSessionInfoEntry(PiEntryBase):
    """The name of the session; an empty one takes it back."""

    type: Literal["session_info"]
    name: NotRequired[str]


PiEntry = (
    PiSessionEntry
    | PiMessageEntry
    | PiModelChangeEntry
    | PiThinkingLevelEntry
    | PiCompactionEntry
    | PiBranchSummaryEntry
    | PiUsageEntry
    | PiContextEditEntry
    | PiCustomEntry
    | PiCustomMessageEntry
    | PiLabelEntry
    | PiSessionInfoEntry
)
"""A line of a session file."""
