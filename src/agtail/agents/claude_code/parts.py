"""Parts of Claude Code's messages: images, blocks without a mapping, usage."""

from __future__ import annotations

from typing import Any

from agtail.agents.base import token_count
from agtail.agents.blobs import strip_base64
from agtail.agents.claude_code.text import string
from agtail.model import Blob, Event, Usage
from agtail.records import Json


def blobs_of(block: Json) -> list[Blob]:
    """Return what an image or document block held; one that is only linked keeps its address."""
    _, found = strip_base64(block)
    source = block.get("source")
    if found or not isinstance(source, dict):
        return found
    url = string(source.get("url")) or string(source.get("file_id"))
    return [Blob(media_type=string(source.get("media_type")) or "", url=url)]


def odd_block(block: Any, kind: object, role: str) -> Event:
    """Keep a block of a kind that has no mapping, whole."""
    kept, images = strip_base64(block)
    return Event(
        kind="unknown",
        role="user" if role == "user" else "assistant",
        text=f"block · {kind}" if kind else "block",
        raw=kept,
        images=images,
    )


def usage_of(usage: Json) -> Usage:
    """Read the usage of one API response; its input excludes the cache already."""
    split = usage.get("cache_creation")
    details = usage.get("output_tokens_details")
    parts = split if isinstance(split, dict) else {}
    short, long = (token_count(parts.get(f"ephemeral_{age}_input_tokens")) for age in ("5m", "1h"))
    written = token_count(usage.get("cache_creation_input_tokens"))
    return Usage(
        input_tokens=token_count(usage.get("input_tokens")),
        output_tokens=token_count(usage.get("output_tokens")),
        cache_read_tokens=token_count(usage.get("cache_read_input_tokens")),
        cache_creation_tokens=written or short + long,
        cache_creation_5m_tokens=short if parts else None,
        cache_creation_1h_tokens=long if parts else None,
        reasoning_tokens=token_count(details.get("thinking_tokens")) or None
        if isinstance(details, dict)
        else None,
    )
