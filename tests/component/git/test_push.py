"""Pushes of the real git client through the proxy to a real git host."""

import os
from pathlib import Path

import pytest

from entrance.git.pktline import FLUSH, encode
from entrance.git.refs import NOT_ALONE
from tests.servers.git import ITEM, RUN_TOKEN, Door, Said, door

OWN = f"refs/heads/agent/{ITEM}"


async def push(at_door: Door, clone: Path, *arguments: str) -> Said:
    return await at_door.git("push", "origin", *arguments, cwd=clone)


async def refused(at_door: Door, clone: Path, *arguments: str) -> str:
    """Push, see it refused with nothing changed and nothing asked of receive-pack; what git said."""
    before, asked = await at_door.refs(), len(_pushes_at_host(at_door))
    said = await push(at_door, clone, *arguments)
    assert said.code != 0, said.text
    assert await at_door.refs() == before
    assert len(_pushes_at_host(at_door)) == asked
    return said.text


def _pushes_at_host(at_door: Door) -> list[str]:
    return [path for path, _ in at_door.host_saw if path.endswith("/git-receive-pack")]


async def test_a_run_pushes_its_own_branch_and_the_record_says_so(at_door: Door) -> None:
    clone = await at_door.clone()
    commit = await at_door.commit(clone)

    said = await push(at_door, clone, f"HEAD:{OWN}/fix")

    assert said.code == 0, said.text
    assert (await at_door.refs())[f"{OWN}/fix"] == commit
    decided = at_door.audit.decisions("git_push")[-1]
    assert decided.decision.word == "allow"
    assert decided.subject == "host/small.git"
    expected = {"ref": f"{OWN}/fix", "old": "0" * 40, "new": commit, "refused": ""}
    assert decided.detail["updates"] == [expected]
    outcome = at_door.audit.outcome_of(decided)
    assert outcome is not None
    assert outcome.result == "ok"
    assert outcome.detail["refs"] == {f"{OWN}/fix": "ok"}
    assert decided.request is not None
    assert decided.request.url.endswith("/small.git/git-receive-pack")
    assert outcome.traffic is not None
    assert (outcome.traffic.bytes_out or 0) > 200
    assert outcome.traffic.request_sha256
    assert outcome.traffic.response_sha256


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        pytest.param("refs/heads/main", "only branches under agent/TASK-7/", id="main"),
        pytest.param("refs/tags/v1", "tags may not be pushed", id="tag"),
        pytest.param("refs/tags/agent/x", "tags may not be pushed", id="tag named as a branch"),
        pytest.param("refs/notes/commits", "notes may not be pushed", id="notes"),
        pytest.param("refs/replace/" + "1" * 40, "only branches may be pushed", id="replace"),
        pytest.param("refs/pull/1/head", "only branches may be pushed", id="pull request"),
        pytest.param("refs/heads/agent", "this name is a namespace", id="agent itself"),
        pytest.param(OWN, "this name is a namespace", id="the namespace itself"),
        pytest.param("refs/heads/agent/TASK-8/x", "belongs to another task", id="another task"),
        pytest.param("refs/heads/agent/TASK-77/x", "belongs to another task", id="a longer id"),
        pytest.param("refs/heads/Agent/TASK-7/x", "only branches under", id="another case"),
        pytest.param(f"{OWN}/--mirror", "branch name not allowed", id="named like an option"),
    ],
)
async def test_another_ref_is_refused_and_git_prints_why(
    at_door: Door, target: str, reason: str
) -> None:
    """CASE-41, CASE-42, CASE-45, CASE-47, CASE-52, CASE-53."""
    clone = await at_door.clone()
    await at_door.commit(clone)

    text = await refused(at_door, clone, f"HEAD:{target}")

    assert "[remote rejected]" in text
    assert "remote: sandgate: " in text
    assert reason in text
    decided = at_door.audit.decisions("git_push")[-1]
    assert decided.decision.word == "deny"
    assert reason in decided.decision.reason


async def test_one_refused_ref_refuses_the_whole_push(at_door: Door) -> None:
    """CASE-43, CASE-44: each ref has its reason, and nothing is applied."""
    clone = await at_door.clone()
    await at_door.commit(clone)

    text = await refused(at_door, clone, "HEAD:main", f"HEAD:{OWN}/ok")

    assert NOT_ALONE in text
    assert "only branches under" in text


