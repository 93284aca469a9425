"""The battery's table: every row can be tried, says what it promises, and watches a wall."""

import json
import re
from dataclasses import replace

import pytest

from orchestrator.posture.battery import BATTERY
from orchestrator.posture.battery.git import GRANTED, NOT_GRANTED, door_name
from orchestrator.posture.battery.network import written
from orchestrator.posture.judging import orders, why_skipped
from orchestrator.posture.probe import Probe, Wall
from tests.fakes.posture import STAGE

BY_NAME = {probe.name: probe for probe in BATTERY}


def test_there_are_many_probes_and_each_has_a_name_of_its_own() -> None:
    assert len(BATTERY) >= 60
    assert len(BY_NAME) == len(BATTERY)
    assert all(re.fullmatch(r"[a-z0-9][a-z0-9-]{1,62}", name) for name in BY_NAME)


@pytest.mark.parametrize("probe", BATTERY, ids=lambda probe: probe.name)
def test_each_promises_something_and_can_be_ordered(probe: Probe) -> None:
    assert re.fullmatch(r"[A-Z/].*\.", probe.promise)
    assert probe.expected
    assert probe.arguments(STAGE) is not None
    assert json.dumps(orders([probe], STAGE, probe.who))


def test_every_wall_is_watched_by_a_probe() -> None:
    assert {probe.wall for probe in BATTERY} >= set(Wall)


def test_what_expects_that_nothing_comes_through_counts_it_where_it_can() -> None:
    pushes = [probe for probe in BATTERY if probe.how == "pushes"]
    assert len(pushes) > 15
    assert {probe.canary for probe in pushes} == {0, 1}
    assert {BY_NAME[name].canary for name in ("gateway-ports", "outside-tcp", "no-proxy")} == {0}


def test_a_probe_of_what_this_machine_has_none_of_is_skipped_with_the_reason() -> None:
    bare = replace(STAGE, place=replace(STAGE.place, addresses=(), resolvers=()))
    assert why_skipped(BY_NAME["dns-host"], bare, "runc") == ("there is nothing of the kind here")
    assert not why_skipped(BY_NAME["dns-host"], STAGE, "runc")


def test_on_a_machine_with_very_many_ports_the_canary_and_a_thousand_are_tried() -> None:
    addresses = tuple(f"10.9.{number}.1" for number in range(40))
    place = replace(STAGE.place, listening=tuple(range(1, 9000)), addresses=addresses)
    stage = replace(STAGE, place=place)
    for name in ("gateway-ports", "host-ports"):
        [asked] = orders([BY_NAME[name]], stage, "sandbox")
        assert 900 < len(asked["arguments"]) <= 1024
        assert asked["arguments"][0][1] == STAGE.place.canary


def test_a_disk_that_is_watched_has_no_cap_and_no_options_of_ours() -> None:
    watched = replace(STAGE, watched_disks=True)
    for name in ("workspace-cap", "home-cap"):
        assert why_skipped(BY_NAME[name], watched, "runc") == "there is nothing of the kind here"
        assert not why_skipped(BY_NAME[name], STAGE, "runc")
    [asked] = orders([BY_NAME["mounts-nosuid"]], watched, "sandbox")
    assert asked["arguments"] == ["nosuid", "/tmp", "/dev/shm"]  # noqa: S108 - a sandbox's own


def test_one_of_the_second_doors_two_probes_is_tried() -> None:
    two = replace(STAGE, second_door=True)
    shut, opened = BY_NAME["second-door-shut"], BY_NAME["second-door-open"]
    assert not why_skipped(shut, STAGE, "runc")
    assert why_skipped(shut, two, "runc") == "there is an egress proxy"
    assert why_skipped(opened, STAGE, "runc") == "there is no egress proxy"
    assert not why_skipped(opened, two, "runc")


def test_what_gvisor_does_not_promise_is_not_tried_there() -> None:
    assert why_skipped(BY_NAME["pid1-signals"], STAGE, "gvisor") == "it isn't promised under gVisor"
    assert not why_skipped(BY_NAME["socket-vsock"], STAGE, "gvisor")
    assert "EAFNOSUPPORT" in BY_NAME["socket-vsock"].well("gvisor")
    assert BY_NAME["socket-vsock"].well("runc") == ("EPERM",)


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("decimal", "182913281"),
        ("octal", "012.0347.011.01"),
        ("hex", "0x0ae70901"),
        ("short", "10.231.2305"),
        ("mapped", "::ffff:10.231.9.1"),
    ],
)
def test_an_address_is_written_in_every_form_that_programs_take(form: str, text: str) -> None:
    assert written("10.231.9.1", form) == text


def test_every_granted_repository_is_one_that_a_probe_asks_for() -> None:
    assert NOT_GRANTED not in GRANTED
    for name in GRANTED:
        asked = json.dumps(orders([BY_NAME[name]], STAGE, "sandbox"))
        assert door_name(STAGE, name) in asked


def test_a_probe_shows_no_token_but_the_one_that_it_is_about() -> None:
    [asked] = orders([BY_NAME["token-of-sibling"]], STAGE, "sandbox")
    assert "sgr_sibling" in asked["arguments"][2]
    assert "sgr_own" not in asked["arguments"][2]
    assert "<" not in asked["arguments"][2]
