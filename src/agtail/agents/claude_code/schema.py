"""Typed shapes of Claude Code's files: types and nothing else.

``ClaudeSessionEntry`` is one line of ``projects/*/*.jsonl``; ``ClaudeHistoryEntry`` one line of
``history.jsonl``. Fields whose shape moves between versions are ``object`` on purpose. Written
from what versions 1.0.88 to 2.1.332 leave on disk, see ``docs/agents/claude-code.md``.
"""

from typing import Literal, NotRequired, TypedDict


class ClaudeTextBlock(TypedDict):
    type: Literal["text"]
    text: str


class ClaudeThinkingBlock(TypedDict):
    type: Literal["thinking"]
    thinking: str
    signature: NotRequired[str]


class ClaudeRedactedThinkingBlock(TypedDict):
    type: Literal["redacted_thinking"]
    data: str


class ClaudeToolUseBlock(TypedDict):
    """A call; server and MCP connector tools have the same shape under their own types."""

    type: Literal["tool_use", "server_tool_use", "mcp_tool_use"]
    id: str
    name: str
    input: object


class ClaudeMediaSource(TypedDict, total=False):
    """``type`` is ``base64``, ``url`` or ``file``."""

    type: str
    media_type: str
    data: str
    url: str
    file_id: str


class ClaudeImageBlock(TypedDict):
    type: Literal["image"]
    source: ClaudeMediaSource


class ClaudeDocumentBlock(TypedDict):
    type: Literal["document"]
    source: ClaudeMediaSource


class ClaudeToolResultBlock(TypedDict):
    """``is_error`` is absent for tools that never fail softly (Read, Write, Edit, MCP)."""

    type: Literal["tool_result"]
    tool_use_id: str
    content: NotRequired[object]
    is_error: NotRequired[bool]


class ClaudeServerToolResultBlock(TypedDict):
    """The answer of a server tool, in the assistant's own message."""

    type: Literal[
        "web_search_tool_result",
        "web_fetch_tool_result",
        "code_execution_tool_result",
        "bash_code_execution_tool_result",
        "text_editor_code_execution_tool_result",
        "tool_search_tool_result",
        "mcp_tool_result",
    ]
    tool_use_id: str
    content: object


ClaudeContentBlock = (
    ClaudeTextBlock
    | ClaudeThinkingBlock
    | ClaudeRedactedThinkingBlock
    | ClaudeToolUseBlock
    | ClaudeImageBlock
    | ClaudeDocumentBlock
    | ClaudeToolResultBlock
    | ClaudeServerToolResultBlock
)


class ClaudeCacheCreation(TypedDict, total=False):
    ephemeral_5m_input_tokens: int
    ephemeral_1h_input_tokens: int


class ClaudeUsage(TypedDict, total=False):
    """Repeated on every line of one response; ``input_tokens`` excludes the cache."""

    input_tokens: int
    output_tokens: int
    cache_read_input_tokens: int
    cache_creation_input_tokens: int
    cache_creation: ClaudeCacheCreation | None
    output_tokens_details: object
    server_tool_use: object
    service_tier: str | None
    inference_geo: str | None
    iterations: object
    speed: str | None
    fallback_credit: object


class ClaudeAssistantMessage(TypedDict):
    """One content block of a response: lines of a response share ``id``."""

    role: Literal["assistant"]
    content: list[ClaudeContentBlock]
    id: NotRequired[str]
    type: NotRequired[Literal["message"]]
    model: NotRequired[str]
    stop_reason: NotRequired[str | None]
    stop_sequence: NotRequired[str | None]
    stop_details: NotRequired[object]
    usage: NotRequired[ClaudeUsage]
    container: NotRequired[object]
    context_management: NotRequired[object]
    diagnostics: NotRequired[object]


class ClaudeUserMessage(TypedDict):
    role: Literal["user"]
    content: str | list[ClaudeContentBlock]


class ClaudeForkedFrom(TypedDict):
    """On every record that ``/branch`` copied."""

    sessionId: str
    messageUuid: str


class ClaudeOrigin(TypedDict, total=False):
    """``kind`` is ``human``, ``task-notification``, ``peer``, ``scheduled`` and the like."""

    kind: str
    producer: str
    runId: str


