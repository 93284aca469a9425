"""From probes to orders, and from what was found to results [pure].

A probe is well when the sandbox saw what is expected AND the canaries counted what is expected: what
one of them can't see, the other does. What said nothing has failed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from orchestrator.posture.probe import Probe, Stage, Tier, Who

LONGEST = 400
SAID_NOTHING = "nothing was said"
SILENT = ("closed", "silent", "cut", "not told")
"""Words of who got no answer."""
NOT_HERE = "there is nothing of the kind here"
NOT_IN_TIER = "it isn't promised under gVisor"
NO_SECOND_DOOR = "there is no egress proxy"
SECOND_DOOR = "there is an egress proxy"


@dataclass(frozen=True, slots=True)
class Found:
    """What a probe found: a word, what it rests on, and how long it took."""

    word: str
    evidence: str = ""
    ms: int = 0


@dataclass(frozen=True, slots=True)
class Result:
    """A probe that was tried."""

    probe: Probe
    found: Found
    counted: int | None
    """What the canaries counted; None where none could."""
    expected: tuple[str, ...]

    @property
    def ok(self) -> bool:
        agreed = self.probe.canary is None or self.counted == self.probe.canary
        return self.found.word in self.expected and agreed

    @property
    def unanswered(self) -> bool:
        """Whether it failed only because nobody answered: a busy machine does that, an open wall doesn't."""
        silent = self.found.word in {SAID_NOTHING, *SILENT} or self.found.word.startswith("closed ")
        return not self.ok and silent and self.counted in {None, 0}

    @property
    def told(self) -> str:
        """What was found, in one piece: what an acceptance of it is bound to."""
        if self.probe.canary is None or self.counted == self.probe.canary:
            return self.found.word
        return f"{self.found.word}, but the canaries counted {self.counted}"


def why_skipped(probe: Probe, stage: Stage, tier: Tier) -> str:
    """Why the probe isn't tried on this stage; empty when it is."""
    if not probe.well(tier):
        return NOT_IN_TIER
    if probe.second_door is not None and probe.second_door != stage.second_door:
        return SECOND_DOOR if stage.second_door else NO_SECOND_DOOR
    return NOT_HERE if probe.arguments(stage) is None else ""


def orders(probes: Sequence[Probe], stage: Stage, who: Who) -> list[dict[str, Any]]:
    """What `who` is to do, as the script in a sandbox reads it."""
    return [
        {"name": probe.name, "how": probe.how, "arguments": list(probe.arguments(stage) or ())}
        for probe in probes
        if probe.who == who
    ]


def judge(
    probes: Sequence[Probe], tier: Tier, found: Mapping[str, Found], counted: Mapping[str, int]
) -> list[Result]:
    """The results of these probes, which were all tried."""
    return [
        Result(
            probe,
            found.get(probe.name, Found(SAID_NOTHING)),
            None if probe.canary is None else counted.get(probe.name, 0),
            probe.well(tier),
        )
        for probe in probes
    ]


def found_in(line: Mapping[str, Any]) -> tuple[str, Found] | None:
    """A line of the script: the probe's name, and what it found; None when it is no such line."""
    name, word = line.get("name"), line.get("found")
    evidence, ms = line.get("evidence", ""), line.get("ms", 0)
    if not isinstance(name, str) or not isinstance(word, str) or not isinstance(ms, int):
        return None
    return name, Found(word[:LONGEST], str(evidence)[:LONGEST], ms)
