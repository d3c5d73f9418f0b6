"""``agtail index``: what the store holds, and its upkeep."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING

import click

from agtail.cli import options
from agtail.cli.options import Settings, warn
from agtail.cli.terminal import AMBER, BOLD, DIM, RED, Line, Span
from agtail.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from agtail.history import History
    from agtail.model import Wire
    from agtail.store.changes import Change
    from agtail.store.rebuild import Rebuilt
    from agtail.store.store import Store
    from agtail.store.upkeep import Refreshed, Savings, Status

LABEL = 10
"""Columns of what stands in front of each line of the status."""

FAILED = 1


class _InOrder(click.Group):
    """A group whose commands are listed in the order in which they are defined."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(self.commands)


@click.group("index", cls=_InOrder, short_help="Look after the store.")
def command() -> None:
    """Look after the store, in which searches find what was read.

    Nothing of this is needed in daily use: every search brings the store up to date. The
    transcripts themselves are never changed.
    """


@command.command("status", short_help="Say what the store holds, and what it takes.")
@options.json_option("One JSON object.")
@options.global_options
def status(settings: Settings, *, as_json: bool) -> int:
    """Say what the store holds, and what it takes, as it is now: nothing is read anew.

    The sizes are those on the disk. The raw archive is counted apart; what is in it is not
    searched.
    """
    from agtail.store.catalogue import Catalogue  # noqa: PLC0415 - start-up time
    from agtail.store.upkeep import status as look  # noqa: PLC0415 - start-up time

    with closing(Catalogue(settings.store_folder(), warn, existing=True)) as catalogue:
        found = look(catalogue)
    return _answer(settings, found, _status_lines(found), as_json=as_json)


@command.command("refresh", short_help="Bring the store up to date.")
@options.json_option("One JSON object.")
@options.global_options
def refresh(settings: Settings, *, as_json: bool) -> int:
    """Bring the store up to date: read what is new or changed, and say how much that was.

    When another agtail is at it, this one waits until that is done.
    """
    from agtail.store.upkeep import Refreshed  # noqa: PLC0415 - start-up time

    history, _ = _opened(settings)
    done = Refreshed.of(_refreshed(history))
    return _answer(settings, done, _refresh_lines(done), as_json=as_json)


@command.command("rebuild", short_help="Read everything anew.")
@options.json_option("One JSON object.")
@options.global_options
def rebuild(settings: Settings, *, as_json: bool) -> int:
    """Read everything anew, as if it had never been read.

    Sessions that cannot be read again, because the agent deleted their files or the folder is
    not there at the moment, are kept as they are; how many these are is told. Out of a damaged
    store they are saved as far as that is possible. Searches go on meanwhile.
    """
    from agtail.store.rebuild import Rebuilt, distrust, saved  # noqa: PLC0415 - start-up time
    from agtail.store.upkeep import Refreshed, tidy  # noqa: PLC0415 - start-up time

    lost = saved(_folder_to_write(settings), warn)
    history, store = _opened(settings)
    begun = distrust(store.catalogue, history.units())
    done = Refreshed.of(_refreshed(history))
    tidy(store.catalogue, distrusted=begun.last_block)
    rebuilt = Rebuilt(kept=begun.kept, lost=lost, refresh=done)
    return _answer(settings, rebuilt, _rebuilt_lines(rebuilt), as_json=as_json)


@command.command("verify", short_help="Check everything in the store.")
@options.json_option("One fault per line, as JSON.")
@options.global_options
def verify(settings: Settings, *, as_json: bool) -> int:
    """Check everything in the store, and name each fault with what to do about it.

    Every block is unpacked and compared with its session and its signature, files and database
    with each other, the raw archive with its checksums. The exit code is 1 when something is
    wrong.
    """
    from agtail.model import encode  # noqa: PLC0415 - start-up time
    from agtail.store.catalogue import Catalogue  # noqa: PLC0415 - start-up time
    from agtail.store.verify import verify as check  # noqa: PLC0415 - start-up time

    screen = settings.screen()
    faults = 0
    with closing(Catalogue(settings.store_folder(), warn, existing=True)) as catalogue:
        for fault in check(catalogue):
            faults += 1
            if as_json:
                screen.json(encode(fault))
            else:
                said = [Span(fault.where, AMBER), Span(f": {fault.what}", RED)]
                screen.line([*said, Span(f" ({fault.remedy})", DIM)], hanging=2)
    if not faults and not as_json:
        screen.text("all is well")
    return int(faults > 0)


