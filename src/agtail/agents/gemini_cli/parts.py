"""Parts of Gemini's messages: texts, media and the answers of tools."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from agtail.agents.base import ToolResult, text_of
from agtail.agents.blobs import strip_base64
from agtail.model import Blob, Event
from agtail.records import Json

CONTEXT = "<session_context>"
SNAPSHOT = "<state_snapshot>"
HOOK = "<hook_context>"
HOOK_END = "</hook_context>"

_SHELL = "I ran the following shell command:"
_NUDGE = "You have stopped calling tools"
_FILES = "--- Content from referenced files ---"
_FILES_END = "--- End of content ---"
_HOOK = re.compile(f"{HOOK}.*?{HOOK_END}", re.DOTALL)
_CALL = frozenset(
    ("id", "name", "args", "result", "status", "timestamp", "description", "displayName")
)
_PART = frozenset(
    (
        *("text", "thought", "thoughtSignature", "functionCall", "functionResponse"),
        *("inlineData", "fileData"),
    )
)
_PLAIN = ("success", "error")


class Pieces(NamedTuple):
    """What a message of role user is made of.

    Attributes:
        typed: what a human said.
        injected: what the program put there.
        hooks: what hooks added.
        answers: function responses.
        images: images and documents.
        odd: parts of other kinds.
    """

    typed: list[str]
    injected: list[str]
    hooks: list[str]
    answers: list[Json]
    images: list[Blob]
    odd: list[Json]


def parts_of(content: Any) -> list[Json]:
    """Return content as parts: it may be a text, one part, or a list of both."""
    parts: list[Json] = []
    for each in content if isinstance(content, list) else [content]:
        if isinstance(each, dict):
            parts.append(each)
        elif each is not None:
            parts.append({"text": each if isinstance(each, str) else str(each)})
    return parts


def user_pieces(message: Json, *, child: bool) -> Pieces:
    """Tell what a human typed from what was put beside it."""
    pieces = Pieces([], [], [], [], [], [])
    shown = {text_of(part, "text").strip() for part in parts_of(message.get("displayContent"))}
    shown.discard("")
    in_files = False
    for part in parts_of(message.get("content")):
        if isinstance(response := part.get("functionResponse"), dict):
            pieces.answers.append(response)
        elif isinstance(text := part.get("text"), str):
            in_files = _sort(text, pieces, shown, child=child, in_files=in_files)
        elif media := media_of(part):
            pieces.images.extend(media)
        if rest := unknown_in(part):
            pieces.odd.append(rest)
    missing = [
        text
        for part in parts_of(message.get("displayContent"))
        if (text := text_of(part, "text")).strip() and text not in pieces.typed
    ]
    pieces.typed.extend(missing)
    return pieces


def _sort(text: str, pieces: Pieces, shown: set[str], *, child: bool, in_files: bool) -> bool:
    """Put a text where it belongs; return whether the contents of files go on behind it."""
    begin = text.strip()
    if in_files or begin.startswith(_FILES):
        pieces.injected.append(text)
        return _FILES_END not in text
    if begin.startswith((CONTEXT, SNAPSHOT, _SHELL)) or (child and begin.startswith(_NUDGE)):
        pieces.injected.append(text)
    elif _HOOK.fullmatch(begin):
        pieces.hooks.append(begin)
    elif shown and begin not in shown:
        pieces.injected.append(text)
    elif _FILES in text:
        typed, mark, files = text.partition(_FILES)
        pieces.typed.append(typed)
        pieces.injected.append(mark + files)
        return _FILES_END not in files
    elif begin:
        pieces.typed.append(text)
    return False


def hooks_in(text: str) -> list[str]:
    """Return what hooks added to the output of a tool."""
    return _HOOK.findall(text) if HOOK in text else []


def media_of(part: Json) -> list[Blob]:
    """Return what a part embeds or links."""
    linked, embedded = part.get("fileData"), part.get("inlineData")
    if isinstance(linked, dict) and isinstance(linked.get("fileUri"), str):
        return [Blob(media_type=text_of(linked, "mimeType"), url=linked["fileUri"])]
    images = strip_base64(part)[1] if isinstance(embedded, dict) else []
    for image in images:
        image.name = image.name or text_of(embedded, "displayName") or None
    return images


def unknown_in(part: Json) -> Json:
    """Return what a part has beside a text, a call, an answer or a file."""
    rest = {key: value for key, value in part.items() if key not in _PART}
    for key, wanted in (("text", str), ("functionCall", dict), ("functionResponse", dict)):
        if key in part and not isinstance(part[key], wanted):
            rest[key] = part[key]
    files: Json = {key: part[key] for key in ("inlineData", "fileData") if key in part}
    return rest if not files or media_of(files) else {**rest, **files}


def odd_event(part: Json) -> Event:
    """Keep a part of a kind that is not known."""
    kept, images = strip_base64(part)
    kind = next(iter(part), "")
    return Event(kind="unknown", role="system", text=f"part {kind}", raw=kept, images=images)


def result_of(call: Json, identity: str) -> ToolResult | None:
    """Map the answer of a call, of which the list may hold those of its neighbours, too."""
    listed = parts_of(call.get("result"))
    responses = [each for part in listed if isinstance(each := part.get("functionResponse"), dict)]
    own = [each for each in responses if each.get("id") == call.get("id")]
    if not own and len(responses) == 1:
        own = responses
    texts: list[str] = []
    images: list[Blob] = []
    odd: list[Any] = []
    failed = text_of(call, "status") not in ("success", "")
    for response in own:
        said, more, wrong = answer_of(response)
        texts.append(said)
        odd.extend(more)
        failed = failed or wrong
    for part in listed:
        if isinstance(text := part.get("text"), str):
            texts.append(text)
        elif media := media_of(part):
            images.extend(media)
        elif not isinstance(part.get("functionResponse"), dict):
            odd.append(part)
    known = bool(own or listed or text_of(call, "status"))
    detail, cut = strip_base64(_detail(call, odd))
    shown = call.get("resultDisplay")
    before = text_of(shown, "originalContent") if isinstance(shown, dict) else ""
    if not known and not detail:
        return None
    return ToolResult(
        tool_use_id=identity,
        text="\n".join(texts),
        is_error=failed if known else None,
        detail=detail or None,
        before=before or None,
        ts=text_of(call, "timestamp") or None,
        images=[*images, *cut],
    )


def _detail(call: Json, odd: list[Any]) -> Json:
    detail = {key: value for key, value in call.items() if key not in _CALL}
    detail.pop("renderOutputAsMarkdown", None)
    shown = detail.get("resultDisplay")
    if isinstance(shown, dict):
        large = ("originalContent", "newContent") if "fileDiff" in shown else ()
        detail["resultDisplay"] = {key: shown[key] for key in shown if key not in large}
    elif isinstance(shown, list) and (screen := _screen(shown)) is not None:
        detail["resultDisplay"] = screen
    status = call.get("status")
    if status is not None and status not in _PLAIN:
        detail["status"] = status
    if odd:
        detail["parts"] = odd
    return {key: value for key, value in detail.items() if value not in (None, "", [], {})}


def _screen(rows: list[Any]) -> str | None:
    """Return the text of a terminal's styled lines, or ``None`` when it is something else."""
    lines: list[str] = []
    for row in rows:
        if not isinstance(row, list) or not all(isinstance(span, dict) for span in row):
            return None
        lines.append("".join(text_of(span, "text") for span in row).rstrip())
    return "\n".join(lines).strip()


def answer_of(response: Json) -> tuple[str, list[Any], bool]:
    """Take a function response apart: its text, what else it has, whether it is a failure."""
    body = response.get("response")
    if not isinstance(body, dict):
        return (body if isinstance(body, str) else ""), [], False
    texts = [text for key in ("output", "error") if (text := text_of(body, key))]
    rest = {
        key: value
        for key, value in body.items()
        if not (key in ("output", "error") and isinstance(value, str))
    }
    more: list[Any] = [rest] if rest else []
    if nested := response.get("parts"):
        more.append({"parts": nested})
    return "\n".join(texts), more, bool(body.get("error"))


def thoughts_of(message: Json) -> Iterator[tuple[str, str | None, Json]]:
    """Yield each thought as it is repeated elsewhere, its time, and what else it has."""
    listed = message.get("thoughts")
    for thought in listed if isinstance(listed, list) else ():
        if not isinstance(thought, dict):
            continue
        subject, description = text_of(thought, "subject"), text_of(thought, "description")
        whole = f"**{subject}** {description}" if subject else description
        rest = {
            key: value
            for key, value in thought.items()
            if key not in ("subject", "description", "timestamp")
        }
        yield whole.strip(), text_of(thought, "timestamp") or None, rest
