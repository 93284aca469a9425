import stat
from pathlib import Path

import pytest

from orchestrator.stack import pocketbase
from orchestrator.stack.steps import StepFailed
from tests.servers.pocketbase import PocketBaseServer


def test_the_password_is_neither_in_the_arguments_nor_in_the_environment(
    server: PocketBaseServer,
) -> None:
    process = Path(f"/proc/{server.start()}")
    visible = process.joinpath("cmdline").read_bytes() + process.joinpath("environ").read_bytes()
    assert b"--http=127.0.0.1:" in visible
    assert pocketbase.password(server.home).encode() not in visible


def test_only_its_owner_may_read_its_keys_and_data(server: PocketBaseServer) -> None:
    keys = server.home / "keys"
    for folder in (keys, server.home / "data" / "pocketbase"):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {file.name for file in keys.iterdir()} == {"pocketbase.key", "pocketbase.password"}
    assert {stat.S_IMODE(file.stat().st_mode) for file in keys.iterdir()} == {0o600}
    assert len((keys / "pocketbase.key").read_text()) == 32


def test_a_second_start_leaves_the_running_one_alone(server: PocketBaseServer) -> None:
    pid = server.start()
    password = pocketbase.password(server.home)
    assert server.start() == pid
    assert pocketbase.password(server.home) == password


def test_nothing_but_loopback_is_listened_on(server: PocketBaseServer) -> None:
    inodes = {
        str(handle.readlink()).removeprefix("socket:[").rstrip("]")
        for handle in Path(f"/proc/{server.start()}/fd").iterdir()
    }
    listening = [
        fields[1]
        for table in ("/proc/net/tcp", "/proc/net/tcp6")
        for fields in map(str.split, Path(table).read_text().splitlines()[1:])
        if fields[3] == "0A" and fields[9] in inodes
    ]
    assert listening == [f"0100007F:{server.port:04X}"]


def test_two_installations_share_nothing(server: PocketBaseServer, tmp_path: Path) -> None:
    other = PocketBaseServer(tmp_path / "other")
    other.start()
    try:
        assert other.port != server.port
        assert pocketbase.password(other.home) != pocketbase.password(server.home)
    finally:
        other.stop()
    assert pocketbase.ready(server.port)


def test_a_port_in_use_is_said_and_nothing_is_started(
    server: PocketBaseServer, tmp_path: Path
) -> None:
    rival = PocketBaseServer(tmp_path / "rival")
    rival.port = server.port
    try:
        with pytest.raises(StepFailed, match=f"can't listen on 127.0.0.1:{server.port}"):
            rival.start()
        assert not pocketbase.program(rival.home, rival.port).alive()
    finally:
        rival.stop()  # one that was started after all would wait for the port, and then take it
