"""The mirror that pushes are looked at beside: fresh, whole, and never a sandbox's to read."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import aiohttp
import pytest

from entrance.errors import Unavailable
from entrance.git.quarantine.mirror import DIGEST, Origin
from entrance.git.quarantine.mirrors import UNUSED_S, Mirrors
from tests.component.git.test_push import OWN, push
from tests.servers.git import REAL_CREDENTIAL, Door


def mirror(at_door: Door) -> Path:
    """The only one that there is."""
    [folder] = (at_door.kept / "mirrors").glob("*-sha*")
    return folder


def by_git_itself(at_door: Door) -> int:
    """How many of the host's requests came from a git of the door's."""
    return sum("sandgate" not in headers["User-Agent"] for _, headers in at_door.host_saw)


async def pushed(at_door: Door, clone: Path, name: str) -> None:
    said = await push(at_door, clone, f"HEAD:{OWN}/{name}")
    assert said.code == 0, said.text


async def test_what_the_host_took_is_not_fetched_again(at_door: Door) -> None:
    clone = await at_door.clone()
    await at_door.commit(clone)
    await pushed(at_door, clone, "one")
    before = by_git_itself(at_door)

    for number in range(3):
        await at_door.commit(clone, content=b"%d\n" % number)
        await pushed(at_door, clone, "one")

    assert by_git_itself(at_door) == before
    assert "refresh" in at_door.audit.decisions("git_push")[-1].detail["ms"]


async def test_what_somebody_else_rewrote_is_fetched_before_it_is_judged(at_door: Door) -> None:
    clone = await at_door.clone()
    await at_door.commit(clone)
    await pushed(at_door, clone, "one")
    small = at_door.root / "small.git"
    tree = await at_door.git.ok("-C", small, "rev-parse", "main^{tree}")
    other = await at_door.git.ok("-C", small, "commit-tree", "-m", "Another", tree)
    await at_door.git.ok("-C", small, "update-ref", "refs/heads/main", other)
    before = by_git_itself(at_door)

    await at_door.commit(clone, content=b"more\n")
    await pushed(at_door, clone, "one")

    assert by_git_itself(at_door) > before
    assert other in (mirror(at_door) / "sandgate-listed").read_text()


async def test_commits_that_somebody_else_pushed_meanwhile_are_not_taken_for_the_runs(
    at_door: Door,
) -> None:
    """The mirror lacks a branch that the push builds on: what seems new is looked at again."""
    clone = await at_door.clone()
    await at_door.commit(clone)
    await pushed(at_door, clone, "one")
    theirs = await at_door.commit(clone, "theirs.txt")
    await at_door.git.ok("push", "-q", at_door.root / "small.git", "HEAD:theirs", cwd=clone)
    await at_door.git.ok("fetch", "-q", "origin", cwd=clone)
    await at_door.commit(clone, "ours.txt")

    await pushed(at_door, clone, "one")

    told = at_door.audit.decisions("git_push")[-1].detail
    assert (told["commits"], told["files"]) == (1, ["ours.txt"])
    assert theirs not in str(told["updates"])


def _no_pack(folder: Path) -> None:
    shutil.rmtree(folder / "objects" / "pack")


def _torn_pack(folder: Path) -> None:
    for pack in (folder / "objects" / "pack").glob("*.pack"):
        pack.chmod(0o600)
        pack.write_bytes(pack.read_bytes()[:60])


def _no_head(folder: Path) -> None:
    (folder / "HEAD").unlink()


def _torn_refs(folder: Path) -> None:
    for ref in (folder / "refs" / "heads").rglob("*"):
        if ref.is_file():
            ref.write_text("nonsense\n")
    (folder / "packed-refs").write_text("nonsense\n")


def _empty(folder: Path) -> None:
    for each in folder.iterdir():
        shutil.rmtree(each) if each.is_dir() else each.unlink()


def _gone(folder: Path) -> None:
    while folder.exists():  # the door may be writing there
        shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.parametrize(
    "damage",
    [_no_pack, _torn_pack, _no_head, _torn_refs, _empty, _gone],
    ids=lambda damage: damage.__name__,
)
async def test_a_damaged_mirror_is_made_anew_within_the_push(
    at_door: Door, damage: Callable[[Path], object]
) -> None:
    clone = await at_door.clone()
    await at_door.commit(clone, "long.txt", b"".join(b"%d\n" % each for each in range(5000)))
    await pushed(at_door, clone, "one")
    damage(mirror(at_door))
    await at_door.commit(clone, "long.txt", b"".join(b"%d\n" % each for each in range(5001)))

    await pushed(at_door, clone, "one")

    listed = (mirror(at_door) / "sandgate-listed").read_text()
    assert "refs/heads/main" in listed


async def test_a_repository_that_became_another_is_mirrored_as_that(at_door: Door) -> None:
    """The host made it anew, with other hashes, at the same place."""
    clone = await at_door.clone()
    await at_door.commit(clone)
    await pushed(at_door, clone, "one")
    seed, small = at_door.git.home / "seed", at_door.root / "small.git"
    shutil.rmtree(small)
    await at_door.git.ok("init", "-q", "--object-format=sha256", "-bmain", seed)
    await at_door.commit(seed, "seed.txt")
    await at_door.git.ok("clone", "-q", "--bare", seed, small)
    await at_door.git.ok("-C", small, "config", "http.receivepack", "true")
    again = await at_door.clone(folder="again")
    await at_door.commit(again)

    await pushed(at_door, again, "two")

    kept = {each.name.rpartition("-")[2] for each in (at_door.kept / "mirrors").iterdir()}
    assert kept == {"sha1", "sha256"}


async def test_what_the_host_has_removed_is_not_to_be_had_from_the_mirror(at_door: Door) -> None:
    """CASE-59: a fetch never reaches the mirror, and only the host answers it."""
    clone = await at_door.clone()
    gone = await at_door.commit(clone)
    await pushed(at_door, clone, "one")
    small = at_door.root / "small.git"
    await at_door.git.ok("-C", small, "update-ref", "-d", f"{OWN}/one")
    await at_door.git.ok("-C", small, "gc", "-q", "--prune=now")
    other = await at_door.clone(folder="other")

    said = await at_door.git("fetch", "origin", gone, cwd=other)

    assert said.code != 0
    assert (await at_door.git("cat-file", "-e", gone, cwd=mirror(at_door))).code == 0


def _old(folder: Path) -> None:
    """Nobody has used it for too long."""
    for one in (folder / DIGEST, folder):
        if one.exists():
            long_ago = one.stat().st_mtime - UNUSED_S - 60
            os.utime(one, (long_ago, long_ago))


async def test_mirrors_that_nobody_uses_are_removed_but_for_those_that_held_pushes_need(
    tmp_path: Path,
) -> None:
    used, unused, needed, unfinished = (
        tmp_path / f"{number}-sha1" for number in ("aa", "bb", "cc", "dd")
    )
    for folder in (used, unused, needed, unfinished):
        folder.mkdir()
        if folder != unfinished:
            (folder / DIGEST).write_text("x")
    for folder in (unused, needed, unfinished):
        _old(folder)

    Mirrors(tmp_path, lambda: [needed]).sweep()

    assert sorted(tmp_path.iterdir()) == [used, needed]


async def test_a_new_mirror_makes_an_unused_one_go(at_door: Door, tmp_path: Path) -> None:
    """A door that runs for months is never swept by a start."""
    mirrors = Mirrors(tmp_path / "mirrors")
    mirrors.sweep()
    unused = tmp_path / "mirrors" / "aa-sha1"
    unused.mkdir()
    _old(unused)

    await mirrors.fresh(_origin(at_door), None)

    assert not unused.exists()


async def test_a_host_that_sends_without_end_is_cut_off(at_door: Door, tmp_path: Path) -> None:
    clone = await at_door.clone()
    await at_door.commit(clone, "large.bin", os.urandom(3 << 20))
    await at_door.git.ok("push", "-q", at_door.root / "small.git", "HEAD:main", cwd=clone)
    mirrors = Mirrors(tmp_path / "mirrors", most_bytes=1 << 20)
    mirrors.sweep()

    with pytest.raises(Unavailable, match="mirrored"):
        await mirrors.fresh(_origin(at_door), None)

    kept = sum(one.stat().st_size for one in (tmp_path / "mirrors").rglob("*") if one.is_file())
    assert kept < 2 << 20


def _origin(at_door: Door) -> Origin:
    secret = aiohttp.encode_basic_auth(*REAL_CREDENTIAL.split(":"))
    return Origin(f"{at_door.host}/small.git", "sha1", {"Authorization": secret})
