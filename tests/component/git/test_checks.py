"""The rules of pushes with the real git: what is found, what git prints of it, and what mends it."""

import base64
import re
import shlex
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from entrance.push_policy import Mode, PushPolicy
from tests.servers.git import ITEM, Door
from tests.unit.entrance.git.checks.scanners.samples import LETTERS, chance_of, of

OWN = f"refs/heads/agent/{ITEM}/fix"
TOKEN = "ghp_" + of(chance_of(7), LETTERS, 36)
LFS = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'e' * 64}\nsize 12345\n"

Act = Callable[[Door, Path], Awaitable[object]]


def files(**contents: str | bytes) -> Act:
    """One commit with these; `__` stands for `/`, `dot_` for a dot at the beginning."""

    async def act(at_door: Door, clone: Path) -> None:
        for name, content in contents.items():
            path = clone / re.sub(r"(^|/)dot_", r"\1.", name.replace("__", "/"))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        await commit(at_door, clone)

    return act


def link(name: str, target: str) -> Act:
    async def act(at_door: Door, clone: Path) -> None:
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
        (clone / name).symlink_to(target)
        await commit(at_door, clone)

    return act


def named(path: bytes) -> Act:
    """A commit with a path that no file of this machine need have."""

    async def act(at_door: Door, clone: Path) -> None:
        blob = await at_door.git.ok("hash-object", "-w", "readme.txt", cwd=clone)
        entry = f"100644,{blob},{path.decode()}"
        config = ("-c", "core.protectNTFS=false", "-c", "core.protectHFS=false")
        await at_door.git.ok(*config, "update-index", "--add", "--cacheinfo", entry, cwd=clone)
        await at_door.git.ok(*config, "commit", "--quiet", "--message", "x", cwd=clone)

    return act


def git(*arguments: str) -> Act:
    async def act(at_door: Door, clone: Path) -> None:
        await at_door.git.ok(*arguments, cwd=clone)

    return act


def both(*acts: Act) -> Act:
    async def act(at_door: Door, clone: Path) -> None:
        for one in acts:
            await one(at_door, clone)

    return act


async def commit(at_door: Door, clone: Path) -> None:
    await at_door.git.ok("add", "--all", "--force", cwd=clone)
    await at_door.git.ok("commit", "--quiet", "--message", "Change", cwd=clone)


@dataclass(frozen=True, slots=True)
class Row:
    """What is done, which rule finds it, and a word of what git prints."""

    name: str
    act: Act
    rule: str
    words: str = ""
    mode: Mode = Mode.DENY


HOLD = Mode.HOLD
ROWS = (
    Row("a secret", files(**{"a.py": f"x = 1\nkey = '{TOKEN}'\n"}), "secret", "a.py:2"),
    Row(
        "a secret that a later commit takes out again",
        both(files(a=TOKEN), files(a="nothing")),
        "secret",
        "a token of GitHub in a:1",
    ),
    Row("a secret in a large binary", files(big=b"\0\xff" * (4 << 20) + TOKEN.encode()), "secret"),
    Row("a secret in UTF-16", files(a=TOKEN.encode("utf-16")), "secret"),
    Row("a secret in base64", files(a=base64.b64encode(b"x=" + TOKEN.encode())), "secret"),
    Row(
        "a secret in a message",
        git("commit", "--quiet", "--allow-empty", "--message", f"Use {TOKEN}"),
        "secret",
        "in its message",
    ),
    Row("a password", files(a='password = "wq7RtYp0Zk3v"\n'), "likely-secret", "a:1", HOLD),
    Row("a workflow", files(dot_github__workflows__ci="on: push"), "gate-path", "ci", HOLD),
    Row(
        "a workflow that is taken out again",
        both(files(dot_github__workflows__ci="on: push"), git("rm", "-rq", ".github"), commit),
        "gate-path",
        mode=HOLD,
    ),
    Row("a workflow in capitals", files(dot_GITHUB__Workflows__ci="x"), "gate-path", mode=HOLD),
    Row("a link in the place of workflows", link(".github", "docs"), "gate-path", mode=HOLD),
    Row("GitLab CI", files(**{"dot_gitlab-ci.yml": "x"}), "gate-path", mode=HOLD),
    Row("filters of attributes", files(x__dot_gitattributes="* filter=x"), "gate-path", mode=HOLD),
    Row(
        "instructions of agents",
        files(deep__down__CLAUDE="x", **{"a/AGENTS.md": "x"}),
        "gate-path",
        mode=HOLD,
    ),
    Row("owners of code", files(docs__CODEOWNERS="* @bob"), "gate-path", mode=HOLD),
    Row("an absolute link", link("a", "/etc/passwd"), "leaving-link", "it is absolute"),
    Row("a link that leads out", link("a/b", "../../x"), "leaving-link", "leads out"),
    Row("a link through a link", both(link("d/up", ".."), link("x", "d/up/../y")), "leaving-link"),
    Row("a link into .git", link("a", ".git/hooks/pre-commit"), "leaving-link", "own folder"),
    Row("a pointer of LFS", files(large=LFS), "lfs-pointer", "commit the file itself"),
    Row("a large file", files(large=b"x" * 3_000_000), "file-size", "3000000 bytes"),
    Row(
        "a file that becomes a program",
        both(git("update-index", "--chmod=+x", "readme.txt"), git("commit", "-qm", "x")),
        "executable-bit",
        mode=Mode.NOTE,
    ),
    Row("a backslash", named(b"a\\b"), "path-name", "a backslash"),
    Row("a name that turns the text round", named("a\u202egpj.exe".encode()), "path-name", "u202e"),
    Row("a device's name", named(b"src/aux.c"), "awkward-path", mode=HOLD),
    Row(
        "one name in two cases",
        both(named(b"Makefile"), named(b"makefile")),
        "one-name-twice",
        mode=HOLD,
    ),
    Row(
        "another author",
        git(
            "commit",
            "-q",
            "--allow-empty",
            "-m",
            "x",
            "--author",
            "Bob <b@example.org>",
        ),
        "author",
        mode=HOLD,
    ),
)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
async def test_what_a_push_brings_is_found_and_told(at_door: Door, row: Row) -> None:
    """CASE-55 among them: every new commit is looked at, not only the last."""
    reopen(at_door, max_file_bytes=2_000_000 if row.rule == "file-size" else 50 << 20)
    clone = await at_door.clone()
    await row.act(at_door, clone)
    before = await at_door.refs()

    said = await at_door.git("push", "origin", f"HEAD:{OWN}", cwd=clone)

    decided = at_door.audit.decisions("git_push")[-1]
    modes = {each["rule"]: each["mode"] for each in decided.detail["findings"]}
    assert modes.get(row.rule) == row.mode
    assert TOKEN not in said.text + repr(at_door.audit.records)
    if row.mode is Mode.NOTE:
        assert said.code == 0, said.text
        return
    assert said.code != 0
    assert decided.decision.word == row.mode
    assert await at_door.refs() == before
    if row.mode is Mode.DENY:
        assert f"[{row.rule}]" in said.text
        assert row.words in said.text


