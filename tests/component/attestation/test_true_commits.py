"""Real repositories, a real log: what a true commit is told by, under whatever name."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from entrance.attestation.attestor import name_of
from entrance.attestation.refusals import Word
from entrance.attestation.statement import Approval
from entrance.attestation.verify import STEPS
from entrance.decision import Hold
from entrance.errors import NotFound
from entrance.log.shelf import Shelf
from tests.component.attestation.pushed import Pushed
from tests.servers.attested import House, Repository, as_of, looked, refused
from tests.servers.log import lines_in


@pytest.mark.parametrize("hash_name", ["sha1", "sha256"])
async def test_a_true_commit_is_vouched_for(house: House, tmp_path: Path, hash_name: str) -> None:
    repository = Repository(tmp_path / "clone", hash_name)
    push = await house.pushed(repository)
    file = await house.attested(push)
    for commit in (*push.commits, "HEAD", "main", "HEAD^", push.commits[0][:12]):
        found = looked(file, repository.folder, commit, house.log_folder)
        assert refused(found) is None
        assert [check.name for check in found] == list(STEPS)


async def test_it_is_one_however_often_it_is_told(pushed: Pushed) -> None:
    house = pushed.house
    first = pushed.file.read_bytes()
    house.clock.advance(5)
    await house.attestor().accepted(pushed.push)
    await house.log.close()
    assert pushed.file.read_bytes() == first
    assert [path.name for path in (house.home / "attestations").glob("*.json")] == [
        name_of(pushed.push)
    ]
    told = [line for line in lines_in(house.log_folder) if line.get("kind") == "attestation"]
    assert len(told) == 1
    assert pushed.verify() is None


async def test_it_goes_on_as_the_log_and_the_branch_do(pushed: Pushed) -> None:
    for _ in range(3):
        pushed.house.clock.advance(3600)
        await pushed.house.pushed(Repository(pushed.repository.folder.with_name(f"o{_}")))
    pushed.repository.commit("more")
    await pushed.house.log.close()
    assert len(Shelf(pushed.house.log_folder).segments()) == 4
    assert pushed.verify() is None
    assert pushed.verify("HEAD") is Word.NOT_ATTESTED


async def test_plain_copies_on_another_machine_are_enough(pushed: Pushed, tmp_path: Path) -> None:
    there = tmp_path / "there"
    await pushed.house.log.close()
    copies = {
        "repository": there / "bare.git",
        "log": shutil.copytree(pushed.house.log_folder, there / "log"),
        "file": there / "attestation.json",
    }
    shutil.copy(pushed.file, copies["file"])
    pushed.repository.git("gc", "-q")
    pushed.repository.git("clone", "-q", "--bare", ".", str(copies["repository"]))
    assert pushed.verify("main", **copies) is None


async def test_it_is_found_by_whatever_name_git_knows_it_by(pushed: Pushed, tmp_path: Path) -> None:
    git, tip = pushed.repository.git, pushed.push.commits[-1]
    git("tag", "light")
    git("tag", "-am", "x", "heavy")
    git("branch", "topic/deep")
    git("symbolic-ref", "refs/heads/link", "refs/heads/main")
    git("worktree", "add", "-q", "--detach", str(tmp_path / "tree"))
    git("fetch", "-q", ".", "main")
    names = ["light", "heavy", "topic/deep", "link", "heads/main", "refs/heads/main", "FETCH_HEAD"]
    for _ in range(2):
        for name in names:
            assert pushed.verify(name) is None, name
        for name in (*names, "HEAD", f"{tip[:9]}", "main^1^0~1"):
            assert git("rev-parse", f"{name}^{{commit}}") == pushed.resolved(name), name
        git("pack-refs", "--all")
    assert pushed.verify("HEAD", repository=tmp_path / "tree") is None


@pytest.mark.parametrize(
    "name", ["", "-x", "..", "a..b", "HEAD@{1}", ":/x", "../HEAD", "config", "x" * 300]
)
def test_what_names_no_commit_is_not_found(pushed: Pushed, name: str) -> None:
    with pytest.raises(NotFound):
        pushed.resolved(name)


def test_a_commit_that_the_push_did_not_bring_is_not_vouched_for(pushed: Pushed) -> None:
    assert pushed.verify("HEAD~2") is Word.NOT_ATTESTED
    with pytest.raises(NotFound):
        pushed.verify("nothing")


async def test_a_submodule_is_not_looked_into(house: House, repository: Repository) -> None:
    push = await house.pushed(repository)
    entry = f"160000,{'7' * 40},module"
    repository.git("update-index", "--add", "--cacheinfo", entry)
    tip = repository.commit("more")
    moved = (replace(push.moved[0], new=tip),)
    push = await house.decided(as_of(push, moved=moved, commits=(*push.commits, tip)))
    pushed = Pushed(house, repository, push, await house.attested(push))
    assert pushed.verify() is None


async def test_one_that_a_person_allowed_names_both_decisions(
    house: House, repository: Repository
) -> None:
    push = await house.pushed(repository)
    held = await house.decided(push, Hold("a file was changed that others' machines run"))
    push = await house.decided(push)
    push = as_of(push, held=held.decision, approval="A-17", approved_by="lead")
    pushed = Pushed(house, repository, push, await house.attested(push))
    assert pushed.verify() is None
    said = pushed.said()
    assert (said.held, said.decision) == (held.decision, push.decision)
    assert said.approval == Approval(id="A-17", by="lead")
    other = pushed.saying(held=push.decision)
    assert pushed.verify(file=other) is Word.OTHER_RECORD