async def test_branches_are_not_deleted(at_door: Door) -> None:
    """CASE-54."""
    clone = await at_door.clone()
    await at_door.commit(clone)
    assert (await push(at_door, clone, f"HEAD:{OWN}/fix")).code == 0

    assert "branches may not be deleted" in await refused(at_door, clone, f":{OWN}/fix")
    assert "only branches under" in await refused(at_door, clone, ":main")


async def test_mirror_and_all_are_refused(at_door: Door) -> None:
    clone = await at_door.clone()
    await at_door.commit(clone)
    assert "under agent/TASK-7/" in await refused(at_door, clone, "--all")
    await at_door.git.ok("remote", "set-url", "origin", at_door.url("host/small.git"), cwd=clone)
    assert "under agent/TASK-7/" in await refused(at_door, clone, "--mirror")


async def test_a_second_push_moves_the_branch_forward_and_a_rewrite_is_refused(
    at_door: Door,
) -> None:
    """CASE-39."""
    clone = await at_door.clone()
    await at_door.commit(clone)
    assert (await push(at_door, clone, f"HEAD:{OWN}/fix")).code == 0
    second = await at_door.commit(clone, content=b"newer\n")
    assert (await push(at_door, clone, f"HEAD:{OWN}/fix")).code == 0

    await at_door.git.ok("commit", "--quiet", "--amend", "--message", "Rewritten", cwd=clone)
    text = await refused(at_door, clone, "--force", f"HEAD:{OWN}/fix")

    assert "[rewind]" in text
    assert (await at_door.refs())[f"{OWN}/fix"] == second
    finding = at_door.audit.decisions("git_push")[-1].detail["findings"][0]
    assert (finding["rule"], finding["mode"]) == ("rewind", "deny")


async def test_a_branch_that_is_an_alias_on_the_host_is_not_followed(at_door: Door) -> None:
    """CASE-46: receive-pack would move main."""
    alias = f"{OWN}/sym"
    small = at_door.root / "small.git"
    await at_door.git.ok("-C", small, "symbolic-ref", alias, "refs/heads/main")
    clone = await at_door.clone()
    await at_door.commit(clone)

    text = await refused(at_door, clone, f"HEAD:{alias}")

    assert "alias of another" in text


async def test_a_pushed_tree_comes_back_whole_when_it_is_large(at_door: Door) -> None:
    """CASE-32, CASE-33, CASE-50, CASE-51: above 1 MiB git sends a probe, then a chunked body."""
    clone = await at_door.clone()
    content = os.urandom(5 << 20)
    commit = await at_door.commit(clone, "large.bin", content)

    said = await push(at_door, clone, f"HEAD:{OWN}/large")

    assert said.code == 0, said.text
    assert (await at_door.refs())[f"{OWN}/large"] == commit
    forwarded = [head for path, head in at_door.host_saw if path.endswith("/git-receive-pack")]
    assert len(forwarded) == 1, "the probe is answered by the door itself"
    assert int(forwarded[0]["Content-Length"]) > 5 << 20, "CASE-50: its length is known"


async def test_a_large_push_to_main_is_refused_with_its_reason(at_door: Door) -> None:
    clone = await at_door.clone()
    await at_door.commit(clone, "large.bin", os.urandom(5 << 20))

    assert "only branches under" in await refused(at_door, clone, "HEAD:main")


async def test_a_push_over_the_limit_is_refused(tmp_path: Path) -> None:
    async with door(tmp_path, push_bytes=1 << 20) as small_door:
        clone = await small_door.clone()
        await small_door.commit(clone, "large.bin", os.urandom(3 << 20))
        before = await small_door.refs()

        said = await push(small_door, clone, f"HEAD:{OWN}/large")

        assert said.code != 0
        assert "over 1048576 bytes" in said.text
        assert await small_door.refs() == before


