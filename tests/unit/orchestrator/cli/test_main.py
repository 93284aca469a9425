"""Exit codes and sentences of the command, whatever goes wrong below it."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import aiohttp
import pytest
from docker.errors import DockerException

from entrance.errors import Forbidden, Unavailable
from orchestrator.cli.codes import MEANINGS, Code, CommandFailed
from orchestrator.cli.main import app
from orchestrator.settings import inherited_environment
from orchestrator.stack.installation import FILE, Installation
from orchestrator.stack.steps import StepFailed
from tests.servers.command import sandgate


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    monkeypatch.setenv("SANDGATE_HOME", str(home))
    return home


@contextmanager
def command(does: Callable[[], None]) -> Iterator[None]:
    """A command `x` more."""
    app.command("x")(does)
    try:
        yield
    finally:
        app.registered_commands.pop()


def raising(error: BaseException) -> Callable[[], None]:
    def x() -> None:
        raise error

    return x


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    ("error", "code", "sentence"),
    [
        (CommandFailed("no such run", Code.NOT_FOUND), 4, "no such run"),
        (CommandFailed("it broke"), 1, "it broke"),
        (StepFailed("It failed", why="no disk", what_to_do="Free some."), 6, "It failed: no disk"),
        (DockerException("no engine"), 6, "the Docker engine did not do it: no engine"),
        (Unavailable("Polarion can't be reached"), 1, "Polarion can't be reached"),
        (Forbidden("not permitted"), 1, "not permitted"),
        (PermissionError(13, "Permission denied", "/x/y"), 1, "/x/y: Permission denied"),
        (OSError(28, "No space left"), 1, "this machine refused: [Errno 28] No space left"),
        (subprocess.TimeoutExpired("git", 60), 1, "this machine refused: "),
        (aiohttp.ClientError("gone"), 1, "this machine refused: gone"),
        (KeyboardInterrupt(), 130, "stopped; what was begun goes on by itself"),
    ],
    ids=lambda part: type(part).__name__ if isinstance(part, BaseException) else "",
)
def test_a_failure_is_one_sentence_on_stderr_and_an_exit_code(
    error: BaseException, code: int, sentence: str
) -> None:
    with command(raising(error)):
        done = sandgate("x")
    assert done.code == code
    assert done.err.startswith(sentence)
    assert not done.out
    assert "Traceback" not in done.err


def test_every_exit_code_is_explained() -> None:
    assert set(MEANINGS) == set(Code)


@pytest.mark.usefixtures("home")
def test_a_sentence_is_shown_as_it_stands_but_for_what_a_terminal_obeys() -> None:
    """What git, a build or an agent said is quoted in sentences."""
    why = "\x1b[2J\x1b]0;owned\x07[red]not red[/red] [link=http://evil.example]x[/link] \u202egnp\r"
    with command(raising(StepFailed("It failed", why=why))):
        done = sandgate("x")
    assert not set(done.err) & set("\x1b\x07\u202e\r")
    assert "[red]not red[/red]" in done.err
    assert "[link=http://evil.example]x[/link]" in done.err


def test_a_bug_shows_its_traceback() -> None:
    with command(raising(ZeroDivisionError())), pytest.raises(ZeroDivisionError):
        sandgate("x")


@pytest.mark.parametrize(
    "arguments",
    [
        ("status",),
        ("doctor",),
        ("run", "ls"),
        ("run", "watch", "x"),
        ("agent", "create", "rex", "--model", "a:b"),
        ("secret", "ls"),
    ],
)
def test_without_an_installation_it_is_said_what_to_do(
    home: Path, arguments: tuple[str, ...]
) -> None:
    done = sandgate(*arguments)
    assert done.code == Code.NOT_RUNNING
    assert str(home) in done.err
    assert "`sandgate up`" in done.err
    assert "SANDGATE_HOME" in done.err
    assert not home.exists(), "asking makes nothing"


@pytest.mark.parametrize("arguments", [("down",), ("down", "--purge")])
def test_taking_down_what_is_not_there_is_done_at_once(
    home: Path, arguments: tuple[str, ...]
) -> None:
    done = sandgate(*arguments)
    assert done.code == Code.OK
    assert done.out == f"{home} holds no installation: there is nothing to do\n"


def test_taking_down_what_is_down_says_so(home: Path) -> None:
    Installation.open(home, create=True)
    assert sandgate("down").out == "nothing of it was running\n"


@pytest.mark.parametrize("arguments", [("down", "--purge"), ("status",), ("run", "ls")])
def test_a_home_that_was_moved_is_not_touched(home: Path, arguments: tuple[str, ...]) -> None:
    elsewhere = home.with_name("elsewhere")
    Installation.open(elsewhere, create=True)
    elsewhere.rename(home)
    done = sandgate(*arguments)
    assert done.code == Code.SETUP
    assert "was moved or copied" in done.err
    assert (home / FILE).exists()


def test_a_file_of_the_installation_that_can_not_be_read_is_a_sentence(home: Path) -> None:
    home.mkdir()
    (home / FILE).write_text("{")
    done = sandgate("status")
    assert done.code == Code.SETUP
    assert done.err.startswith("The installation's file can't be read: ")


def test_an_installation_that_is_down_says_so(home: Path) -> None:
    Installation.open(home, create=True)
    done = sandgate("status", "--json")
    assert done.code == Code.NOT_RUNNING
    assert isinstance(done.json, list)
    assert {part["alive"] for part in done.json} == {False}
    assert [part["name"] for part in done.json] == [
        "pocketbase",
        "polarion",
        "opensandbox",
        "runner",
        "entrance",
        "egress-proxy",
        "watchdog",
    ]


def test_a_runner_that_is_down_says_what_starts_it(home: Path) -> None:
    here = Installation.open(home, create=True)
    (here.keys / "api.token").write_text("x")
    done = sandgate("run", "ls")
    assert done.code == Code.NOT_RUNNING
    assert "the runner doesn't answer at http://127.0.0.1:" in done.err
    assert "`sandgate up` starts it" in done.err


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    "arguments",
    [
        ("nonsense",),
        ("run", "ls", "--limit", "0"),
        ("run", "ls", "--limit", "many"),
        ("secret", "set"),
        ("up", "--harness", "pilot"),
        ("up", "--model", "anthropic"),
        ("up", "--model", "anthropic=ftp://x"),
        ("up", "--model", "anthropic=https://me:hunter2@models.example"),
        ("secret", "set", "unheard-of", "--host", "x"),
    ],
)
def test_a_wrong_command_line_is_code_two(arguments: tuple[str, ...]) -> None:
    done = sandgate(*arguments)
    assert done.code == Code.USAGE
    assert done.err
    assert "Traceback" not in done.err
    assert "hunter2" not in done.err


@pytest.mark.parametrize("file", ["--script", "--api-key-file"])
def test_a_file_that_is_not_there_is_not_found(tmp_path: Path, file: str) -> None:
    """As `sandgate task create --description @FILE` has it, and the page on exit codes."""
    (tmp_path / "there").write_text("scenario: 1\n")
    files = {"--script": tmp_path / "there", "--api-key-file": tmp_path / "there"}
    files[file] = tmp_path / "nope"
    given = [f"{name}={path}" for name, path in files.items()]
    done = sandgate("model", "serve", "--port=0", *given)
    assert done.code == Code.NOT_FOUND
    assert done.err.startswith(f"{tmp_path / 'nope'} can't be read: ")


def test_ctrl_c_while_the_command_still_loads_is_a_sentence(tmp_path: Path) -> None:
    """A real process and a real signal, in the middle of the imports: they take a second or two."""
    with subprocess.Popen(
        [sys.executable, "-c", "from orchestrator.cli.entry import main; main()", "status"],
        env={**inherited_environment(), "SANDGATE_HOME": str(tmp_path)},
        cwd=Path(__file__).parents[4],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as command:
        mapped = Path(f"/proc/{command.pid}/maps")
        deadline = time.monotonic() + 30
        while "pydantic_core" not in mapped.read_text():
            assert time.monotonic() < deadline, "it never loaded what most of the time is spent on"
            time.sleep(0.002)
        os.kill(command.pid, signal.SIGINT)
        out, err = command.communicate(timeout=30)
    assert (command.returncode, out) == (Code.INTERRUPTED, "")
    assert err == "stopped before anything was begun\n"
