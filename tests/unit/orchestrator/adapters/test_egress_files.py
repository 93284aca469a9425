"""The files of the egress policy, and this machine's own addresses."""

import stat
from pathlib import Path

import pytest

from entrance.errors import Unavailable
from orchestrator.adapters.egress_files import (
    InstallationFiles,
    PolicyFiles,
    read_registries,
    write_registries,
)
from orchestrator.adapters.own_addresses import own_addresses
from orchestrator.domain.egress import Ground, Policy, Unreadable
from orchestrator.domain.presets import Registry, place_of
from orchestrator.domain.presets import Unavailable as NotHere
from proxy.policy_file import PolicyFile

POLICY = PolicyFile(generation=3, refused=("10.0.0.0/24",))


def files(folder: Path) -> PolicyFiles:
    return PolicyFiles(folder / "policy.json", folder / "status.json")


def test_a_policy_comes_back_as_it_was_written_and_nobody_else_reads_it(tmp_path: Path) -> None:
    there = files(tmp_path)
    assert there.written() is None
    there.write(PolicyFile(generation=2))
    there.write(POLICY)
    assert there.written() == POLICY
    assert stat.S_IMODE(there.policy.stat().st_mode) == 0o600
    assert [one.name for one in tmp_path.iterdir()] == ["policy.json"]


def test_a_link_that_lies_in_the_way_is_not_followed(tmp_path: Path) -> None:
    there, victim = files(tmp_path), tmp_path / "victim"
    victim.write_text("kept")
    (tmp_path / ".policy.json.part").symlink_to(victim)
    there.write(POLICY)
    assert victim.read_text() == "kept"
    assert there.written() == POLICY


def test_a_policy_that_can_not_be_read_is_none_and_one_that_can_not_be_written_is_said(
    tmp_path: Path,
) -> None:
    there = files(tmp_path)
    there.policy.write_text("{")
    assert there.written() is None
    away = files(tmp_path / "away")
    with pytest.raises(Unavailable, match="away"):
        away.write(POLICY)


@pytest.mark.parametrize(
    ("text", "applied"),
    [
        ('{"generation": 7, "trouble": ""}', 7),
        ('{"generation": 7, "trouble": "no policy"}', 0),
        ('{"trouble": ""}', 0),
        ("[]", 0),
        ("{", 0),
        ("", 0),
    ],
)
def test_only_a_proxy_without_trouble_has_applied_something(
    tmp_path: Path, text: str, applied: int
) -> None:
    there = files(tmp_path)
    assert there.applied() == 0
    there.status.write_text(text)
    assert there.applied() == applied


def test_what_the_installation_says_is_read_afresh(tmp_path: Path) -> None:
    policy, found = tmp_path / "policy.yaml", tmp_path / "egress" / "registries.json"
    here = InstallationFiles(policy, found, {}, "10.0.0.0/24")
    assert here.ground() == Ground()
    before = here.mark()
    assert here.mark() == before
    policy.write_text("presets: [docs]\n")
    assert here.mark() != before
    assert here.ground() == Ground(Policy(presets=("docs",)))
    for broken in (b"presets: [\n", b"\xff"):
        policy.write_bytes(broken)
        read = here.ground()
        assert isinstance(read, Unreadable)
        assert str(policy) in read.reason
    assert here.known().registries == {}
    assert here.refused()[0] == "10.0.0.0/24"


def test_where_the_own_addresses_can_not_be_read_no_policy_is_made(tmp_path: Path) -> None:
    nothing = tmp_path / "nothing"
    here = InstallationFiles(nothing, nothing, {}, "10.0.0.0/24", net=nothing)
    with pytest.raises(Unavailable, match="own addresses"):
        here.refused()


def test_registries_come_back_as_they_were_found(tmp_path: Path) -> None:
    file = tmp_path / "egress" / "registries.json"
    url = "https://mirror.example:8443/simple"
    found: dict[str, Registry | NotHere] = {
        "python": Registry(url, (place_of(url),), (place_of("https://f.example"),), "uv"),
        "npm": NotHere("this machine has no npm"),
    }
    write_registries(file, found)
    assert read_registries(file) == found
    file.write_text('{"python": {"url": 1}}')
    assert read_registries(file) == {}


def test_this_machines_addresses_are_known_and_loopback_is_none_of_them(tmp_path: Path) -> None:
    trie = """Main:
  +-- 0.0.0.0/0 3 0 4
     |-- 0.0.0.0
        /0 universe UNICAST
        |-- 127.0.0.1
           /32 host LOCAL
        |-- 172.17.0.1
           /32 host LOCAL
        |-- 172.17.255.255
           /32 link BROADCAST
"""
    (tmp_path / "fib_trie").write_text(trie)
    assert own_addresses(tmp_path) == ("172.17.0.1",)
    line = "fe80000000000000004254fffef5651a 05 40 20 80  docker0\n"
    (tmp_path / "if_inet6").write_text(line + "0" * 31 + "1 01 80 10 80       lo\n")
    assert own_addresses(tmp_path) == ("172.17.0.1", "fe80::42:54ff:fef5:651a")
    assert own_addresses()
