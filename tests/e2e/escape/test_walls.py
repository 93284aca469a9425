"""The sandbox's own walls: users, files, kernel calls. The agent is nobody, and stays nobody."""

import ctypes
import errno
import os
import socket
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from orchestrator.domain.sandbox_trust import BUNDLE, TRUST_STORE
from tests.e2e.escape.agent import Agent

pytestmark = [pytest.mark.docker, pytest.mark.timeout(180)]

MOUNTS = ("/workspace", "/home/agent", "/tmp", "/dev/shm")  # noqa: S108 - the sandbox's own
STREAM, RAW, SEQPACKET = 1, 3, 5
FAMILIES = {
    "vsock": (40, STREAM, 0),
    "raw": (2, RAW, 1),
    "raw IPv6": (10, RAW, 58),
    "packet": (17, RAW, 768),
    "alg": (38, SEQPACKET, 0),
    "bluetooth": (31, RAW, 1),
    "xdp": (44, RAW, 0),
    "tipc": (30, STREAM, 0),
}
CALLS = {
    "io_uring_setup": (425, 0, 0),
    "userfaultfd": (323, 0),
    "bpf": (321, 0, 0, 0),
    "perf_event_open": (298, 0, 0, -1, -1, 0),
    "keyctl": (250, 0, 0),
    "add_key": (248, 0, 0, 0, 0, 0),
    "ptrace": (101, 16, 1, 0, 0),
    "process_vm_readv": (310, 1, 0, 0, 0, 0, 0),
    "pidfd_getfd": (438, 0, 0, 0),
    "unshare": (272, 0x10000000),
    "setns": (308, 0, 0),
    "mount": (165, 0, 0, 0, 0, 0),
    "open_by_handle_at": (304, 0, 0, 0),
    "fanotify_init": (300, 0, 0),
    "memfd_secret": (447, 0),
    "init_module": (175, 0, 0, 0),
    "kexec_load": (246, 0, 0, 0, 0),
    "chroot": (161, 0),
}
TRY = """
import ctypes, errno, json, socket

def word(number):
    return errno.errorcode.get(number, "allowed")

def family(*of):
    try:
        socket.socket(*of).close()
        return "allowed"
    except OSError as error:
        return word(error.errno)

def call(number, *arguments):
    libc = ctypes.CDLL(None, use_errno=True)
    done = libc.syscall(ctypes.c_long(number), *map(ctypes.c_long, arguments))
    return "allowed" if done >= 0 else word(ctypes.get_errno())
"""


@pytest.fixture(scope="module")
def refused(mole: Agent) -> Mapping[str, str]:
    """What the kernel says to each socket family and each call, in the sandbox."""
    found: dict[str, str] = mole.python(
        TRY
        + f"found = {{name: family(*of) for name, of in {FAMILIES!r}.items()}}\n"
        + f"found |= {{name: call(*of) for name, of in {CALLS!r}.items()}}\n"
        + "found['tcp'], found['getpid'] = family(2, 1, 0), call(39)\n"
        + "print(json.dumps(found))"
    )
    return found


@pytest.mark.parametrize("family", FAMILIES)
def test_no_socket_goes_around_the_firewall(refused: Mapping[str, str], family: str) -> None:
    """No socket goes past the firewall: vsock, raw, packet and other families get EPERM (CASE-18)."""
    assert refused["tcp"] == "allowed"
    assert refused[family] == "EPERM"


@pytest.mark.parametrize("call", CALLS)
def test_no_dangerous_call_reaches_the_kernel(refused: Mapping[str, str], call: str) -> None:
    """io_uring, bpf, userfaultfd, ptrace, namespaces, mounts and their like get EPERM (CASE-18)."""
    assert refused["getpid"] == "allowed"
    assert refused[call] == "EPERM"


def test_the_host_itself_may_do_what_the_filter_refuses() -> None:
    """Without the filter, on the host, such calls and families are not refused."""
    libc = ctypes.CDLL(None, use_errno=True)
    number, *arguments = CALLS["io_uring_setup"]
    assert libc.syscall(ctypes.c_long(number), *map(ctypes.c_long, arguments)) < 0
    assert ctypes.get_errno() != errno.EPERM
    socket.socket(*FAMILIES["raw"]).close()


