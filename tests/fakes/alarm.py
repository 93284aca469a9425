"""An alarm that remembers, and the canaries that it is about."""

from dataclasses import dataclass, field

from entrance.honeytokens.canaries import canaries_of
from entrance.ports import Touched
from entrance.session import RunId

HONEY = b"h" * 32
"""What the canaries of tests are derived from."""


@dataclass
class FakeAlarm:
    """`entrance.ports.Alarm` for tests."""

    touched: list[Touched] = field(default_factory=list)

    def raised(self, touched: Touched) -> None:
        self.touched.append(touched)


def canary(run: str, name: str = "aws-secret") -> str:
    """The value of a run's canary."""
    return next(one.value for one in canaries_of(HONEY, RunId(run)) if one.name == name)