async def test_a_shallow_clone_pushes(at_door: Door) -> None:
    """CASE-37: the second push has `shallow` lines and no command."""
    shallow = at_door.git.home / "shallow"
    await at_door.git.ok("clone", "-q", "--depth", "1", at_door.url("host/small.git"), shallow)
    await at_door.commit(shallow)

    assert (await push(at_door, shallow, f"HEAD:{OWN}/shallow")).code == 0
    again = await push(at_door, shallow, f"HEAD:{OWN}/shallow")

    assert again.code == 0
    assert "up-to-date" in again.text


async def test_push_options_fail_with_gits_own_words(at_door: Door) -> None:
    """A host may merge by them: the door takes them out of what the host offers."""
    await at_door.git.ok(
        "-C", at_door.root / "small.git", "config", "receive.advertisePushOptions", "true"
    )
    clone = await at_door.clone()
    await at_door.commit(clone)

    text = await refused(at_door, clone, "-o", "merge_request.create", f"HEAD:{OWN}/options")

    assert "does not support push options" in text


async def test_a_signed_push_fails_with_gits_own_words(at_door: Door) -> None:
    """CASE-58: the door takes push-cert out of what the host offers."""
    small = at_door.root / "small.git"
    await at_door.git.ok("-C", small, "config", "receive.certNonceSeed", "seed")
    clone = await at_door.clone()
    await at_door.commit(clone)

    assert "does not support --signed" in await refused(
        at_door, clone, "--signed=yes", f"HEAD:{OWN}/signed"
    )


async def test_a_repository_granted_for_fetching_is_not_pushed_to(at_door: Door) -> None:
    clone = await at_door.clone("host/read.git")
    await at_door.commit(clone)

    said = await push(at_door, clone, f"HEAD:{OWN}/fix")

    assert said.code != 0
    assert "remote: repository host/read.git is granted to this run for fetching" in said.text
    assert list(await at_door.refs("read.git")) == ["refs/heads/main"]


async def test_an_empty_repository_takes_a_first_branch_but_no_main(at_door: Door) -> None:
    small = at_door.root / "small.git"
    await at_door.git.ok("-C", small, "update-ref", "-d", "refs/heads/main")
    clone = await at_door.clone()
    await at_door.commit(clone)

    assert (await push(at_door, clone, f"HEAD:{OWN}/first")).code == 0
    assert "only branches under" in await refused(at_door, clone, "HEAD:main")


async def test_a_sha256_repository_is_pushed_to(at_door: Door) -> None:
    seed, small = at_door.git.home / "seed", at_door.root / "small.git"
    small.rename(at_door.root / "old.git")
    await at_door.git.ok("init", "-q", "--object-format=sha256", "-bmain", seed)
    await at_door.commit(seed, "seed.txt")
    await at_door.git.ok("clone", "-q", "--bare", seed, small)
    await at_door.git.ok("-C", small, "config", "http.receivepack", "true")
    clone = await at_door.clone()
    await at_door.commit(clone)
    assert (await push(at_door, clone, f"HEAD:{OWN}/one")).code == 0
    await at_door.commit(clone, content=b"two\n")

    said = await push(at_door, clone, f"HEAD:{OWN}/one")

    assert said.code == 0, said.text
    assert "only branches under" in await refused(at_door, clone, "HEAD:main")


async def test_the_run_token_is_never_forwarded_and_the_credential_never_shown(
    at_door: Door,
) -> None:
    """CASE-26."""
    clone = await at_door.clone()
    await at_door.commit(clone)
    said = await push(at_door, clone, f"HEAD:{OWN}/fix")

    assert at_door.host_saw
    for _, headers in at_door.host_saw:
        assert RUN_TOKEN not in str(headers)
        assert "Cookie" not in headers
    assert "the-real-secret" not in said.text
    assert "the-real-secret" not in repr(at_door.audit.records)
    assert RUN_TOKEN not in repr(at_door.audit.records)


async def test_a_push_that_can_not_be_recorded_is_not_answered(at_door: Door) -> None:
    clone = await at_door.clone()
    new = await at_door.commit(clone)
    at_door.audit.down = True
    command = encode(f"{'0' * 40} {new} {OWN}/fix\0 report-status".encode()) + FLUSH

    status, text = await at_door.post("git-receive-pack", command)

    assert (status, text) == (503, b"the egress log can't be written\n")
    assert not _pushes_at_host(at_door)
