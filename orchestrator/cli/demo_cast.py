"""Who works in the demo: a harness and a model, and the agent that has them [pure]."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from entrance.model.prices import PriceList
from orchestrator.cli.codes import Code, CommandFailed
from orchestrator.harnesses import HARNESSES

NAME = "rex"
LONGEST_NAME = 63
PROVIDERS = ("anthropic", "openai", "google")
"""The demo's model providers, each called like the API that it speaks."""

USUAL: Mapping[str, str] = {
    "native": "anthropic:claude-sonnet-5",
    "claude_code": "anthropic:claude-sonnet-5",
    "codex": "openai:gpt-6.2-sol",
}
"""By harness: the model that works unless another is wished for."""


@dataclass(frozen=True, slots=True)
class Cast:
    """An agent of its own for each harness and model, so that demos don't change each other's."""

    harness: str
    model: str
    agent: str

    @property
    def title(self) -> str:
        """How people call the agent."""
        return self.agent.capitalize()


def cast_of(harness: str, model: str, prices: PriceList) -> Cast:
    """The demo's agent; an empty `model` is the harness's usual one.

    Raises: CommandFailed when the harness can't work with the model, or nobody knows its price.
    """
    usual = USUAL[harness]
    wanted = model or usual
    provider, _, name = wanted.partition(":")
    speaks = HARNESSES[harness].speaks
    if provider not in speaks or not name:
        possible = " or ".join(f"{each}:NAME" for each in PROVIDERS if each in speaks)
        raise CommandFailed(f"--model {wanted}: {_shown(harness)} takes {possible}", Code.USAGE)
    if not prices.knows(wanted):
        known = ", ".join(sorted(one for one in prices.models if one.startswith(f"{provider}:")))
        raise CommandFailed(
            f"--model {wanted}: it has no price, so no run may use it; there is {known}", Code.USAGE
        )
    parts = [NAME]
    if (harness, wanted) != ("native", USUAL["native"]):
        parts.append(_shown(harness))
    if wanted != usual:
        parts.append(re.sub(r"[^A-Za-z0-9._-]", "-", name))
    return Cast(harness, wanted, "-".join(parts)[:LONGEST_NAME])


def _shown(harness: str) -> str:
    return harness.replace("_", "-")
