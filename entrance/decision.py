"""The one shape of every policy question's answer. Refusal is a value, never an exception."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Allow:
    """It may happen now."""

    @property
    def word(self) -> str:
        return "allow"

    @property
    def reason(self) -> str:
        return ""


@dataclass(frozen=True, slots=True)
class Hold:
    """It waits for a person. `reason` is one sentence that an agent can act on."""

    reason: str

    @property
    def word(self) -> str:
        return "hold"


@dataclass(frozen=True, slots=True)
class Deny:
    """It may not happen. `reason` is one sentence that an agent can act on."""

    reason: str

    @property
    def word(self) -> str:
        return "deny"


Decision = Allow | Hold | Deny
