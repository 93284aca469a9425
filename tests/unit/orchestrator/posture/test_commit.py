"""The commit that the battery pushes: git takes it, and the door finds nothing wrong with it."""

import subprocess
from pathlib import Path

from entrance.session import RunId, TaskId
from orchestrator.posture.commit import authorship, commit_of

RUN, TASK = RunId("posture-0"), TaskId("POSTURE/POSTURE-0")


def git(folder: Path, *arguments: str, given: bytes = b"") -> str:
    told = subprocess.run(
        ["git", "-C", folder, *arguments], input=given, check=True, capture_output=True
    )
    return told.stdout.decode()


def test_git_takes_the_pack_and_finds_the_run_in_its_commit(tmp_path: Path) -> None:
    oid, pack = commit_of(RUN, TASK)
    git(tmp_path, "init", "--quiet", "--bare")
    git(tmp_path, "index-pack", "--stdin", "--strict", given=pack)
    whose = authorship(RUN)
    assert git(tmp_path, "log", "--format=%an <%ae> %(trailers)", oid).splitlines() == [
        f"{whose.name} <{whose.mail}> Agent-Run: {RUN}",
        f"Agent-Task: {TASK}",
        f"Agent-Model: {whose.model}",
        "",
    ]
