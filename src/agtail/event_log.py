"""The events of one session: a sequence that spills to a temporary file when it grows huge."""

from __future__ import annotations

from abc import abstractmethod
from array import array
from collections.abc import Iterator, Sequence
from typing import IO, overload

import msgspec

from agtail.model import Event


class EventSequence(Sequence[Event]):
    """Events by number: what is the same wherever they lie."""

    @abstractmethod
    def _at(self, index: int) -> Event:
        """Return an event; the number is one of theirs."""

    @overload
    def __getitem__(self, index: int) -> Event: ...
    @overload
    def __getitem__(self, index: slice) -> list[Event]: ...
    def __getitem__(self, index: int | slice) -> Event | list[Event]:
        if isinstance(index, slice):
            return [self._at(at) for at in range(*index.indices(len(self)))]
        return self._at(range(len(self))[index])


class Events(EventSequence):
    """Where the events of a session are kept while it is built."""

    @abstractmethod
    def append(self, event: Event) -> int:
        """Add an event, give it its number, and return that."""

    @abstractmethod
    def update(self, event: Event) -> None:
        """Store a changed event again; needed after every change of one that was read back."""


class EventLog(Events):
    """The events of one session: a sequence that keeps about ``budget`` bytes in memory.

    Beyond the budget the older events are written to an unnamed temporary file and come back
    when asked for; an update of such an event is appended.
    """

    KEPT = 16
    """Events that stay in memory whatever they weigh: the latest are still being filled in."""

    def __init__(self, budget: int = 48 * 1024 * 1024) -> None:
        self._budget = budget
        self._held = 0
        self._live: dict[int, Event] = {}  # in the order of their numbers
        self._weights: dict[int, int] = {}  # of the live ones
        self._places = array("q")  # offset and length of each event in the file; -1: in memory
        self._file: IO[bytes] | None = None
        self._end = 0
        self._decoder = msgspec.msgpack.Decoder(Event)

    def __del__(self) -> None:
        if self._file is not None:
            self._file.close()

    def __len__(self) -> int:
        return len(self._places) // 2

    def _at(self, index: int) -> Event:
        event = self._live.get(index)
        return self._read(index) if event is None else event

    def __iter__(self) -> Iterator[Event]:
        for index in range(len(self)):
            yield self._at(index)

    def append(self, event: Event) -> int:
        """Add an event, give it its number, and return that."""
        seq = event.seq = len(self)
        self._places.extend((-1, 0))
        self._live[seq] = event
        self._weigh(event)
        return seq

    def update(self, event: Event) -> None:
        """Store a changed event again; needed after every change of one that was read back."""
        if event.seq in self._live:
            self._weigh(event)
        else:
            self._write(event)

    def _weigh(self, event: Event) -> None:
        """Account for a new or changed event, and make room when there are too many."""
        weight = _weight(event)
        self._held += weight - self._weights.get(event.seq, 0)
        self._weights[event.seq] = weight
        if self._held > self._budget:
            self._spill()

    def _spill(self) -> None:
        """Write old events out until half of the budget is free again."""
        for seq in list(self._live)[: -self.KEPT]:
            if self._held <= self._budget // 2:
                return
            self._write(self._live.pop(seq))
            self._held -= self._weights.pop(seq)

    def _read(self, seq: int) -> Event:
        assert self._file is not None
        self._file.seek(self._places[2 * seq])
        return self._decoder.decode(self._file.read(self._places[2 * seq + 1]))

    def _write(self, event: Event) -> None:
        if self._file is None:
            import tempfile  # noqa: PLC0415 - start-up time

            self._file = tempfile.TemporaryFile(prefix="agtail-")
        data = msgspec.msgpack.encode(event)
        self._file.seek(self._end)
        self._file.write(data)
        self._places[2 * event.seq] = self._end
        self._places[2 * event.seq + 1] = len(data)
        self._end += len(data)


def _weight(event: Event) -> int:
    """Estimate the bytes an event holds; exact enough to keep the budget."""
    length = event.src.length if event.src is not None else None
    weight = 800 + max(2 * (length or 0), event.text.__sizeof__())
    if event.result is not None:
        weight += event.result.text.__sizeof__()
        if event.result.detail is not None:
            weight += 3 * len(msgspec.msgpack.encode(event.result.detail))
    return weight
