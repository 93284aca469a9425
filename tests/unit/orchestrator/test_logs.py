"""What the runner's log says, and above all what it never says."""

import asyncio
import errno
import io
import json
import logging
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import structlog
from aiohttp.http_exceptions import BadHttpMessage

from orchestrator import logs

TOKEN = "sgr_" + "a1B2" * 8


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


class FullDisk(io.StringIO):
    """A stream that takes nothing any more; it knows what it was given."""

    given = ""

    def write(self, text: str, /) -> int:
        self.given += text
        raise OSError(errno.ENOSPC, "No space left on device")


@pytest.fixture(autouse=True)
def put_back() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    logging.captureWarnings(capture=False)
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()


@pytest.fixture
def out() -> io.StringIO:
    stream = io.StringIO()
    logs.configure(stream)
    return stream


def lines(out: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_a_line_is_one_json_object_with_its_time_and_level(out: io.StringIO) -> None:
    structlog.get_logger().info("run_ended", run="run1", outcome="submitted")
    (line,) = lines(out)
    assert line["event"] == "run_ended"
    assert (line["run"], line["outcome"], line["level"]) == ("run1", "submitted", "info")
    assert line["timestamp"].endswith("Z")


def test_a_line_break_in_a_value_makes_no_second_line(out: io.StringIO) -> None:
    structlog.get_logger().info("said", text='x"\n{"event":"forged"}\r\x1b[2J')
    (line,) = lines(out)
    assert line["event"] == "said"
    assert "\x1b" not in out.getvalue()


@dataclass
class Holder:
    """An object whose repr gives everything away."""

    token: str


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(TOKEN, id="a run token"),
        pytest.param(f"Authorization: Bearer {'x' * 30}", id="a bearer header"),
        pytest.param(f"basic {'eHg6eXk=' * 4}", id="a basic header in small letters"),
        pytest.param("sk-ant-api03-" + "x" * 40, id="a model key"),
        pytest.param("ghp_" + "x" * 36, id="a GitHub token"),
        pytest.param("glpat-" + "x" * 20, id="a GitLab token"),
        pytest.param("http://lead:xxxxxxxxxxxx@git.example/team/thing.git", id="a URL's password"),
        pytest.param({"headers": {"x-api-key": "x" * 20}}, id="nested in mappings"),
        pytest.param([("authorization", f"Bearer {'x' * 20}")], id="nested in a list"),
        pytest.param(Holder(TOKEN), id="in an object's repr"),
        pytest.param(TOKEN.encode(), id="as bytes"),
        pytest.param(ValueError(TOKEN), id="in an exception that is a value"),
    ],
)
def test_what_looks_like_a_secret_is_masked_wherever_it_stands(
    out: io.StringIO, value: object
) -> None:
    structlog.get_logger().info("oops", value=value)
    assert "***" in out.getvalue()
    assert "xxxxxxxx" not in out.getvalue()
    assert "a1B2" not in out.getvalue()
    assert "eHg6" not in out.getvalue()
    assert lines(out)[0]["event"] == "oops", "and the line is still JSON"


def test_words_that_only_look_a_little_like_secrets_stay(out: io.StringIO) -> None:
    structlog.get_logger().info("Basic things", why="Bearer of news", url="http://a.example:80/x@y")
    (line,) = lines(out)
    assert (line["event"], line["why"]) == ("Basic things", "Bearer of news")
    assert line["url"] == "http://a.example:80/x@y"


@pytest.mark.parametrize("stream", [io.StringIO, Terminal])
def test_a_traceback_is_written_without_secrets_and_without_variables(
    stream: type[io.StringIO],
) -> None:
    out = stream()
    logs.configure(out)
    password = "in-a-" + "variable"

    def fails(secret: str) -> None:
        raise ValueError(f"{TOKEN} {len(secret)}")

    try:
        fails(password)
    except ValueError:
        structlog.get_logger().exception("crashed")
    said = out.getvalue()
    assert "ValueError" in said
    assert "in fails" in said
    assert "a1B2" not in said
    assert password not in said


def test_a_terminal_gets_readable_lines() -> None:
    out = Terminal()
    logs.configure(out)
    structlog.get_logger().info("runner_ready", name="sg123456")
    assert "runner_ready" in out.getvalue()
    assert not out.getvalue().startswith("{")


def test_libraries_lines_leave_by_the_same_way(out: io.StringIO) -> None:
    logging.getLogger("aiohttp.server").error("bad request with %s", TOKEN)
    logging.getLogger("docker").info("too chatty")
    (line,) = lines(out)
    assert line["logger"] == "aiohttp.server"
    assert line["event"] == "bad request with sgr_***"


def test_a_request_that_is_no_http_is_a_line_without_a_trace(out: io.StringIO) -> None:
    """Whoever sends such a request decides how often: it must not fill the log."""
    error = BadHttpMessage("Duplicate Content-Length:\n\n  b'Content-Length: 60'")
    logging.getLogger("aiohttp.server").error("Error handling %s", "10.0.0.2", exc_info=error)
    (line,) = lines(out)
    assert line["event"] == "Error handling 10.0.0.2: Duplicate Content-Length:"
    assert (line["level"], "exception" in line) == ("warning", False)


def test_warnings_are_lines_too(out: io.StringIO) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.warn("something is old", stacklevel=1)
    assert "something is old" in lines(out)[0]["event"]


async def test_what_asyncio_reports_of_a_broken_callback_is_redacted(out: io.StringIO) -> None:
    asyncio.get_running_loop().call_exception_handler(
        {"message": "broken", "exception": ValueError(TOKEN)}
    )
    assert lines(out)[0]["logger"] == "asyncio"
    assert "a1B2" not in out.getvalue()


def test_a_full_disk_costs_lines_and_not_the_program() -> None:
    disk = FullDisk()
    logs.configure(disk)
    structlog.get_logger().error("said")
    logging.getLogger("aiohttp").error("so does this")
    assert ("said" in disk.given, "so does this" in disk.given) == (True, True)