@command.command("gc", short_help="Remove what is of no use any more.")
@options.json_option("One JSON object.")
@options.global_options
def collect(settings: Settings, *, as_json: bool) -> int:
    """Remove what is of no use any more, and say how much that won.

    Signatures of blocks that were replaced, files that belong to nothing, notes on files that
    are no more, and stores that were moved aside more than 30 days ago. The database is written
    anew when a good part of it is empty. No session is removed.
    """
    from agtail.store.catalogue import Catalogue  # noqa: PLC0415 - start-up time
    from agtail.store.upkeep import tidy  # noqa: PLC0415 - start-up time

    with closing(Catalogue(settings.store_folder(), warn, existing=True)) as catalogue:
        done = tidy(catalogue)
    return _answer(settings, done, _savings_lines(done), as_json=as_json)


def _opened(settings: Settings) -> tuple[History, Store]:
    """Open the history with its store, to write there."""
    _folder_to_write(settings)
    history = settings.history()
    if history.store is None:
        raise click.exceptions.Exit(FAILED)  # the reason was told
    return history, history.store


def _folder_to_write(settings: Settings) -> Path:
    if settings.refresh is False:
        raise UsageError("--no-refresh does not go with a command that refreshes")
    return settings.store_folder()


def _refreshed(history: History) -> Change:
    change = history.refresh(wait=True)
    if change is None:
        raise click.exceptions.Exit(FAILED)  # the reason was told
    history.raw.keep()
    return change


def _answer(settings: Settings, answer: Wire, lines: Iterator[Line], *, as_json: bool) -> int:
    """Print an answer for programs or for people."""
    from agtail.model import encode  # noqa: PLC0415 - start-up time

    screen = settings.screen()
    if as_json:
        screen.json(encode(answer))
    else:
        for line in lines:
            screen.line(line)
    return 0


def _status_lines(status: Status) -> Iterator[Line]:
    from agtail.cli.wording import plural, size  # noqa: PLC0415 - start-up time

    yield [Span(f"{'store':<{LABEL}}"), Span(status.folder), Span(f"  schema {status.schema}", DIM)]
    known = [f"{status.present:,} present", f"{status.gone:,} gone, kept here"]
    yield _row("sources", f"{status.sources:,} ({', '.join(known)})")
    for root, count in status.offline.items():
        yield _row("", f"{plural(count, 'source')} below {root}, which is not there now", AMBER)
    unreadable = f" ({status.unreadable:,} unreadable)" if status.unreadable else ""
    yield _row("sessions", f"{status.sessions:,}{unreadable}")
    yield _row("events", f"{status.events:,} in {plural(status.blocks, 'block')}")
    own = status.catalogue_bytes + status.segment_bytes
    share = (
        f", {status.ratio:.0%} of the sources' {size(status.source_bytes)}" if status.ratio else ""
    )
    parts = f"catalogue {size(status.catalogue_bytes)}, signatures {size(status.segment_bytes)}"
    yield _row("size", f"{size(own)} ({parts}){share}")
    yield _row("archive", f"{size(status.archive_bytes)}, apart from that")
    if status.old_bytes:
        yield _row("old", f"{size(status.old_bytes)} in stores that were moved aside")


def _row(label: str, text: str, style: str = "") -> Line:
    return [Span(f"{label:<{LABEL}}"), Span(text, style)]


def _refresh_lines(done: Refreshed) -> Iterator[Line]:
    from agtail.cli.wording import plural, size  # noqa: PLC0415 - start-up time

    rate = f" ({size(int(done.bytes / done.seconds))}/s)" if done.seconds and done.bytes else ""
    told = [
        f"read {plural(done.sources, 'source')}, {size(done.bytes)} in {done.seconds:.1f} s{rate}"
    ]
    if done.vanished:
        told.append(f"{done.vanished:,} gone, kept here")
    if done.moved:
        told.append(f"{done.moved:,} moved")
    yield [Span("; ".join(told))]


def _rebuilt_lines(rebuilt: Rebuilt) -> Iterator[Line]:
    from agtail.cli.wording import plural  # noqa: PLC0415 - start-up time

    yield from _refresh_lines(rebuilt.refresh)
    if rebuilt.kept:
        yield [Span(f"kept {plural(rebuilt.kept, 'source')} that cannot be read again")]
    if rebuilt.lost:
        yield [Span(f"lost {plural(rebuilt.lost, 'source')} that the damage hit", RED)]


def _savings_lines(savings: Savings) -> Iterator[Line]:
    from agtail.cli.wording import plural, size  # noqa: PLC0415 - start-up time

    counts = {
        "segment": (savings.resealed, "sealed anew"),
        "block": (savings.signed, "signed"),
        "file": (savings.files, "removed that belonged to nothing"),
        "row": (savings.rows, "removed that belonged to nothing"),
        "note": (savings.peeks, "removed on files that are no more"),
        "old file": (savings.old_stores, "removed of stores moved aside"),
    }
    for noun, (count, what) in counts.items():
        if count:
            yield [Span(f"{plural(count, noun)} {what}")]
    if savings.vacuumed:
        yield [Span("database written anew")]
    won = f"won {size(savings.bytes)}" if savings.bytes >= 0 else f"took {size(-savings.bytes)}"
    yield [Span(won, BOLD)]