class ClaudeEnvelope(TypedDict):
    """What user, assistant, system, attachment and progress records have in common."""

    uuid: str
    parentUuid: str | None
    timestamp: str
    sessionId: str
    isSidechain: bool
    cwd: NotRequired[str]
    version: NotRequired[str]
    gitBranch: NotRequired[str]
    userType: NotRequired[str]
    entrypoint: NotRequired[str]
    agentId: NotRequired[str]
    slug: NotRequired[str]
    session_id: NotRequired[str]
    isMeta: NotRequired[bool]
    forkedFrom: NotRequired[ClaudeForkedFrom]


class ClaudeUserEntry(ClaudeEnvelope):
    """A prompt, tool results, or text that the program put there."""

    type: Literal["user"]
    message: ClaudeUserMessage
    promptId: NotRequired[str]
    promptSource: NotRequired[str]
    turnOrigin: NotRequired[str]
    turnPosition: NotRequired[object]
    turnCompanion: NotRequired[bool]
    rowSource: NotRequired[str]
    origin: NotRequired[ClaudeOrigin]
    permissionMode: NotRequired[str]
    permissionDecision: NotRequired[object]
    toolUseResult: NotRequired[object]
    toolDenialKind: NotRequired[str]
    toolDenialBeforeRun: NotRequired[bool]
    sourceToolAssistantUUID: NotRequired[str]
    sourceToolUseID: NotRequired[str]
    isCompactSummary: NotRequired[bool]
    isVisibleInTranscriptOnly: NotRequired[bool]
    repeatsCompactSummary: NotRequired[bool]
    interruptedMessageId: NotRequired[str]
    refusedMessageId: NotRequired[str]
    refusalRetry: NotRequired[bool]
    imagePasteIds: NotRequired[list[int]]
    sentAtMs: NotRequired[int]
    sandboxed: NotRequired[bool]
    queueSkipAttachments: NotRequired[bool]
    thinkingMetadata: NotRequired[object]
    todos: NotRequired[object]
    mcpMeta: NotRequired[object]
    mcpCallNotReadOnly: NotRequired[str]
    hookText: NotRequired[bool]
    hookTextLead: NotRequired[str]
    ownNote: NotRequired[bool]
    joinedNoticeLengths: NotRequired[object]
    joinedNoticeOwn: NotRequired[object]
    joinedNoticeRunIds: NotRequired[object]


class ClaudeAssistantEntry(ClaudeEnvelope):
    """One block of a response, or (``isApiErrorMessage``) the report of a failed one."""

    type: Literal["assistant"]
    message: ClaudeAssistantMessage
    requestId: NotRequired[str]
    requestRef: NotRequired[str]
    requestSessionId: NotRequired[str]
    requestedModel: NotRequired[str]
    apiBlockIndex: NotRequired[int]
    isApiErrorMessage: NotRequired[bool]
    error: NotRequired[object]
    apiError: NotRequired[object]
    apiErrorParams: NotRequired[object]
    apiErrorStatus: NotRequired[int]
    apiErrorType: NotRequired[str]
    isAbortedMidStream: NotRequired[bool]
    failedResponseHadNoToolCall: NotRequired[bool]
    refusedMessageId: NotRequired[str]
    refusingModel: NotRequired[str]
    promptCacheRequested: NotRequired[str]
    effort: NotRequired[object]
    perTurnEffort: NotRequired[object]
    madeBy: NotRequired[str]
    toolInputStreamMs: NotRequired[int]
    thinkingDurationMs: NotRequired[int]
    thinkingDisplay: NotRequired[str]
    serverClassifierRequest: NotRequired[object]
    attributionAgent: NotRequired[str]
    attributionMcpServer: NotRequired[str]
    attributionMcpTool: NotRequired[str]
    attributionPlugin: NotRequired[str]
    attributionSkill: NotRequired[str]


class ClaudeHookInfo(TypedDict):
    command: NotRequired[str]
    durationMs: NotRequired[object]


