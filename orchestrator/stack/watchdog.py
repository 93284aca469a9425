"""Keeps the sandbox network closed while the runner, who otherwise does, is away.

Sandboxes outlive the runner for some minutes, so that a restart ends no run. A restart of the host's
own firewall in that time would open the whole host to them. It is a program of its own and as small
as can be: the kernel tells it of changes, and it makes the table again, with nobody let in. The door
is shut meanwhile anyway; the runner lets its sandboxes in again when it is back.
"""

import argparse
import asyncio
import sys
from collections.abc import Callable, Sequence
from contextlib import aclosing, suppress
from functools import partial
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path

from entrance.errors import SandgateError
from orchestrator.adapters.firewall.changes import changes
from orchestrator.adapters.firewall.nft import nft
from orchestrator.adapters.firewall.standing import counted_on, listed, wrong_with
from orchestrator.adapters.firewall.table import Bridge, table_text
from orchestrator.stack.pids import recorded_pid

POLL_S = 2.0
READY = "watching"
_ARGUMENTS = (
    *("name", "interface", "subnet", "gateway", "doors"),
    *("runner-pid", "home", "docker-host"),
)


def arguments_of(
    bridge: Bridge, *, runner_pid: Path, home: Path, docker_host: str
) -> tuple[str, ...]:
    """What the program is started with."""
    return (
        f"--name={bridge.name}",
        f"--interface={bridge.interface}",
        f"--subnet={bridge.subnet}",
        f"--gateway={bridge.gateway}",
        f"--doors={','.join(map(str, bridge.doors))}",
        f"--runner-pid={runner_pid}",
        f"--home={home}",
        f"--docker-host={docker_host}",
    )


def look(bridge: Bridge, *, away: bool, end_all: Callable[[], None]) -> str:
    """Close the network if nobody else does and it is open; a sentence when there was something to do.

    What can't be closed has no sandboxes any more afterwards. Blocking. Raises: SandgateError.
    """
    if not away:
        return ""
    try:
        found = listed(bridge)
        wrong = wrong_with(found, bridge)
        if not wrong:
            return ""
        nft("-f", "-", stdin=table_text(bridge, (), counted_on(found)))
    except SandgateError as error:
        end_all()
        return f"the network can't be closed, its sandboxes were ended: {error}"
    return f"closed the network again: {'; '.join(wrong)}"


async def watch(bridge: Bridge, runner_pid: Path, end_all: Callable[[], None]) -> None:
    """Look after each change and every few seconds, while the installation is there."""
    changed = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        listening = group.create_task(_listen(bridge, changed))
        said = ""
        while runner_pid.parent.is_dir():
            changed.clear()
            away = recorded_pid(runner_pid) is None
            try:
                says = await asyncio.to_thread(look, bridge, away=away, end_all=end_all)
            except SandgateError as error:
                says = str(error)
            if says and says != said:
                print(says, flush=True)  # noqa: T201 - its log
            said = says
            with suppress(TimeoutError):
                async with asyncio.timeout(POLL_S):
                    await changed.wait()
        listening.cancel()


async def _listen(bridge: Bridge, changed: asyncio.Event) -> None:
    while True:
        try:
            async with aclosing(changes(bridge.name)) as told:
                async for _ in told:
                    changed.set()
        except SandgateError:
            await asyncio.sleep(POLL_S)  # it looks by itself meanwhile


def _end_all(home: Path, docker_host: str) -> None:
    # Imported here: the engine's client is larger than all the rest, and needed only at the worst.
    from orchestrator.adapters.frozen_files import FrozenFiles  # noqa: PLC0415
    from orchestrator.stack.installation import Installation  # noqa: PLC0415
    from orchestrator.stack.remains import remains_of  # noqa: PLC0415
    from orchestrator.stack.steps import StepFailed  # noqa: PLC0415

    try:
        here = Installation.open(home, create=False)
        with remains_of(here, docker_host) as remains:
            for line in remains.containers(FrozenFiles(here.frozen).runs()):
                print(line, flush=True)  # noqa: T201 - its log
    except (StepFailed, OSError) as error:
        print(error, flush=True)  # noqa: T201 - its log


def main(argv: Sequence[str]) -> None:
    """Watch until killed."""
    parser = argparse.ArgumentParser()
    for name in _ARGUMENTS:
        parser.add_argument(f"--{name}", required=True)
    given = parser.parse_args(argv)
    bridge = Bridge(
        name=given.name,
        interface=given.interface,
        subnet=IPv4Network(given.subnet),
        gateway=IPv4Address(given.gateway),
        doors=tuple(map(int, given.doors.split(","))),
    )
    print(READY, flush=True)  # noqa: T201 - its log
    end_all = partial(_end_all, Path(given.home), given.docker_host)
    asyncio.run(watch(bridge, Path(given.runner_pid), end_all))


if __name__ == "__main__":
    main(sys.argv[1:])
