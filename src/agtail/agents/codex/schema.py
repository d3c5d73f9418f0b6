"""Typed shapes of Codex's files: types and nothing else.

``CodexRolloutLine`` is one line of a rollout since about 0.30, ``CodexBareLine`` one of before.
``type`` tells the lines apart, and ``payload["type"]`` items and events. Fields whose shape
moves between versions are ``object`` on purpose; types that are rarely met are not described.
Written from what versions 0.8.0 to 0.171.0 leave on disk, see ``docs/agents/codex.md``.
"""

from typing import Literal, NotRequired, TypedDict


class CodexGit(TypedDict, total=False):
    commit_hash: str | None
    branch: str | None
    repository_url: str | None


class CodexHistoryBase(TypedDict):
    """Where a fork or a segment goes on: nothing before is copied."""

    thread_id: str
    end_ordinal_exclusive: int
    end_byte_offset: NotRequired[int]


class CodexSessionMeta(TypedDict):
    """The first line; ``source`` is a word, or an object for a subagent."""

    id: str
    timestamp: str
    session_id: NotRequired[str]
    forked_from_id: NotRequired[str | None]
    forked_from_ordinal_exclusive: NotRequired[int | None]
    parent_thread_id: NotRequired[str | None]
    cwd: NotRequired[str]
    runtime_workspace_roots: NotRequired[list[str]]
    originator: NotRequired[str]
    cli_version: NotRequired[str]
    source: NotRequired[object]
    thread_source: NotRequired[str | None]
    agent_nickname: NotRequired[str | None]
    agent_role: NotRequired[str | None]
    multi_agent_version: NotRequired[str]
    model_provider: NotRequired[str | None]
    base_instructions: NotRequired[object]
    instructions: NotRequired[str | None]
    history_mode: NotRequired[Literal["legacy", "paginated"]]
    history_base: NotRequired[CodexHistoryBase | None]
    subagent_history_start_ordinal: NotRequired[int | None]
    context_window: NotRequired[object]
    account_scoped: NotRequired[bool]
    git: NotRequired[CodexGit | None]


class CodexContentPart(TypedDict):
    """``type`` is ``input_text``, ``output_text``, ``input_image``, ``summary_text`` and so on."""

    type: str
    text: NotRequired[str]
    image_url: NotRequired[object]
    detail: NotRequired[str | None]
    refusal: NotRequired[str]
    annotations: NotRequired[list[object]]


class CodexItemBase(TypedDict):
    """What response items have in common."""

    id: NotRequired[str | None]
    status: NotRequired[str | None]
    internal_chat_message_metadata_passthrough: NotRequired[object]


class CodexMessage(CodexItemBase):
    """Of role ``user`` is also what the program put there; ``developer`` is always that."""

    type: Literal["message"]
    role: Literal["user", "assistant", "developer", "system"]
    content: list[CodexContentPart]
    phase: NotRequired[str | None]


class CodexReasoning(CodexItemBase):
    type: Literal["reasoning"]
    summary: list[CodexContentPart]
    content: NotRequired[list[CodexContentPart] | None]
    encrypted_content: NotRequired[str | None]


class CodexFunctionCall(CodexItemBase):
    """``arguments`` is JSON in a string."""

    type: Literal["function_call"]
    name: str
    arguments: str
    call_id: str
    namespace: NotRequired[str | None]


class CodexFunctionCallOutput(CodexItemBase):
    """``output`` is text or a list of parts; in old versions JSON in a string."""

    type: Literal["function_call_output"]
    call_id: str
    output: object


class CodexCustomToolCall(CodexItemBase):
    """``input`` is free text, such as a patch."""

    type: Literal["custom_tool_call"]
    name: str
    input: str
    call_id: str


class CodexCustomToolCallOutput(CodexItemBase):
    type: Literal["custom_tool_call_output"]
    call_id: str
    output: object


class CodexLocalShellCall(CodexItemBase):
    type: Literal["local_shell_call"]
    call_id: NotRequired[str | None]
    action: object


class CodexWebSearchCall(CodexItemBase):
    """It has no output record."""

    type: Literal["web_search_call"]
    action: NotRequired[object]


class CodexImageGenerationCall(CodexItemBase):
    """``result`` is base64."""

    type: Literal["image_generation_call"]
    revised_prompt: NotRequired[str | None]
    result: NotRequired[str]


class CodexGhostSnapshot(CodexItemBase):
    type: Literal["ghost_snapshot"]
    ghost_commit: object


CodexResponseItem = (
    CodexMessage
    | CodexReasoning
    | CodexFunctionCall
    | CodexFunctionCallOutput
    | CodexCustomToolCall
    | CodexCustomToolCallOutput
    | CodexLocalShellCall
    | CodexWebSearchCall
    | CodexImageGenerationCall
    | CodexGhostSnapshot
)


class CodexTurnError(TypedDict):
    message: str
    codex_error_info: NotRequired[object]


