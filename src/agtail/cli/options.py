"""Options that commands share: where to look, which sessions count, what output is for."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from agtail.cli.progress import RefreshBar
from agtail.cli.terminal import Screen
from agtail.errors import UsageError

if TYPE_CHECKING:
    from agtail.cli.wording import Wording
    from agtail.history import History
    from agtail.search.query import Query

Command = TypeVar("Command", bound=Callable[..., Any])
THREE_WAYS = click.Choice(["all", "only", "none"])
MAX_COMPLETIONS = 50
SPARE_SECONDS = 0.1
"""Time that a command takes, when its answer is out, to keep some transcripts for later."""

_opened: list[History] = []
_NAMES = ("archived", "programmatic", "sample", "store", "refresh", "color")


@dataclass(frozen=True)
class Settings:
    """The global options of one run; ``None`` and empty mean that an option was not given."""

    dirs: tuple[str, ...] = ()
    archived: str | None = None
    programmatic: str | None = None
    sample: bool = False
    store: bool | None = None
    refresh: bool | None = None
    color: bool | None = None

    def over(self, outer: Settings) -> Settings:
        """Merge with the options given before the command: those given after it win."""
        return Settings(
            dirs=(*outer.dirs, *self.dirs),
            archived=self.archived or outer.archived,
            programmatic=self.programmatic or outer.programmatic,
            sample=self.sample or outer.sample,
            store=outer.store if self.store is None else self.store,
            refresh=outer.refresh if self.refresh is None else self.refresh,
            color=outer.color if self.color is None else self.color,
        )

    def screen(self) -> Screen:
        """Return the screen for standard output."""
        return Screen(sys.stdout, color=self.color)

    def store_folder(self) -> Path:
        """Return where the store lies, for commands that are about it.

        Raises:
            UsageError: the other options say that there is no store.
        """
        from agtail.history import data_dir  # noqa: PLC0415 - start-up time

        if self.sample:
            raise UsageError("the sample has no store")
        if self.store is False:
            raise UsageError("--no-store does not go with a command about the store")
        return data_dir(Path.home(), os.environ) / "store"

    def history(
        self, agents: Sequence[str] = (), *, tell: Callable[[str], None] | None = None
    ) -> History:
        """Open the history that the options name, of these agents (all when none is given).

        Args:
            agents: ids or short names.
            tell: called with what cannot be read, a line each; by default it is printed.

        Raises:
            UsageError: an unknown agent, or options that contradict each other.
        """
        from agtail.history import History  # noqa: PLC0415 - start-up time

        if self.sample:
            if self.dirs:
                raise UsageError("--sample is a history of its own: leave out the folders")
            return History.sample()
        everything = History()
        roots = {}
        for given in self.dirs:
            agent, equals, folder = given.partition("=")
            if not equals or not folder:
                valid = ", ".join(everything.agents)
                raise UsageError(f"not agent=path: {given} (valid agents: {valid})")
            roots[everything.agent_id(agent)] = folder
            if not os.path.exists(os.path.expanduser(folder)):
                warn(f"{folder}: no such folder")
        wanted = [everything.agent_id(agent) for agent in agents]
        history = History(
            roots=roots,
            agents=wanted,
            warn=tell or warn,
            store=self.store is not False,
            refresh=self.refresh is not False,
            progress=RefreshBar(),
        )
        _opened.append(history)
        return history

    def query(self, pattern: str, history: History, agents: Sequence[str], **filters: Any) -> Query:
        """Compile the filters of a command together with the global ones.

        Raises:
            UsageError: a filter or the pattern is wrong.
        """
        from agtail.search.query import Query  # noqa: PLC0415 - start-up time

        return Query.of(
            pattern,
            agents=[history.agent_id(agent) for agent in agents],
            archived=self.archived or "all",
            programmatic=self.programmatic or "all",
            **filters,
        )

    def wording(self, history: History, *, utc: bool) -> Wording:
        """Return the words for names and times."""
        from agtail.cli.wording import Wording  # noqa: PLC0415 - start-up time

        return Wording(history.agents, utc=utc)


def settle() -> None:
    """Do a little of what can wait until the answer is out: keep what agents will delete."""
    sys.stdout.flush()
    while _opened:
        _opened.pop().raw.keep(SPARE_SECONDS)


def warn(line: str) -> None:
    """Tell the user something on standard error that does not end the run."""
    sys.stdout.flush()
    Screen(sys.stderr).text(f"agtail: {line}")


def global_options(command: Command) -> Command:
    """Add the global options, and hand them over as one ``settings``.

    The group and every command take them, so that they may stand on either side of the
    command's name.
    """

    @functools.wraps(command)
    def wrapped(
        *args: Any,
        claude_dir: str | None,
        codex_dir: str | None,
        dirs: tuple[str, ...],
        **rest: Any,
    ) -> Any:
        named = {"claude-code": claude_dir, "codex": codex_dir}
        aliases = tuple(f"{agent}={path}" for agent, path in named.items() if path is not None)
        own = Settings(
            dirs=(*aliases, *dirs),
            **{name: rest.pop(name) for name in _NAMES},
        )
        context = click.get_current_context()
        outer = context.parent.find_object(Settings) if context.parent else None
        settings = own.over(outer) if outer else own
        return command(*args, settings=settings, **rest)

    options = [
        click.option(
            "--dir",
            "dirs",
            multiple=True,
            metavar="AGENT=PATH",
            help="Read an agent's sessions from this folder. Repeatable.",
        ),
        click.option("--claude-dir", metavar="PATH", help="Short for --dir claude-code=PATH."),
        click.option("--codex-dir", metavar="PATH", help="Short for --dir codex=PATH."),
        click.option(
            "--archived", type=THREE_WAYS, help="Archived sessions: all (default), only or none."
        ),
        click.option(
            "--programmatic",
            type=THREE_WAYS,
            help="Sessions that a program started: all (default), only or none.",
        ),
        click.option(
            "--no-store",
            "store",
            flag_value=False,
            default=None,
            type=bool,
            help="Read the files themselves, without the store.",
        ),
        click.option(
            "--no-refresh",
            "refresh",
            flag_value=False,
            default=None,
            type=bool,
            help="Trust the store as it is, without looking for changes.",
        ),
        click.option("--sample", is_flag=True, help="Use the bundled fictional history."),
        click.option(
            "--color/--no-color",
            default=None,
            help="Colours; by default on a terminal, unless NO_COLOR is set.",
        ),
    ]
    return _with(options, wrapped)  # type: ignore[return-value]


def agents_option(command: Command) -> Command:
    """Add ``--agent``, which gives ``agents``: a list of ids or short names."""
    return click.option(
        "--agent",
        "agents",
        multiple=True,
        metavar="NAMES",
        callback=_split,
        shell_complete=complete_agents,
        help="Only these agents, separated by commas. Repeatable.",
    )(command)


def kinds_option(command: Command) -> Command:
    """Add ``--kind``, which gives ``kinds``: a list."""
    return click.option(
        "--kind",
        "kinds",
        multiple=True,
        metavar="KINDS",
        callback=_split,
        shell_complete=_complete_kinds,
        help=(
            "Only events of these kinds, separated by commas: text, thinking, tool_use,"
            " tool_result, hook, summary, system, unknown. Repeatable."
        ),
    )(command)


def time_options(command: Command) -> Command:
    """Add ``--since``, ``--until`` and ``--utc``."""
    when = (
        "2026-05-04 (the whole day), 2026-05-04T10:30, today, yesterday, or an age: 30m, 3h, 2d, 1w"
    )
    return _with(
        [
            click.option("--since", metavar="WHEN", help=f"Not before this time: {when}."),
            click.option("--until", metavar="WHEN", help="Not after this time."),
            utc_option,
        ],
        command,
    )


def utc_option(command: Command) -> Command:
    """Add ``--utc``."""
    return click.option(
        "--utc", is_flag=True, help="Read and write times in UTC instead of the local zone."
    )(command)


def model_option(command: Command) -> Command:
    """Add ``--model``, which gives ``models``."""
    return click.option(
        "--model",
        "models",
        multiple=True,
        metavar="ID",
        help="Only sessions in which this model spoke. Repeatable.",
    )(command)


def source_option(command: Command) -> Command:
    """Add ``--source``."""
    return click.option(
        "--source",
        metavar="NAME",
        help="Only sessions of this imported collection; @local: only this machine's own.",
    )(command)


def project_option(command: Command) -> Command:
    """Add ``--project``."""
    return click.option(
        "--project",
        metavar="TEXT",
        help="Only sessions whose folder contains this text, in upper or lower case.",
    )(command)


def signal_options(command: Command) -> Command:
    """Add ``--ending``, ``--damaged`` and ``--compacted``; ``signals`` has those given."""

    @functools.wraps(command)
    def wrapped(*args: Any, endings: list[str], damaged: bool, compacted: bool, **rest: Any) -> Any:
        given = {"endings": endings, "damaged": damaged, "compacted": compacted}
        signals = {
            name: "only" if value is True else value for name, value in given.items() if value
        }
        return command(*args, signals=signals, **rest)

    options = [
        click.option(
            "--ending",
            "endings",
            multiple=True,
            metavar="HOW",
            callback=_split,
            shell_complete=_complete_endings,
            help="Only sessions whose last turn ended so: interrupted, limit (of the output) or"
            " error. Repeatable.",
        ),
        click.option(
            "--damaged", is_flag=True, help="Only sessions of which a part could not be read."
        ),
        click.option(
            "--compacted", is_flag=True, help="Only sessions whose context was summarised."
        ),
    ]
    return _with(options, wrapped)  # type: ignore[return-value]


def json_option(help_text: str) -> Callable[[Command], Command]:
    """Add ``--json``, which gives ``as_json``."""
    return click.option("--json", "as_json", is_flag=True, help=help_text)


def limit_option(help_text: str) -> Callable[[Command], Command]:
    """Add ``--limit``; 0 means no limit."""
    return click.option(
        "--limit", type=click.IntRange(min=0), default=0, metavar="N", help=help_text
    )


def complete_sessions(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[str]:
    """Offer the ids of the newest sessions, found without reading any."""
    from agtail.history import History  # noqa: PLC0415 - start-up time

    ids = dict.fromkeys(unit.id for unit in History().units())
    return [each for each in ids if each.startswith(incomplete)][:MAX_COMPLETIONS]


def _with(options: list[Callable[[Any], Any]], command: Command) -> Command:
    """Apply decorators so that the first comes first in the help."""
    return functools.reduce(lambda inner, option: option(inner), reversed(options), command)


def _split(
    _context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]
) -> list[str]:
    """Split lists at commas; blanks around them do not count."""
    return [name.strip() for value in values for name in value.split(",") if name.strip()]


def complete_agents(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[str]:
    """Offer the ids of agents."""
    from agtail.history import History  # noqa: PLC0415 - start-up time

    return _complete_list(list(History().agents), incomplete)


def _complete_kinds(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[str]:
    from agtail.model import KINDS  # noqa: PLC0415 - start-up time

    return _complete_list(KINDS, incomplete)


def _complete_endings(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[str]:
    from agtail.model import ENDINGS  # noqa: PLC0415 - start-up time

    return _complete_list(ENDINGS, incomplete)


def _complete_list(names: Sequence[str], incomplete: str) -> list[str]:
    """Complete the last name of a list that is separated by commas."""
    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in names if name.startswith(last)]
