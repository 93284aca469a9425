"""The sandbox image's git hook, under the real git: every commit says where it comes from."""

import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from orchestrator.domain.authors import authorship_of, environment_of
from tests.fakes.run import a_run
from tests.fakes.world import AGENT

IMAGE = Path(__file__).parents[3] / "images/sandbox"
RUN = a_run(task="DEMO/DEMO-7", model="anthropic:claude-test")
OURS = f"Agent-Run: {RUN.id}\nAgent-Task: DEMO/DEMO-7\nAgent-Model: anthropic:claude-test"


@dataclass
class Sandbox:
    """A clone as a sandbox has it, with the image's hooks, and the environment of a harness."""

    folder: Path
    env: dict[str, str] = field(default_factory=dict)

    def git(self, *argv: str, **env: str) -> str:
        done = self.asked(*argv, **env)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def asked(self, *argv: str, **env: str) -> "subprocess.CompletedProcess[str]":
        """The same, which may fail."""
        return subprocess.run(
            ["git", *argv], cwd=self.folder, env={**self.env, **env}, text=True,
            capture_output=True, check=False, timeout=30,
        )  # fmt: skip

    def write(self, name: str, text: str = "") -> None:
        (self.folder / name).write_text(text or name)
        self.git("add", name)

    def commit(self, name: str, *more: str) -> None:
        self.write(name)
        self.git("commit", "-qm", f"Add {name}", *more)

    def message(self, of: str = "HEAD") -> str:
        return self.git("log", "-1", "--format=%B", of).strip()

    def trailers(self, of: str = "HEAD") -> str:
        return self.git("log", "-1", "--format=%(trailers)", of).strip()

    def hook(self, name: str, script: str, folder: str = ".git/hooks") -> None:
        path = self.folder / folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def editor(self, script: str) -> str:
        """A program that edits a message: `$1` is its file."""
        path = self.folder.parent / "editor"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return str(path)


@pytest.fixture
def box(tmp_path: Path) -> Sandbox:
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    told = re.search(r"for name in (.*?);", (IMAGE / "Dockerfile").read_text(), re.DOTALL)
    assert told
    for name in told[1].replace("\\", "").split():
        (hooks / name).symlink_to(IMAGE / "git-hook")
    system = tmp_path / "gitconfig"
    system.write_text(f"[core]\n\thooksPath = {hooks}\n[init]\n\tdefaultBranch = main\n")
    env = environment_of(authorship_of(AGENT, RUN), RUN) | {
        "GIT_CONFIG_SYSTEM": str(system),
        "GIT_CONFIG_PARAMETERS": f"'core.hooksPath={hooks}'",
        "HOME": str(tmp_path),
        "GIT_EDITOR": "true",
    }
    sandbox = Sandbox(tmp_path / "clone", env)
    sandbox.folder.mkdir()
    sandbox.git("init", "-q")
    sandbox.git("remote", "add", "origin", "http://10.0.0.1:8080/git/git.example/thing.git")
    sandbox.commit("one")
    return sandbox


def test_a_commit_says_its_run_its_task_and_its_model(box: Sandbox) -> None:
    assert box.message() == f"Add one\n\n{OURS}"


