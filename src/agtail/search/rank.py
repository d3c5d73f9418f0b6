"""Ranking: the hits that say most about the pattern first, by BM25, instead of the newest."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator

from agtail.search.scan import Hit

K1 = 1.2
"""How soon more matches in one event add little: the customary value."""

B = 0.75
"""How much a long event has to have more matches than a short one: the customary value."""


def ranked(hits: Callable[[], Iterator[Hit]], limit: int) -> Iterator[Hit]:
    """Yield the best hits, best first; of equal ones the newer session's, then the earlier event.

    All hits hold the pattern, so that it is as rare in each: what tells them apart is how often
    it is there, and in how long a text. They are gone through twice, so that no more than
    ``limit`` of them are in memory at a time.

    Args:
        hits: finds the hits, with ``matches`` and ``size``; called twice.
        limit: how many to yield; 0 for all.
    """
    count = total = 0
    for hit in hits():
        count += 1
        total += hit.size or 0
    if not count:
        return
    average = total / count or 1.0

    def scored() -> Iterator[tuple[float, int, Hit]]:
        for number, hit in enumerate(hits()):
            hit.score = round(_score(hit.matches or 0, (hit.size or 0) / average), 4)
            yield -hit.score, number, hit

    best = heapq.nsmallest(limit, scored()) if limit else sorted(scored())
    for _, _, hit in best:
        yield hit


def _score(matches: int, length: float) -> float:
    return matches * (K1 + 1) / (matches + K1 * (1 - B + B * length))
