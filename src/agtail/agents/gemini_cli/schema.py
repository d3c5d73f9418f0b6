"""Typed shapes of Gemini CLI's files (``docs/agents/gemini-cli.md``): types and nothing else.

``GeminiConversationRecord`` is one line of a ``chats/*.jsonl``, ``GeminiConversation`` a whole
``chats/*.json`` of versions up to 0.38, ``GeminiLogEntry`` one member of ``logs.json``. Fields
whose shape moves between versions are ``object`` on purpose.
"""

from typing import Literal, NotRequired, TypedDict


class GeminiInlineData(TypedDict):
    """An image or document, in base64."""

    data: str
    mimeType: str


class GeminiFileData(TypedDict, total=False):
    """An uploaded file, by its address."""

    fileUri: str
    mimeType: str


class GeminiFunctionCall(TypedDict):
    """A call as the model made it; some models give it no id."""

    id: NotRequired[str]
    name: str
    args: NotRequired[object]


class GeminiFunctionResponse(TypedDict):
    """An answer as the model gets it: ``response`` has ``output`` or ``error``."""

    id: NotRequired[str]
    name: str
    response: object
    parts: NotRequired[object]


class GeminiPart(TypedDict, total=False):
    """A part of a message; ``thought`` is true beside the text of a thought."""

    text: str
    thought: bool
    thoughtSignature: str
    inlineData: GeminiInlineData
    fileData: GeminiFileData
    functionCall: GeminiFunctionCall
    functionResponse: GeminiFunctionResponse
    executableCode: object
    codeExecutionResult: object


class GeminiThought(TypedDict):
    """A thought as the terminal shows it."""

    subject: str
    description: str
    timestamp: NotRequired[str]


class GeminiTokens(TypedDict):
    """Tokens of one response; ``input`` includes ``cached``, ``output`` excludes ``thoughts``."""

    input: int
    output: int
    cached: int
    thoughts: NotRequired[int]
    tool: NotRequired[int]
    total: int


class GeminiDiffStat(TypedDict):
    """How much the model and the user changed."""

    model_added_lines: int
    model_removed_lines: int
    model_added_chars: int
    model_removed_chars: int
    user_added_lines: int
    user_removed_lines: int
    user_added_chars: int
    user_removed_chars: int


class GeminiFileDiff(TypedDict):
    """``resultDisplay`` of an edit."""

    fileDiff: str
    fileName: str
    filePath: NotRequired[str]
    originalContent: str | None
    newContent: str
    diffStat: NotRequired[GeminiDiffStat]
    isNewFile: NotRequired[bool]
    isBuildFile: NotRequired[bool]


class GeminiActivity(TypedDict):
    """One step of a subagent."""

    id: str
    type: str
    content: str
    status: str
    displayName: NotRequired[str]
    description: NotRequired[str]
    args: NotRequired[str]


class GeminiSubagentProgress(TypedDict):
    """``resultDisplay`` of a subagent's call."""

    isSubagentProgress: Literal[True]
    agentName: str
    recentActivity: list[GeminiActivity]
    state: NotRequired[str]
    result: NotRequired[str]
    terminateReason: NotRequired[str]


class GeminiSpan(TypedDict):
    """Characters of one style on a terminal."""

    text: str
    bold: bool
    italic: bool
    underline: bool
    dim: bool
    inverse: bool
    isUninitialized: NotRequired[bool]
    fg: str
    bg: str


GeminiResultDisplay = str | GeminiFileDiff | GeminiSubagentProgress | list[list[GeminiSpan]]


class GeminiToolCall(TypedDict):
    """A call that has ended, with its answer; ``timestamp`` is the end."""

    id: str
    name: str
    args: object
    result: NotRequired[list[GeminiPart] | None]
    status: str
    timestamp: str
    agentId: NotRequired[str]
    resultDisplay: NotRequired[GeminiResultDisplay]
    displayName: NotRequired[str]
    description: NotRequired[str]
    renderOutputAsMarkdown: NotRequired[bool]


GeminiContent = str | list[GeminiPart]


class GeminiUserMessage(TypedDict):
    """What a human typed, what the program injected, or the answers of tools."""

    id: str
    timestamp: str
    type: Literal["user"]
    content: GeminiContent
    displayContent: NotRequired[GeminiContent]


class GeminiReplyMessage(TypedDict):
    """A response of the model; copies after a compression have neither tokens nor model."""

    id: str
    timestamp: str
    type: Literal["gemini"]
    content: GeminiContent
    thoughts: NotRequired[list[GeminiThought] | None]
    tokens: NotRequired[GeminiTokens | None]
    model: NotRequired[str]
    toolCalls: NotRequired[list[GeminiToolCall]]


class GeminiNoticeMessage(TypedDict):
    """What the terminal told."""

    id: str
    timestamp: str
    type: Literal["info", "warning", "error"]
    content: GeminiContent


GeminiMessage = GeminiUserMessage | GeminiReplyMessage | GeminiNoticeMessage


class GeminiHeader(TypedDict):
    """The first line; a resumed conversation may have a second one."""

    sessionId: str
    projectHash: str
    startTime: str
    lastUpdated: str
    kind: NotRequired[str]
    directories: NotRequired[list[str]]
    summary: NotRequired[str]
    messages: NotRequired[list[GeminiMessage]]


class GeminiUpdate(TypedDict, total=False):
    """New values of the header's fields; ``messages`` takes the place of the history."""

    sessionId: str
    projectHash: str
    startTime: str
    lastUpdated: str
    kind: str
    directories: list[str]
    summary: str
    memoryScratchpad: object
    messages: list[GeminiMessage]


GeminiSet = TypedDict("GeminiSet", {"$set": GeminiUpdate})
GeminiRewind = TypedDict("GeminiRewind", {"$rewindTo": str})

GeminiConversationRecord = GeminiMessage | GeminiHeader | GeminiSet | GeminiRewind


class GeminiConversation(TypedDict):
    """A whole conversation of a version up to 0.38."""

    sessionId: str
    projectHash: str
    startTime: str
    lastUpdated: str
    messages: list[GeminiMessage]
    kind: NotRequired[str]
    summary: NotRequired[str]
    directories: NotRequired[list[str]]


class GeminiLogEntry(TypedDict):
    """What was typed in the terminal, commands included; ``!`` in front is left out."""

    sessionId: str
    messageId: int
    type: str
    message: str
    timestamp: str
