"""Whatever happens to the files: the store answers as if it read them all for each question."""

from __future__ import annotations

import itertools
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from claude_home import Session as Transcribed
from claude_home import write
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from store.homes import Dice, Home, questions

from agtail.agents.claude_code import reader
from agtail.assemble import Transcript
from agtail.errors import AgtailError
from agtail.history import History
from agtail.model import Session
from agtail.search.query import Query
from agtail.search.scan import Hit, counts, scan, sessions_with
from agtail.store import append, blocks, refresh, upkeep
from agtail.store.store import Store
from agtail.store.upkeep import tidy
from agtail.store.verify import verify

EXAMPLES = int(os.environ.get("AGTAIL_EQUALITY", "1000"))
PARTS = 8
"""Tests that the examples are divided among, so that they can run side by side."""

MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
"""Where there is one, a folder that no disk is behind: the homes are many and short-lived."""

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
        with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
            home = Home(Path(folder), seed * PARTS + part)
            home.fill(sessions, records)
            play(home, rounds, asked)

    compare()


LETTERS = (
    "kK\u212asSſå\u00c5\u212bσΣς\u00b5\u03bcΜßẞiIİıω\u03a9\u2126ǅǆǄﬅﬆ"
    "\uab70\u13a0\u13f8\u13f0\ua64b\u1c88аАᾳᾼ\u0390\u1fd3𐐨𐐀é"
)


def test_letters_that_are_one_find_each_other(tmp_path: Path) -> None:
    """Each stands in a block of its own, and among letters that make the block an odd one."""
    session = Transcribed()
    for letter in LETTERS:
        session.user(f"<{letter}> and so on, until this is a block{'.' * blocks.TEXT}")
        session.user(f"<{letter}> σſ and so on, until this is a block{'.' * blocks.TEXT}")
    write(tmp_path, session)
    patterns = [f"<{letter}>" for letter in LETTERS] + list(LETTERS)
    ask(tmp_path, patterns)


def test_neighbours_in_a_block_are_not_one_text(tmp_path: Path) -> None:
    session = Transcribed()
    for said in ("a", "b", "ab", "aab", "B", "ba", "漢", "字", "漢字", "é", "a"):
        session.user(said)
    write(tmp_path, session)
    runs = itertools.chain.from_iterable(itertools.product("ab", repeat=n) for n in (1, 2, 3, 4))
    ask(tmp_path, [*map("".join, runs), "漢", "字", "漢字", "字漢", "bB", "Bb", "é", "éa", "\n"])


def ask(home: Path, patterns: list[str]) -> None:
    """Ask for all patterns, as literals and as expressions, in all cases."""
    with_store = opened(home, store=True)
    with_store.refresh()
    asked = Asked(opened(home), with_store)
    for pattern, case, regex in itertools.product(patterns, ("ignore", "match"), (False, True)):
        query = Query.of(pattern, case=case, regex=regex)
        found = list(with_store.search(query))
        assert found == list(scan(query, asked.read)), (pattern, case, regex)
    store_of(with_store).close()


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
    if home.dice("verify").random() < 0.25:
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
        read: what is in them.
        store: has the store.
        apart: sources that the two see differently: those that are gone, and those that copy
            from them.
    """

    def __init__(self, files: History, store: History) -> None:
        self.files = files
        self.read = list(files.transcripts())
        self.store = store
        sources = store_of(store).catalogue.sources()
        gone = {path for (_, path), source in sources.items() if source.gone}
        self.apart = {
            key
            for key, source in sources.items()
            if key[1] in gone or gone.intersection(source.unit.owners)
        }

    def shared(self, each: Iterable[Hit]) -> list[Hit]:
        """Leave out what lies apart."""
        return [hit for hit in each if (hit.agent, hit.path) not in self.apart]

    def shared_sessions(self, each: Iterable[Session]) -> list[Session]:
        """Leave out what lies apart."""
        return [session for session in each if key_of(session) not in self.apart]

    def shared_counts(self, each: Iterable[tuple[Session, int]]) -> list[tuple[Session, int]]:
        """Leave out what lies apart."""
        return [(session, number) for session, number in each if key_of(session) not in self.apart]

    def shared_transcripts(self, each: Iterable[Transcript]) -> list[Transcript]:
        """Leave out what lies apart."""
        return [found for found in each if key_of(found.session) not in self.apart]


def compare_all(home: Path, dice: Dice, count: int, gone: Gone) -> None:
    """Refresh, and compare sessions, events and answers."""
    with_store = opened(home, store=True)
    change = with_store.refresh()
    store = store_of(with_store)
    asked = Asked(opened(home), with_store)
    all_of_it = Query.of("", inherited=True)
    gone.compare(with_store.search(all_of_it), with_store.sessions())
    compare_sessions(asked, dice)
    events = [event for transcript in asked.read for event in transcript.events]
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


def compare_sessions(asked: Asked, dice: Dice) -> None:
    """Compare what is known of the sessions, and all of their events."""
    sessions = asked.files.sessions()
    kept = asked.shared_sessions(asked.store.sessions())
    assert kept == asked.shared_sessions(sessions)
    stored = asked.shared_transcripts(store_of(asked.store).transcripts())
    read = asked.shared_transcripts(asked.read)
    for left, right in itertools.zip_longest(stored, read):
        assert left.session == right.session
        assert list(left.events) == list(right.events)
    # A damaged file may say that it is another session: its own name is then the only one.
    if sessions and not asked.apart and all(s.id.partition("#")[0] in s.path for s in sessions):
        one = dice.choice(sessions)
        for reference in (one.id, one.path, f"{one.agent}:{one.id}", one.id[: dice.randint(1, 12)]):
            assert answer(asked.store, reference) == answer(asked.files, reference)


def compare_answers(asked: Asked, query: Query, dice: Dice) -> None:
    """Ask everything that can be asked with a query."""
    before, after = dice.choice(((0, 0), (0, 0), (1, 0), (0, 2), (3, 3)))
    read, store = asked.read, asked.store
    if asked.apart and query.limit:
        # What lies apart counts, too.
        unlimited = msgspec.structs.replace(query, limit=0)
        assert list(store.search(query)) == list(store.search(unlimited))[: query.limit]
        query = unlimited
    expected = asked.shared(scan(query, read, before=before, after=after))
    assert asked.shared(store.search(query, before=before, after=after)) == expected
    assert asked.shared(store.sessions_with(query)) == asked.shared(sessions_with(query, read))
    assert asked.shared_counts(store.counts(query)) == asked.shared_counts(counts(query, read))
    wanted = [
        transcript.session
        for transcript in read
        if query.wants_session(transcript.session) and query.overlaps(transcript.session)
    ]
    found = asked.shared_sessions(store.sessions(query))
    assert sorted(map(key_of, found)) == sorted(map(key_of, asked.shared_sessions(wanted)))
    if dice.random() < 0.1:
        expected = asked.shared(asked.files.search(query, before=before, after=after))
        assert asked.shared(store.search(query, before=before, after=after)) == expected


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
