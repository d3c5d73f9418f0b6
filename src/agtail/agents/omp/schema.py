"""Typed shapes of Oh My Pi's session files (``docs/agents/omp.md``)."""

from typing import Literal, NotRequired, TypedDict


class OmpUsage(TypedDict):
    """Tokens of one response; ``input`` is without cache, ``output`` with reasoning."""

    input: int
    output: int
    cacheRead: int
    cacheWrite: int
    reasoningTokens: NotRequired[int]
    premiumRequests: NotRequired[float]
    totalTokens: NotRequired[int]
    cost: NotRequired[object]


class OmpTextBlock(TypedDict):
    """A piece of text."""

    type: Literal["text"]
    text: str
    textSignature: NotRequired[str]


class OmpImageBlock(TypedDict):
    """An image, in base64, or ``blob:sha256:`` and the name of a file in ``blobs``."""

    type: Literal["image"]
    data: str
    mimeType: str


class OmpThinkingBlock(TypedDict):
    """A thought."""

    type: Literal["thinking"]
    thinking: str
    thinkingSignature: NotRequired[str]


class OmpRedactedThinkingBlock(TypedDict):
    """A thought that only the vendor can read."""

    type: Literal["redactedThinking"]
    data: str


class OmpToolCallBlock(TypedDict):
    """A tool call; ``arguments`` has the intent once more, as ``i``."""

    type: Literal["toolCall"]
    id: str
    name: str
    arguments: object
    intent: NotRequired[str]
    partialArgs: NotRequired[str]
    streamIndex: NotRequired[int]
    thoughtSignature: NotRequired[str]


OmpAnswerBlock = (
    OmpTextBlock | OmpImageBlock | OmpThinkingBlock | OmpRedactedThinkingBlock | OmpToolCallBlock
)


class OmpUserMessage(TypedDict):
    """What was typed; or, with ``attribution`` ``agent`` or ``synthetic``, what a program said."""

    role: Literal["user"]
    content: str | list[OmpTextBlock | OmpImageBlock]
    attribution: NotRequired[str]
    synthetic: NotRequired[bool]
    steering: NotRequired[bool]
    timestamp: NotRequired[int]


class OmpDeveloperMessage(TypedDict):
    """What the program put before the model."""

    role: Literal["developer"]
    content: str | list[OmpTextBlock | OmpImageBlock]
    attribution: NotRequired[str]
    timestamp: NotRequired[int]


class OmpAssistantMessage(TypedDict):
    """An answer of the model."""

    role: Literal["assistant"]
    content: list[OmpAnswerBlock] | None
    api: NotRequired[str]
    provider: NotRequired[str]
    model: NotRequired[str]
    upstreamModel: NotRequired[str]
    upstreamProvider: NotRequired[str]
    responseId: NotRequired[str]
    usage: NotRequired[OmpUsage]
    stopReason: NotRequired[str]
    stopDetails: NotRequired[object]
    errorMessage: NotRequired[str]
    errorStatus: NotRequired[object]
    errorId: NotRequired[object]
    retryRecovery: NotRequired[object]
    contextSnapshot: NotRequired[object]
    providerPayload: NotRequired[object]
    duration: NotRequired[float]
    ttft: NotRequired[float]
    completedAt: NotRequired[int]
    timestamp: NotRequired[int]


class OmpToolResultMessage(TypedDict):
    """An answer of a tool; ``prunedAt`` when a stub took its place later."""

    role: Literal["toolResult"]
    toolCallId: str
    toolName: str
    content: list[OmpTextBlock | OmpImageBlock]
    details: NotRequired[object]
    isError: bool
    prunedAt: NotRequired[object]
    useless: NotRequired[bool]
    timestamp: NotRequired[int]


class OmpBashMessage(TypedDict):
    """A command that the user ran with ``!``."""

    role: Literal["bashExecution"]
    command: str
    output: str
    exitCode: NotRequired[int | None]
    cancelled: bool
    truncated: bool
    meta: NotRequired[object]
    images: NotRequired[object]
    excludeFromContext: NotRequired[bool]
    timestamp: NotRequired[int]


class OmpPythonMessage(TypedDict):
    """Python that the user ran with ``$``."""

    role: Literal["pythonExecution"]
    code: str
    output: str
    exitCode: NotRequired[int | None]
    cancelled: NotRequired[bool]
    truncated: NotRequired[bool]
    meta: NotRequired[object]
    excludeFromContext: NotRequired[bool]
    timestamp: NotRequired[int]


class OmpMentionedFile(TypedDict):
    """A file that was named with ``@``."""

    path: str
    content: NotRequired[str]
    lineCount: NotRequired[int]
    skippedReason: NotRequired[str]
    image: NotRequired[object]


class OmpFileMentionMessage(TypedDict):
    """Files that were named with ``@``, put before the model."""

    role: Literal["fileMention"]
    files: list[OmpMentionedFile]
    timestamp: NotRequired[int]


class OmpCustomMessage(TypedDict):
    """What an extension put before the model."""

    role: Literal["custom", "hookMessage"]
    customType: str
    content: str | list[OmpTextBlock | OmpImageBlock]
    display: NotRequired[bool]
    details: NotRequired[object]
    attribution: NotRequired[str]
    timestamp: NotRequired[int]


OmpMessage = (
    OmpUserMessage
    | OmpDeveloperMessage
    | OmpAssistantMessage
    | OmpToolResultMessage
    | OmpBashMessage
    | OmpPythonMessage
    | OmpFileMentionMessage
    | OmpCustomMessage
)


