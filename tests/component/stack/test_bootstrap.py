"""The bootstrap, with an interpreter and a uv that do what they are told (no package index)."""

import os
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from orchestrator.stack.images import IMAGES

SCRIPT = IMAGES.parent / "orchestrator" / "stack" / "bootstrap.sh"
LOCK = "uv==0.13.9 \\\n    --hash=sha256:00 \\\n    --hash=sha256:11\nyarl==1.20 \\\n    --hash=sha256:22\n"
# Stands for a Python 3.13 and, in the environment that it makes, for pip.
PYTHON = """\
#!/bin/sh
here=$(dirname "$0")
case "$*" in
*" -c "*) exit 0 ;;
--version) echo Python 3.13.0 ;;
"-m venv"*) for venv; do :; done; mkdir -p "$venv/bin"; cp "$0" "$venv/bin/python" ;;
"-m pip"*) for file; do :; done; cp "$file" "{notes}/uv-requirement"; cp "{notes}/uv" "$here/uv" ;;
esac
echo "python $*" >>"{notes}/calls"
"""
UV = """\
#!/bin/sh
here=$(dirname "$0")
[ "$1" = --version ] && { echo "uv 0.13.9 (a build)"; exit 0; }
echo "uv $*" >>"{notes}/calls"
cat "{notes}/uv-says" 2>/dev/null && exit 1
case "$*" in *" -e "*) touch "$here/sandgate"; chmod 755 "$here/sandgate" ;; esac
"""


@dataclass
class Project:
    """A project folder with nothing but what the bootstrap reads."""

    folder: Path
    notes: Path

    def bootstrap(self, python: str = "") -> subprocess.CompletedProcess[str]:
        script = self.folder / "orchestrator" / "stack" / "bootstrap.sh"
        python = python or str(self.notes / "python")
        env = {"PATH": os.defpath, "HOME": str(self.notes), "PYTHON": python}
        return subprocess.run(
            [script], env=env, capture_output=True, text=True, timeout=30, check=False
        )

    def calls(self) -> list[str]:
        file = self.notes / "calls"
        lines = file.read_text().splitlines() if file.exists() else []
        file.unlink(missing_ok=True)
        return [" ".join(line.split()[:4]) for line in lines]

    def uv_fails_with(self, text: str) -> None:
        (self.notes / "uv-says").write_text(text)

    def uv_works_again(self) -> None:
        (self.notes / "uv-says").unlink()


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path / "project", tmp_path / "notes")
    (made.folder / "orchestrator" / "stack").mkdir(parents=True)
    made.notes.mkdir()
    shutil.copy(SCRIPT, made.folder / "orchestrator" / "stack")
    (made.folder / "requirements.lock").write_text(LOCK)
    (made.folder / "pyproject.toml").write_text("[project]\n")
    for name, text in {"python": PYTHON, "uv": UV}.items():
        (made.notes / name).write_text(text.replace("{notes}", str(made.notes)))
        (made.notes / name).chmod(0o755)
    return made


def test_from_nothing_it_makes_the_environment(project: Project) -> None:
    done = project.bootstrap()
    assert done.returncode == 0, done.stderr
    assert project.calls() == [
        "python --version",
        "python -m venv --clear",
        "python -m pip install",
        "uv pip install --require-hashes",
        "uv pip install --no-deps",
    ]


def test_uv_is_taken_at_the_version_and_hashes_of_the_lock(project: Project) -> None:
    project.bootstrap()
    assert (project.notes / "uv-requirement").read_text() == LOCK.partition("yarl")[0]


def test_when_all_is_in_place_it_does_nothing_and_at_once(project: Project) -> None:
    project.bootstrap()
    project.calls()
    began = time.monotonic()
    done = project.bootstrap()
    assert time.monotonic() - began < 1.0
    assert (done.returncode, done.stderr, project.calls()) == (0, "", [])


@pytest.mark.parametrize("name", ["requirements.lock", "pyproject.toml"])
def test_a_changed_file_is_installed_again_without_a_new_environment(
    name: str, project: Project
) -> None:
    project.bootstrap()
    project.calls()
    with (project.folder / name).open("a") as file:
        file.write("# changed\n")
    assert project.bootstrap().returncode == 0
    assert project.calls() == ["uv pip install --require-hashes", "uv pip install --no-deps"]


def test_after_an_interruption_the_next_run_goes_on(project: Project) -> None:
    project.uv_fails_with("killed")
    assert project.bootstrap().returncode == 1
    project.uv_works_again()
    project.calls()
    assert project.bootstrap().returncode == 0
    assert "python -m venv --clear" not in project.calls()


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("error: No space left on device (os error 28)", "the disk is full"),
        ("error: Failed to fetch: dns error: failed to lookup", "no Python package index"),
        ("invalid peer certificate: UnknownIssuer", "set SSL_CERT_FILE"),
        ("Hash mismatch for yarl==1.20", "isn't the one that requirements.lock pins"),
    ],
)
def test_a_failure_is_told_in_a_sentence_with_the_log(
    said: str, told: str, project: Project
) -> None:
    project.uv_fails_with(said)
    done = project.bootstrap()
    assert done.returncode == 1
    assert told in done.stderr
    assert said in done.stderr


def test_an_interpreter_that_is_none_is_named(project: Project) -> None:
    done = project.bootstrap(python="/bin/false")
    assert done.returncode == 1
    assert "PYTHON=/bin/false is no Python >= 3.12" in done.stderr


def test_a_place_where_nothing_can_be_written_is_named(project: Project) -> None:
    # A file in the way: root may write anywhere, so taking the right away proves nothing.
    (project.folder / ".venv").write_text("")
    done = project.bootstrap()
    assert done.returncode == 1
    assert "can't write to" in done.stderr
