"""The battery as a whole: what is tried of each image, and what is tried once more."""

from collections.abc import Mapping, Sequence
from subprocess import TimeoutExpired
from typing import Any

import pytest

from entrance.errors import Unavailable
from orchestrator.adapters.posture.battery import SandboxBattery, for_images
from orchestrator.adapters.posture.playing import MOST_WORKERS, workers_for
from orchestrator.posture.battery import BATTERY
from orchestrator.posture.judging import Found
from orchestrator.posture.probe import Area, Probe, Wall


def a_probe(name: str, **changes: Any) -> Probe:
    return Probe(name, Area.DOOR, Wall.ROUTES, "Nothing is there.", "asks", **changes)


class Answers:
    """A stage on which each try of a probe finds the next of its words."""

    def __init__(self, **words: Sequence[str]) -> None:
        self.words = {name.replace("_", "-"): list(said) for name, said in words.items()}
        self.asked: list[list[str]] = []

    async def play(
        self, probes: Sequence[Probe], _tell: object = None
    ) -> tuple[Mapping[str, Found], Mapping[str, int]]:
        self.asked.append([probe.name for probe in probes])
        return {probe.name: Found(self.words[probe.name].pop(0)) for probe in probes}, {}


async def played(stage: Answers, *probes: Probe) -> dict[str, str]:
    nothing: Any = None
    playing: Any = stage
    results = await SandboxBattery(nothing)._play(playing, probes, "runc", lambda _: None)
    return {result.probe.name: result.found.word for result in results}


async def test_who_got_no_answer_is_asked_once_more() -> None:
    stage = Answers(busy=["silent", "404"], well=["404"])
    probes = [a_probe(name, expected=("404",)) for name in ("busy", "well")]
    assert await played(stage, *probes) == {"busy": "404", "well": "404"}
    assert stage.asked == [["busy", "well"], ["busy"]]


async def test_what_was_open_once_is_open() -> None:
    """A second try that finds it closed would hide a wall that holds now and then."""
    stage = Answers(open=["200", "404"])
    assert await played(stage, a_probe("open", expected=("404",))) == {"open": "200"}
    assert len(stage.asked) == 1


class BusyMachine:
    """Hands on a machine that doesn't get round to what it is told."""

    @property
    def bridge(self) -> object:
        raise TimeoutExpired(["ip"], 5)


async def test_a_machine_that_is_too_busy_for_a_command_is_a_battery_that_cannot_run() -> None:
    hands: Any = BusyMachine()
    nothing: Any = None
    with pytest.raises(Unavailable, match="could not be set up"):
        await SandboxBattery(hands).run(nothing, lambda _: None)


def test_files_are_looked_at_in_the_image_of_every_harness() -> None:
    probes = for_images(BATTERY, ["native", "codex", "claude_code"])
    by_name = {probe.name: probe for probe in probes}
    assert len(by_name) == len(probes)
    assert (by_name["setuid"].who, by_name["setuid@codex"].who) == ("sandbox", "sibling")
    assert by_name["setuid@claude_code"].who == "image:claude_code"
    assert "door-open@codex" not in by_name
    assert for_images(BATTERY, ["native"]) == list(BATTERY)


def test_so_many_are_tried_at_once_as_there_may_be_processes() -> None:
    assert [workers_for(pids) for pids in (16, 64, 512)] == [4, 16, MOST_WORKERS]
