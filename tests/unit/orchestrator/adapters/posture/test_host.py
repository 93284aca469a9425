"""What the engine and the kernel say of the walls, judged."""

from pathlib import Path
from typing import Any

import pytest

from orchestrator.adapters.posture.host import (
    ICC,
    bridge_flaws,
    bridged_is_filtered,
    code_sha256,
    container_flaws,
    listening_in,
)

NETWORK: dict[str, Any] = {"Internal": True, "EnableIPv6": False, "Options": {ICC: "false"}}
SECCOMP = '{"defaultAction": "SCMP_ACT_ERRNO"}'
HOST: dict[str, Any] = {
    "CapDrop": ["ALL"],
    "SecurityOpt": ["no-new-privileges:true", 'seccomp={"defaultAction":"SCMP_ACT_ERRNO"}'],
    "PidsLimit": 128,
    "Memory": 1 << 28,
    "MaskedPaths": ["/proc/kcore"],
    "ReadonlyPaths": ["/proc/sys"],
}
PROC_NET_TCP = """\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1
   1: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 2 1
   2: 0109E70A:1F91 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 3 1
   3: 0109E70A:C350 0209E70A:AEF4 01 00000000:00000000 00:00000000 00000000     0        0 4 1
"""


def test_a_network_as_it_was_made_has_no_flaw() -> None:
    assert bridge_flaws(NETWORK) == []


@pytest.mark.parametrize(
    ("change", "flaw"),
    [
        ({"Internal": False}, "it is not internal"),
        ({"Options": {ICC: "true"}}, "its containers may talk to each other"),
        ({"Options": None}, "its containers may talk to each other"),
        ({"EnableIPv6": True}, "it has IPv6"),
    ],
)
def test_a_network_that_was_opened_says_how(change: dict[str, Any], flaw: str) -> None:
    assert bridge_flaws({**NETWORK, **change}) == [flaw]


def test_a_container_as_asked_has_no_flaw() -> None:
    assert container_flaws({"HostConfig": HOST}, SECCOMP) == []


@pytest.mark.parametrize(
    ("change", "flaw"),
    [
        ({"CapDrop": None}, "capabilities are kept"),
        ({"CapAdd": ["NET_ADMIN"]}, "capabilities are kept"),
        ({"SecurityOpt": HOST["SecurityOpt"][1:]}, "it may gain privileges"),
        ({"SecurityOpt": HOST["SecurityOpt"][:1]}, "its filter of calls is not ours"),
        ({"SecurityOpt": ["no-new-privileges", "seccomp={}"]}, "its filter of calls is not ours"),
        ({"Privileged": True}, "it is privileged"),
        ({"Devices": [{"PathOnHost": "/dev/kvm"}]}, "it has devices"),
        ({"PidMode": "host"}, "it shares a namespace with the host"),
        ({"PidsLimit": None}, "its processes have no cap"),
        ({"Memory": 0}, "its memory has no cap"),
        ({"MaskedPaths": []}, "no path of the kernel is masked"),
    ],
)
def test_a_container_that_is_weaker_says_how(change: dict[str, Any], flaw: str) -> None:
    assert container_flaws({"HostConfig": {**HOST, **change}}, SECCOMP) == [flaw]


def test_ports_that_are_listened_on_are_found_but_for_loopbacks() -> None:
    assert list(listening_in(PROC_NET_TCP)) == [22, 8081]


def test_the_switch_of_the_bridges_filter_is_read(tmp_path: Path) -> None:
    switch = tmp_path / "switch"
    assert not bridged_is_filtered(switch)
    switch.write_text("0\n")
    assert not bridged_is_filtered(switch)
    switch.write_text("1\n")
    assert bridged_is_filtered(switch)


def test_the_code_is_another_when_a_wall_of_it_is_and_not_for_a_command(tmp_path: Path) -> None:
    for name in ("entrance/git/refs.py", "orchestrator/cli/run.py", "images/sandbox/seccomp.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("1")
    asked = code_sha256.__wrapped__
    first = asked(tmp_path)
    (tmp_path / "orchestrator/cli/run.py").write_text("2")
    assert asked(tmp_path) == first
    (tmp_path / "entrance/git/refs.py").write_text("2")
    assert asked(tmp_path) != first
