import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from orchestrator.stack.packages import POLICY_TEXT, DebianPackages, Done
from orchestrator.stack.steps import StepFailed


@dataclass
class FakeDebian:
    """dpkg and apt-get with an index that may be absent, and an archive."""

    policy: Path
    archive: set[str] = field(default_factory=set)
    index: bool = True
    is_debian: bool = True
    installed: set[str] = field(default_factory=set)
    updates: int = 0
    policies_seen: list[str] = field(default_factory=list)

    def __call__(self, command: Sequence[str]) -> Done:
        if not self.is_debian:
            return subprocess.CompletedProcess(command, 127, "not found")
        if command[0] == "dpkg-query":
            known = command[-1] in self.installed
            return subprocess.CompletedProcess(command, int(not known), "installed" * known)
        if "update" in command:
            self.updates += 1
            self.index = True
        if "install" in command:
            self.policies_seen.append(self.policy.read_text())
            wanted = set(command[list(command).index("install") + 1 :])
            if not self.index or not wanted <= self.archive:
                return subprocess.CompletedProcess(command, 100, "E: Unable to locate package")
            self.installed |= wanted
        return subprocess.CompletedProcess(command, 0, "")


@pytest.fixture
def debian(tmp_path: Path) -> FakeDebian:
    return FakeDebian(tmp_path / "policy-rc.d", archive={"nftables", "mmdebstrap"})


def packages(debian: FakeDebian, *, root: bool = True) -> DebianPackages:
    return DebianPackages(tool=debian, root=root, policy=debian.policy)


def ignore(_: str) -> None:
    pass


def test_only_what_is_missing_is_installed(debian: FakeDebian) -> None:
    debian.installed = {"nftables"}
    assert packages(debian).ensure(["nftables", "mmdebstrap"], doing=ignore) == ["mmdebstrap"]
    assert debian.installed == {"nftables", "mmdebstrap"}


def test_nothing_missing_needs_neither_root_nor_apt(debian: FakeDebian) -> None:
    debian.installed = {"nftables"}
    assert packages(debian, root=False).ensure(["nftables"], doing=ignore) == []


def test_the_index_is_updated_once_and_only_when_an_install_fails(debian: FakeDebian) -> None:
    wanting = packages(debian)
    wanting.ensure(["nftables"], doing=ignore)
    assert debian.updates == 0
    debian.index = False
    wanting.ensure(["mmdebstrap"], doing=ignore)
    with pytest.raises(StepFailed):
        wanting.ensure(["unheard-of"], doing=ignore)
    assert debian.updates == 1


def test_no_service_starts_while_packages_are_installed(debian: FakeDebian) -> None:
    packages(debian).ensure(["nftables"], doing=ignore)
    assert debian.policies_seen == [POLICY_TEXT]
    assert not debian.policy.exists()


def test_the_machines_own_policy_stays(debian: FakeDebian) -> None:
    debian.policy.write_text("#!/bin/sh\nexit 0\n")
    packages(debian).ensure(["nftables"], doing=ignore)
    assert debian.policy.read_text() == "#!/bin/sh\nexit 0\n"


def test_a_policy_left_by_an_interrupted_try_is_removed(debian: FakeDebian) -> None:
    debian.policy.write_text(POLICY_TEXT)
    packages(debian).ensure(["nftables"], doing=ignore)
    assert not debian.policy.exists()


def test_a_failure_says_what_apt_said(debian: FakeDebian) -> None:
    with pytest.raises(StepFailed, match="E: Unable to locate package"):
        packages(debian).ensure(["unheard-of"], doing=ignore)
    assert not debian.policy.exists()


def test_without_root_it_says_which_packages_to_ask_for(debian: FakeDebian) -> None:
    with pytest.raises(StepFailed, match="apt-get install nftables"):
        packages(debian, root=False).ensure(["nftables"], doing=ignore)


def test_on_another_system_it_says_that_there_is_no_apt(debian: FakeDebian) -> None:
    debian.is_debian = False
    with pytest.raises(StepFailed, match="isn't a Debian"):
        packages(debian).ensure(["nftables"], doing=ignore)
