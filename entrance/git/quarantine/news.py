"""Tells which secrets of a push are news: not those that the host has already at the same path. In the
looker's process.

Whoever edits a file that has a secret, or moves it, brings none; but only what the host has counts, as
two new files could else vouch for each other.
"""

from collections.abc import Generator, Iterator
from io import BufferedReader
from typing import cast

from entrance.git.checks.facts import Sighting
from entrance.git.checks.scanners.scan import Scan, Seen
from entrance.git.quarantine.frames import Job, Result
from entrance.git.quarantine.objects import TroubleError, cat_file, given, pieces

MOST_BYTES = 256 << 20
"""All objects together; of more, everything is news."""


class News:
    """One job: `job.beside` names sighted objects, each with the host's own."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._seen: dict[str, Seen] = {}
        self._left = MOST_BYTES

    def steps(self) -> Generator[None, None, Result]:
        """An object at a time; the news at the end. Raises: TroubleError."""
        wanted = dict.fromkeys(
            oid for sighted, older in self._job.beside for oid in (sighted, *older)
        )
        with given(wanted) as oids, cat_file(self._job, oids) as git:
            try:
                yield from self._read(cast(BufferedReader, git.stdout))
            finally:
                git.kill()
        return Result(self._job.id, sightings=tuple(self._news()))

    def _read(self, out: BufferedReader) -> Iterator[None]:
        while line := out.readline():
            oid, _, rest = line.decode("ascii").strip().partition(" ")
            kind, _, size = rest.partition(" ")
            if kind == "blob":
                self._left -= int(size)
                if self._left < 0:
                    raise TroubleError("too much to be compared")
                scan = Scan(oid, "blob", int(size))
                for piece in pieces(out, int(size)):
                    scan.feed(piece)
                self._seen[oid] = scan.seen()
                yield
            elif size:
                for _ in pieces(out, int(size)):
                    pass

    def _news(self) -> Iterator[Sighting]:
        for sighted, older in self._job.beside:
            known = (self._seen[oid] for oid in older if oid in self._seen)
            if sighted in self._seen:
                yield from self._seen[sighted].without(*known).sightings
