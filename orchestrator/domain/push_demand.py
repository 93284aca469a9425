"""What an engagement asks of pushes, in YAML, and what comes of it with what its installation says [pure]."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, Field

from entrance.git.checks.rules import NAMED, RULES, mode_of
from entrance.push_policy import Mode, PushPolicy, stricter
from orchestrator.domain.egress import Unreadable
from orchestrator.domain.policy_text import EXACTLY, Size, read_text

MOST_GATES = 200
_LONGEST_GLOB = 200
_MOST_DEEP = 3


@dataclass(frozen=True, slots=True)
class Demand:
    """What one engagement asks for besides: it adds to what the installation says, and never takes away."""

    modes: Mapping[str, Mode] = field(default_factory=dict)
    gate_paths: tuple[str, ...] = ()
    max_file_bytes: int | None = None
    max_pack_bytes: int | None = None


def checked_modes(modes: Mapping[str, Mode]) -> Mapping[str, Mode]:
    """The same. Raises: ValueError for a rule that there isn't, or that no policy makes milder."""
    for name, mode in modes.items():
        if name not in NAMED:
            raise ValueError(f"there is no rule {name!r:.40}; there are {', '.join(NAMED)}")
        if mode_of(NAMED[name], modes) is not mode:
            raise ValueError(f"{name} is always {NAMED[name].mode}")
    return modes


def checked_globs(globs: Iterable[str]) -> tuple[str, ...]:
    """The same. Raises: ValueError for what is no path from the repository's root."""
    known = tuple(globs)
    if len(known) > MOST_GATES:
        raise ValueError(f"there may be {MOST_GATES} at most")
    for glob in known:
        parts = glob.split("/")
        if (
            not 0 < len(glob) <= _LONGEST_GLOB
            or not glob.isprintable()
            or "\\" in glob
            or not {"", ".", ".."}.isdisjoint(parts)
            or parts.count("**") > _MOST_DEEP
        ):
            raise ValueError(
                f"{glob!r:.60}: a path begins at the repository's root, without `/`, `.` and `..`, and has "
                f"`**` {_MOST_DEEP} times at most"
            )
    return known


def pushes_of(text: str, item: str) -> Demand | Unreadable:
    """What the text of `item` asks for; an empty one asks for nothing."""
    read = read_text(_Demand, text, item, "the push policy")
    return read if isinstance(read, Unreadable) else read.demand()


def tightened(base: PushPolicy, demand: Demand) -> PushPolicy:
    """What holds for an engagement's runs: of each the stricter, of gates all, of sizes the lesser."""
    return PushPolicy(
        modes={
            rule.name: stricter(mode_of(rule, base.modes), demand.modes.get(rule.name, Mode.NOTE))
            for rule in RULES
        },
        gate_paths=tuple(dict.fromkeys((*base.gate_paths, *demand.gate_paths))),
        max_file_bytes=min(base.max_file_bytes, demand.max_file_bytes or base.max_file_bytes),
        max_pack_bytes=min(base.max_pack_bytes, demand.max_pack_bytes or base.max_pack_bytes),
    )


def policy_json(policy: PushPolicy) -> dict[str, Any]:
    """What a policy means, every rule named."""
    return {
        "rules": [
            {
                "rule": rule.name,
                "mode": str(mode_of(rule, policy.modes)),
                "default": str(rule.mode),
                "fixed": rule.fixed,
                "about": rule.about,
            }
            for rule in RULES
        ],
        "gate_paths": list(policy.gate_paths),
        "max_file_bytes": policy.max_file_bytes,
        "max_pack_bytes": policy.max_pack_bytes,
    }


class _Demand(BaseModel):
    model_config = EXACTLY

    modes: Annotated[
        dict[str, Annotated[Mode, Field(strict=False)]], AfterValidator(checked_modes)
    ] = {}
    gate_paths: Annotated[list[str], AfterValidator(checked_globs)] = []
    max_file_size: Size | None = None
    max_pack_size: Size | None = None

    def demand(self) -> Demand:
        return Demand(self.modes, tuple(self.gate_paths), self.max_file_size, self.max_pack_size)