class ClaudeSystemEntry(ClaudeEnvelope):
    """``subtype`` tells: ``compact_boundary``, ``stop_hook_summary``, ``api_error`` and more."""

    type: Literal["system"]
    subtype: NotRequired[str]
    content: NotRequired[object]
    level: NotRequired[str]
    logicalParentUuid: NotRequired[str | None]
    compactMetadata: NotRequired[object]
    microcompactMetadata: NotRequired[object]
    commandRun: NotRequired[object]
    durationMs: NotRequired[int]
    messageCount: NotRequired[int]
    pendingBackgroundAgentCount: NotRequired[int]
    pendingWorkflowCount: NotRequired[int]
    hookCount: NotRequired[int]
    hookInfos: NotRequired[list[ClaudeHookInfo]]
    hookErrors: NotRequired[list[object]]
    failedHookErrorIndexes: NotRequired[object]
    hookAdditionalContext: NotRequired[object]
    preventedContinuation: NotRequired[bool]
    stopReason: NotRequired[str]
    hasOutput: NotRequired[bool]
    toolUseID: NotRequired[str]
    error: NotRequired[object]
    cause: NotRequired[object]
    retryInMs: NotRequired[float]
    retryAttempt: NotRequired[int]
    maxRetries: NotRequired[int]
    source: NotRequired[str]
    requestId: NotRequired[str]
    originalModel: NotRequired[str]
    apiRefusalCategory: NotRequired[object]
    apiRefusalExplanation: NotRequired[object]
    refusedUserMessageUuid: NotRequired[str]
    isDisplayOnly: NotRequired[bool]


class ClaudeAttachmentEntry(ClaudeEnvelope):
    """``attachment.type`` says what it is; hook firings are attachments too."""

    type: Literal["attachment"]
    attachment: dict[str, object]
    rendered: NotRequired[object]
    renderedRole: NotRequired[str]
    renderedInHumanTurn: NotRequired[object]
    renderedBesideToolResult: NotRequired[bool]


class ClaudeProgressEntry(ClaudeEnvelope):
    """Up to 2.1.2x; ``agent_progress`` repeats a subagent's own transcript."""

    type: Literal["progress"]
    data: dict[str, object]
    toolUseID: NotRequired[str]
    parentToolUseID: NotRequired[str]


class ClaudeSummaryEntry(TypedDict):
    """Up to 2.0.x, often about another session: see ``leafUuid``."""

    type: Literal["summary"]
    summary: str
    leafUuid: str


class ClaudeCustomTitleEntry(TypedDict):
    type: Literal["custom-title"]
    customTitle: str
    sessionId: NotRequired[str]


class ClaudeAiTitleEntry(TypedDict):
    type: Literal["ai-title"]
    aiTitle: str
    sessionId: NotRequired[str]


class ClaudeLastPromptEntry(TypedDict):
    type: Literal["last-prompt"]
    lastPrompt: NotRequired[str]
    leafUuid: NotRequired[str]
    explicit: NotRequired[bool]
    sessionId: NotRequired[str]


class ClaudeQueueOperationEntry(TypedDict):
    type: Literal["queue-operation"]
    operation: Literal["enqueue", "dequeue", "remove", "popAll"]
    timestamp: str
    sessionId: str
    content: NotRequired[object]
    reason: NotRequired[str]
    commandUuid: NotRequired[str]
    deliveryId: NotRequired[str]


class ClaudeFileHistorySnapshotEntry(TypedDict):
    type: Literal["file-history-snapshot"]
    messageId: str
    snapshot: dict[str, object]
    isSnapshotUpdate: NotRequired[bool]


class ClaudeFileHistoryDeltaEntry(TypedDict):
    type: Literal["file-history-delta"]
    messageId: str
    snapshotMessageId: str
    trackingPath: str
    backup: dict[str, object]
    timestamp: NotRequired[str]


class ClaudeModeEntry(TypedDict):
    type: Literal["mode"]
    mode: str
    sessionId: NotRequired[str]


class ClaudePermissionModeEntry(TypedDict):
    type: Literal["permission-mode"]
    permissionMode: str
    sessionId: NotRequired[str]


class ClaudeAgentNameEntry(TypedDict):
    type: Literal["agent-name"]
    agentName: str
    sessionId: NotRequired[str]


class ClaudeAgentColorEntry(TypedDict):
    type: Literal["agent-color"]
    agentColor: str
    sessionId: NotRequired[str]


class ClaudeCostStateEntry(TypedDict):
    """Running totals of the program itself; summarizing and naming requests are in them."""

    type: Literal["cost-state"]
    totalCostUSD: float
    modelUsage: dict[str, object]
    sessionId: NotRequired[str]
    totalAPIDuration: NotRequired[float]
    totalAPIDurationWithoutRetries: NotRequired[float]
    totalToolDuration: NotRequired[float]
    totalDuration: NotRequired[float]
    totalLinesAdded: NotRequired[int]
    totalLinesRemoved: NotRequired[int]
    startTime: NotRequired[int]
    hasUnknownModelCost: NotRequired[bool]


