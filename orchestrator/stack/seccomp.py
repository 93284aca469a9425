"""Which system calls a sandbox may make: those of our own list that this engine's own profile allows, too.

Our list is the stricter by far, but written for no engine in particular. An engine knows more of its
kernel: what its default refuses, an update of it included, is refused in a sandbox from the next
`up` on. The default is read as the engine resolves it, for a container without capabilities.
"""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from errno import ENOSYS
from pathlib import Path
from typing import Any

import docker
from docker.errors import APIError, DockerException

from orchestrator.stack.content import digest
from orchestrator.stack.engine import Engine
from orchestrator.stack.installation import LABEL, Installation
from orchestrator.stack.opensandbox import SECCOMP
from orchestrator.stack.steps import Step, StepFailed

Rule = Mapping[str, Any]
ALLOW, ERRNO = "SCMP_ACT_ALLOW", "SCMP_ACT_ERRNO"
EQUAL, UNEQUAL, MASKED = "SCMP_CMP_EQ", "SCMP_CMP_NE", "SCMP_CMP_MASKED_EQ"
BUNDLES = (
    "/run/docker/containerd/daemon/io.containerd.runtime.v2.task/moby",
    "/run/containerd/io.containerd.runtime.v2.task/moby",
)
"""Where containers' resolved settings are: of an engine with a containerd of its own, of another."""


def file_of(here: Installation) -> Path:
    """The installation's profile; our own list until the engine was asked."""
    made = here.data("opensandbox") / "seccomp.json"
    return made if made.exists() else SECCOMP


def ensure(step: Step, here: Installation, docker: Engine, image: str) -> None:
    """Make the installation's profile, anew for another engine or kernel, or another list of ours.

    Raises: StepFailed when the engine runs no container.
    """
    made = here.data("opensandbox") / "seccomp.json"
    asked = made.with_suffix(".made")
    now = digest(SECCOMP.read_text(), docker.version, os.uname().release)
    if made.exists() and asked.exists() and asked.read_text() == now:
        return
    step.doing("asking the engine which calls it allows by itself")
    ours = json.loads(SECCOMP.read_text())
    client = docker.client()
    try:
        engines = engines_own(client, image, here.name)
    finally:
        client.close()
    if engines is None:
        step.note("its own list can't be read: ours alone")
        made.unlink(missing_ok=True)
        return
    profile = both(ours, engines)
    fewer = sorted(allowed(ours) - allowed(profile))
    step.note(
        f"{len(allowed(profile))} allowed" + (f", without {', '.join(fewer)}" if fewer else "")
    )
    part = made.with_suffix(".part")
    part.write_text(json.dumps(profile))
    part.replace(made)
    asked.write_text(now)


def both(ours: Mapping[str, Any], engines: Mapping[str, Any]) -> dict[str, Any]:
    """The profile that allows what both allow; all else as ours has it [pure].

    A call that only ours allows doesn't exist (ENOSYS): mostly the engine is older than it, and a
    program has another way. Where it can't be told whether two conditions can hold together, they don't.
    """
    rules = [kept for rule in ours["syscalls"] for kept in _kept(rule, engines)]
    met = {**ours, "syscalls": rules}
    if fewer := sorted(allowed(ours) - allowed(met)):
        met["syscalls"] = [*rules, {"names": fewer, "action": ERRNO, "errnoRet": ENOSYS}]
    return met


def allowed(profile: Mapping[str, Any]) -> set[str]:
    """The calls that a profile allows, whatever the conditions [pure]."""
    return {
        name for rule in profile["syscalls"] if rule["action"] == ALLOW for name in rule["names"]
    }


def engines_own(
    client: docker.DockerClient, image: str, installation: str
) -> dict[str, Any] | None:
    """The engine's default profile, resolved; None where its containers' settings can't be read.

    Raises: StepFailed when no container can be run.
    """
    try:
        container = client.containers.create(
            image,
            ["sleep", "60"],
            network_mode="none",
            cap_drop=["ALL"],
            labels={LABEL: installation},
        )
        try:
            container.start()
            return _resolved(str(container.id))
        finally:
            with suppress(APIError):
                container.remove(force=True)
    except (DockerException, OSError) as error:
        raise StepFailed("The engine's own rules can't be seen", why=str(error)) from error


def _resolved(container: str) -> dict[str, Any] | None:
    for bundles in BUNDLES:
        with suppress(OSError, ValueError, KeyError):
            settings = json.loads((Path(bundles) / container / "config.json").read_text())
            found: dict[str, Any] = settings["linux"]["seccomp"]
            return found
    return None


def _kept(rule: Rule, engines: Mapping[str, Any]) -> Iterator[Rule]:
    """What of one rule of ours the engine allows, too."""
    if rule["action"] != ALLOW:
        yield rule
        return
    bare = [name for name in rule["names"] if any(not args for args in _ways(name, engines))]
    if bare:
        yield {**rule, "names": bare}
    for name in rule["names"]:
        if name not in bare:
            for args in _met(rule.get("args") or [], _ways(name, engines)):
                yield {**rule, "names": [name], "args": args}


def _ways(name: str, profile: Mapping[str, Any]) -> list[Sequence[Mapping[str, Any]]]:
    """The conditions under each of which a profile allows a call; none: it doesn't."""
    if profile["defaultAction"] == ALLOW:
        return [()]
    return [
        rule.get("args") or ()
        for rule in profile["syscalls"]
        if rule["action"] == ALLOW and name in rule["names"]
    ]


def _met(
    ours: Sequence[Mapping[str, Any]], ways: Sequence[Sequence[Mapping[str, Any]]]
) -> Iterator[list[Mapping[str, Any]]]:
    """Our conditions together with each of the engine's, as far as they can hold together."""
    for way in ways:
        mine = {condition["index"]: condition for condition in ours}
        theirs = [condition for condition in way if condition["index"] not in mine]
        if all(_implies(mine[c["index"]], c) for c in way if c["index"] in mine):
            yield [*ours, *theirs]


def _implies(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> bool:
    """Whether an argument that fulfils our condition fulfils theirs, as far as that can be told."""
    if _plain(ours) == _plain(theirs):
        return True
    value = ours["value"]
    if ours["op"] != EQUAL:
        return False
    match theirs["op"]:
        case "SCMP_CMP_EQ":
            return bool(value == theirs["value"])
        case "SCMP_CMP_NE":
            return bool(value != theirs["value"])
        case "SCMP_CMP_MASKED_EQ":
            return bool(value & theirs["value"] == theirs.get("valueTwo", 0))
        case _:
            return False


def _plain(condition: Mapping[str, Any]) -> tuple[Any, ...]:
    return condition["op"], condition["value"], condition.get("valueTwo", 0)
