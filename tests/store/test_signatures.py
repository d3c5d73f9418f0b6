"""Signatures never rule out a block that matches, and rule out most of the others."""

from __future__ import annotations

import errno
import os
import random
import re
import stat
import tempfile
import time
from pathlib import Path
from statistics import mean, median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agtail.lenient import strings_of
from agtail.model import Integrity
from agtail.records import read_jsonl
from agtail.search.fold import fold
from agtail.search.grams import Needs, holds
from agtail.store.signatures import (
    MOST_SLOTS,
    SEGMENT_BLOCKS,
    SIGNATURE_BYTES,
    SLOTS,
    Segment,
    bits,
    covers,
    read_segment,
    signature,
    slots,
    write_segment,
)

CORPORA = Path(__file__).parents[1] / "corpora"
BLOCK = 32 * 1024

TEXTS = st.text(st.sampled_from("abcdeé漢字🙂 \n\x00"), max_size=40).map(str.encode)
LITERALS = st.one_of(
    st.text(st.sampled_from("abcdeé漢字🙂 \n\x00"), min_size=1, max_size=3),
    st.text(st.sampled_from("abc"), min_size=3, max_size=4),
).map(str.encode)
NEEDS = st.recursive(
    st.lists(LITERALS.filter(lambda literal: len(literal) > 2), max_size=3).map(
        lambda literals: Needs(tuple(literals))
    ),
    lambda parts: st.builds(
        lambda needs, group: Needs(needs.all_of, (*needs.any_of, tuple(group))),
        parts,
        st.lists(parts, min_size=1, max_size=3),
    ),
    max_leaves=8,
)


def need(*literals: str) -> Needs:
    return Needs(tuple(literal.encode() for literal in literals))


def written(path: Path, texts: list[bytes]) -> Segment:
    write_segment(str(path), [signature(text) for text in texts])
    return Segment(str(path), len(texts))


# One block


@given(TEXTS, st.data())
def test_every_part_of_a_text_is_in_its_signature(text: bytes, data: st.DataObject) -> None:
    first = data.draw(st.integers(0, len(text)))
    last = data.draw(st.integers(first, len(text)))
    bitmap = signature(text)
    assert len(bitmap) == SIGNATURE_BYTES
    if last - first >= 3:
        assert covers(Needs((text[first:last],)), bitmap)


@given(TEXTS)
def test_a_signature_is_what_its_grams_are(text: bytes) -> None:
    expected = {slot for at in range(len(text) - 2) for slot in slots(text[at : at + 3])}
    expected |= {slot for at in range(len(text) - 3) for slot in slots(text[at : at + 4])}
    assert set(bits(int.from_bytes(signature(text), "little"))) == expected


@given(TEXTS, NEEDS)
def test_where_needs_hold_the_signature_covers_them(text: bytes, needs: Needs) -> None:
    assert covers(needs, signature(text)) >= holds(needs, text)
    assert covers(needs, b"\xff" * SIGNATURE_BYTES)
    assert covers(needs, bytes(SIGNATURE_BYTES)) == holds(needs, b"")


@pytest.mark.parametrize("text", [b"", b"a", b"ab"])
def test_a_short_text_has_no_bits(text: bytes) -> None:
    assert signature(text) == bytes(SIGNATURE_BYTES)


def test_a_signature_does_not_change_from_version_to_version() -> None:
    """Stores hold signatures: another hash needs another version of the segments."""
    assert slots(b"abc") == (8070,)
    assert slots(b"abcd") == (12678, 8070, 18232)
    assert list(bits(int.from_bytes(signature(b"abcd"), "little"))) == [8070, 12678, 18232]


def test_the_slots_of_a_literal_are_few_and_from_all_over() -> None:
    long = random.Random(1).randbytes(10_000)
    chosen = slots(long)
    assert MOST_SLOTS - 2 <= len(chosen) <= MOST_SLOTS
    assert not covers(Needs((long,)), signature(long[:9000]))
    assert not covers(Needs((long,)), signature(long[1000:]))
    assert slots(b"a" * 100) == slots(b"aaaa")[:1]
    assert all(0 <= slot < SLOTS for slot in chosen)


