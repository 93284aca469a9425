"""The demo's story by single commands, with a repository and a scenario of the user's own, as paths."""

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from orchestrator.settings import inherited_environment

pytestmark = [pytest.mark.docker, pytest.mark.timeout(300)]
SANDGATE = Path(sys.executable).with_name("sandgate")
SCENARIO = Path(__file__).with_name("other.yaml")


@dataclass(frozen=True, slots=True)
class Shell:
    """A shell in which SANDGATE_HOME is set."""

    home: Path

    @property
    def env(self) -> dict[str, str]:
        return {**inherited_environment(), "SANDGATE_HOME": str(self.home), "NO_COLOR": "1"}

    def sandgate(self, *arguments: str, stdin: str = "") -> str:
        done = subprocess.run(
            [str(SANDGATE), *arguments],
            env=self.env,
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            timeout=240,
        )
        assert done.returncode == 0, f"{arguments}: {done.stdout}\n{done.stderr}"
        return done.stdout


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    shell = Shell(tmp_path / "home")
    yield shell
    shell.sandgate("down", "--purge")
    assert not shell.home.exists()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """An ordinary clone, as a user has it."""
    folder = tmp_path / "greeter"
    folder.mkdir()
    (folder / "greet.py").write_text('print("hello")\n')
    for command in (
        ["init", "-q", "-b", "main"],
        ["add", "."],
        ["-c", "user.name=u", "-c", "user.email=u@example.org", "commit", "-qm", "Greet"],
    ):
        subprocess.run(["git", *command], cwd=folder, check=True, timeout=30)
    return folder


def test_the_same_by_single_commands(shell: Shell, repository: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    key = shell.home.parent / "model.key"
    key.write_text("a-key-of-my-own")
    model = subprocess.Popen(
        [
            SANDGATE,
            "model",
            "serve",
            f"--script={SCENARIO}",
            f"--port={port}",
            f"--api-key-file={key}",
        ],
        env=shell.env,
        stdout=subprocess.PIPE,
    )
    try:
        assert model.stdout
        assert b"scripted model on" in model.stdout.readline()
        shell.sandgate("up", f"--model=anthropic=http://127.0.0.1:{port}")
        shell.sandgate(
            "secret",
            "set",
            "anthropic",
            f"--host=http://127.0.0.1:{port}",
            stdin="a-key-of-my-own\n",
        )
        shell.sandgate("agent", "create", "ada", "--model=anthropic:claude-sonnet-5")
        shell.sandgate(
            "hire", "ada", "--project=MINE", "--supervisor=me", "--budget=5", f"--repo={repository}"
        )
        task = json.loads(
            shell.sandgate(
                "task", "create", "--project=MINE", "--title=Greet politely",
                f"--repo={repository}", "--assign=ada", "--json",
            )
        )["id"]  # fmt: skip
        watched = shell.sandgate("run", "watch", task)
        shown = json.loads(shell.sandgate("run", "show", task, "--json"))
    finally:
        model.terminate()
        model.communicate(timeout=10)
    assert "submitted" in watched
    assert shown["outcome"] == "submitted"
    branch = f"agent/{task.split('/')[1]}/polite"
    said = ["git", "show", f"{branch}:greet.py"]
    pushed = subprocess.run(said, cwd=repository, check=True, capture_output=True, timeout=30)
    assert pushed.stdout == b'print("good day")\n'
    untouched = ["git", "status", "--porcelain", "--branch"]
    status = subprocess.run(untouched, cwd=repository, check=True, capture_output=True, timeout=30)
    assert status.stdout == b"## main\n"