class CodexTaskStarted(TypedDict):
    type: Literal["task_started", "turn_started"]
    turn_id: NotRequired[str]
    root_turn_id: NotRequired[str]
    turn_attribution: NotRequired[object]
    started_at: NotRequired[int]
    model_context_window: NotRequired[int | None]
    collaboration_mode_kind: NotRequired[str]


class CodexTaskComplete(TypedDict):
    type: Literal["task_complete", "turn_complete"]
    turn_id: NotRequired[str]
    root_turn_id: NotRequired[str]
    last_agent_message: NotRequired[str | None]
    error: NotRequired[CodexTurnError | None]
    started_at: NotRequired[int]
    completed_at: NotRequired[int]
    duration_ms: NotRequired[int]
    time_to_first_token_ms: NotRequired[int | None]


class CodexTurnAborted(TypedDict):
    type: Literal["turn_aborted"]
    reason: str
    turn_id: NotRequired[str | None]
    root_turn_id: NotRequired[str]
    started_at: NotRequired[int]
    completed_at: NotRequired[int]
    duration_ms: NotRequired[int]


class CodexUserMessage(TypedDict):
    """What a human typed, up to 0.145; the message itself stands in a response item, too."""

    type: Literal["user_message"]
    message: str
    kind: NotRequired[str]
    images: NotRequired[list[str] | None]
    local_images: NotRequired[list[str]]
    text_elements: NotRequired[list[object]]
    audio: NotRequired[list[object]]
    local_audio: NotRequired[list[object]]


class CodexAgentMessage(TypedDict):
    type: Literal["agent_message"]
    message: str
    phase: NotRequired[str | None]
    memory_citation: NotRequired[object]


class CodexAgentReasoning(TypedDict):
    type: Literal["agent_reasoning", "agent_reasoning_raw_content"]
    text: str


class CodexTokenUsage(TypedDict):
    """``input_tokens`` includes the cache, ``output_tokens`` the reasoning."""

    input_tokens: int
    cached_input_tokens: int
    output_tokens: int
    reasoning_output_tokens: int
    total_tokens: int
    cache_write_input_tokens: NotRequired[int]


class CodexTokenInfo(TypedDict):
    total_token_usage: CodexTokenUsage
    last_token_usage: CodexTokenUsage
    last_usage_includes_reasoning: NotRequired[bool]
    model_context_window: NotRequired[int | None]


class CodexTokenCount(TypedDict):
    """``info`` is null for rate limits alone."""

    type: Literal["token_count"]
    info: CodexTokenInfo | None
    rate_limits: NotRequired[object]


class CodexItemCompleted(TypedDict):
    """``item["type"]`` is ``UserMessage``, ``CommandExecution``, ``FileChange`` and so on."""

    type: Literal["item_completed"]
    thread_id: str
    turn_id: str
    item: dict[str, object]
    started_at_ms: NotRequired[int]
    completed_at_ms: NotRequired[int]


class CodexPatchApplyEnd(TypedDict):
    type: Literal["patch_apply_end"]
    call_id: str
    success: bool
    turn_id: NotRequired[str]
    status: NotRequired[str]
    stdout: NotRequired[str]
    stderr: NotRequired[str]
    changes: NotRequired[dict[str, object]]


class CodexThreadRolledBack(TypedDict):
    type: Literal["thread_rolled_back"]
    num_turns: int


class CodexThreadSettingsApplied(TypedDict):
    type: Literal["thread_settings_applied"]
    thread_settings: object
    thread_id: NotRequired[str]


class CodexContextCompacted(TypedDict):
    """Beside a ``compacted`` line; not a second compaction."""

    type: Literal["context_compacted"]


CodexEventMsg = (
    CodexTaskStarted
    | CodexTaskComplete
    | CodexTurnAborted
    | CodexUserMessage
    | CodexAgentMessage
    | CodexAgentReasoning
    | CodexTokenCount
    | CodexItemCompleted
    | CodexPatchApplyEnd
    | CodexThreadRolledBack
    | CodexThreadSettingsApplied
    | CodexContextCompacted
)


class CodexTurnContext(TypedDict):
    cwd: str
    model: str
    turn_id: NotRequired[str]
    root_turn_id: NotRequired[str]
    effort: NotRequired[str | None]
    summary: NotRequired[str]
    approval_policy: NotRequired[object]
    approvals_reviewer: NotRequired[str]
    sandbox_policy: NotRequired[object]
    permission_profile: NotRequired[object]
    truncation_policy: NotRequired[object]
    collaboration_mode: NotRequired[object]
    multi_agent_version: NotRequired[str]
    realtime_active: NotRequired[bool]
    disabled_plugin_ids: NotRequired[list[str]]
    workspace_roots: NotRequired[list[str]]
    user_instructions: NotRequired[str | None]
    personality: NotRequired[str | None]
    comp_hash: NotRequired[str]
    current_date: NotRequired[str]
    timezone: NotRequired[str]


