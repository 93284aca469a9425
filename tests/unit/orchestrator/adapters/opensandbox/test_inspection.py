"""A container that is other than asked is found out, whatever it is that differs."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from orchestrator.adapters.opensandbox.inspection import address_of, differences
from tests.unit.orchestrator.adapters.opensandbox.sample import BLUEPRINT, SPEC, container

Change = Callable[[dict[str, Any]], object]


def host(**changes: Any) -> Change:
    return lambda found: found["HostConfig"].update(changes)


def config(**changes: Any) -> Change:
    return lambda found: found["Config"].update(changes)


def networks(**changes: Any) -> Change:
    return lambda found: found["NetworkSettings"]["Networks"].update(changes)


def test_a_container_as_asked_has_no_difference() -> None:
    assert differences(container(), BLUEPRINT, SPEC) == []


def test_the_image_of_another_harness_is_another_image() -> None:
    assert differences(container(), BLUEPRINT, replace(SPEC, harness="codex")) != []


@pytest.mark.parametrize(
    ("change", "word"),
    [
        pytest.param(host(CapDrop=["NET_ADMIN"]), "capabilities", id="some capabilities"),
        pytest.param(host(CapAdd=["SYS_ADMIN"]), "CapAdd", id="a capability added"),
        pytest.param(host(Privileged=True), "privileged", id="privileged"),
        pytest.param(host(PidsLimit=4096), "pids", id="more processes"),
        pytest.param(host(PidsLimit=None), "pids", id="no limit of processes"),
        pytest.param(host(Memory=2 << 30), "memory", id="more memory"),
        pytest.param(host(MemorySwap=2 << 30), "swap", id="swap"),
        pytest.param(host(NanoCpus=0), "cpus", id="every processor"),
        pytest.param(host(NetworkMode="bridge"), "network", id="another network"),
        pytest.param(networks(bridge={"IPAddress": "172.17.0.2"}), "networks", id="a second one"),
        pytest.param(host(Binds=["/:/host:rw"]), "binds", id="other mounts"),
        pytest.param(host(Mounts=[{"Source": "/"}]), "Mounts", id="a mount more"),
        pytest.param(host(Devices=[{"PathOnHost": "/dev/kvm"}]), "Devices", id="a device"),
        pytest.param(host(Tmpfs={"/x": ""}), "Tmpfs", id="memory beyond the volumes"),
        pytest.param(host(PidMode="host"), "PidMode", id="the host's processes"),
        pytest.param(host(IpcMode="host"), "IpcMode", id="the host's memory segments"),
        pytest.param(host(SecurityOpt=["no-new-privileges=true"]), "seccomp", id="no seccomp"),
        pytest.param(
            host(SecurityOpt=["no-new-privileges=true", "seccomp=unconfined"]),
            "seccomp",
            id="seccomp off",
        ),
        pytest.param(
            host(SecurityOpt=[f"seccomp={BLUEPRINT.seccomp}"]), "new-priv", id="new privileges"
        ),
        pytest.param(
            host(
                SecurityOpt=[
                    "no-new-privileges=true",
                    f"seccomp={BLUEPRINT.seccomp}",
                    "apparmor=unconfined",
                ]
            ),
            "other security",
            id="apparmor off",
        ),
        pytest.param(host(CgroupParent="/elsewhere"), "CgroupParent", id="other limits"),
        pytest.param(host(OomKillDisable=True), "OomKillDisable", id="it can't run out of memory"),
        pytest.param(host(OomScoreAdj=-1000), "OomScoreAdj", id="others are killed in its place"),
        pytest.param(host(Runtime="runsc"), "runtime", id="another runtime"),
        pytest.param(host(MaskedPaths=[]), "masked", id="/proc unmasked"),
        pytest.param(host(RestartPolicy={"Name": "always"}), "restart", id="comes back"),
        pytest.param(config(User="root"), "user", id="root"),
        pytest.param(config(Image="other"), "image", id="another image"),
        pytest.param(config(Labels={}), "labels", id="labels missing"),
    ],
)
def test_a_difference_is_found_and_named(change: Change, word: str) -> None:
    found = container()
    change(found)
    assert any(word in difference for difference in differences(found, BLUEPRINT, SPEC))


def test_a_profile_that_the_engine_wrote_anew_is_still_ours() -> None:
    found = container()
    found["HostConfig"]["SecurityOpt"] = [
        "no-new-privileges",
        'seccomp={ "defaultAction": "SCMP_ACT_ERRNO" }',
    ]
    assert differences(found, BLUEPRINT, SPEC) == []


def test_a_kernel_that_can_not_account_for_swap_is_accepted() -> None:
    found = container()
    found["HostConfig"]["MemorySwap"] = -1
    assert differences(found, BLUEPRINT, SPEC) == []


def test_the_address_is_that_on_our_network_and_none_when_it_ended() -> None:
    found = container()
    assert address_of(found, "sgabc123") == "10.77.3.2"
    assert address_of(found, "other") == ""
    found["NetworkSettings"]["Networks"]["sgabc123"]["IPAddress"] = ""
    assert address_of(found, "sgabc123") == ""
