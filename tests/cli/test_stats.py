from __future__ import annotations

from collections.abc import Callable

from agtail.cli.stats import lines
from agtail.cli.tally import Tally
from agtail.model import Session, Usage

Sessions = Callable[..., Session]


def text(tally: Tally) -> list[str]:
    return ["".join(span.text for span in line) for line in lines(tally)]


def test_nothing_is_zero() -> None:
    assert text(Tally()) == [
        "total                      0",
        "",
        "sessions 0  messages 0",
        "",
        "tokens",
        "  input 0  output 0  cache-read 0  total 0",
    ]


def test_tools_most_used_first_then_by_name(session: Sessions) -> None:
    tally = Tally()
    tally.add(session(tools={"Read": 1, "a very long name of a tool": 1, "Bash": 30}))
    tally.add(session(tools={"Bash": 10}, is_subagent=True))
    assert text(tally)[:4] == [
        f"Bash                      40  95%  {'█' * 30}",
        "Read                       1   2%  █",
        "a very long name of a      1   2%  █",
        "total                     42",
    ]
    assert text(tally)[5] == "sessions 2 (1 of them subagents)  messages 6"


def test_tokens_by_model(session: Sessions) -> None:
    opus = Usage(input_tokens=1200, output_tokens=30, cache_read_tokens=4, cache_creation_tokens=5)
    other = Usage(input_tokens=1, output_tokens=2)
    tally = Tally()
    tally.add(session(usage=opus + other, model_usage={"opus": opus, "": other}))
    tally.add(session(usage=opus, model_usage={"opus": opus}))
    assert text(tally)[-4:] == [
        "  input 2,401  output 62  cache-read 8  total 2,481",
        "                        input  output  cache-read  cache-write  total",
        "  opus                  2,400      60           8           10  2,478",
        "  (model not recorded)      1       2           0            0      3",
    ]


def test_one_model_without_cache_writes_needs_no_table(session: Sessions) -> None:
    tally = Tally()
    usage = Usage(input_tokens=1)
    tally.add(session(usage=usage, model_usage={"opus": usage}))
    assert text(tally)[-1] == "  input 1  output 0  cache-read 0  total 1"
