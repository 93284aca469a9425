"""execd's command line, and the socket it listens on."""

import socket

import pytest

from execd.__main__ import listen, parse


def test_connections_send_at_once() -> None:
    with listen("127.0.0.1", 0) as listening, socket.create_connection(listening.getsockname()):
        accepted, _ = listening.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


@pytest.mark.parametrize(
    ("argv", "parsed"),
    [
        ([], (False, "0.0.0.0", 44772, [])),
        (["--init", "tail", "-f", "x"], (True, "0.0.0.0", 44772, ["tail", "-f", "x"])),
        (["--port", "5", "--host", "::", "--init"], (True, "::", 5, [])),
        (["--init", "--", "--odd", "x"], (True, "0.0.0.0", 44772, ["--odd", "x"])),
    ],
)
def test_the_command_line(argv: list[str], parsed: tuple[bool, str, int, list[str]]) -> None:
    assert parse(argv) == parsed


@pytest.mark.parametrize("argv", [["--nonsense"], ["--port"], ["--port", "x"]])
def test_a_wrong_command_line_is_refused(argv: list[str]) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  # the message is for people
        parse(argv)
