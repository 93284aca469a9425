"""What a held push would change, as git says it over the mirror and the kept objects."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from entrance.errors import NotFound, Unavailable
from entrance.git.held import HeldPack, HeldRecord
from entrance.git.preview import MOST_COMMITS, Preview, preview
from entrance.ports import Moved
from tests.component.pushes.packing import REF, ZERO
from tests.fakes.pushes import a_push
from tests.fakes.run import a_run
from tests.servers.git import Git


@dataclass
class Work:
    """A repository whose commits are held against its `base`; its own objects are the kept ones."""

    git: Git
    folder: Path
    base: str = ""
    onto: tuple[str, ...] = ()

    async def commit(self, path: str, content: bytes) -> str:
        (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / path).write_bytes(content)
        await self.git.ok("add", "--all", cwd=self.folder)
        await self.git.ok("commit", "--quiet", "--message", f"Change {path!r}", cwd=self.folder)
        return await self.git.ok("rev-parse", "HEAD", cwd=self.folder)

    async def shown(self, new: str, *, old: str = ZERO, most_bytes: int = 1 << 18) -> Preview:
        onto = self.onto or (self.base,)
        below = [f"^{each}" for each in onto]
        listed = await self.git.ok("rev-list", "--reverse", new, *below, cwd=self.folder)
        push = a_push(
            a_run(),
            moved=(Moved(REF, old, new),),
            commits=tuple(listed.split()),
            onto=onto,
        )
        record = HeldRecord(push, (), 0, str(self.folder / ".git"))
        kept = self.folder.parent / "kept"
        (kept / "objects").mkdir(parents=True, exist_ok=True)
        return await preview(HeldPack(record, kept), most_bytes)


@pytest.fixture
async def work(tmp_path: Path) -> Work:
    (tmp_path / "home").mkdir()
    work = Work(Git(tmp_path / "home"), tmp_path / "work")
    await work.git.ok("init", "--quiet", "-b", "main", work.folder)
    work.base = await work.commit("a.txt", b"a\n")
    return work


async def test_a_new_branch_is_held_against_what_it_stands_on(work: Work) -> None:
    first = await work.commit("b.txt", b"b\n")
    second = await work.commit("a.txt", b"other\n")
    shown = await work.shown(second)
    assert [one.oid for one in shown.commits] == [first, second]
    assert [one.subject for one in shown.commits] == ["Change 'b.txt'", "Change 'a.txt'"]
    assert [(one.path, one.added, one.removed) for one in shown.files] == [
        ("a.txt", 1, 1),
        ("b.txt", 1, 0),
    ]
    assert "-a\n+other" in shown.patch


async def test_a_branch_that_is_there_is_held_against_where_it_is(work: Work) -> None:
    first = await work.commit("b.txt", b"b\n")
    second = await work.commit("c.txt", b"c\n")
    shown = await work.shown(second, old=first)
    assert [one.path for one in shown.files] == ["c.txt"]


async def test_of_a_merge_all_is_shown_that_any_side_did_not_have(work: Work) -> None:
    """Compared with the one side that has just this, the change would not be seen."""
    git = work.git
    await git.ok("checkout", "--quiet", "-b", "evil", cwd=work.folder)
    evil = await work.commit("ci.yml", b"run: theirs\n")
    await git.ok("checkout", "--quiet", "main", cwd=work.folder)
    mains = await work.commit("main.txt", b"m\n")
    await git.ok("merge", "--quiet", "--no-edit", "evil", cwd=work.folder)
    merge = await git.ok("rev-parse", "HEAD", cwd=work.folder)
    work.onto = (evil, mains, work.base)

    shown = await work.shown(merge)

    assert "+run: theirs" in shown.patch
    assert "+m\n" in shown.patch
    assert f"{REF}, as against {mains}" in shown.patch
    assert work.base not in shown.patch


async def test_a_branch_is_compared_with_what_it_stands_on_and_not_what_another_does(
    work: Work,
) -> None:
    git = work.git
    await git.ok("checkout", "--quiet", "-b", "evil", cwd=work.folder)
    evil = await work.commit("ci.yml", b"run: theirs\n")
    await git.ok("checkout", "--quiet", "main", cwd=work.folder)
    await work.commit("other.txt", b"\n")
    new = await work.commit("ci.yml", b"run: theirs\n")
    work.onto = (evil, work.base)

    assert "+run: theirs" in (await work.shown(new)).patch


async def test_what_was_added_and_taken_away_again_is_in_the_commits(work: Work) -> None:
    await work.commit("secret", b"x\n")
    await work.git.ok("rm", "--quiet", "secret", cwd=work.folder)
    last = await work.commit("b.txt", b"b\n")
    shown = await work.shown(last)
    assert [one.path for one in shown.files] == ["b.txt"]
    assert "Change 'secret'" in {one.subject for one in shown.commits}


async def binary(work: Work) -> tuple[str, str]:
    return await work.commit("x.bin", bytes(range(256)) * 10), "Binary files"


async def strange_name(work: Work) -> tuple[str, str]:
    return await work.commit("a\x1b[2J\nb", b"x\n"), "a\\033[2J\\nb"


async def not_text(work: Work) -> tuple[str, str]:
    return await work.commit("latin.txt", b"caf\xe9\n"), "caf\\xe9"


async def a_driver(work: Work) -> tuple[str, str]:
    """What a tree says of how it is to be shown starts nothing."""
    await work.git.ok("config", "diff.evil.command", "touch /tmp/evil-was-here", cwd=work.folder)
    await work.git.ok("config", "diff.evil.textconv", "touch /tmp/evil-was-here", cwd=work.folder)
    return await work.commit(".gitattributes", b"* diff=evil\n"), "+* diff=evil"


@pytest.mark.parametrize("make", [binary, strange_name, not_text, a_driver])
async def test_whatever_is_in_it_is_shown_as_data(
    work: Work, make: Callable[[Work], Awaitable[tuple[str, str]]]
) -> None:
    commit, words = await make(work)
    shown = await work.shown(commit)
    assert words in shown.patch
    assert not Path("/tmp/evil-was-here").exists()  # noqa: S108 - what an agent would name


async def test_more_than_can_be_shown_is_said_to_be_there(work: Work) -> None:
    large = await work.commit("large.txt", b"line\n" * 200_000)
    shown = await work.shown(large, most_bytes=1000)
    assert len(shown.patch) == 1000
    assert shown.cut


async def test_of_a_long_history_the_newest_commits_are_shown(work: Work) -> None:
    tree = await work.git.ok("rev-parse", "HEAD^{tree}", cwd=work.folder)
    last = work.base
    for number in range(MOST_COMMITS + 3):
        last = await work.git.ok(
            "commit-tree", tree, "-p", last, "-m", f"number {number}", cwd=work.folder
        )
    shown = await work.shown(last)
    assert len(shown.commits) == MOST_COMMITS
    assert shown.commits[-1].subject == f"number {MOST_COMMITS + 2}"
    assert shown.cut


async def test_without_its_mirror_or_its_objects_it_can_not_be_shown(work: Work) -> None:
    push = a_push(a_run())
    gone = HeldPack(HeldRecord(push, (), 0, str(work.folder / "gone")), work.folder)
    with pytest.raises(NotFound, match="mirror"):
        await preview(gone)
    record = HeldRecord(push, (), 0, str(work.folder / ".git"))
    with pytest.raises(Unavailable, match="can't be shown"):
        await preview(HeldPack(record, work.folder))
    odd = replace(record, push=replace(push, commits=("--output=/tmp/x",)))
    with pytest.raises(Unavailable, match="names no objects"):
        await preview(HeldPack(odd, work.folder))
