"""The create request, and what is never in it."""

import re
from dataclasses import replace
from typing import Any

import pytest

from entrance.errors import Forbidden
from entrance.session import RunId
from orchestrator.adapters.opensandbox.blueprint import (
    binds,
    create_request,
    facts,
    label_value,
    tmp_volumes,
)
from orchestrator.ports import Volumes
from tests.unit.orchestrator.adapters.opensandbox.sample import BLUEPRINT, SPEC, container


def test_the_request_carries_labels_limits_and_the_execd_token() -> None:
    request = create_request(BLUEPRINT, SPEC)
    assert request["metadata"] == {
        "sandgate.installation": "sgabc123",
        "installation": "sgabc123",
        "run": "r1",
        "task": "DEMO.T-1",
    }
    assert request["resourceLimits"] == {"cpu": "1.5", "memory": "1Gi"}
    assert request["env"] == {"A": "b", "EXECD_ACCESS_TOKEN": "token"}


def test_nothing_dangerous_can_be_asked_for() -> None:
    """CASE-23, CASE-83, CASE-88: no extensions, lifecycle, network policy; only our volumes."""
    request = create_request(BLUEPRINT, SPEC)
    assert set(request) == {
        "image",
        "entrypoint",
        "timeout",
        "resourceLimits",
        "env",
        "metadata",
        "volumes",
    }
    assert {volume["mountPath"] for volume in request["volumes"]} == {
        "/workspace",
        "/home/agent",
        "/tmp",  # noqa: S108 - inside the sandbox
        "/dev/shm",  # noqa: S108 - inside the sandbox
    }


@pytest.mark.parametrize(
    "name",
    ["OPENSANDBOX_EGRESS_MITMPROXY_SCRIPT", "EXECD_ACCESS_TOKEN", "EXECD_ENVS", "LD_PRELOAD"],
)
def test_a_reserved_environment_name_is_refused(name: str) -> None:
    """CASE-23."""
    with pytest.raises(Forbidden, match=name):
        create_request(BLUEPRINT, replace(SPEC, env={name: "x"}))


def test_volumes_in_memory_are_capped_and_each_runs_own() -> None:
    tmp, shm = tmp_volumes(BLUEPRINT, RunId("r1"))
    assert f"size={64 << 20}" in tmp.options
    assert "noexec" in shm.options
    assert {tmp.name, shm.name}.isdisjoint(v.name for v in tmp_volumes(BLUEPRINT, RunId("r2")))
    assert re.fullmatch(r"sgabc123-[0-9a-f]{16}-tmp", tmp.name)


def test_a_watched_disk_is_two_volumes_that_the_server_may_not_make() -> None:
    """No path of the host's is a sandbox's there."""
    spec = replace(SPEC, mounts=Volumes("sgabc123-1-workspace", "sgabc123-1-home"))
    asked = {one["mountPath"]: one for one in create_request(BLUEPRINT, spec)["volumes"]}
    for place, name in (("/workspace", "workspace"), ("/home/agent", "home")):
        volume = {"claimName": f"sgabc123-1-{name}", "createIfNotExists": False}
        assert asked[place]["pvc"] == volume
        assert "host" not in asked[place]
        assert f"sgabc123-1-{name}:{place}:rw" in binds(BLUEPRINT, spec)


def test_the_binds_are_the_disk_the_volumes_and_the_dead_resolver() -> None:
    targets = {bind.split(":", 1)[1] for bind in binds(BLUEPRINT, SPEC)}
    assert targets == {
        "/etc/resolv.conf:ro",
        "/workspace:rw",
        "/home/agent:rw",
        "/tmp:rw",  # noqa: S108 - inside the sandbox
        "/dev/shm:rw",  # noqa: S108 - inside the sandbox
    }


@pytest.mark.parametrize(
    ("memory", "size"), [("512Mi", 512 << 20), ("2Gi", 2 << 30), ("1024", 1024), ("3Ki", 3072)]
)
def test_memory_is_read_as_the_server_reads_it(memory: str, size: int) -> None:
    assert replace(BLUEPRINT, memory=memory).memory_bytes == size


@pytest.mark.parametrize("memory", ["", "2G", "-1Mi", "1.5Gi"])
def test_memory_that_is_no_size_is_refused(memory: str) -> None:
    with pytest.raises(ValueError, match="no size"):
        _ = replace(BLUEPRINT, memory=memory).memory_bytes


@pytest.mark.parametrize(("cpu", "nano"), [("2", 2 * 10**9), ("500m", 5 * 10**8), ("0.1", 10**8)])
def test_processors_are_read_as_the_server_reads_them(cpu: str, nano: int) -> None:
    assert replace(BLUEPRINT, cpu=cpu).nano_cpus == nano


@pytest.mark.parametrize("text", ["DEMO/T-1", "ä ö/..", "x" * 100, "-/-"])
def test_a_label_is_always_one_that_kubernetes_would_take(text: str) -> None:
    assert re.fullmatch(r"([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?", label_value(text))


def test_each_harness_has_the_image_with_its_program() -> None:
    for harness in ("native", "codex"):
        asked = create_request(BLUEPRINT, replace(SPEC, harness=harness))
        assert asked["image"] == {"uri": BLUEPRINT.images[harness]}


def test_a_harness_without_an_image_is_refused() -> None:
    with pytest.raises(Forbidden, match="claude_code"):
        create_request(BLUEPRINT, replace(SPEC, harness="claude_code"))


def test_the_record_says_which_image_and_program_it_was() -> None:
    found = container()
    found["Config"]["Labels"] |= {
        "sandgate.harness": "codex",
        "sandgate.harness.version": "0.171.0",
        "sandgate.harness.integrity": "sha512-x",
    }
    told = facts(BLUEPRINT, found)
    assert told["harness"] == {"name": "codex", "version": "0.171.0", "integrity": "sha512-x"}
    assert (told["image"], told["image_id"]) == (BLUEPRINT.images["native"], "sha256:1")


def test_the_facts_for_the_record_hold_no_token() -> None:
    told: dict[str, Any] = facts(BLUEPRINT, container())
    assert told["runtime"] == "runc"
    assert told["memory_bytes"] == 1 << 30
    assert "token" not in repr(told)
