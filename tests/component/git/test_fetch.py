"""Fetches of the real git client through the proxy from a real git host."""

import asyncio

import pytest

from tests.servers.git import Door


@pytest.mark.parametrize("version", ["0", "1", "2"])
async def test_a_clone_works_in_every_protocol_version(at_door: Door, version: str) -> None:
    """CASE-36, CASE-40."""
    target = at_door.git.home / "clone"
    protocol = f"protocol.version={version}"

    await at_door.git.ok("-c", protocol, "clone", "-q", at_door.url("host/small.git"), target)

    assert (target / "readme.txt").read_text() == "hello\n"
    asked = [headers.get("Git-Protocol") for _, headers in at_door.host_saw]
    assert asked[0] == (None if version == "0" else f"version={version}")
    decisions = at_door.audit.decisions("git_fetch")
    assert {decision.decision.word for decision in decisions} == {"allow"}
    outcomes = [at_door.audit.outcome_of(decision) for decision in decisions]
    assert all(outcome and outcome.result == "ok" for outcome in outcomes)


@pytest.mark.parametrize("version", ["0", "2"])
async def test_a_clone_of_many_branches_with_a_gzipped_body_works(
    at_door: Door, version: str
) -> None:
    """CASE-34, CASE-35: git gzips what it wants, and the host gets what was looked through, plain."""
    git, small = at_door.git, at_door.root / "small.git"
    tree = await git.ok("-C", small, "rev-parse", "main^{tree}")
    for number in range(40):
        commit = await git.ok("-C", small, "commit-tree", "-m", f"Number {number}", tree)
        await git.ok("-C", small, "update-ref", f"refs/heads/many/{number}", commit)
    target = git.home / "clone"
    url = at_door.url("host/small.git")

    await git.ok("-c", f"protocol.version={version}", "clone", "-q", url, target)

    assert (await git.ok("branch", "--remotes", cwd=target)).count("origin/many/") == 40
    wants = [
        headers
        for path, headers in at_door.host_saw
        if path.endswith("upload-pack") and "sandgate" in headers["User-Agent"]
    ]  # of the clone: the door's mirror is git's own, and may ask meanwhile
    assert {headers.get("Content-Encoding") for headers in wants} == {None}
    assert "chunked" in {headers.get("Transfer-Encoding") for headers in wants}


async def test_a_partial_clone_works(at_door: Door) -> None:
    target = at_door.git.home / "partial"
    url = at_door.url("host/small.git")
    await at_door.git.ok("clone", "-q", "--filter=blob:none", url, target)
    assert (target / "readme.txt").read_text() == "hello\n"


async def test_clones_at_once_all_arrive(at_door: Door) -> None:
    async with asyncio.TaskGroup() as tasks:
        for number in range(6):
            tasks.create_task(at_door.clone(folder=f"clone-{number}"))
    for number in range(6):
        assert (at_door.git.home / f"clone-{number}" / "readme.txt").exists()


@pytest.mark.parametrize("name", ["host/secret.git", "host/small", "host/small.git/x"])
async def test_a_repository_that_was_not_granted_is_refused_with_the_reason(
    at_door: Door, name: str
) -> None:
    said = await at_door.git("ls-remote", at_door.url(name))

    assert said.code != 0
    assert "is not granted to this run; granted are: " in said.text
    assert "403" in said.text
    assert not at_door.host_saw
    assert at_door.audit.decisions("git_fetch")[-1].decision.word == "deny"


async def test_a_host_that_is_down_is_told_as_502(at_door: Door) -> None:
    """CASE-61."""
    said = await at_door.git("ls-remote", at_door.url("down/small.git"))

    assert "remote: the git host of down/small.git can't be reached" in said.text
    assert "502" in said.text
    decided = at_door.audit.decisions("git_fetch")[-1]
    outcome = at_door.audit.outcome_of(decided)
    assert outcome is not None
    assert outcome.result == "failed"


async def test_a_credential_that_the_host_refuses_is_told_as_502(at_door: Door) -> None:
    """CASE-60: a 401 would make git ask the agent for a password."""
    said = await at_door.git("ls-remote", at_door.url("host/wrong.git"))

    assert "refused the door's credential" in said.text
    assert "502" in said.text


async def test_a_repository_that_the_host_lacks_is_told_as_404(at_door: Door) -> None:
    said = await at_door.git("ls-remote", at_door.url("host/gone.git"))

    assert "knows no such repository" in said.text
    assert "not found" in said.text


async def test_a_token_whose_run_is_over_opens_nothing(at_door: Door) -> None:
    at_door.registry.close(at_door.session.run)

    said = await at_door.git("ls-remote", at_door.url("host/small.git"))

    assert said.code != 0
    assert not at_door.host_saw


async def test_what_only_the_doors_own_copy_has_is_not_given_out(at_door: Door) -> None:
    """CASE-59: neither what the host has forgotten, nor what was refused."""
    clone = await at_door.clone()
    gone = await at_door.commit(clone)
    branch = "refs/heads/agent/TASK-7/gone"
    assert (await at_door.git("push", "origin", f"HEAD:{branch}", cwd=clone)).code == 0
    refused = await at_door.commit(clone, "CLAUDE.md")
    assert (await at_door.git("push", "origin", f"HEAD:{branch}", cwd=clone)).code != 0
    host = at_door.root / "small.git"
    await at_door.git.ok("-C", host, "update-ref", "-d", branch)
    await at_door.git.ok("-C", host, "-c", "gc.reflogExpire=now", "gc", "-q", "--prune=now")

    for oid in (gone, refused):
        other = at_door.git.home / f"other-{oid[:7]}"
        await at_door.git.ok("init", "-q", other)
        asked = ("-c", "protocol.version=2", "fetch", at_door.url("host/small.git"), oid)
        said = await at_door.git(*asked, cwd=other)
        assert said.code != 0
        assert "not our ref" in said.text
