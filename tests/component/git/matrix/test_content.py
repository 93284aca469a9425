"""What is in the commits of a push: each rule finds it, and its mode says what becomes of the push."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from entrance.git.checks.rules import NAMED
from entrance.push_policy import Mode
from tests.component.git.matrix import acts
from tests.component.git.matrix.acts import OWN, Act, after, run, to, write
from tests.component.git.matrix.promises import pushes_at_host
from tests.fakes.push_inbox import FakePushInbox
from tests.servers.git import Door

SECRET = b"ghp_" + b"q8Zt3Vn5Lk2Xw9Rb7Hd4" + b"Ym6Pc1Sf0Jg8Ua5T"
TRAILERS = (
    "--trailer=Agent-Run: run-1",
    "--trailer=Agent-Task: DEMO/TASK-7",
    "--trailer=Agent-Model: a:model",
)
POINTER = (
    b"version https://git-lfs.github.com/spec/v1\n"
    b"oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\n"
    b"size 12345\n"
)


def link(path: str, target: str) -> Act:
    """A symbolic link is committed."""

    async def act(at_door: Door, clone: Path) -> None:
        (clone / path).symlink_to(target)
        await at_door.git.ok("add", "-A", cwd=clone)
        await at_door.git.ok("commit", "-qm", "A link", cwd=clone)

    return act


def undone(act: Act) -> Act:
    """Committed, and taken back by the next commit."""
    return after(act, run("revert", "--no-edit", "HEAD"))


def empty_folder(name: bytes) -> Act:
    """A folder with nothing in it is committed, which git's own commands never do."""
    tree = f"040000 tree $(git mktree </dev/null)\\t{name.decode()}\\n"
    whole = f'(git ls-tree HEAD; printf "{tree}") | git mktree'
    made = f"!git update-ref HEAD $(git commit-tree -p HEAD -m x $( {whole}))"
    return run("-c", f"alias.made={made}", "made")


@dataclass(frozen=True, slots=True)
class Row:
    """A push that a rule finds something in. `policy`: what else the policy says."""

    rule: str
    name: str
    act: Act
    policy: dict[str, Any] = field(default_factory=dict)
    arguments: tuple[str, ...] = (to("fix"),)


MARKED = run("commit", "-q", "--allow-empty", "-m", "x", *TRAILERS[:2])
ANOTHER_COMMITTER = run(
    "-c",
    "alias.as=!GIT_COMMITTER_NAME=boss GIT_COMMITTER_EMAIL=boss@localhost git commit -qm x "
    "--allow-empty",
    "as",
)
ANOTHER_AUTHOR = run("commit", "-qm", "x", "--allow-empty", "--author=boss <boss@localhost>")
SUBMODULE = after(
    run("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},lib"),
    run("commit", "-qm", "A submodule"),
)
RUNS = after(run("update-index", "--chmod=+x", "readme.txt"), run("commit", "-qm", "Runs"))
ROWS = (
    Row("committer", "somebody else as committer", ANOTHER_COMMITTER),
    Row("author", "somebody else as author", ANOTHER_AUTHOR),
    Row("trailers", "a commit that says nothing of its run", acts.commit),
    Row("trailers", "a commit that says too little", MARKED),
    Row("secret", "a token in a file", write("a.txt", b"key = " + SECRET)),
    Row("secret", "a token that the next commit takes out", undone(write("a.txt", SECRET))),
    Row("secret", "a token deep in a large file", write("a.txt", b"x\n" * 2_000_000 + SECRET)),
    Row(
        "secret",
        "a token in a message",
        run("commit", "-q", "--allow-empty", "-m", SECRET.decode()),
    ),
    Row("secret", "a token in a file's name", write(f"docs/{SECRET.decode()}.txt")),
    Row("secret", "a token in the name of a folder where nothing is", empty_folder(SECRET)),
    Row(
        "likely-secret",
        "a password in a setting",
        write("a.ini", b"db_password = 'k3Jh%4kJH+kj9zWq71'\n"),
    ),
    Row("gate-path", "a workflow", write(".github/workflows/x.yml")),
    Row(
        "gate-path", "a workflow that is taken out again", undone(write(".github/workflows/x.yml"))
    ),
    Row("gate-path", "owners of code", write(".github/CODEOWNERS")),
    Row("gate-path", "GitLab's pipeline", write(".gitlab-ci.yml")),
    Row("gate-path", "instructions of agents", write("AGENTS.md")),
    Row("gate-path", "filters of git", write(".gitattributes", b"* filter=x\n")),
    Row("gate-path", "submodules", write(".gitmodules", b"")),
    Row(
        "gate-path", "a path of the policy's own", write("deploy/x"), {"gate_paths": ("deploy/**",)}
    ),
    Row("submodule", "a submodule", SUBMODULE),
    Row("leaving-link", "a link to the machine's root", link("a", "/etc/passwd")),
    Row("leaving-link", "a link out of the tree", link("folder/a", "../../x")),
    Row("leaving-link", "a link into .git", link("a", ".git/config")),
    Row("executable-bit", "a file that begins to be a program", RUNS),
    Row("lfs-pointer", "a pointer to a file elsewhere", write("a.bin", POINTER)),
    Row("file-size", "a large file", write("a", os.urandom(5000)), {"max_file_bytes": 4000}),
    Row("path-name", "a name that turns text round", write("a\u202etxt.exe")),
    Row("awkward-path", "a name that Windows can't have", write("aux.txt")),
    Row("one-name-twice", "two names that differ in case", after(write("a.txt"), write("A.txt"))),
)


