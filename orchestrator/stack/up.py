"""Brings an installation up on one machine: a chain of steps, each skipped when it is done already."""

from collections.abc import Mapping
from contextlib import closing

from orchestrator.settings import service_environment
from orchestrator.stack import (
    egress_proxy,
    engine,
    gvisor,
    local_git,
    network,
    pocketbase,
    registries,
    room,
    seccomp,
    services,
    wished,
)
from orchestrator.stack.engine import Engine
from orchestrator.stack.images import ImageBuilder, ImageTags
from orchestrator.stack.installation import Installation
from orchestrator.stack.packages import DebianPackages
from orchestrator.stack.steps import Steps
from orchestrator.stack.wiring import (
    Wishes,
    bridge_of,
    opensandbox_server,
    runner_env,
    wants_gvisor,
)

TOOLS = ("nftables", "iproute2", "e2fsprogs", "git")


def bring_up(wishes: Wishes, steps: Steps) -> Installation:
    """Bring it up, or what of it is missing. Raises: StepFailed, in a sentence.

    May be interrupted anywhere and run again: no step leaves anything that breaks the next try.
    """
    env = service_environment()
    debian = DebianPackages()
    with steps.step("Disk"):
        room.require_free(wishes.home, room.WORKING, "for databases and logs")
    with steps.step("Tools") as step:
        debian.ensure(TOOLS, doing=step.doing)
    with steps.step("Docker engine") as step:
        docker = engine.ensure(step, debian, docker_host=wishes.docker_host)
    if wants_gvisor(wishes.home):
        with steps.step("gVisor") as step:
            docker = gvisor.ensure(step, docker, debian)
    with steps.step("Installation") as step:
        here = Installation.open(wishes.home, create=True)
        step.note(f"{here.name}, {here.subnet}")
    with here.only_one():
        harnesses = wished.wished(here, wishes.harnesses)
        with steps.step("Images") as step:
            tags = ImageBuilder(
                engine=docker,
                name=here.name,
                cache=here.cache,
                debian=debian,
                harnesses=harnesses,
                execd_image=wishes.execd_image,
            ).ensure(step)
            wished.keep(here, harnesses)
        with steps.step("Package registries") as step:
            registries.ensure(here.home, here.cache, step)
        with steps.step("System calls of sandboxes") as step:
            seccomp.ensure(step, here, docker, tags.sandbox)
        _network(here, docker, steps)
        if egress_proxy.enabled(here):
            _egress_proxy(here, docker, tags, steps, env)
        _start(here, wishes, tags, steps, env)
    return here


def _network(here: Installation, docker: Engine, steps: Steps) -> None:
    with steps.step("Sandbox network") as step:
        client = docker.client()
        try:
            if network.ensure(client, bridge_of(here)):
                step.doing(f"making {here.network}")
        finally:
            client.close()


def _egress_proxy(
    here: Installation, docker: Engine, tags: ImageTags, steps: Steps, env: Mapping[str, str]
) -> None:
    """It refuses everything until the runner has written a policy."""
    with steps.step("Egress proxy") as step, closing(docker.client()) as client:
        if egress_proxy.prepare(here, client, tags.sandbox):
            step.doing("having sandboxes trust its authority")
        egress_proxy.service(here, env).ensure(step)


def _start(
    here: Installation, wishes: Wishes, tags: ImageTags, steps: Steps, env: Mapping[str, str]
) -> None:
    with steps.step("PocketBase") as step:
        pocketbase.service(here.home, here.ports.pocketbase).ensure(step)
    with steps.step("Polarion (embedded)") as step:
        services.polarion(here, env).ensure(step)
    with steps.step("OpenSandbox server") as step:
        services.opensandbox(opensandbox_server(here, wishes, tags), env).ensure(step)
    if local_git.in_use(here):
        with steps.step("Git host") as step:
            local_git.service(here, env).ensure(step)
    with steps.step("Watchdog of the firewall") as step:
        services.watchdog(here, bridge_of(here), wishes.docker_host, env).ensure(step)
    with steps.step("Runner and entrance") as step:
        services.runner(here, runner_env(here, wishes, tags, env)).ensure(step)
    with steps.step("Posture of the sandbox network") as step:
        services.require_posture(here, step)