class ClaudeWorktreeStateEntry(TypedDict):
    type: Literal["worktree-state"]
    worktreeSession: object
    sessionId: NotRequired[str]


class ClaudePrLinkEntry(TypedDict):
    type: Literal["pr-link"]
    prNumber: NotRequired[int]
    prUrl: NotRequired[str]
    prRepository: NotRequired[str]
    sessionId: NotRequired[str]
    timestamp: NotRequired[str]


class ClaudeToolsUsedEntry(TypedDict):
    type: Literal["tools-used"]
    tools: list[str]
    sessionId: NotRequired[str]


class ClaudeAtisLatchEntry(TypedDict):
    type: Literal["atis-latch"]
    atis: object
    sessionId: NotRequired[str]


class ClaudeApiRequestEntry(TypedDict):
    """The request log of 2.1.3xx: repeats what is sent."""

    type: Literal["api-request"]
    id: str
    sessionId: NotRequired[str]
    agentId: NotRequired[str]
    timestamp: NotRequired[str]
    version: NotRequired[str]
    querySource: NotRequired[str]
    shapeHash: NotRequired[str]
    params: NotRequired[object]
    thread: NotRequired[object]
    echoWireToolInputs: NotRequired[bool]
    keep: NotRequired[int]
    tail: NotRequired[object]
    base: NotRequired[object]
    cacheControl: NotRequired[object]
    requestDigest: NotRequired[str]


class ClaudeApiRequestBlobEntry(TypedDict):
    type: Literal["api-request-blob"]
    hash: str
    message: object
    sessionId: NotRequired[str]
    agentId: NotRequired[str]


class ClaudeApiRequestShapeEntry(TypedDict):
    type: Literal["api-request-shape"]
    shapeHash: str
    shape: object
    sessionId: NotRequired[str]
    agentId: NotRequired[str]
    timestamp: NotRequired[str]
    version: NotRequired[str]


class ClaudeOtherEntry(TypedDict):
    """Records of a type that is not described: rarely seen, or of a version to come.

    No member of ``ClaudeSessionEntry``, whose members are told apart by their ``type``.
    """

    type: str


ClaudeSessionEntry = (
    ClaudeUserEntry
    | ClaudeAssistantEntry
    | ClaudeSystemEntry
    | ClaudeAttachmentEntry
    | ClaudeProgressEntry
    | ClaudeSummaryEntry
    | ClaudeCustomTitleEntry
    | ClaudeAiTitleEntry
    | ClaudeLastPromptEntry
    | ClaudeQueueOperationEntry
    | ClaudeFileHistorySnapshotEntry
    | ClaudeFileHistoryDeltaEntry
    | ClaudeModeEntry
    | ClaudePermissionModeEntry
    | ClaudeAgentNameEntry
    | ClaudeAgentColorEntry
    | ClaudeCostStateEntry
    | ClaudeWorktreeStateEntry
    | ClaudePrLinkEntry
    | ClaudeToolsUsedEntry
    | ClaudeAtisLatchEntry
    | ClaudeApiRequestEntry
    | ClaudeApiRequestBlobEntry
    | ClaudeApiRequestShapeEntry
)


class ClaudeHistoryEntry(TypedDict):
    """One prompt typed in the terminal; ``timestamp`` in milliseconds since 1970."""

    display: str
    timestamp: int
    project: str
    pastedContents: NotRequired[object]
    sessionId: NotRequired[str]


class ClaudeSubagentMeta(TypedDict, total=False):
    """``agent-<id>.meta.json`` beside a subagent's transcript."""

    agentType: str
    description: str
    toolUseId: str
    parentAgentId: str
    spawnDepth: int
    model: str
    finished: object
    inWorkflowRun: object
    workflowPhase: str


class ClaudeCustomTitle(TypedDict, total=False):
    """``custom-title.json`` in a session's folder."""

    customTitle: str
    by: str
    at: str


class ClaudeArchived(TypedDict, total=False):
    """``archived.json`` in a session's folder."""

    archived: bool
    at: str
