"""What was pushed, read from a real bare repository with whatever git lets an agent put there."""

import os
import subprocess
from pathlib import Path

import pytest

from orchestrator.stack.bare_repository import create_bare_repository
from orchestrator.stack.demo.evidence import pushed, test_result
from orchestrator.stack.steps import StepFailed

# As a name only: pytest would take it for a test.
result_of = test_result
del test_result


class Host:
    """A bare repository, and a clone to push from."""

    def __init__(self, folder: Path) -> None:
        self.files = folder / "files"
        self.files.mkdir()
        (self.files / "thing.py").write_text("x = 1\n")
        self.bare = folder / "bare.git"
        self.base = create_bare_repository(self.files, self.bare, message="base")
        self.clone = folder / "clone"
        self.git("clone", "--quiet", str(self.bare), str(self.clone), cwd=folder)

    def git(self, *arguments: str, cwd: Path | None = None, date: str = "2026-01-01") -> str:
        env = {
            "PATH": os.defpath,
            "HOME": str(self.files),
            **{f"GIT_{who}_NAME": "x" for who in ("AUTHOR", "COMMITTER")},
            **{f"GIT_{who}_EMAIL": "x@y.invalid" for who in ("AUTHOR", "COMMITTER")},
            **{f"GIT_{who}_DATE": f"{date}T00:00:00+0000" for who in ("AUTHOR", "COMMITTER")},
        }
        return subprocess.run(
            ["git", *arguments], cwd=cwd or self.clone, env=env, capture_output=True, text=True,
            check=True, timeout=60,
        ).stdout  # fmt: skip

    def push(self, branch: str, files: dict[bytes, bytes], date: str = "2026-01-02") -> str:
        """Commit these files on the base and push them as `branch`; the commit's id."""
        self.git("checkout", "--quiet", "--detach", self.base)
        for name, content in files.items():
            path = self.clone / os.fsdecode(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        self.git("add", "--all")
        self.git("commit", "--quiet", "-m", "work", date=date)
        self.git("push", "--quiet", "origin", f"HEAD:refs/heads/{branch}")
        return self.git("rev-parse", "HEAD").strip()


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path)


def test_nothing_pushed_is_nothing(host: Host) -> None:
    host.push("agent/DEMO-70/fix", {b"thing.py": b"x = 2\n"})
    assert pushed(host.bare, item="DEMO-7", base=host.base) is None


def test_a_branch_is_told_with_its_files_and_where_main_is(host: Host) -> None:
    commit = host.push("agent/DEMO-7/fix", {b"thing.py": b"x = 2\n", b"tests/t.py": b"y\n"})
    found = pushed(host.bare, item="DEMO-7", base=host.base)
    assert found
    assert (found.branch, found.commit, found.main) == ("agent/DEMO-7/fix", commit, host.base)
    assert found.files == ("tests/t.py", "thing.py")
    assert "2 files changed" in found.stat


def test_the_newest_of_several_branches_counts(host: Host) -> None:
    host.push("agent/DEMO-7/b", {b"b": b"b"}, date="2026-03-01")
    host.push("agent/DEMO-7/a", {b"a": b"a"}, date="2026-02-01")
    found = pushed(host.bare, item="DEMO-7", base=host.base)
    assert found
    assert found.branch == "agent/DEMO-7/b"


@pytest.mark.parametrize(
    "name",
    [
        "ünïcode/日本",
        "a$(touch${IFS}x)`id`;&|'\"",
        "--upload-pack=x",
        "<b>x]",
        "deep/er/still",
        "\u202eevil",
        "HEAD",
        "x" * 150,
    ],
)
def test_a_branch_may_have_any_name_that_git_allows(host: Host, name: str) -> None:
    commit = host.push(f"agent/DEMO-7/{name}", {b"a": b"a"})
    found = pushed(host.bare, item="DEMO-7", base=host.base)
    assert found
    assert (found.branch, found.commit) == (f"agent/DEMO-7/{name}", commit)


def test_a_tag_of_the_same_name_is_not_taken_for_the_branch(host: Host) -> None:
    commit = host.push("agent/DEMO-7/fix", {b"a": b"a"})
    host.git("push", "--quiet", "origin", f"{host.base}:refs/tags/agent/DEMO-7/fix")
    found = pushed(host.bare, item="DEMO-7", base=host.base)
    assert found
    assert (found.branch, found.commit) == ("agent/DEMO-7/fix", commit)
    assert found.files == ("a",)


def test_files_may_have_any_name_and_hold_anything(host: Host) -> None:
    names = [
        b"with blanks",
        b"new\nline",
        b"tab\there",
        b"\xff\xfe",
        b"\x1b[2J",
        b'"quoted"',
        "ü".encode(),
    ]
    host.push("agent/DEMO-7/fix", {name: bytes(range(256)) * 9 for name in names})
    found = pushed(host.bare, item="DEMO-7", base=host.base)
    assert found
    assert sorted(found.files) == sorted(name.decode(errors="replace") for name in names)
    assert "Bin 0 -> 2304 bytes" in found.stat
    assert "\x1b" not in found.stat, "git quotes what it shows"


def test_what_a_tree_says_of_drivers_is_not_run(host: Host, tmp_path: Path) -> None:
    attributes = b"* diff=evil filter=evil\n"
    host.push("agent/DEMO-7/fix", {b".gitattributes": attributes, b"a": b"a\n"})
    for name in ("diff.evil.command", "diff.evil.textconv", "filter.evil.smudge"):
        host.git("config", "--global", name, f"touch {tmp_path}/owned")
    assert pushed(host.bare, item="DEMO-7", base=host.base)
    assert not (tmp_path / "owned").exists()


def test_a_repository_without_main_has_none(host: Host) -> None:
    host.push("agent/DEMO-7/fix", {b"a": b"a"})
    host.git("update-ref", "-d", "refs/heads/main", cwd=host.bare)
    found = pushed(host.bare, item="DEMO-7", base=host.base)
    assert found
    assert found.main == ""


def test_what_is_no_repository_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(StepFailed, match="git can't read"):
        pushed(tmp_path, item="DEMO-7", base="0" * 40)


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("===== 78 passed in 0.40s =====", "78 passed"),
        ("1 failed, 2 passed in 1.20s", "1 failed, 2 passed"),
        ("3 passed in 0.1s\n...\n2 failed, 1 passed in 2.0s", "2 failed, 1 passed"),
        ("2 errors in 0.1s", "2 errors"),
        ("no tests ran in 0.01s", ""),
        ("I passed the test", ""),
    ],
)
def test_a_test_runs_last_words_are_found(text: str, result: str) -> None:
    assert result_of(text) == result
