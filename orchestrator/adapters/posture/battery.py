"""`SandboxBattery`: the whole battery, once, on a stage of its own."""

import asyncio
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from subprocess import SubprocessError

from docker.errors import DockerException

from entrance.errors import SandgateError, Unavailable
from entrance.session import RunId
from orchestrator.adapters.posture import host
from orchestrator.adapters.posture.hands import Hands
from orchestrator.adapters.posture.playing import Playing
from orchestrator.adapters.posture.stage import set_stage
from orchestrator.posture.battery import BATTERY
from orchestrator.posture.judging import Result, judge, why_skipped
from orchestrator.posture.ports import Findings, Tell
from orchestrator.posture.probe import Area, Probe, Tier
from orchestrator.posture.report import Configuration


class SandboxBattery:
    """Implements `posture.proving.Battery`."""

    def __init__(self, hands: Hands, probes: Sequence[Probe] = BATTERY) -> None:
        self._hands = hands
        self._probes = probes
        self._live: set[RunId] = set()

    @property
    def live(self) -> frozenset[RunId]:
        """The runs that its sandboxes are of, now."""
        return frozenset(self._live)

    async def configuration(self) -> Configuration:
        """What the walls are made of now. Raises: Unavailable."""
        return await asyncio.to_thread(self._configuration)

    async def run(self, configuration: Configuration, tell: Tell) -> Findings:
        """Try everything, once. Raises: Unavailable, Forbidden, Conflict."""
        tell("making sandboxes and canaries")
        try:
            async with set_stage(self._hands, self._live) as playing:
                probes = for_images(self._probes, list(self._hands.made.images))
                skipped = {
                    probe.name: why
                    for probe in probes
                    if (why := why_skipped(probe, playing.stage, configuration.tier))
                }
                tried = [probe for probe in probes if probe.name not in skipped]
                results = await self._play(playing, tried, configuration.tier, tell)
                tell("removing the sandboxes")
        except* SandgateError as errors:
            raise _first(errors) from None
        except* (DockerException, OSError, SubprocessError) as errors:
            raise Unavailable(f"the battery could not be set up: {_first(errors)}") from None
        egress = self._hands.egress
        generation = egress.generation if egress else None
        return Findings(results, skipped, generation)

    async def _play(
        self, playing: Playing, probes: Sequence[Probe], tier: Tier, tell: Tell
    ) -> list[Result]:
        """Try them; those that nobody answered once more, as the machine may have been busy."""
        results = judge(probes, tier, *await playing.play(probes, tell))
        again = [result.probe for result in results if result.unanswered]
        if not again:
            return results
        tell(f"{len(again)} probes once more")
        later = {one.probe.name: one for one in judge(again, tier, *await playing.play(again))}
        return [later.get(result.probe.name, result) for result in results]

    def _configuration(self) -> Configuration:
        try:
            with closing(self._hands.engine()) as client:
                return host.configuration(client, self._hands.bridge, self._hands.made)
        except (DockerException, OSError) as error:
            raise Unavailable(f"the engine doesn't answer: {error}") from error


def for_images(probes: Sequence[Probe], harnesses: Sequence[str]) -> list[Probe]:
    """The probes, and those about files once more for every other harness's image [pure].

    The names of the copies end in `@` and the harness.
    """
    others = {
        harness: "sibling" if number == 0 else f"image:{harness}"
        for number, harness in enumerate(harnesses[1:])
    }
    copies = [
        replace(probe, name=f"{probe.name}@{harness}", who=who)
        for harness, who in others.items()
        for probe in probes
        if probe.area is Area.FILES
    ]
    return [*probes, *copies]


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    found: BaseException = group
    while isinstance(found, BaseExceptionGroup):
        found = found.exceptions[0]
    return found
