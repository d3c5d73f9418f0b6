"""What is known of a coding agent without looking at the disk: data, one value an agent.

Each agent's package has a module ``harness`` with its ``HARNESS``; :mod:`agtail.harnesses` is the
way to all of them.
"""

from __future__ import annotations

from typing import Literal

import msgspec

System = Literal["linux", "macos", "windows"]


class Location(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """One place where an agent writes.

    Attributes:
        pattern: path pattern with ``~``, ``$VARIABLE`` or ``%VARIABLE%`` in front.
        holds: ``sessions`` (the truth), ``index`` (a list of them, made from the truth),
            ``history`` (prompts only) or ``files`` (what belongs to sessions but is no record).
        format: such as ``jsonl``, ``json``, ``sqlite`` or ``protobuf``.
        scope: ``data`` (below the home directory) or ``project`` (in each project's folder).
        systems: where it is so.
        note: what a reader has to know, such as how a folder name is derived.
    """

    pattern: str
    holds: Literal["sessions", "index", "history", "files"]
    format: str
    scope: Literal["data", "project"] = "data"
    systems: tuple[System, ...] = ("linux", "macos", "windows")
    note: str = ""


class Variable(msgspec.Struct, frozen=True, rename="camel"):
    """An environment variable that moves what an agent writes, and what it names."""

    name: str
    meaning: str


class Harness(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """One coding agent.

    Attributes:
        id: stable id, such as ``claude-code``; its page is ``docs/agents/<id>.md``.
        name: short name for terminals, such as ``claude``.
        title: what people call it, such as ``Claude Code``.
        where: where most people have its sessions, for an overview.
        versions: of the files that the adapter was made from, such as ``0.8.0 to 0.171.0``.
        evidence: ``run``: tested on files that the real agent wrote; ``documented``: on files
            written by hand after its published format.
        locations: where it writes, sessions first.
        variables: what moves these places.
        binaries: names of its commands.
        marks: environment variables that it sets for the programs it starts.
        resume: the command that goes on with a session, ``{id}`` for its id; to be run in the
            session's directory. Empty when there is none.
        headless: the command that answers a prompt without a terminal, ``{prompt}`` for it.
        headless_json: the arguments that make that command print JSON.
    """

    id: str
    name: str
    title: str
    where: str
    versions: str
    evidence: Literal["run", "documented"]
    locations: tuple[Location, ...]
    variables: tuple[Variable, ...] = ()
    binaries: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    resume: tuple[str, ...] = ()
    headless: tuple[str, ...] = ()
    headless_json: tuple[str, ...] = ()

    @property
    def sessions(self) -> tuple[Location, ...]:
        """All places of sessions and of lists of them."""
        return tuple(each for each in self.locations if each.holds != "files")

    def resume_command(self, session_id: str) -> list[str] | None:
        """Return the command that goes on with a session, or ``None`` when there is none."""
        return [part.replace("{id}", session_id) for part in self.resume] or None
