"""A small repository with a history, as a host has it, and a clone of it: made once, then copied."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.servers.git import ITEM

COMMITS = 12
EPOCH = 1_700_000_000
"""Their dates, in seconds: one an hour after the other, from here."""
THEIRS = "refs/heads/agent/TASK-8/theirs"
EARLIER = f"refs/heads/agent/{ITEM}/earlier"
_LINES = 400
_ENV = {
    "PATH": "/usr/bin:/bin",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
}
_SETTINGS = {
    "http.receivepack": "true",
    "uploadpack.allowFilter": "true",
    "uploadpack.allowAnySHA1InWant": "true",
    "receive.advertisePushOptions": "true",
    "receive.advertiseAtomic": "true",
    "receive.certNonceSeed": "seed",
    "gc.auto": "0",
}


@dataclass(frozen=True, slots=True)
class Template:
    """Folders to be copied. `clone` has no address in it yet: `origin` is to be set."""

    bare: Path
    clone: Path


def make_template(folder: Path) -> Template:
    """`main` with twelve commits; a branch of this task, one of another task, and a tag."""
    bare, clone = folder / "small.git", folder / "clone"
    run("init", "--quiet", "--bare", "--template=", "-bmain", bare)
    subprocess.run(
        ("git", "-C", bare, "fast-import", "--quiet"), input=_history(), check=True, env=_ENV
    )
    for name, value in _SETTINGS.items():
        run("-C", bare, "config", name, value)
    run("clone", "--quiet", "--no-hardlinks", bare, clone)
    return Template(bare, clone)


def run(*arguments: str | Path) -> str:
    """What git says."""
    done = subprocess.run(
        ("git", *map(str, arguments)), check=True, env=_ENV, capture_output=True, text=True
    )
    return done.stdout.strip()


def _history() -> bytes:
    parts: list[bytes] = []
    for number in range(1, COMMITS + 1):
        long = "".join(
            f"line {line} {number if line == number * 7 else ''}\n" for line in range(_LINES)
        )
        parts += [
            b"commit refs/heads/main\n",
            f"mark :{number}\n".encode(),
            f"committer agent <agent@localhost> {EPOCH + number * 3600} +0000\n".encode(),
            _data(f"Number {number}\n"),
            *([f"from :{number - 1}\n".encode()] if number > 1 else []),
            b"M 100644 inline long.txt\n" + _data(long),
            f"M 100644 inline folder/{number}.txt\n".encode() + _data(f"{number}\n"),
            b"M 100644 inline readme.txt\n" + _data("hello\n"),
        ]
    parts += [
        f"reset {THEIRS}\nfrom :9\n\n".encode(),
        f"reset {EARLIER}\nfrom :10\n\n".encode(),
        b"tag v1\nfrom :6\ntagger agent <agent@localhost> %d +0000\n" % EPOCH + _data("v1\n"),
    ]
    return b"".join(parts)


def _data(text: str) -> bytes:
    return f"data {len(text)}\n{text}\n".encode()
