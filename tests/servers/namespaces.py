"""Network namespaces for tests: an internet of our own, with public addresses, that no packet leaves.

A socket belongs to the namespace in which it was made, whoever uses it: so servers and clients of a
test live in its own process, and only programs are started inside.
"""

import ctypes
import os
import secrets
import shutil
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import IPv4Network
from itertools import count
from pathlib import Path

import pytest

from orchestrator.stack.packages import DebianPackages

_CLONE_NEWNET = 0x40000000
_numbers = count()
_libc = ctypes.CDLL(None, use_errno=True)

PROGRAMS = {"ip": "iproute2", "curl": "curl"}
"""What tests start in them; by program, the Debian package that has it."""


def require_namespaces() -> None:
    """Skip for who isn't root. For root, install what is missing: a skip would hide a failure.

    Raises: StepFailed when it can't be installed.
    """
    if os.geteuid() != 0:
        pytest.skip("network namespaces are root's to make (`make test` is run as root)")
    missing = [package for program, package in PROGRAMS.items() if not shutil.which(program)]
    DebianPackages().ensure(missing, doing=print)


@dataclass(frozen=True)
class Namespace:
    """A network namespace with a name, until the test ends."""

    name: str

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Be in it with this thread: for making sockets, nothing else."""
        with (
            self._path.open("rb") as inside,
            Path("/proc/thread-self/ns/net").open("rb") as outside,
        ):
            _set(inside.fileno())
            try:
                yield
            finally:
                _set(outside.fileno())

    def command(self, argv: Sequence[str], mounts: dict[Path, Path] | None = None) -> list[str]:
        """How a program is started in it, with these files (values) over those (keys)."""
        binds = "".join(f"mount --bind {new} {old} && " for old, new in (mounts or {}).items())
        inside = [
            "unshare",
            "--mount",
            "--propagation",
            "slave",
            "sh",
            "-c",
            f'{binds}exec "$@"',
            "sh",
        ]
        return ["nsenter", f"--net={self._path}", *inside, *argv]

    def ip(self, *arguments: str) -> None:
        """An `ip` command in it."""
        _run("ip", "-n", self.name, *arguments)

    @property
    def _path(self) -> Path:
        return Path("/run/netns") / self.name


@contextmanager
def joined(near: Sequence[str], far: Sequence[str]) -> Iterator[tuple[Namespace, Namespace]]:
    """Two namespaces and a cable between them; each end has its addresses, the first with /24."""
    stem = f"sgt{os.getpid() % 100000}n{next(_numbers)}"
    spaces = [Namespace(f"{stem}{end}") for end in "ab"]
    try:
        for space in spaces:
            _run("ip", "netns", "add", space.name)
        links = [f"{stem}{end}" for end in "ab"]
        spaces[0].ip(
            "link",
            "add",
            links[0],
            "type",
            "veth",
            "peer",
            "name",
            links[1],
            "netns",
            spaces[1].name,
        )
        for space, link, addresses in zip(spaces, links, (near, far), strict=True):
            for address in addresses:
                space.ip("address", "add", address, "dev", link)
            space.ip("link", "set", link, "up")
            space.ip("link", "set", "lo", "up")
        yield spaces[0], spaces[1]
    finally:
        for space in spaces:
            subprocess.run(["ip", "netns", "delete", space.name], check=False, capture_output=True)


@contextmanager
def beyond(interface: str, network: str) -> Iterator[tuple[Namespace, str]]:
    """A namespace at the other end of a cable from this machine itself, and its address in the network.

    `interface` is the name of this end.
    """
    whole = IPv4Network(network)
    first = whole[4 * secrets.randbelow(whole.num_addresses // 4)]
    here, there = f"{first + 1}/30", str(first + 2)
    space, far = Namespace(f"{interface}n"), f"{interface}f"
    try:
        _run("ip", "netns", "add", space.name)
        _run(*f"ip link add {interface} type veth peer name {far} netns {space.name}".split())
        _run("ip", "address", "add", here, "dev", interface)
        _run("ip", "link", "set", interface, "up")
        space.ip("address", "add", f"{there}/30", "dev", far)
        space.ip("link", "set", far, "up")
        space.ip("link", "set", "lo", "up")
        yield space, there
    finally:
        subprocess.run(["ip", "netns", "delete", space.name], check=False, capture_output=True)


def _set(descriptor: int) -> None:
    if _libc.setns(descriptor, _CLONE_NEWNET) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"setns in {threading.current_thread().name}: {os.strerror(number)}")


def _run(*argv: str) -> None:
    subprocess.run(argv, check=True, capture_output=True, text=True)