def test_there_are_no_capabilities_and_none_can_be_gained(mole: Agent) -> None:
    """The agent is uid 10001 with no capability, no new privileges, and a filter in force."""
    said = mole.do("id -u; id -G; grep -E '^(Cap|NoNew|Seccomp:)' /proc/self/status").output
    uid, groups, *lines = said.splitlines()
    facts = dict(line.split(":\t") for line in lines)
    assert (uid, groups) == ("10001", "10001")
    assert {int(value, 16) for name, value in facts.items() if name.startswith("Cap")} == {0}
    assert (facts["NoNewPrivs"], facts["Seccomp"]) == ("1", "2")


def test_no_program_in_the_image_runs_as_another_user(mole: Agent) -> None:
    """No file of the image has a setuid or setgid bit, or a file capability."""
    found = mole.do("find / -xdev -perm /6000 -not -type d 2>/dev/null; getcap -r / 2>/dev/null")
    assert found.output == ""
    own = mole.do("touch ~/s; chmod u+s ~/s; find ~ -perm /6000; rm ~/s")
    assert own.output == "/home/agent/s\n", "the search finds nothing"


@pytest.fixture
def planted(mole: Agent) -> Iterator[Path]:
    """A setuid root program that came onto the task's disk in some way; here, by the host."""
    source = next(
        Path(mount["Source"])
        for mount in mole.container.attrs["Mounts"]
        if mount["Destination"] == "/workspace"
    )
    file = source / "suid"
    file.write_bytes(Path("/bin/cat").read_bytes())
    file.chmod(0o4755)
    yield file
    file.unlink()


def test_a_setuid_program_on_the_tasks_disk_gives_nothing(mole: Agent, planted: Path) -> None:
    """Even a setuid root program on the disk runs as the agent: nosuid, and no new privileges."""
    assert (planted.stat().st_uid, planted.stat().st_mode & 0o7777) == (0, 0o4755)
    said = mole.do("/workspace/suid /proc/self/status").output
    assert "Uid:\t10001\t10001\t10001\t10001" in said


def test_nothing_is_writable_but_the_mounts(mole: Agent) -> None:
    """The agent can write to its workspace, home, /tmp and /dev/shm, and changes nothing of the image."""
    for mount in MOUNTS:
        assert mole.do(f"touch {mount}/.try && rm {mount}/.try").code == 0
    found = mole.do("find / -xdev -writable -not -type l -not -path '/dev/*' 2>/dev/null")
    assert set(found.output.split()) == set(MOUNTS) - {"/dev/shm"}  # noqa: S108
    own = "/bin/bash /etc/passwd /etc/gitconfig /etc/resolv.conf /opt/sandgate /usr/local/bin /run"
    for path in own.split():
        tried = mole.do(f"echo >> {path}/x || echo >> {path}")
        assert tried.code != 0, path
    made = mole.do("mknod /tmp/disk b 254 0; mknod /workspace/mem c 1 1; mount -t tmpfs x /tmp")
    assert made.code != 0
    assert mole.do("ls /tmp/disk /workspace/mem").code != 0


@pytest.mark.parametrize(
    "path",
    [
        "/proc/sys/kernel/core_pattern",
        "/proc/sys/vm/overcommit_memory",
        "/proc/sysrq-trigger",
        "/sys/fs/cgroup/memory/memory.limit_in_bytes",
        "/sys/fs/cgroup/cgroup.procs",
        "/sys/kernel/uevent_helper",
        "/dev/kmsg",
        "/dev/mem",
    ],
)
def test_the_kernels_own_files_cannot_be_written(mole: Agent, path: str) -> None:
    """No setting of the host's kernel, no limit of its own can be changed from inside."""
    assert mole.do(f"echo 1 > {path}").code != 0


def test_the_engine_is_not_in_the_sandbox(mole: Agent) -> None:
    """No socket of the engine, no device of the host, no disk of another task is mounted (CASE-83)."""
    assert Path("/var/run/docker.sock").exists() or os.getenv("DOCKER_HOST")  # noqa: TID251
    assert mole.do("find / -xdev -type s -name '*.sock' 2>/dev/null").output == ""
    devices = mole.do("find /dev -xdev -type b -o -xdev -type c -printf '%f\\n'").output.split()
    assert set(devices) <= {"full", "null", "ptmx", "random", "tty", "urandom", "zero", "console"}
    mounts = [line.split()[4] for line in mole.do("cat /proc/self/mountinfo").output.splitlines()]
    ours = [m for m in mounts if not m.startswith(("/proc", "/sys", "/dev"))]
    engine = {"/", "/etc/hosts", "/etc/hostname", "/etc/resolv.conf", BUNDLE, TRUST_STORE}
    assert sorted(ours) == sorted(engine | {mount for mount in MOUNTS if mount != "/dev/shm"})  # noqa: S108
