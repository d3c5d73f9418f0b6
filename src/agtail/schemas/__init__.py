"""Typed shapes of what coding agents write: types and nothing else.

Import from here, as in ``from agtail.schemas import ClaudeSessionEntry``. Nothing of agtail comes
along, and nothing runs: decode a line with any JSON library and say what it is. A field whose
shape moves between versions is typed ``object``; keys that some versions leave out are
``NotRequired``.
"""

from __future__ import annotations

from agtail.agents.claude_code.schema import ClaudeAgentColorEntry as ClaudeAgentColorEntry
from agtail.agents.claude_code.schema import ClaudeAgentNameEntry as ClaudeAgentNameEntry
from agtail.agents.claude_code.schema import ClaudeAiTitleEntry as ClaudeAiTitleEntry
from agtail.agents.claude_code.schema import ClaudeApiRequestBlobEntry as ClaudeApiRequestBlobEntry
from agtail.agents.claude_code.schema import ClaudeApiRequestEntry as ClaudeApiRequestEntry
from agtail.agents.claude_code.schema import (
    ClaudeApiRequestShapeEntry as ClaudeApiRequestShapeEntry,
)
from agtail.agents.claude_code.schema import ClaudeArchived as ClaudeArchived
from agtail.agents.claude_code.schema import ClaudeAssistantEntry as ClaudeAssistantEntry
from agtail.agents.claude_code.schema import ClaudeAssistantMessage as ClaudeAssistantMessage
from agtail.agents.claude_code.schema import ClaudeAtisLatchEntry as ClaudeAtisLatchEntry
from agtail.agents.claude_code.schema import ClaudeAttachmentEntry as ClaudeAttachmentEntry
from agtail.agents.claude_code.schema import ClaudeCacheCreation as ClaudeCacheCreation
from agtail.agents.claude_code.schema import ClaudeContentBlock as ClaudeContentBlock
from agtail.agents.claude_code.schema import ClaudeCostStateEntry as ClaudeCostStateEntry
from agtail.agents.claude_code.schema import ClaudeCustomTitle as ClaudeCustomTitle
from agtail.agents.claude_code.schema import ClaudeCustomTitleEntry as ClaudeCustomTitleEntry
from agtail.agents.claude_code.schema import ClaudeDocumentBlock as ClaudeDocumentBlock
from agtail.agents.claude_code.schema import ClaudeEnvelope as ClaudeEnvelope
from agtail.agents.claude_code.schema import (
    ClaudeFileHistoryDeltaEntry as ClaudeFileHistoryDeltaEntry,
)
from agtail.agents.claude_code.schema import (
    ClaudeFileHistorySnapshotEntry as ClaudeFileHistorySnapshotEntry,
)
from agtail.agents.claude_code.schema import ClaudeForkedFrom as ClaudeForkedFrom
from agtail.agents.claude_code.schema import ClaudeHistoryEntry as ClaudeHistoryEntry
from agtail.agents.claude_code.schema import ClaudeHookInfo as ClaudeHookInfo
from agtail.agents.claude_code.schema import ClaudeImageBlock as ClaudeImageBlock
from agtail.agents.claude_code.schema import ClaudeLastPromptEntry as ClaudeLastPromptEntry
from agtail.agents.claude_code.schema import ClaudeMediaSource as ClaudeMediaSource
from agtail.agents.claude_code.schema import ClaudeModeEntry as ClaudeModeEntry
from agtail.agents.claude_code.schema import ClaudeOrigin as ClaudeOrigin
from agtail.agents.claude_code.schema import ClaudeOtherEntry as ClaudeOtherEntry
from agtail.agents.claude_code.schema import ClaudePermissionModeEntry as ClaudePermissionModeEntry
from agtail.agents.claude_code.schema import ClaudePrLinkEntry as ClaudePrLinkEntry
from agtail.agents.claude_code.schema import ClaudeProgressEntry as ClaudeProgressEntry
from agtail.agents.claude_code.schema import ClaudeQueueOperationEntry as ClaudeQueueOperationEntry
from agtail.agents.claude_code.schema import (
    ClaudeRedactedThinkingBlock as ClaudeRedactedThinkingBlock,
)
from agtail.agents.claude_code.schema import (
    ClaudeServerToolResultBlock as ClaudeServerToolResultBlock,
)
from agtail.agents.claude_code.schema import ClaudeSessionEntry as ClaudeSessionEntry
from agtail.agents.claude_code.schema import ClaudeSubagentMeta as ClaudeSubagentMeta
from agtail.agents.claude_code.schema import ClaudeSummaryEntry as ClaudeSummaryEntry
from agtail.agents.claude_code.schema import ClaudeSystemEntry as ClaudeSystemEntry
from agtail.agents.claude_code.schema import ClaudeTextBlock as ClaudeTextBlock
from agtail.agents.claude_code.schema import ClaudeThinkingBlock as ClaudeThinkingBlock
from agtail.agents.claude_code.schema import ClaudeToolResultBlock as ClaudeToolResultBlock
from agtail.agents.claude_code.schema import ClaudeToolsUsedEntry as ClaudeToolsUsedEntry
from agtail.agents.claude_code.schema import ClaudeToolUseBlock as ClaudeToolUseBlock
from agtail.agents.claude_code.schema import ClaudeUsage as ClaudeUsage
from agtail.agents.claude_code.schema import ClaudeUserEntry as ClaudeUserEntry
from agtail.agents.claude_code.schema import ClaudeUserMessage as ClaudeUserMessage
from agtail.agents.claude_code.schema import ClaudeWorktreeStateEntry as ClaudeWorktreeStateEntry
from agtail.agents.codex.schema import CodexAgentMessage as CodexAgentMessage
from agtail.agents.codex.schema import CodexAgentReasoning as CodexAgentReasoning
from agtail.agents.codex.schema import CodexBareLine as CodexBareLine
from agtail.agents.codex.schema import CodexBareState as CodexBareState
from agtail.agents.codex.schema import CodexCompacted as CodexCompacted
from agtail.agents.codex.schema import CodexCompactedLine as CodexCompactedLine
from agtail.agents.codex.schema import CodexContentPart as CodexContentPart
from agtail.agents.codex.schema import CodexContextCompacted as CodexContextCompacted
from agtail.agents.codex.schema import CodexCustomToolCall as CodexCustomToolCall
from agtail.agents.codex.schema import CodexCustomToolCallOutput as CodexCustomToolCallOutput
from agtail.agents.codex.schema import CodexEventMsg as CodexEventMsg
from agtail.agents.codex.schema import CodexEventMsgLine as CodexEventMsgLine
from agtail.agents.codex.schema import CodexFunctionCall as CodexFunctionCall
from agtail.agents.codex.schema import CodexFunctionCallOutput as CodexFunctionCallOutput
from agtail.agents.codex.schema import CodexGhostSnapshot as CodexGhostSnapshot
from agtail.agents.codex.schema import CodexGit as CodexGit
from agtail.agents.codex.schema import CodexHistoryBase as CodexHistoryBase
from agtail.agents.codex.schema import CodexHistoryEntry as CodexHistoryEntry
from agtail.agents.codex.schema import CodexImageGenerationCall as CodexImageGenerationCall
from agtail.agents.codex.schema import CodexItemBase as CodexItemBase
from agtail.agents.codex.schema import CodexItemCompleted as CodexItemCompleted
from agtail.agents.codex.schema import CodexLineBase as CodexLineBase
from agtail.agents.codex.schema import CodexLocalShellCall as CodexLocalShellCall
from agtail.agents.codex.schema import CodexLogEntry as CodexLogEntry
from agtail.agents.codex.schema import CodexMessage as CodexMessage
from agtail.agents.codex.schema import CodexPatchApplyEnd as CodexPatchApplyEnd
from agtail.agents.codex.schema import CodexReasoning as CodexReasoning
from agtail.agents.codex.schema import CodexResponseItem as CodexResponseItem
from agtail.agents.codex.schema import CodexResponseItemLine as CodexResponseItemLine
from agtail.agents.codex.schema import CodexRolloutLine as CodexRolloutLine
from agtail.agents.codex.schema import CodexSessionIndexEntry as CodexSessionIndexEntry
from agtail.agents.codex.schema import CodexSessionMeta as CodexSessionMeta
from agtail.agents.codex.schema import CodexSessionMetaLine as CodexSessionMetaLine
from agtail.agents.codex.schema import CodexTaskComplete as CodexTaskComplete
from agtail.agents.codex.schema import CodexTaskStarted as CodexTaskStarted
from agtail.agents.codex.schema import CodexThread as CodexThread
from agtail.agents.codex.schema import CodexThreadRolledBack as CodexThreadRolledBack
from agtail.agents.codex.schema import CodexThreadSettingsApplied as CodexThreadSettingsApplied
from agtail.agents.codex.schema import CodexTokenCount as CodexTokenCount
from agtail.agents.codex.schema import CodexTokenInfo as CodexTokenInfo
from agtail.agents.codex.schema import CodexTokenUsage as CodexTokenUsage
from agtail.agents.codex.schema import CodexTokenUsageLine as CodexTokenUsageLine
from agtail.agents.codex.schema import CodexTokenUsageRecord as CodexTokenUsageRecord
from agtail.agents.codex.schema import CodexTurnAborted as CodexTurnAborted
from agtail.agents.codex.schema import CodexTurnContext as CodexTurnContext
from agtail.agents.codex.schema import CodexTurnContextLine as CodexTurnContextLine
from agtail.agents.codex.schema import CodexTurnError as CodexTurnError
from agtail.agents.codex.schema import CodexUserMessage as CodexUserMessage
from agtail.agents.codex.schema import CodexWebSearchCall as CodexWebSearchCall
from agtail.agents.codex.schema import CodexWorldState as CodexWorldState
from agtail.agents.codex.schema import CodexWorldStateLine as CodexWorldStateLine
from agtail.agents.gemini_cli.schema import GeminiActivity as GeminiActivity
from agtail.agents.gemini_cli.schema import GeminiContent as GeminiContent
from agtail.agents.gemini_cli.schema import GeminiConversation as GeminiConversation
from agtail.agents.gemini_cli.schema import GeminiConversationRecord as GeminiConversationRecord
from agtail.agents.gemini_cli.schema import GeminiDiffStat as GeminiDiffStat
from agtail.agents.gemini_cli.schema import GeminiFileData as GeminiFileData
from agtail.agents.gemini_cli.schema import GeminiFileDiff as GeminiFileDiff
from agtail.agents.gemini_cli.schema import GeminiFunctionCall as GeminiFunctionCall
from agtail.agents.gemini_cli.schema import GeminiFunctionResponse as GeminiFunctionResponse
from agtail.agents.gemini_cli.schema import GeminiHeader as GeminiHeader
from agtail.agents.gemini_cli.schema import GeminiInlineData as GeminiInlineData
from agtail.agents.gemini_cli.schema import GeminiLogEntry as GeminiLogEntry
from agtail.agents.gemini_cli.schema import GeminiMessage as GeminiMessage
from agtail.agents.gemini_cli.schema import GeminiNoticeMessage as GeminiNoticeMessage
from agtail.agents.gemini_cli.schema import GeminiPart as GeminiPart
from agtail.agents.gemini_cli.schema import GeminiReplyMessage as GeminiReplyMessage
from agtail.agents.gemini_cli.schema import GeminiResultDisplay as GeminiResultDisplay
from agtail.agents.gemini_cli.schema import GeminiRewind as GeminiRewind
from agtail.agents.gemini_cli.schema import GeminiSet as GeminiSet
from agtail.agents.gemini_cli.schema import GeminiSpan as GeminiSpan
from agtail.agents.gemini_cli.schema import GeminiSubagentProgress as GeminiSubagentProgress
from agtail.agents.gemini_cli.schema import GeminiThought as GeminiThought
from agtail.agents.gemini_cli.schema import GeminiTokens as GeminiTokens
from agtail.agents.gemini_cli.schema import GeminiToolCall as GeminiToolCall
from agtail.agents.gemini_cli.schema import GeminiUpdate as GeminiUpdate
from agtail.agents.gemini_cli.schema import GeminiUserMessage as GeminiUserMessage
from agtail.agents.omp.schema import OmpAnswerBlock as OmpAnswerBlock
from agtail.agents.omp.schema import OmpArchiveEntry as OmpArchiveEntry
from agtail.agents.omp.schema import OmpAssistantMessage as OmpAssistantMessage
from agtail.agents.omp.schema import OmpBashMessage as OmpBashMessage
from agtail.agents.omp.schema import OmpBranchSummaryEntry as OmpBranchSummaryEntry
from agtail.agents.omp.schema import OmpCompactionEntry as OmpCompactionEntry
from agtail.agents.omp.schema import OmpCredentialEntry as OmpCredentialEntry
from agtail.agents.omp.schema import OmpCustomEntry as OmpCustomEntry
from agtail.agents.omp.schema import OmpCustomMessage as OmpCustomMessage
from agtail.agents.omp.schema import OmpCustomMessageEntry as OmpCustomMessageEntry
from agtail.agents.omp.schema import OmpDeveloperMessage as OmpDeveloperMessage
from agtail.agents.omp.schema import OmpEntry as OmpEntry
from agtail.agents.omp.schema import OmpEntryBase as OmpEntryBase
from agtail.agents.omp.schema import OmpFileMentionMessage as OmpFileMentionMessage
from agtail.agents.omp.schema import OmpImageBlock as OmpImageBlock
from agtail.agents.omp.schema import OmpLabelEntry as OmpLabelEntry
from agtail.agents.omp.schema import OmpMentionedFile as OmpMentionedFile
from agtail.agents.omp.schema import OmpMessage as OmpMessage
from agtail.agents.omp.schema import OmpMessageEntry as OmpMessageEntry
from agtail.agents.omp.schema import OmpModeChangeEntry as OmpModeChangeEntry
from agtail.agents.omp.schema import OmpModelChangeEntry as OmpModelChangeEntry
from agtail.agents.omp.schema import OmpModelUsageEntry as OmpModelUsageEntry
from agtail.agents.omp.schema import OmpPythonMessage as OmpPythonMessage
from agtail.agents.omp.schema import OmpRedactedThinkingBlock as OmpRedactedThinkingBlock
from agtail.agents.omp.schema import OmpResetEntry as OmpResetEntry
from agtail.agents.omp.schema import OmpRulesEntry as OmpRulesEntry
from agtail.agents.omp.schema import OmpServiceTierEntry as OmpServiceTierEntry
from agtail.agents.omp.schema import OmpSessionEntry as OmpSessionEntry
from agtail.agents.omp.schema import OmpSessionInitEntry as OmpSessionInitEntry
from agtail.agents.omp.schema import OmpTextBlock as OmpTextBlock
from agtail.agents.omp.schema import OmpThinkingBlock as OmpThinkingBlock
from agtail.agents.omp.schema import OmpThinkingLevelEntry as OmpThinkingLevelEntry
from agtail.agents.omp.schema import OmpTitleChangeEntry as OmpTitleChangeEntry
from agtail.agents.omp.schema import OmpTitleSlot as OmpTitleSlot
from agtail.agents.omp.schema import OmpToolCallBlock as OmpToolCallBlock
from agtail.agents.omp.schema import OmpToolResultMessage as OmpToolResultMessage
from agtail.agents.omp.schema import OmpUsage as OmpUsage
from agtail.agents.omp.schema import OmpUserMessage as OmpUserMessage
from agtail.agents.pi.schema import PiAssistantMessage as PiAssistantMessage
from agtail.agents.pi.schema import PiBashMessage as PiBashMessage
from agtail.agents.pi.schema import PiBranchSummaryEntry as PiBranchSummaryEntry
from agtail.agents.pi.schema import PiCompactionEntry as PiCompactionEntry
from agtail.agents.pi.schema import PiContextEditEntry as PiContextEditEntry
from agtail.agents.pi.schema import PiCost as PiCost
from agtail.agents.pi.schema import PiCustomEntry as PiCustomEntry
from agtail.agents.pi.schema import PiCustomMessage as PiCustomMessage
from agtail.agents.pi.schema import PiCustomMessageEntry as PiCustomMessageEntry
from agtail.agents.pi.schema import PiEntry as PiEntry
from agtail.agents.pi.schema import PiEntryBase as PiEntryBase
from agtail.agents.pi.schema import PiImageBlock as PiImageBlock
from agtail.agents.pi.schema import PiLabelEntry as PiLabelEntry
from agtail.agents.pi.schema import PiMessage as PiMessage
from agtail.agents.pi.schema import PiMessageEntry as PiMessageEntry
from agtail.agents.pi.schema import PiModelChangeEntry as PiModelChangeEntry
from agtail.agents.pi.schema import PiSessionEntry as PiSessionEntry
from agtail.agents.pi.schema import PiSessionInfoEntry as PiSessionInfoEntry
from agtail.agents.pi.schema import PiSystemMessage as PiSystemMessage
from agtail.agents.pi.schema import PiTextBlock as PiTextBlock
from agtail.agents.pi.schema import PiThinkingBlock as PiThinkingBlock
from agtail.agents.pi.schema import PiThinkingLevelEntry as PiThinkingLevelEntry
from agtail.agents.pi.schema import PiToolCallBlock as PiToolCallBlock
from agtail.agents.pi.schema import PiToolResultMessage as PiToolResultMessage
from agtail.agents.pi.schema import PiUsage as PiUsage
from agtail.agents.pi.schema import PiUsageEntry as PiUsageEntry
from agtail.agents.pi.schema import PiUserMessage as PiUserMessage