class CodexCompacted(TypedDict):
    """``replacement_history`` repeats messages of the same file."""

    message: str
    replacement_history: NotRequired[list[object] | None]
    replacement_history_metadata: NotRequired[list[object]]
    retained_context: NotRequired[object]
    window_number: NotRequired[int]
    first_window_id: NotRequired[str]
    previous_window_id: NotRequired[str]
    window_id: NotRequired[str]
    compaction_response_id: NotRequired[str]
    latest_token_usage_record: NotRequired[object]
    resume_metadata: NotRequired[object]


class CodexTokenUsageRecord(TypedDict):
    """The usage of one response, since 0.15x."""

    response_id: str
    usage: CodexTokenUsage
    thread_id: NotRequired[str]
    session_id: NotRequired[str]
    turn_id: NotRequired[str]
    root_turn_id: NotRequired[str]
    turn_token_usage: NotRequired[CodexTokenUsage]
    thread_token_usage: NotRequired[CodexTokenUsage]


class CodexWorldState(TypedDict):
    full: bool
    state: object


class CodexLineBase(TypedDict):
    """What all lines have in common; ``ordinal`` since 0.149."""

    timestamp: str
    ordinal: NotRequired[int]
    metadata: NotRequired[object]


class CodexSessionMetaLine(CodexLineBase):
    """A second one belongs to the thread whose records are copied here."""

    type: Literal["session_meta"]
    payload: CodexSessionMeta


class CodexResponseItemLine(CodexLineBase):
    type: Literal["response_item"]
    payload: CodexResponseItem


class CodexEventMsgLine(CodexLineBase):
    type: Literal["event_msg"]
    payload: CodexEventMsg


class CodexTurnContextLine(CodexLineBase):
    type: Literal["turn_context"]
    payload: CodexTurnContext


class CodexCompactedLine(CodexLineBase):
    type: Literal["compacted"]
    payload: CodexCompacted


class CodexTokenUsageLine(CodexLineBase):
    type: Literal["token_usage_record"]
    payload: CodexTokenUsageRecord


class CodexWorldStateLine(CodexLineBase):
    type: Literal["world_state"]
    payload: CodexWorldState


CodexRolloutLine = (
    CodexSessionMetaLine
    | CodexResponseItemLine
    | CodexEventMsgLine
    | CodexTurnContextLine
    | CodexCompactedLine
    | CodexTokenUsageLine
    | CodexWorldStateLine
)


class CodexBareState(TypedDict):
    record_type: Literal["state"]
    previous_response_id: NotRequired[str | None]


CodexBareLine = CodexSessionMeta | CodexBareState | CodexResponseItem
"""A line up to about 0.2x: the session first, then items without time and without envelope."""


class CodexThread(TypedDict):
    """A row of ``threads`` in ``state_5.sqlite``; columns come and go with the schema."""

    id: str
    rollout_path: str
    created_at: int
    updated_at: int
    source: str
    model_provider: str
    cwd: str
    title: str
    sandbox_policy: str
    approval_mode: str
    tokens_used: int
    has_user_event: int
    archived: int
    archived_at: int | None
    git_sha: str | None
    git_branch: str | None
    git_origin_url: str | None
    cli_version: NotRequired[str]
    first_user_message: NotRequired[str]
    agent_nickname: NotRequired[str | None]
    agent_role: NotRequired[str | None]
    agent_path: NotRequired[str | None]
    memory_mode: NotRequired[str]
    model: NotRequired[str | None]
    reasoning_effort: NotRequired[str | None]
    created_at_ms: NotRequired[int | None]
    updated_at_ms: NotRequired[int | None]
    recency_at: NotRequired[int]
    recency_at_ms: NotRequired[int]
    thread_source: NotRequired[str | None]
    preview: NotRequired[str]
    history_mode: NotRequired[str]
    name: NotRequired[str | None]
    originator: NotRequired[str | None]
    is_pinned: NotRequired[int]
    thread_section_id: NotRequired[str | None]
    section_position: NotRequired[int | None]
    section_entered_at_ms: NotRequired[int | None]
    project_id: NotRequired[str | None]
    daybreak_enabled: NotRequired[int | None]
    creator_user_id: NotRequired[str | None]
    creator_account_id: NotRequired[str | None]
    attached_thread_parent_id: NotRequired[str | None]


class CodexLogEntry(TypedDict, total=False):
    """A row of ``logs_2.sqlite``, which holds no transcripts; its columns were not seen."""

    ts: int
    level: str
    target: str
    message: object
    thread_id: str | None


class CodexHistoryEntry(TypedDict):
    """A line of ``history.jsonl``: a prompt as typed; ``ts`` in seconds since 1970."""

    session_id: str
    ts: int
    text: str


class CodexSessionIndexEntry(TypedDict):
    """A line of ``session_index.jsonl``: a name; the last one of a thread holds."""

    id: str
    thread_name: str
    updated_at: str
