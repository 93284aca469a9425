"""What an agent does in its clone before it pushes, each a step that a row can name."""

import os
from collections.abc import Awaitable, Callable
from pathlib import Path

from tests.component.git.matrix.template import EARLIER
from tests.servers.git import ITEM, Door

Act = Callable[[Door, Path], Awaitable[None]]
OWN = f"refs/heads/agent/{ITEM}"


def to(name: str, what: str = "HEAD") -> str:
    """The refspec that moves the run's own branch `name`."""
    return f"{what}:{OWN}/{name}"


def run(*arguments: str) -> Act:
    """A git command."""

    async def act(at_door: Door, clone: Path) -> None:
        await at_door.git.ok(*arguments, cwd=clone)

    return act


def write(path: str, content: bytes = b"new\n") -> Act:
    """A file is written and committed."""

    async def act(at_door: Door, clone: Path) -> None:
        (clone / path).parent.mkdir(parents=True, exist_ok=True)
        await at_door.commit(clone, path, content)

    return act


def write_random(size: int) -> Act:
    """A file that no compression makes smaller."""
    return write("random.bin", os.urandom(size))


def after(*acts: Act) -> Act:
    """One after the other."""

    async def act(at_door: Door, clone: Path) -> None:
        for each in acts:
            await each(at_door, clone)

    return act


def push(*arguments: str) -> Act:
    """A push that is taken."""

    async def act(at_door: Door, clone: Path) -> None:
        said = await at_door.git("push", "origin", *arguments, cwd=clone)
        assert said.code == 0, said.text

    return act


async def change_a_long_file(at_door: Door, clone: Path) -> None:
    """Against its former self a delta of a few bytes, in a pack that lacks the former self."""
    long = clone / "long.txt"
    await at_door.commit(clone, "long.txt", long.read_bytes().replace(b"line 99 ", b"line 99, "))


async def make_deltas_in_the_pack(at_door: Door, clone: Path) -> None:
    """Three versions of a new long file."""
    text = b"".join(b"%d is a number\n" % number for number in range(3000))
    for number in (b"7 ", b"77 ", b"777 "):
        text = text.replace(b"\n" + number, b"\n%s, indeed, " % number)
        await at_door.commit(clone, "numbers.txt", text)


async def nothing(_: Door, __: Path) -> None:
    """What is pushed is there already."""


commit = write("new.txt")
amend = run("commit", "--quiet", "--amend", "--message", "Rewritten")
publish = after(commit, push(to("fix")))
publish_more = after(publish, write("more.txt"))
go_back = run("reset", "--quiet", "--hard", "HEAD~1")
take_up_earlier = run("checkout", "--quiet", "-B", "mine", EARLIER.replace("refs/heads", "origin"))
