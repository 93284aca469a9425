"""What is checked of a push, and what a finding means [pure]. Each rule is a row of `entrance.git.checks`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Mode(StrEnum):
    """What a finding of a rule means for the push."""

    NOTE = "note"
    """It is written down, and the push goes on."""
    HOLD = "hold"
    """The push waits for a person."""
    DENY = "deny"
    """The push is refused."""

    @property
    def weight(self) -> int:
        """The more, the stricter."""
        return ("note", "hold", "deny").index(self.value)


def stricter(*modes: Mode) -> Mode:
    """The strictest of them; the mildest there is when there are none."""
    return max(modes, key=lambda mode: mode.weight, default=Mode.NOTE)


@dataclass(frozen=True, slots=True)
class PushPolicy:
    """What an installation and an engagement say of pushes. Nothing of it comes from what is pushed."""

    modes: Mapping[str, Mode] = field(default_factory=dict)
    """A rule's name to what its findings mean; a rule that isn't here has its own default."""
    gate_paths: tuple[str, ...] = ()
    """Paths, as globs, that count as gates besides those that always do."""
    max_file_bytes: int = 50 << 20
    max_pack_bytes: int = 2 << 30
