"""A search for files that a reader does not expect: one that takes a branch which none took is mutated on.

    python tests/fuzz/search.py --seconds 3600 --seed 1

goes on from the kept corpus and adds to it. What breaks a promise goes into a folder of findings, with its
traceback.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import resource
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path

if __name__ == "__main__":  # run by hand: what pytest puts on the path itself
    here = Path(__file__).resolve().parent
    sys.path[:0] = [str(here.parents[1]), str(here.parent)]

from branches import Branches
from mutating import mutated
from readers import CORPUS, READERS, Reader, kept_files
from seeds import seeds

KEPT_BYTES = 4096
MOST_SECONDS = 20.0  # of one file, while every line of it is being watched
MOST_MEMORY = 512 * 1024 * 1024  # by which one file may raise this process's peak
_ROUND_S = 60.0
_IN_A_CHILD = 40


@dataclass
class Tally:
    """What a search did with one reader."""

    tried: int = 0
    read: int = 0
    kept: int = 0
    branches: int = 0
    findings: list[str] = field(default_factory=list)


class Search:
    """Of one reader. `corpus`: where to start from and what to add to; `findings`: what breaks a promise."""

    def __init__(
        self, reader: Reader, first: Sequence[bytes], *, corpus: Path, findings: Path, chance: random.Random
    ) -> None:
        self.reader, self.tally = reader, Tally()
        self._folder, self._findings, self._chance = corpus / reader.name, findings, chance
        self._branches = Branches()
        self._pool = list(first)
        self._folder.mkdir(parents=True, exist_ok=True)
        for content in [*first, *kept_files(reader.name, corpus).values()]:
            self._try(content)

    def go_on(self, is_over: Callable[[], object]) -> None:
        """Mutants until this is so."""
        while not is_over():
            batch = list(self._mutants(_IN_A_CHILD if self.reader.is_native else 1))
            if not self.reader.is_native or self._survives(batch):
                for content in batch:
                    self._try(content)

    def _mutants(self, count: int) -> Iterator[bytes]:
        for _ in range(count):
            # files kept last were the hardest to find
            newest = self._pool[-max(1, len(self._pool) // 4) :]
            pool = newest if self._chance.random() < 0.4 else self._pool
            origin = min(self._chance.choice(pool), self._chance.choice(pool), key=len)
            yield mutated(origin, self._chance, self.reader.words, self._pool)

    def _try(self, content: bytes) -> None:
        self.tally.tried += 1
        before, started = _peak(), time.process_time()
        try:
            found, sentence = self._branches.of(lambda: self.reader.read(content))
        except Exception:
            self._report(content, traceback.format_exc())
            return
        self.tally.read += sentence is None
        if time.process_time() - started > MOST_SECONDS:
            self._report(content, f"took {time.process_time() - started:.1f} s")
        if _peak() - before > MOST_MEMORY:
            self._report(content, f"took {(_peak() - before) >> 20} MiB")
        if sentence is not None and self.reader.is_native:
            found.add((_without_numbers(str(sentence)), 0, 0))
        if self._branches.new_of(found):
            self.tally.branches = len(self._branches.known)
            self._pool.append(content)
            if len(content) <= KEPT_BYTES:
                self.tally.kept += 1
                (self._folder / hashlib.sha256(content).hexdigest()[:12]).write_bytes(content)

    def _survives(self, batch: list[bytes]) -> bool:
        """Native code can end the process: a child goes first, and whoever ends it is reported."""
        if _child_lives(self.reader, batch):
            return True
        for content in batch:
            if not _child_lives(self.reader, [content]):
                self._report(content, "ended the process")
        return False

    def _report(self, content: bytes, words: str) -> None:
        place = words.strip().splitlines()[-1] + (words.strip().splitlines()[-3:-2] or [""])[0]
        if place in self.tally.findings:
            return
        self.tally.findings.append(place)
        self._findings.mkdir(parents=True, exist_ok=True)
        name = f"{self.reader.name}-{hashlib.sha256(content).hexdigest()[:12]}"
        (self._findings / name).write_bytes(content)
        (self._findings / f"{name}.txt").write_text(words)


def search(
    *, seconds: float, corpus: Path, findings: Path, seed: int, names: Sequence[str]
) -> dict[str, Tally]:
    """All readers in turn, with as much time as they have branches. Tallies are written down as it goes."""
    chance = random.Random(seed)
    first = seeds()
    end = time.monotonic() + seconds
    searches = [
        Search(READERS[name], first[name], corpus=corpus, findings=findings, chance=chance) for name in names
    ]
    while time.monotonic() < end:
        all_branches = sum(each.tally.branches for each in searches)
        for each in searches:
            share = min(seconds, _ROUND_S) * each.tally.branches / all_branches
            each.go_on(partial(_is_past, min(end, time.monotonic() + share)))
        _write_down(searches, findings)
    return {each.reader.name: each.tally for each in searches}


def _is_past(moment: float) -> bool:
    return time.monotonic() >= moment


def minimise(name: str, corpus: Path = CORPUS) -> tuple[int, int]:
    """Removes kept files whose branches smaller ones take together; how many there were, and are now."""
    reader, branches = READERS[name], Branches()
    files = sorted((corpus / name).iterdir(), key=lambda path: (path.stat().st_size, path.name))
    kept = 0
    for path in files:
        found, sentence = branches.of(partial(reader.read, path.read_bytes()))
        if reader.is_native and sentence is not None:
            found.add((_without_numbers(str(sentence)), 0, 0))
        if branches.new_of(found):
            kept += 1
        else:
            path.unlink()
    return len(files), kept


def _write_down(searches: list[Search], findings: Path) -> None:
    findings.mkdir(parents=True, exist_ok=True)
    tallies = {each.reader.name: asdict(each.tally) for each in searches}
    (findings / "tally.json").write_text(json.dumps(tallies, indent=1))


def _child_lives(reader: Reader, batch: list[bytes]) -> bool:
    child = os.fork()
    if not child:
        for content in batch:
            try:
                reader.read(content)
            except Exception:
                continue  # the parent meets it again, and says so
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _without_numbers(sentence: str) -> str:
    return "".join("0" if letter.isdigit() else letter for letter in sentence[:80])


def main() -> None:
    parser = argparse.ArgumentParser(description="Search for files that break a reader.")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    parser.add_argument("--corpus", type=Path, default=CORPUS)
    parser.add_argument("--findings", type=Path, default=Path("fuzz-findings"))
    parser.add_argument("--readers", nargs="*", default=list(READERS), choices=list(READERS))
    parser.add_argument("--minimise", action="store_true", help="shrink the corpus instead")
    asked = parser.parse_args()
    if asked.minimise:
        for name in asked.readers:
            before, after = minimise(name, asked.corpus)
            print(f"{name:10} {before} files, {after} kept")
        return
    found = search(
        seconds=asked.seconds,
        corpus=asked.corpus,
        findings=asked.findings,
        seed=asked.seed,
        names=asked.readers,
    )
    for name, tally in found.items():
        print(
            f"{name:10} {tally.tried:9} tried {tally.read:8} read {tally.branches:6} branches "
            f"{tally.kept:4} kept {len(tally.findings):3} findings"
        )


if __name__ == "__main__":
    main()