ONE_EACH = tuple({row.rule: row for row in reversed(ROWS)}.values())
HELD, NOTED = ONE_EACH[::2], ONE_EACH[1::2]
"""What a mode means is the same for each rule."""


def found_in(at_door: Door) -> set[tuple[str, str]]:
    """The rules that found something in the last push, each with its mode."""
    found = at_door.audit.decisions("git_push")[-1].detail["findings"]
    return {(one["rule"], one["mode"]) for one in found}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.rule}: {row.name}")
async def test_where_its_rule_denies_it_is_refused_and_git_says_by_which(
    at_door: Door, clone: Path, policy: Callable[..., None], row: Row
) -> None:
    """CASE-55: of every commit of the push, not only of the last."""
    await row.act(at_door, clone)
    policy({row.rule: Mode.DENY}, **row.policy)
    before = await at_door.refs()

    said = await at_door.git("push", "origin", *row.arguments, cwd=clone)

    assert said.code != 0, said.text
    assert f"[{row.rule}]" in said.text
    assert NAMED[row.rule].told in said.text
    assert SECRET.decode() not in said.text
    assert (row.rule, "deny") in found_in(at_door)
    assert await at_door.refs() == before
    assert not pushes_at_host(at_door)
    assert SECRET.decode() not in repr(at_door.audit.records)


@pytest.mark.parametrize("row", NOTED, ids=lambda row: f"{row.rule}: {row.name}")
async def test_where_its_rule_only_notes_it_is_taken_and_on_record(
    at_door: Door, clone: Path, policy: Callable[..., None], row: Row
) -> None:
    await row.act(at_door, clone)
    policy({row.rule: Mode.NOTE}, **row.policy)

    said = await at_door.git("push", "origin", *row.arguments, cwd=clone)

    assert said.code == 0, said.text
    assert (row.rule, "note") in found_in(at_door)
    assert f"{OWN}/fix" in await at_door.refs()


@pytest.mark.parametrize("row", HELD, ids=lambda row: f"{row.rule}: {row.name}")
async def test_where_its_rule_holds_it_waits_for_a_person(
    at_door: Door, inbox: FakePushInbox, clone: Path, policy: Callable[..., None], row: Row
) -> None:
    await row.act(at_door, clone)
    policy({row.rule: Mode.HOLD}, **row.policy)
    before = await at_door.refs()

    said = await at_door.git("push", "origin", *row.arguments, cwd=clone)

    assert said.code != 0, said.text
    assert inbox.told in said.text
    [held] = inbox.asked
    assert any(row.rule in reason for reason in held.reasons)
    assert [one.ref for one in held.moved] == [f"{OWN}/fix"]
    assert await at_door.refs() == before
    assert not pushes_at_host(at_door)


async def test_a_secret_in_a_branchs_name_is_refused_and_not_written_down(
    at_door: Door, clone: Path
) -> None:
    await acts.commit(at_door, clone)
    before = await at_door.refs()

    said = await at_door.git("push", "origin", to(SECRET.decode()), cwd=clone)

    assert said.code != 0, said.text
    assert "a token of GitHub in the branch's name" in said.text
    assert await at_door.refs() == before
    assert not pushes_at_host(at_door)
    [update] = at_door.audit.decisions("git_push")[-1].detail["updates"]
    assert update["ref"] == f"{OWN}/***"
    assert SECRET.decode() not in repr(at_door.audit.records)


async def test_a_name_that_the_host_has_already_is_no_news(
    at_door: Door, clone: Path, policy: Callable[..., None]
) -> None:
    name = f"{SECRET.decode()}.txt"
    policy({"secret": Mode.NOTE})
    await acts.after(write(name), acts.push(to("fix")))(at_door, clone)
    policy({"secret": Mode.DENY})
    await acts.after(write(name, b"newer\n"), acts.amend)(at_door, clone)

    said = await at_door.git("push", "origin", to("fix"), cwd=clone)

    assert said.code == 0, said.text
