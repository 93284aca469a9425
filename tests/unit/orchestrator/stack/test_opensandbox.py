"""The server's settings file, and the system calls that a sandbox may make."""

import json
import stat
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.stack.opensandbox import OpenSandboxServer, seccomp_profile, toml
from orchestrator.stack.steps import StepFailed

KEY = "the-key"


@pytest.fixture
def server(tmp_path: Path) -> OpenSandboxServer:
    return OpenSandboxServer(
        data=tmp_path / "opensandbox",
        log=tmp_path / "log",
        pid_file=tmp_path / "pid",
        port=18080,
        api_key=KEY,
        network="sgabc123",
        execd_image="sandgate/sgabc123-execd:1",
        pids=256,
        tasks=tmp_path / "tasks",
    )


def test_it_listens_on_loopback_and_hardens_every_sandbox(server: OpenSandboxServer) -> None:
    server.write_settings()
    settings = tomllib.loads(server.settings_file.read_text())
    assert settings["server"]["host"] == "127.0.0.1"
    assert settings["docker"]["publish_host"] == "127.0.0.1"
    assert settings["docker"]["network_mode"] == "sgabc123"
    assert settings["docker"]["drop_capabilities"] == ["ALL"]
    assert settings["docker"]["no_new_privileges"] is True
    assert settings["docker"]["pids_limit"] == 256
    assert settings["storage"]["allowed_host_paths"] == [str(server.tasks)]


def test_the_profile_is_given_as_json_not_as_a_path(server: OpenSandboxServer) -> None:
    """A path makes every create fail: the engine's API reads no files."""
    server.write_settings()
    settings = tomllib.loads(server.settings_file.read_text())
    assert json.loads(settings["docker"]["seccomp_profile"]) == json.loads(seccomp_profile())


def test_the_key_is_in_a_file_of_ours_alone(server: OpenSandboxServer) -> None:
    server.write_settings()
    assert stat.S_IMODE(server.settings_file.stat().st_mode) == 0o600
    program = server.program({"PATH": "/bin", "SECRET": "x"})
    assert KEY not in f"{program.argv} {program.env} {server!r}"
    assert "SECRET" not in (program.env or {})


def test_a_restart_is_only_needed_when_something_changed(server: OpenSandboxServer) -> None:
    assert server.write_settings()
    assert not server.write_settings()
    assert replace(server, execd_image="other").write_settings()


def test_a_path_with_a_colon_is_refused_in_a_sentence(server: OpenSandboxServer) -> None:
    with pytest.raises(StepFailed, match="colon"):
        replace(server, data=Path("/a:b")).write_settings()


def test_toml_survives_quotes_and_backslashes() -> None:
    value = 'a "quoted" \\ back\nslash ü 😀'
    assert tomllib.loads(toml({"t": {"k": value, "n": 1, "b": False, "l": ["x"]}})) == {
        "t": {"k": value, "n": 1, "b": False, "l": ["x"]}
    }


PROFILE = json.loads(seccomp_profile())
ALLOWED = {
    name
    for rule in PROFILE["syscalls"]
    if rule["action"] == "SCMP_ACT_ALLOW"
    for name in rule["names"]
}


def test_what_is_not_listed_is_refused_with_eperm() -> None:
    assert (PROFILE["defaultAction"], PROFILE["defaultErrnoRet"]) == ("SCMP_ACT_ERRNO", 1)


DANGEROUS = """
    ptrace process_vm_readv userfaultfd keyctl add_key bpf perf_event_open mount unshare setns
    io_uring_setup io_uring_enter name_to_handle_at open_by_handle_at memfd_secret vmsplice
    pidfd_getfd fsopen pivot_root chroot kexec_load init_module iopl modify_ldt
"""


@pytest.mark.parametrize("name", DANGEROUS.split())
def test_a_dangerous_call_is_not_allowed(name: str) -> None:
    """CASE-18."""
    assert name not in ALLOWED


def test_only_harmless_families_of_sockets_can_be_made() -> None:
    """CASE-18: AF_VSOCK is a way to the hypervisor that no firewall sees."""
    rules = [rule for rule in PROFILE["syscalls"] if "socket" in rule["names"]]
    assert all(rule["names"] == ["socket"] for rule in rules)
    assert {rule["args"][0]["value"] for rule in rules} == {1, 2, 10, 16}
    assert all(rule["args"][0]["op"] == "SCMP_CMP_EQ" for rule in rules)


def test_no_32_bit_calls_which_would_pass_the_filter_on_sockets_by() -> None:
    assert not {"architectures", "archMap", "subArchitectures"} & set(PROFILE)
    assert "socketcall" not in ALLOWED


def test_no_namespace_can_be_made() -> None:
    rules = [rule for rule in PROFILE["syscalls"] if "clone" in rule["names"]]
    assert [rule["args"][0]["value"] for rule in rules] == [0x7E020000]
    assert "clone3" not in ALLOWED


OWN_BUSINESS = "prlimit64 sched_setattr sched_setparam sched_setscheduler setpriority ioprio_set"


@pytest.mark.parametrize("name", OWN_BUSINESS.split())
def test_limits_and_priorities_can_be_set_by_the_caller_for_itself_alone(name: str) -> None:
    """execd has the agent's uid: a limit of processor time on it would end the sandbox."""
    [rule] = [rule for rule in PROFILE["syscalls"] if name in rule["names"]]
    pid = rule["args"][-1]
    assert (pid["value"], pid["op"]) == (0, "SCMP_CMP_EQ")