class OmpTitleSlot(TypedDict):
    """The first line: the title, written over in place; ``pad`` fills it up to 256 bytes."""

    type: Literal["title"]
    v: int
    title: str
    source: NotRequired[Literal["auto", "user"]]
    updatedAt: str
    pad: str


class OmpSessionEntry(TypedDict):
    """The header; ``version`` is the format's."""

    type: Literal["session"]
    version: NotRequired[int]
    id: str
    timestamp: str
    cwd: str
    title: NotRequired[str]
    titleSource: NotRequired[str]
    additionalDirectories: NotRequired[list[str]]
    parentSession: NotRequired[str]
    previousSessionFiles: NotRequired[list[str]]
    providerPromptCacheKey: NotRequired[str]


class OmpEntryBase(TypedDict):
    """What every entry has but the title and the header."""

    id: NotRequired[str]
    parentId: NotRequired[str | None]
    timestamp: str


class OmpMessageEntry(OmpEntryBase):
    """A message."""

    type: Literal["message"]
    message: OmpMessage


class OmpModelChangeEntry(OmpEntryBase):
    """Another model was chosen, ``provider/id``; it may never be used."""

    type: Literal["model_change"]
    model: str
    role: NotRequired[str]
    resolvedModelIsFallback: NotRequired[bool]


class OmpThinkingLevelEntry(OmpEntryBase):
    """How much the model is to think."""

    type: Literal["thinking_level_change"]
    thinkingLevel: NotRequired[str | None]
    configured: NotRequired[str | None]


class OmpServiceTierEntry(OmpEntryBase):
    """Another tier of service was chosen."""

    type: Literal["service_tier_change"]
    serviceTier: object


class OmpTitleChangeEntry(OmpEntryBase):
    """The title as it was given."""

    type: Literal["title_change"]
    title: str
    previousTitle: NotRequired[str]
    source: NotRequired[Literal["auto", "user"]]
    trigger: NotRequired[str]


class OmpSessionInitEntry(OmpEntryBase):
    """What a subagent was started with; the prompt was one text in older versions."""

    type: Literal["session_init"]
    systemPrompt: str | list[str]
    task: str
    tools: list[str]
    agent: NotRequired[str]
    modelRole: NotRequired[str]
    resolvedModel: NotRequired[str]
    readOnly: NotRequired[bool]
    spawns: NotRequired[str]
    outputSchema: NotRequired[object]
    isolated: NotRequired[bool]


class OmpModelUsageEntry(OmpEntryBase):
    """A response of a helper, which no message shows."""

    type: Literal["model_usage"]
    purpose: str
    role: NotRequired[str]
    api: NotRequired[str]
    provider: str
    model: str
    usage: OmpUsage
    stopReason: NotRequired[str]
    errorMessage: NotRequired[str]


class OmpModeChangeEntry(OmpEntryBase):
    """A mode such as planning began or ended."""

    type: Literal["mode_change"]
    mode: str
    data: NotRequired[object]


class OmpRulesEntry(OmpEntryBase):
    """Rules that were put before the model in the middle of an answer."""

    type: Literal["ttsr_injection"]
    injectedRules: list[str]


class OmpCredentialEntry(OmpEntryBase):
    """Which account served the session."""

    type: Literal["credential_pin"]
    provider: str
    hash: str


class OmpResetEntry(OmpEntryBase):
    """The user cleared the context; what was said stays in the file."""

    type: Literal["reset_boundary"]


class OmpCompactionEntry(OmpEntryBase):
    """A summary that takes the place of what came before."""

    type: Literal["compaction"]
    summary: str
    shortSummary: NotRequired[str]
    firstKeptEntryId: NotRequired[str]
    tokensBefore: NotRequired[int]
    tokensAfter: NotRequired[int]
    method: NotRequired[str]
    details: NotRequired[object]
    preserveData: NotRequired[object]
    fromExtension: NotRequired[bool]
    warning: NotRequired[str]
    providerReplayThroughEntryId: NotRequired[str]


class OmpBranchSummaryEntry(OmpEntryBase):
    """A summary of a branch that was left."""

    type: Literal["branch_summary"]
    fromId: str
    summary: str
    details: NotRequired[object]
    fromExtension: NotRequired[bool]


class OmpCustomEntry(OmpEntryBase):
    """State of the program or of an extension, such as the start of a call or the end of a run."""

    type: Literal["custom"]
    customType: str
    data: NotRequired[object]


class OmpCustomMessageEntry(OmpEntryBase):
    """What the program or an extension put before the model."""

    type: Literal["custom_message"]
    customType: str
    content: str | list[OmpTextBlock | OmpImageBlock]
    display: NotRequired[bool]
    details: NotRequired[object]
    attribution: NotRequired[str]


class OmpLabelEntry(OmpEntryBase):
    """A mark on an entry."""

    type: Literal["label"]
    targetId: str
    label: NotRequired[str]


class OmpArchiveEntry(OmpEntryBase):
    """A branch was hidden, or shown again."""

    type: Literal["archive"]
    targetId: str
    archived: bool


OmpEntry = (
    OmpTitleSlot
    | OmpSessionEntry
    | OmpMessageEntry
    | OmpModelChangeEntry
    | OmpThinkingLevelEntry
    | OmpServiceTierEntry
    | OmpTitleChangeEntry
    | OmpSessionInitEntry
    | OmpModelUsageEntry
    | OmpModeChangeEntry
    | OmpRulesEntry
    | OmpCredentialEntry
    | OmpResetEntry
    | OmpCompactionEntry
    | OmpBranchSummaryEntry
    | OmpCustomEntry
    | OmpCustomMessageEntry
    | OmpLabelEntry
    | OmpArchiveEntry
)
"""A line of a session file."""