def reopen(at_door: Door, **policy: int) -> None:
    session = replace(at_door.session, push_policy=PushPolicy({"trailers": Mode.NOTE}, **policy))  # type: ignore[arg-type]
    at_door.registry.open(session)


async def test_what_the_host_has_is_no_news_and_two_new_files_do_not_vouch_for_each_other(
    at_door: Door,
) -> None:
    clone = await at_door.clone()
    reopen(at_door)
    await files(old=f"key = {TOKEN}\n")(at_door, clone)
    mirror = at_door.root / "small.git"
    await at_door.git.ok("push", str(mirror), "HEAD:main", cwd=clone)

    await files(old=f"# edited\nkey = {TOKEN}\n")(at_door, clone)
    said = await at_door.git("push", "origin", f"HEAD:{OWN}", cwd=clone)
    assert said.code == 0, said.text

    other = "ghp_" + of(chance_of(8), LETTERS, 36)
    await files(old=f"# edited\nkey = {TOKEN}\nmore = {other}\n")(at_door, clone)
    said = await at_door.git("push", "origin", f"HEAD:{OWN}", cwd=clone)
    assert "old:3" in said.text, said.text
    await at_door.git.ok("reset", "-q", "--hard", "HEAD~1", cwd=clone)

    for content in (f"{other}\n", f"{other}\n\n", f"{other}\n"):
        await files(new=content)(at_door, clone)
    said = await at_door.git("push", "origin", f"HEAD:{OWN}", cwd=clone)
    assert "[secret]" in said.text


@pytest.mark.parametrize("commits", [1, 3])
async def test_the_command_that_git_prints_mends_commits(at_door: Door, commits: int) -> None:
    at_door.registry.open(replace(at_door.session, push_policy=PushPolicy()))
    clone = await at_door.clone()
    for number in range(commits):
        (clone / f"f{number}").write_text("x")
        await at_door.git.ok("add", "--all", cwd=clone)
        message = f"Do {number}\n\nWhy not.\n\nAgent-Run: another\n"
        await at_door.git.ok("-c", "user.name=x", "commit", "-qm", message, cwd=clone)

    said = await at_door.git("push", "origin", f"HEAD:{OWN}", cwd=clone)

    assert said.code != 0
    line = next(line for line in said.text.splitlines() if "[remote rejected]" in line)
    command = line[line.index("run git") + 4 : line.rindex(")")]
    await at_door.git.ok(*shlex.split(command)[1:], cwd=clone)
    said = await at_door.git("push", "origin", f"HEAD:{OWN}", cwd=clone)
    assert said.code == 0, said.text
    told = await at_door.git.ok("log", "-1", "--format=%(trailers)", cwd=clone)
    assert told.splitlines() == [
        "Agent-Run: run-1",
        f"Agent-Task: DEMO/{ITEM}",
        "Agent-Model: a:model",
    ]


async def test_without_an_author_no_commit_is_pushed(at_door: Door) -> None:
    at_door.registry.open(replace(at_door.session, authorship=None))
    clone = await at_door.clone()
    await at_door.commit(clone)
    said = await at_door.git("push", "origin", f"HEAD:{OWN}", cwd=clone)
    assert "[unattributed]" in said.text


async def test_a_submodule_is_held_and_a_gate_of_the_installation_too(at_door: Door) -> None:
    policy = PushPolicy({"trailers": Mode.NOTE}, gate_paths=("deploy/**",))
    at_door.registry.open(replace(at_door.session, push_policy=policy))
    clone = await at_door.clone()
    head = await at_door.git.ok("rev-parse", "HEAD", cwd=clone)
    entry = f"160000,{head},lib"
    await at_door.git.ok("update-index", "--add", "--cacheinfo", entry, cwd=clone)
    (clone / "deploy").mkdir()
    (clone / "deploy/prod.yaml").write_text("x")
    await at_door.git.ok("add", "deploy", cwd=clone)
    await at_door.git.ok("commit", "-qm", "x", cwd=clone)
    await at_door.git("push", "origin", f"HEAD:{OWN}", cwd=clone)
    decided = at_door.audit.decisions("git_push")[-1]
    found = {each["rule"]: each["said"] for each in decided.detail["findings"]}
    assert decided.decision.word == "hold"
    assert {"submodule", "gate-path"} <= found.keys()
    assert "deploy/prod.yaml" in found["gate-path"]
