"""`run --model PROVIDER:MODEL --system-file F ...` (see `arguments`): puts the loop together, runs it."""

import contextlib
import os
import signal
import sys
from types import FrameType

from native import dialects, door, mcp, toolbox
from native.arguments import Arguments, NotStarted, parse
from native.events import GOOD_ENDS, Emit, emitter
from native.loop import Limits, Loop
from native.model import Model
from native.output import Spill
from native.patience import Trouble


class Interrupted(BaseException):
    """A signal asked the loop to end."""


def main(argv: list[str] | None = None) -> int:
    """Run to an `ended` event; 0 if the agent handed in, asked, delegated or stopped by itself."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)
    emit = emitter(sys.stdout.buffer)
    reason, detail = _ended(argv, emit)
    with contextlib.suppress(BrokenPipeError):
        emit("ended", reason=reason, detail=detail)
    code = 0 if reason in GOOD_ENDS else 1
    sys.stderr.flush()
    os._exit(code)  # threads that wait for the network must not hold the end up


def _ended(argv: list[str] | None, emit: Emit) -> tuple[str, str]:
    try:
        return run(parse(argv), emit)
    except (NotStarted, Trouble) as error:
        return "error", str(error)
    except Interrupted as interrupted:
        return "error", f"interrupted by {interrupted}"


def run(arguments: Arguments, emit: Emit) -> tuple[str, str]:
    """Connect, then loop; give the reason and the detail of its end.

    Raises:
        Trouble: the gateway refuses, or stayed away.
    """
    silence_s = arguments.silence_s
    with door.client(arguments.entrance, arguments.token, silence_s) as client:
        spill = Spill()
        gateway = mcp.Gateway("/mcp", client, emit, spill)
        offered = toolbox.gateway_tools(gateway, gateway.connect())
        own = toolbox.own_tools(arguments.workdir, spill)
        tools = toolbox.Toolbox([*own, *offered], gateway, emit)
        emit("started", model=arguments.model, tools=[tool.name for tool in tools.tools])
        dialect = dialects.load(arguments.dialect)
        loop = Loop(
            Model(client, dialect, arguments.model, max_tokens=arguments.max_tokens),
            tools,
            emit=emit,
            limits=Limits(arguments.max_turns, arguments.context_tokens),
            system=_system(arguments, gateway.peer.instructions),
            prompt=arguments.prompt,
        )
        ending = loop.run()
    return ending.reason, ending.detail


def _system(arguments: Arguments, instructions: str) -> str:
    parts = [arguments.system, instructions, f"Working directory: {arguments.workdir}"]
    return "\n\n".join(part.strip() for part in parts if part.strip())


def _interrupt(number: int, _: FrameType | None) -> None:
    """Once is enough: what follows must be left to end in order."""
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.SIG_IGN)
    raise Interrupted(signal.Signals(number).name)


if __name__ == "__main__":
    sys.exit(main())
