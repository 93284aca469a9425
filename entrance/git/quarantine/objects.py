"""Objects of one push, as git gives them out one after the other. In the looker's process."""

import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import IO

from entrance.git.quarantine.frames import Job
from entrance.git.quarantine.git_child import Place, environment

PIECE_BYTES = 1 << 18


class TroubleError(Exception):
    """The objects can't be looked at. The message is a sentence for the agent."""


@contextmanager
def given(oids: Iterable[str]) -> Iterator[IO[bytes]]:
    """What git is asked for, in a file without a name: nobody has to feed it while it is read."""
    with tempfile.TemporaryFile() as file:
        for oid in oids:
            file.write(oid.encode("ascii") + b"\n")
        file.seek(0)
        yield file


def cat_file(job: Job, wanted: IO[bytes]) -> "subprocess.Popen[bytes]":
    place = Place(Path(job.repository), Path(job.objects) if job.objects else None)
    return subprocess.Popen(
        ["git", "cat-file", "--batch", "--buffer"],
        env=environment(place),
        cwd="/",
        stdin=wanted,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=PIECE_BYTES,
    )


def pieces(out: BufferedReader, size: int) -> Iterator[bytes]:
    """An object's bytes. Raises: TroubleError when they break off."""
    left = size
    while left:
        piece = out.read(min(left, PIECE_BYTES))
        if not piece:
            raise TroubleError("git could not read all of the pack")
        left -= len(piece)
        yield piece
    out.read(1)


def skip(out: BufferedReader, size: int) -> None:
    for _ in pieces(out, size):
        pass
