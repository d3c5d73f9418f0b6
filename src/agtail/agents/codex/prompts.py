"""User-role messages of Codex: what the human typed, and what the program put beside it."""

from __future__ import annotations

import re

import msgspec

from agtail.agents.base import text_of
from agtail.agents.blobs import blob_from_data_url
from agtail.agents.codex.lines import listing, mapping, message_texts
from agtail.agents.codex.survey import Survey, mark
from agtail.model import Blob
from agtail.records import Json

IDE_REQUEST = "## My request for Codex:"
"""What follows it in a prompt from an editor is the human's; before it stands context."""

_INJECTED = (
    *("<environment_context>", "# AGENTS.md instructions for ", "<user_instructions>"),
    *("<turn_aborted>", "<subagent_notification>", "<user_shell_command>", "<user_action>"),
    *("<skill>", "<permissions instructions>", "<collaboration_mode>", "<skills_instructions>"),
    "Warning: apply_patch was requested via ",
)
_IMAGE_TAG = re.compile(r'\s*<(?:image(?: name=[^>]*?)?(?: path="?(?P<path>[^">]*)"?)?|/image)>\s*')
_HOOK = "hooks.additional_context"


class Prompt(msgspec.Struct):
    """A message's texts by speaker, and the images in it.

    Attributes:
        human: what the human typed; ``None`` when nothing of the message is.
        injected: what the program put there.
        hooks: what a hook added.
        tags: texts around images, which say only that there is one.
    """

    human: str | None = None
    injected: str = ""
    hooks: str = ""
    tags: str = ""
    images: list[Blob] = []


def read_prompt(payload: Json, survey: Survey, turn: int) -> Prompt:
    """Tell the human's part of a message from the rest; other roles than user's have none.

    The record itself says it (since 0.15x), else the events of the turn do, else the opening of
    the text has to.
    """
    by_user = text_of(payload, "role") == "user"
    whole = by_user and mark("\n".join(message_texts(payload))) in survey.humans
    typed: list[str] = []
    injected: list[str] = []
    hooks: list[str] = []
    tags: list[str] = []
    images: list[Blob] = []
    path = None
    for index, part in enumerate(listing(payload, "content")):
        if not isinstance(part, dict):
            continue
        text = text_of(part, "text")
        if isinstance(part.get("image_url"), str):
            images.append(_image(part["image_url"], path))
        elif tag := _IMAGE_TAG.fullmatch(text):
            tags.append(text)
            path = tag["path"]
        elif _kind(payload, index) == _HOOK:
            hooks.append(text)
        elif text:
            spoken = whole or (by_user and _is_human(payload, index, text, survey, turn))
            (typed if spoken else injected).append(text)
    human = "\n".join(typed) if typed or (by_user and images and not injected) else None
    if human and IDE_REQUEST in human:
        context, _, human = human.partition(IDE_REQUEST)
        injected.append(f"{context}{IDE_REQUEST}")
        human = human.strip()
    return Prompt(human, "\n".join(injected), "\n".join(hooks), "\n".join(tags), images)


def _is_human(payload: Json, index: int, text: str, survey: Survey, turn: int) -> bool:
    passthrough = mapping(payload, "internal_chat_message_metadata_passthrough")
    metadata = listing(passthrough, "content_item_metadata")
    if index < len(metadata) and isinstance(metadata[index], dict):
        provenance = text_of(mapping(metadata[index], "provenance"), "type")
        if provenance:
            return provenance == "user"
    if mark(text) in survey.humans:
        return True
    return turn not in survey.prompted and not text.lstrip().startswith(_INJECTED)


def _image(address: str, path: str | None) -> Blob:
    """Describe an image that is embedded, linked, or only named by its path."""
    if address.startswith(("data:", "http:", "https:")):
        return blob_from_data_url(address, path)
    return Blob(name=address)


def _kind(payload: Json, index: int) -> object:
    passthrough = mapping(payload, "internal_chat_message_metadata_passthrough")
    kinds = listing(passthrough, "content_item_kinds")
    return kinds[index] if index < len(kinds) else None