@pytest.mark.parametrize(
    "how",
    [
        ["commit", "-q", "--amend", "--no-edit"],
        ["commit", "-q", "--amend", "--no-edit", "--no-verify"],
        ["commit", "-q", "--amend", "-m", "Anew"],
        ["commit", "-q", "--amend", "--no-edit", "--signoff"],
        ["commit", "-q", "--allow-empty", "-m", "Nothing", "--cleanup=verbatim"],
        ["commit", "-q", "--allow-empty", "-m", "Nothing", "--cleanup=whitespace"],
        ["commit", "-q", "--allow-empty", "-m", "# Heading", "--cleanup=whitespace"],
        ["commit", "-q", "--allow-empty", "-m", "Nothing", "--no-verify"],
        ["commit", "-q", "--allow-empty", "-m", "Nothing", "--trailer", "Fixes: #3"],
        ["commit", "-q", "--allow-empty", "-m", "Title", "-m", "Body\n---\nmore: words"],
        ["commit", "-q", "--allow-empty", "-m", "Agent-Run: another\n\nbody"],
        ["revert", "--no-edit", "HEAD"],
        ["-c", "trailer.separators=%", "commit", "-q", "--allow-empty", "-m", "Nothing"],
        ["-c", "trailer.ifexists=doNothing", "commit", "-q", "--amend", "--no-edit"],
        ["-c", "core.commentChar=A", "commit", "-q", "--allow-empty", "-m", "Nothing"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_however_it_is_committed_it_has_them_once(box: Sandbox, how: list[str]) -> None:
    box.git(*how)
    told = box.message()
    assert told.endswith(OURS) or "Signed-off-by" in told or "Fixes" in told
    assert told.count("Agent-Run") == 1
    assert {*OURS.split("\n")} <= {*box.trailers().split("\n")}


def test_a_message_from_a_file_has_them(box: Sandbox) -> None:
    file = box.folder.parent / "message"
    file.write_text("From a file\n\n\nwith blank lines\n\n\n")
    box.git("commit", "-q", "--allow-empty", "-F", str(file))
    assert box.message() == f"From a file\n\nwith blank lines\n\n{OURS}"


def test_one_that_is_edited_has_them(box: Sandbox) -> None:
    editor = box.editor('sed -i "1s/^/Edited/" "$1"')
    box.git("commit", "-q", "--allow-empty", "-v", GIT_EDITOR=editor)
    assert box.message() == f"Edited\n\n{OURS}"


def test_an_empty_message_still_is_refused(box: Sandbox) -> None:
    for argv in (["-m", ""], ["-v"]):
        assert box.asked("commit", "-q", "--allow-empty", *argv).returncode == 1
    assert box.asked("commit", "-q", "--allow-empty", "-m", "Agent-Run: x").returncode == 0


def test_a_merge_has_them(box: Sandbox) -> None:
    box.git("checkout", "-qb", "side")
    box.commit("two")
    box.git("checkout", "-q", "main")
    box.commit("three")
    box.git("merge", "-q", "--no-edit", "side")
    assert box.trailers() == OURS
    assert len(box.git("log", "-1", "--format=%P").split()) == 2


def test_what_an_earlier_run_did_says_so_until_it_is_made_anew(box: Sandbox) -> None:
    box.commit("two")
    box.git("commit", "-q", "--amend", "--no-edit", SANDGATE_RUN="later", SANDGATE_MODEL="a:b")
    assert box.trailers("HEAD^") == OURS
    assert box.trailers() == OURS.replace(RUN.id, "later").replace(RUN.model, "a:b")


@pytest.mark.parametrize("backend", ["--merge", "--apply"])
def test_a_rebase_has_them(box: Sandbox, backend: str) -> None:
    box.git("checkout", "-qb", "side")
    box.write("two")
    box.git("commit", "-qm", "Two", SANDGATE_RUN="")
    box.write("three")
    box.git("commit", "-qm", "Three", SANDGATE_RUN="")
    assert not box.trailers()
    box.git("checkout", "-q", "main")
    box.commit("four")
    box.git("checkout", "-q", "side")
    box.git("rebase", "-q", backend, "main")
    assert [box.trailers(of) for of in ("HEAD", "HEAD^", "HEAD^^")] == [OURS] * 3


def test_a_squash_has_them_once(box: Sandbox) -> None:
    for name in ("two", "three", "four"):
        box.commit(name)
    squash = box.editor('sed -i "2,\\$s/^pick/squash/" "$1"')
    box.git("rebase", "-qi", "HEAD~3", GIT_SEQUENCE_EDITOR=squash)
    assert box.message() == f"Add two\n\nAdd three\n\nAdd four\n\n{OURS}"


def test_a_patch_and_a_pick_have_them(box: Sandbox) -> None:
    box.git("checkout", "-qb", "side")
    box.write("two")
    box.git("commit", "-qm", "Two", SANDGATE_RUN="")
    patch = box.git("format-patch", "-1", "-o", str(box.folder.parent)).strip()
    box.git("checkout", "-q", "main")
    box.git("am", "-q", patch)
    assert box.trailers() == OURS
    box.git("reset", "-q", "--hard", "HEAD^")
    box.git("cherry-pick", "-x", "side")
    assert {*OURS.split("\n")} <= {*box.trailers().split("\n")}


def test_mending_as_the_door_says_gives_every_commit_its_trailers(box: Sandbox) -> None:
    base = box.git("rev-parse", "HEAD").strip()
    for name in ("two", "three"):
        box.write(name)
        box.git("commit", "-qm", name, SANDGATE_RUN="")
    box.git("rebase", "-q", "--exec", "git commit -q --amend --no-edit", base)
    assert [box.trailers(of) for of in ("HEAD", "HEAD^")] == [OURS] * 2


def test_the_repositorys_own_hooks_are_run(box: Sandbox) -> None:
    box.hook("commit-msg", 'echo "Change-Id: I7" >> "$1"; echo own >> ran')
    box.hook("pre-commit", "echo pre >> ran")
    box.hook("post-commit", "echo post >> ran; exit 1")
    box.commit("two")
    assert (box.folder / "ran").read_text().split() == ["pre", "own", "post"]
    assert "Change-Id: I7" in box.message()
    assert box.message().endswith(OURS)


def test_the_repositorys_own_hook_may_still_refuse(box: Sandbox) -> None:
    box.hook("commit-msg", 'grep -q ticket "$1"')
    assert box.asked("commit", "-q", "--allow-empty", "-m", "No").returncode == 1
    box.git("commit", "-q", "--allow-empty", "-m", "A ticket")
    assert box.trailers() == OURS


def test_hooks_that_a_repository_names_itself_are_run_beside_ours(box: Sandbox) -> None:
    """As husky has them."""
    box.git("config", "core.hooksPath", ".husky")
    box.hook("pre-commit", "echo husky >> ran", folder=".husky")
    box.commit("two")
    assert (box.folder / "ran").read_text() == "husky\n"
    assert box.trailers() == OURS


def test_a_push_tells_the_repositorys_own_hook_what_goes_out(box: Sandbox) -> None:
    box.hook("pre-push", "cat > pushed")
    bare = box.folder.parent / "bare.git"
    box.git("init", "-q", "--bare", str(bare))
    (bare / "hooks" / "pre-receive").write_text("#!/bin/sh\ncat > received\n")
    (bare / "hooks" / "pre-receive").chmod(0o755)
    box.git("push", "-q", str(bare), "main")
    assert "refs/heads/main" in (box.folder / "pushed").read_text()
    assert "refs/heads/main" in (bare / "received").read_text()


def test_a_repository_that_is_not_the_doors_is_left_alone(box: Sandbox) -> None:
    """A project's tests make repositories, and look at what is in them."""
    box.git("remote", "set-url", "origin", str(box.folder))
    box.commit("two")
    assert box.message() == "Add two"


def test_who_is_no_run_gets_none(box: Sandbox) -> None:
    box.write("two")
    box.git("commit", "-qm", "Two", SANDGATE_RUN="")
    assert box.message() == "Two"


def test_trouble_with_trailers_breaks_no_commit(box: Sandbox) -> None:
    box.hook("commit-msg", 'rm -f "$1"; mkdir "$1"; rmdir "$1"; echo Kept > "$1"; chmod 0400 "$1"')
    box.commit("two")
    assert box.message().startswith("Kept")
