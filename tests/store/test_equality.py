"""Whatever happens to the files: the store answers as if it read them all for each question."""

from __future__ import annotations

import itertools
import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from store.homes import Dice, Home, questions

from agtail.agents.claude_code import reader
from agtail.errors import AgtailError
from agtail.history import History
from agtail.model import Event, Session
from agtail.search.query import Query
from agtail.search.scan import Hit
from agtail.store import append, blocks, refresh, upkeep
from agtail.store.store import Store
from agtail.store.upkeep import tidy
from agtail.store.verify import verify

EXAMPLES = int(os.environ.get("AGTAIL_EQUALITY", "1000"))
PARTS = 8
"""Tests that the examples are divided among, so that they can run side by side."""

Key = tuple[str, str]
"""Agent and path of a source."""


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut small blocks, so that small sessions have many, and keep checkpoints of small files."""
    for module in (blocks, append):
        monkeypatch.setattr(module, "TEXT", 64)
        monkeypatch.setattr(module, "EVENTS", 5)
    for module in (refresh, upkeep):
        monkeypatch.setattr(module, "SEGMENT_BLOCKS", 8)
    monkeypatch.setattr(append, "STEP", 0)
    monkeypatch.setattr(refresh, "GROWING", 10**15)
    monkeypatch.setattr(reader, "WORTH_SPARING", 0)


@pytest.mark.parametrize("part", range(PARTS))
def test_the_store_answers_like_the_files(part: int) -> None:
    @settings(
        max_examples=max(1, EXAMPLES // PARTS),
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(
        seed=st.integers(0, 2**48),
        sessions=st.integers(1, 4),
        records=st.integers(0, 10),
        rounds=st.lists(st.integers(0, 3), min_size=1, max_size=4),
        asked=st.integers(1, 6),
    )
    def compare(seed: int, sessions: int, records: int, rounds: list[int], asked: int) -> None:
        with tempfile.TemporaryDirectory() as folder:
            home = Home(Path(folder), seed * PARTS + part)
            home.fill(sessions, records)
            play(home, rounds, asked)

    compare()


def play(home: Home, rounds: list[int], asked: int) -> None:
    """Edit, refresh and ask, some times; then look whether the store is whole."""
    gone = Gone()
    number = 0
    for turn, edits in enumerate(rounds):
        for _ in range(edits if turn else 0):
            home.edit(number)
            number += 1
        home.settle()
        note(f"{turn}: {home.log}")
        compare_all(home.path, home.dice("questions", turn), asked, gone)
    with_store = opened(home.path, store=True)
    store = store_of(with_store)
    assert list(verify(store.catalogue)) == []
    tidy(store.catalogue)
    assert list(verify(store.catalogue)) == []
    compare_answers(Asked(opened(home.path), with_store), Query.of("a"), home.dice("last"))
    store.close()


class Gone:
    """What was last found in sources that have vanished since."""

    def __init__(self) -> None:
        self.latest: dict[Key, list[Hit]] = {}

    def compare(self, found: Iterable[Hit], sessions: Iterable[Session]) -> None:
        """Compare with what is found now, and remember that."""
        now = by_source(found)
        for session in sessions:
            key = (session.agent, session.path)
            if session.source_gone and key in self.latest:
                assert now.get(key, []) == self.latest[key]
        self.latest = now


class Asked:
    """Two histories of one home, and what only the store knows.

    Attributes:
        files: reads the files.
        store: has the store.
        apart: sources that the two see differently: those that are gone, and those that copy
            from them or belong to them.
    """

    def __init__(self, files: History, store: History) -> None:
        self.files = files
        self.store = store
        sources = store_of(store).catalogue.sources()
        gone = {path for (_, path), source in sources.items() if source.gone}
        self.apart = {
            key
            for key, source in sources.items()
            if key[1] in gone or gone.intersection(source.unit.owners)
        }

    def shared(self, hits: Iterable[Hit]) -> list[Hit]:
        """Leave out what lies apart."""
        return [hit for hit in hits if (hit.agent, hit.path) not in self.apart]


def compare_all(home: Path, dice: Dice, count: int, gone: Gone) -> None:
    """Refresh, and compare sessions, events and answers."""
    with_store = opened(home, store=True)
    change = with_store.refresh()
    store = store_of(with_store)
    asked = Asked(opened(home), with_store)
    all_of_it = Query.of("", inherited=True)
    gone.compare(with_store.search(all_of_it), with_store.sessions())
    events = compare_sessions(asked, dice)
    for query in questions(dice, events, count):
        note(f"{query}")
        compare_answers(asked, query, dice)
    assert change is not None
    if not change.moved:  # copies of what moved are read once more
        again = with_store.refresh()
        unreadable = {
            session.path
            for session in with_store.sessions()
            if session.integrity and session.integrity.unreadable and not session.source_gone
        }
        assert again is not None
        assert again[:2] == (len(unreadable), 0)
        assert (again.vanished, again.moved) == (0, 0)
    store.close()


def compare_sessions(asked: Asked, dice: Dice) -> list[Event]:
    """Compare what is known of the sessions, and all of their events, which are returned."""
    sessions = asked.files.sessions()
    kept = [s for s in asked.store.sessions() if (s.agent, s.path) not in asked.apart]
    assert kept == [s for s in sessions if (s.agent, s.path) not in asked.apart]
    stored = list(store_of(asked.store).transcripts())
    read = [t for t in asked.files.transcripts() if key_of(t.session) not in asked.apart]
    kept_events = [t for t in stored if key_of(t.session) not in asked.apart]
    for left, right in itertools.zip_longest(kept_events, read):
        assert left.session == right.session
        assert list(left.events) == list(right.events)
    # A damaged file may say that it is another session: its own name is then the only one.
    if sessions and not asked.apart and all(s.id.partition("#")[0] in s.path for s in sessions):
        one = dice.choice(sessions)
        for reference in (one.id, one.path, f"{one.agent}:{one.id}", one.id[: dice.randint(1, 12)]):
            assert answer(asked.store, reference) == answer(asked.files, reference)
    return [event for transcript in read for event in transcript.events]


def compare_answers(asked: Asked, query: Query, dice: Dice) -> None:
    """Ask both everything that can be asked with a query."""
    before, after = dice.choice(((0, 0), (0, 0), (1, 0), (0, 2), (3, 3)))
    files, store = asked.files, asked.store
    if asked.apart and query.limit:
        # What lies apart counts, too: look at the order instead.
        unlimited = Query.of(
            query.pattern, regex=query.regex, case="match" if query.sensitive else "ignore"
        )
        limited = Query.of(
            query.pattern,
            regex=query.regex,
            case="match" if query.sensitive else "ignore",
            limit=query.limit,
        )
        assert list(store.search(limited)) == list(store.search(unlimited))[: query.limit]
        return
    expected = list(files.search(query, before=before, after=after))
    found = list(store.search(query, before=before, after=after))
    assert asked.shared(found) == asked.shared(expected)
    assert asked.shared(store.sessions_with(query)) == asked.shared(files.sessions_with(query))
    assert counted(asked, store.counts(query)) == counted(asked, files.counts(query))
    wanted = [s for s in files.sessions(query) if key_of(s) not in asked.apart]
    assert [s for s in store.sessions(query) if key_of(s) not in asked.apart] == wanted


def counted(asked: Asked, counts: Iterator[tuple[Session, int]]) -> list[tuple[Session, int]]:
    return [each for each in counts if key_of(each[0]) not in asked.apart]


def answer(history: History, reference: str) -> Any:
    """Return a session with its events, or what is said when it is not to be had."""
    try:
        transcript = history.session(reference)
    except AgtailError as error:
        return type(error), str(error)
    return transcript.session, list(transcript.events)


def by_source(hits: Iterable[Hit]) -> dict[Key, list[Hit]]:
    found: dict[Key, list[Hit]] = {}
    for hit in hits:
        found.setdefault((hit.agent, hit.path), []).append(hit)
    return found


def key_of(session: Session) -> Key:
    return session.agent, session.path


def opened(home: Path, *, store: bool = False, refresh: bool = False) -> History:
    """Open a history whose store lies in the home; it is refreshed only when told."""
    environment = {"XDG_DATA_HOME": str(home / "data")}
    return History(home=home, env=environment, store=store, refresh=refresh)


def store_of(history: History) -> Store:
    assert history.store is not None
    return history.store
