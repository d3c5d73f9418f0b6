"""A program that has writers of the archive killed, or out of space, and looks at what is left.

It forks, which a test runner with its threads cannot do safely. Usage: killed_keeper.py FOLDER
NAME, with the name of one of the ``ways`` at the end.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import random
import resource
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from agtail.errors import ArchiveError
from agtail.store import frames
from agtail.store.archive import Archive

AGENT = "claude-code"
Step = Callable[[Archive, Path], object]


def lines(count: int, seed: int = 1) -> bytes:
    dice = random.Random(seed)
    return b"".join(b'{"text":"%064x"}\n' % dice.getrandbits(256) for _ in range(count))


def keep(archive: Archive, source: Path) -> object:
    return archive.keep(AGENT, str(source))


def forget(archive: Archive, source: Path) -> object:
    return archive.forget(AGENT, str(source))


STEPS: dict[str, tuple[list[tuple[int, int]], Step]] = {
    "the first": ([(50, 1)], keep),
    "growth": ([(50, 1), (60, 1)], keep),
    "growth that packs again": ([(count, 1) for count in (50, 51, 52, 53, 99)], keep),
    "a rewritten file": ([(50, 1), (60, 1), (40, 2)], keep),
    "a third generation": ([(50, 1), (60, 2), (40, 3)], keep),
    "forgetting": ([(50, 1), (40, 2), (40, 2)], forget),
}
"""What the source is, time after time (lines and their seed), and what is done at the last one."""

REMOVING = {"growth that packs again", "a third generation", "forgetting"}
"""Steps after which there is a file less, or another in its place."""

WATCHED = {"open", "write", "flush", "close", "truncate", "fsync", "replace", "unlink", "execute"}
"""Calls that change something, or could."""


class Scene:
    """A source and an archive in the state before the last step, as often as it is wanted."""

    def __init__(self, folder: Path, name: str, scale: int = 1) -> None:
        folder.mkdir()
        shapes, self.step = STEPS[name]
        self.texts = [lines(count * scale, seed) for count, seed in shapes]
        self._made, self._used = folder / "made", folder / "used"
        self.source, self.other = folder / "session.jsonl", folder / "other.jsonl"
        self.other.write_bytes(lines(20, seed=9))
        archive = Archive(self._made)
        keep(archive, self.other)
        for number, text in enumerate(self.texts):
            self.source.write_bytes(text)
            os.utime(self.source, (number, number))
            if number < len(self.texts) - 1:
                keep(archive, self.source)
        archive.close()

    def prepare(self) -> None:
        """Go back to the state before the last step."""
        shutil.rmtree(self._used, ignore_errors=True)
        shutil.copytree(self._made, self._used)

    def run(self) -> None:
        """Do the last step."""
        archive = Archive(self._used)
        self.step(archive, self.source)
        archive.close()

    def removed(self) -> set[Path]:
        """Return the files of the archive that the last step did away with."""
        return {made for made in self._made.glob("*.zst") if not (self._used / made.name).exists()}

    def check(self) -> None:
        """Nothing that was kept is lost or wrong, and the step can be done again.

        Also when the index is lost at this moment, and made anew from what the files say.
        """
        left = self._used.with_name("left")
        shutil.rmtree(left, ignore_errors=True)
        shutil.copytree(self._used, left)
        for rebuilt in (False, True):
            if rebuilt:
                shutil.rmtree(self._used)
                shutil.copytree(left, self._used)
                for file in self._used.glob("index.sqlite*"):
                    file.unlink()
            archive = Archive(self._used)
            with archive.open(AGENT, str(self.other)) as stream:
                assert stream.read() == lines(20, seed=9)
            if self.step is keep:
                before = self.texts[-2] if len(self.texts) > 1 else None
                assert newest(archive, self.source) in {before, self.texts[-1]}
                for entry in archive.entries():
                    with archive.open(AGENT, entry.path, entry.generation) as stream:
                        assert stream.read() in {*self.texts, lines(20, seed=9)}
            self.step(archive, self.source)
            assert newest(archive, self.source) == (self.texts[-1] if self.step is keep else None)
            archive.tidy()
            assert len(list(self._used.glob("*.zst"))) == len(list(archive.entries()))
            archive.close()


def newest(archive: Archive, source: Path) -> bytes | None:
    for entry in archive.entries():
        if entry.path == str(source) and entry.newest:
            with archive.open(AGENT, str(source)) as stream:
                return stream.read()
    return None


def in_child(work: Callable[[], None]) -> int:
    """Run something in a child; return what it exits with, or minus the signal that ended it."""
    child = os.fork()
    if not child:
        code = 1
        try:
            work()
            code = 0
        except Exception:  # noqa: BLE001 - the child must not go on as its parent
            traceback.print_exc()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def killed_at_every_call(folder: Path) -> Iterator[str]:
    """Each step dies once before every call that it makes to change something."""
    for name in STEPS:
        scene = Scene(folder / name, name)
        for number in itertools.count(1):
            scene.prepare()
            ended = in_child(lambda number=number, scene=scene: dying(scene, number))  # type: ignore[misc]
            if not ended:
                assert bool(scene.removed()) == (name in REMOVING)
                break
            assert ended == -signal.SIGKILL
            scene.check()
        yield f"{name}: {number} moments"


def dying(scene: Scene, number: int) -> None:
    calls = itertools.count(1)

    def before_call(_frame: FrameType, event: str, called: Any) -> None:
        if event == "c_call" and called.__name__ in WATCHED and next(calls) == number:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.setprofile(before_call)
    scene.run()
    sys.setprofile(None)


def without_space(folder: Path) -> Iterator[str]:
    """Each step may write files up to a size only, from none to all that it needs."""
    for name in STEPS:
        scene = Scene(folder / name, name, scale=30)
        refused = 0
        for limit in range(0, 200_000, 5000):
            scene.prepare()
            ended = in_child(lambda limit=limit, scene=scene: limited(scene, limit))  # type: ignore[misc]
            assert ended in {0, 3}, ended
            scene.check()
            refused += ended == 3
        assert 0 < refused < 40, refused
        yield f"{name}: refused {refused} times"


def limited(scene: Scene, limit: int) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    try:
        scene.run()
    except ArchiveError as error:
        os._exit(3 if len(str(error).splitlines()) == 1 else 4)


def killed_at_random(folder: Path) -> Iterator[str]:
    """A writer that adds to some files all the time is killed again and again."""
    dice = random.Random(5)
    sources = [folder / f"{number}.jsonl" for number in range(5)]
    for source in sources:
        source.touch()
    for round_ in range(100):
        ready, tell = os.pipe()
        child = os.fork()
        if not child:
            add_for_ever(folder, sources, round_, tell)
        os.close(tell)
        os.read(ready, 1)
        os.close(ready)
        time.sleep(dice.uniform(0, 0.03))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        archive = Archive(folder / "archive")
        for entry in archive.entries():
            with archive.open(AGENT, entry.path, entry.generation) as stream:
                kept = stream.read()
            assert len(kept) == entry.raw
            assert Path(entry.path).read_bytes()[: len(kept)] == kept
            assert entry.generation == 1
        archive.close()
    archive = Archive(folder / "archive")
    raw = 0
    for source in sources:
        archive.keep(AGENT, str(source))
        with archive.open(AGENT, str(source)) as stream:
            assert stream.read() == source.read_bytes()
        raw += source.stat().st_size
    assert archive.size()[0] == raw
    archive.close()
    yield f"{raw} bytes were kept in {len(sources)} files"


def add_for_ever(folder: Path, sources: list[Path], seed: int, tell: int) -> None:
    archive = Archive(folder / "archive")
    dice = random.Random(seed)
    os.write(tell, b"!")
    while True:
        source = dice.choice(sources)
        with open(source, "ab") as stream:
            stream.write(dice.randbytes(dice.choice((10, 1000, 30_000))).hex().encode())
        archive.keep(AGENT, str(source))


def read_while_written(folder: Path) -> Iterator[str]:
    """Four readers and two writers at once: whoever reads sees a whole state."""
    source = folder / "session.jsonl"
    text = lines(300)
    source.write_bytes(text[:100])
    archive = Archive(folder / "archive")
    keep(archive, source)
    archive.close()
    children = []
    for number in range(6):
        child = os.fork()
        if not child:
            (write_along if number < 2 else read_along)(folder, source, text)
        children.append(child)
    for child in children:
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    archive = Archive(folder / "archive")
    keep(archive, source)
    with archive.open(AGENT, str(source)) as stream:
        assert stream.read() == source.read_bytes()
    digest = hashlib.sha256(source.read_bytes()).hexdigest()
    archive.close()
    yield f"ended with {digest[:8]}"


def write_along(folder: Path, source: Path, text: bytes) -> None:
    archive = Archive(folder / "archive")
    for end in range(100, len(text), 100):
        if source.stat().st_size < end:
            with open(source, "r+b") as stream:  # both writers write the same at the same place
                stream.seek(0, os.SEEK_END)
                stream.seek(min(stream.tell(), end - 100))
                stream.write(text[stream.tell() : end])
        keep(archive, source)
    os._exit(0)


def read_along(folder: Path, source: Path, text: bytes) -> None:
    archive = Archive(folder / "archive")
    seen = 0
    while seen < len(text) - 100:
        with archive.open(AGENT, str(source)) as stream:
            kept = stream.read()
        assert len(kept) >= seen
        assert text.startswith(kept)
        seen = len(kept)
    os._exit(0)


ways: dict[str, Callable[[Path], Iterator[str]]] = {
    way.__name__: way
    for way in (killed_at_every_call, without_space, killed_at_random, read_while_written)
}

if __name__ == "__main__":
    frames.SMALL_FRAMES = 4
    for line in ways[sys.argv[2]](Path(sys.argv[1])):
        sys.stdout.write(f"{line}\n")
