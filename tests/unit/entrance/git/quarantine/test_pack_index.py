"""The index of a pack, as git writes it."""

import subprocess
from pathlib import Path

import pytest

from entrance.git.quarantine.pack_index import HEAD, IndexBrokenError, entries_of

ENV = {"PATH": "/usr/bin:/bin", "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null"}


def git(folder: Path, *arguments: str, given: bytes = b"") -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=folder, env=ENV, input=given, capture_output=True, check=True
    )
    return done.stdout.decode()


@pytest.mark.parametrize(("form", "oid_bytes"), [("sha1", 20), ("sha256", 32)])
@pytest.mark.parametrize("version", ["2", "2,0x1"], ids=["as always", "with long offsets"])
def test_it_tells_what_git_tells(tmp_path: Path, form: str, oid_bytes: int, version: str) -> None:
    git(tmp_path, "init", "-q", f"--object-format={form}")
    oids = "".join(
        git(tmp_path, "hash-object", "-w", "--stdin", given=f"{number}".encode())
        for number in range(40)
    )
    name = git(
        tmp_path, "pack-objects", "-q", f"--index-version={version}", "x", given=oids.encode()
    )
    index = (tmp_path / f"x-{name.strip()}.idx").read_bytes()
    shown = git(tmp_path, "show-index", f"--object-format={form}", given=index).splitlines()

    found = entries_of(index, oid_bytes)

    wanted = sorted((int(line.split()[0]), line.split()[1]) for line in shown)
    assert [(entry.offset, entry.oid) for entry in found] == wanted


@pytest.mark.parametrize("index", [b"", HEAD, HEAD + bytes(1000), HEAD + b"\xff" * 1024])
def test_half_of_one_is_refused(index: bytes) -> None:
    with pytest.raises(IndexBrokenError):
        entries_of(index, 20)