# A segment


@given(st.lists(TEXTS, min_size=1, max_size=20), st.lists(NEEDS, min_size=1, max_size=5))
def test_a_segment_says_what_its_signatures_say(texts: list[bytes], asked: list[Needs]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        segment = written(Path(folder, "one"), texts)
        assert not segment.damaged
        for needs in [*asked, Needs(tuple(text for text in texts[:1] if len(text) > 2))]:
            expected = [i for i, text in enumerate(texts) if covers(needs, signature(text))]
            assert list(bits(segment.candidates(needs))) == expected
        segment.close()


def test_a_choice_takes_the_blocks_of_each_of_its_members(tmp_path: Path) -> None:
    segment = written(
        tmp_path / "one", [b"abc", b"def", b"ghi", b"abc def", b"abc xyz", b"ghi xyz"]
    )
    choice = (need("abc"), need("def"), need("nowhere"))
    assert segment.candidates(Needs(any_of=(choice,))) == 0b011011
    assert segment.candidates(Needs((b"xyz",), (choice,))) == 0b010000
    assert segment.candidates(Needs(any_of=(choice, (need("xyz"), need("def"))))) == 0b011010
    assert (
        segment.candidates(Needs(any_of=((Needs((b"xyz",), (choice,)), need("ghi")),))) == 0b110100
    )
    segment.close()


@pytest.mark.parametrize("count", [1, 7, 8, 9, 1000, SEGMENT_BLOCKS])
def test_segments_of_any_size(tmp_path: Path, count: int) -> None:
    names = [f"{number * 2_654_435_761 % 2**32:08x}" for number in range(count)]
    texts = [f"block {name} of many".encode() for name in names]
    segment = written(tmp_path / "one", texts)
    assert list(bits(segment.candidates(need("of many")))) == list(range(count))
    assert segment.candidates(Needs()) == (1 << count) - 1
    for number in {0, count // 2, count - 1}:
        found = list(bits(segment.candidates(need(names[number]))))
        assert number in found
        assert len(found) <= 1 + count // 20
    assert segment.candidates(need("nowhere")) == 0
    segment.close()


@pytest.mark.parametrize("count", [1, 8, 13])
def test_a_segment_is_read_back_as_it_was_written(tmp_path: Path, count: int) -> None:
    bitmaps = [random.Random(number).randbytes(SIGNATURE_BYTES) for number in range(count)]
    path = str(tmp_path / "one")
    write_segment(path, bitmaps)
    assert read_segment(path, count) == bitmaps
    assert read_segment(path, count + 1) is None


def test_a_segment_is_private_and_stands_alone(tmp_path: Path) -> None:
    path = tmp_path / "one"
    (tmp_path / "one.new").write_bytes(b"left behind by a crash")
    written(path, [b"abc"])
    assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0
    assert os.listdir(tmp_path) == ["one"]


def test_what_cannot_be_written_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = tmp_path / "one"
    written(path, [b"abc"])
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
        write_segment(str(path), [signature(b"def")] * 2)
    assert os.listdir(tmp_path) == ["one"]
    assert Segment(str(path), 1).candidates(need("abc")) == 1


def test_a_segment_that_is_not_there_rules_out_nothing(tmp_path: Path) -> None:
    for segment in (Segment(str(tmp_path / "none"), 3), Segment(str(tmp_path), 3)):
        assert segment.damaged
        assert segment.candidates(need("abc")) == 0b111
        segment.close()


@pytest.mark.parametrize("place", range(24))
def test_a_segment_with_another_header_rules_out_nothing(tmp_path: Path, place: int) -> None:
    path = tmp_path / "one"
    written(path, [b"abc", b"def"])
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)
    segment = Segment(str(path), 2)
    assert segment.damaged
    assert segment.candidates(need("abc")) == 0b11


@pytest.mark.parametrize("change", [-1, 1, -SLOTS, SLOTS])
def test_a_segment_of_another_length_rules_out_nothing(tmp_path: Path, change: int) -> None:
    path = tmp_path / "one"
    written(path, [b"abc", b"def"])
    os.truncate(path, path.stat().st_size + change)
    assert Segment(str(path), 2).candidates(need("abc")) == 0b11


def test_a_segment_of_other_blocks_rules_out_nothing(tmp_path: Path) -> None:
    written(tmp_path / "one", [b"abc", b"def"])
    segment = Segment(str(tmp_path / "one"), 3)
    assert segment.damaged
    assert segment.candidates(need("abc")) == 0b111


def test_a_segment_may_vanish_while_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "one"
    segment = written(path, [b"abc", b"def"])
    assert segment.candidates(need("abc")) == 0b01
    path.unlink()
    assert segment.candidates(need("def")) == 0b10
    segment.close()
    assert segment.candidates(need("def")) == 0b11


@given(
    st.integers(0, 1 << 200) | st.sets(st.integers(0, 2000)).map(lambda s: sum(1 << i for i in s))
)
def test_bits_are_the_ones_of_a_number(bitset: int) -> None:
    assert list(bits(bitset)) == [i for i in range(bitset.bit_length()) if bitset >> i & 1]


# How well it does


def test_most_blocks_without_a_text_are_ruled_out() -> None:
    dice = random.Random(1)
    blocks = recorded_blocks() + made_up_blocks(dice, 60)
    bitmaps = [signature(block) for block in blocks]
    words = {word for block in blocks for word in re.findall(rb"[a-z]{10,}", block)}
    rare = [
        word
        for word in dice.sample(sorted(words), 300)
        if sum(word in block for block in blocks) == 1
    ]
    hashes = [f"{dice.randrange(16**12):012x}".encode() for _ in range(100)]
    assert len(rare) > 50
    assert admitted_in_vain(rare, blocks, bitmaps) < 0.05
    assert admitted_in_vain(hashes, blocks, bitmaps) < 0.005


def recorded_blocks() -> list[bytes]:
    """Return what agents wrote, cut as the store would cut it."""
    texts = [
        text
        for path in sorted(CORPORA.rglob("*.jsonl"))
        for record in read_jsonl(path, Integrity())
        for text in strings_of(record.data)
    ]
    return cut(fold("\n".join(texts)).encode())


def made_up_blocks(dice: random.Random, count: int) -> list[bytes]:
    """Return blocks of words that are as frequent as in speech: the n-th one time in n."""
    letters = "etaoinshrdlucmfwypvbgkqjxz"
    weights = [1 / (place + 2) for place in range(len(letters))]
    words = ["".join(dice.choices(letters, weights, k=dice.randint(2, 11))) for _ in range(20_000)]
    frequent = [1 / (place + 1) for place in range(len(words))]
    return cut(" ".join(dice.choices(words, frequent, k=count * BLOCK // 6)).encode())[:count]


def cut(text: bytes) -> list[bytes]:
    return [text[at : at + BLOCK] for at in range(0, len(text) - BLOCK, BLOCK)]


def admitted_in_vain(literals: list[bytes], blocks: list[bytes], bitmaps: list[bytes]) -> float:
    return mean(
        covers(Needs((literal,)), bitmap)
        for literal in literals
        for block, bitmap in zip(blocks, bitmaps, strict=True)
        if literal not in block
    )


def test_asking_the_segments_of_gigabytes_takes_no_time(tmp_path: Path) -> None:
    """83 segments are 2.7 GB of text."""
    path = tmp_path / "one"
    write_segment(str(path), [signature(block) for block in recorded_blocks()] * 20)
    count = 20 * len(recorded_blocks())
    durations = []
    for _ in range(5):
        segments = [Segment(str(path), count) for _ in range(83)]
        started = time.perf_counter()
        answers = {segment.candidates(need("please read the file")) for segment in segments}
        durations.append(time.perf_counter() - started)
        assert len(answers) == 1
        for segment in segments:
            segment.close()
    assert median(durations) < 0.1
