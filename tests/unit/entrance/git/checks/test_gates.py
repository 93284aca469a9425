"""Gates are found however they are spelled, and what only looks like one is none."""

import pytest

from entrance.git.checks.gates import GATES, gate_at

FILE, LINK, SUBMODULE = 0o100644, 0o120000, 0o160000


@pytest.mark.parametrize("glob", [glob for globs in GATES.values() for glob in globs])
def test_every_gate_of_the_table_is_found(glob: str) -> None:
    path = glob.replace("**/", "deep/er/").replace("**", "x/y.yml").replace("*", "z")
    assert gate_at(path.encode(), FILE, FILE)
    assert gate_at(path.upper().encode(), 0, FILE)
    assert gate_at(path.encode(), FILE, 0)
    if glob.startswith("**/"):
        assert gate_at(glob.removeprefix("**/").replace("**", "x").replace("*", "z").encode(), FILE)


@pytest.mark.parametrize(
    ("path", "what"),
    [
        (".github/workflows/ci.yml", "a workflow of GitHub Actions"),
        (".forgejo/workflows/ci.yml", "a workflow of Gitea or Forgejo"),
        ("ci/build.gitlab-ci.yml", "GitLab CI"),
        ("sub/Jenkinsfile", "another CI's configuration"),
        ("docs/CODEOWNERS", "who must review what"),
        (".gitmodules", "git's own settings for those who check it out"),
        (".husky/pre-commit", "a hook that runs on people's machines"),
        ("pkg/.claude/settings.json", "instructions or tools of coding agents"),
        (".github/copilot-instructions.md", "instructions or tools of coding agents"),
    ],
)
def test_a_gate_is_said_to_be_what_it_is(path: str, what: str) -> None:
    assert gate_at(path.encode(), FILE, FILE) == what


@pytest.mark.parametrize(
    "path",
    [
        "src/github/workflows/ci.py",
        "docs/workflows/ci.yml",
        "githubx/workflows/a",
        ".github/ISSUE_TEMPLATE.md",
        "CLAUDE.md.py",
        "my-AGENTS.md",
        "claude/settings.json",
        "Jenkinsfile_test.go",
        "action.yml.md",
        "src/main.py",
    ],
)
def test_what_only_looks_like_a_gate_is_none(path: str) -> None:
    assert gate_at(path.encode(), FILE, FILE) is None


@pytest.mark.parametrize("mode", [LINK, SUBMODULE])
@pytest.mark.parametrize("path", [".github", ".github/workflows", ".claude", "deep/.cursor"])
def test_a_link_or_submodule_in_the_place_of_a_gates_folder_is_a_gate(path: str, mode: int) -> None:
    assert gate_at(path.encode(), 0, mode)
    assert gate_at(path.encode(), mode, 0)
    assert gate_at(path.encode(), FILE, FILE) is None


def test_a_link_elsewhere_is_no_gate() -> None:
    assert gate_at(b"src", 0, LINK) is None
    assert gate_at(b"deep", 0, LINK) is None


def test_more_gates_are_gates_of_somebodys() -> None:
    what = gate_at(b"Deploy/prod.yaml", FILE, more=("deploy/**",))
    assert what == "a gate of this installation or engagement"
    assert gate_at(b"deploy", LINK, more=("deploy/**",)) == what
    assert gate_at(b"deploy", FILE, more=("deploy/**",)) is None
