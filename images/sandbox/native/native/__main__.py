"""`run --model PROVIDER:MODEL --system-file F ...` (see `arguments`): puts the loop together, runs it."""

import contextlib
import os
import signal
import sys
from functools import partial
from types import FrameType

from native import dialects, door, mcp, repository, shell, toolbox
from native.arguments import Arguments, NotStarted, parse
from native.asking import Asking
from native.compaction import Compaction
from native.events import GOOD_ENDS, Emit, emitter
from native.kept import Kept, NotKept, begun, resumed
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
    except (NotStarted, NotKept, Trouble) as error:
        return "error", str(error)
    except Interrupted as interrupted:
        return "interrupted", f"interrupted by {interrupted}"


def run(arguments: Arguments, emit: Emit) -> tuple[str, str]:
    """Connect, then loop; give the reason and the detail of its end.

    Raises:
        NotKept: there is no conversation as it was asked to go on with.
    """
    conversation = _conversation(arguments)
    spill = Spill()
    commands = shell.Shell(arguments.workdir, spill)
    own = toolbox.own_tools(arguments.workdir, commands, spill)
    started = partial(emit, "started", model=arguments.model, conversation=conversation.id)
    with (
        door.client(arguments.entrance, arguments.token, arguments.silence_s) as client,
        contextlib.closing(commands),
    ):
        gateway = mcp.Gateway("/mcp", client, emit, spill)
        offered, unreachable = _offered(gateway)
        if unreachable:
            started(tools=[tool.name for tool in own], unreachable=unreachable)
            return "tools", f"Sandgate's tools can't be reached: {unreachable}"
        tools = toolbox.Toolbox([*own, *offered], gateway, emit)
        started(tools=[tool.name for tool in tools.tools], unreachable="")
        dialect = dialects.load(arguments.dialect)
        model = Model(client, dialect, arguments.model, max_tokens=arguments.max_tokens)
        asking = Asking(model, emit)
        loop = Loop(
            asking,
            tools,
            Compaction(asking, conversation.aside(), emit),
            emit=emit,
            limits=Limits(arguments.max_turns, arguments.context_tokens),
            system=_system(arguments, gateway.peer.instructions),
            conversation=conversation,
        )
        ending = loop.run(arguments.prompt)
    return ending.reason, ending.detail


def _offered(gateway: mcp.Gateway) -> tuple[list[toolbox.Tool], str]:
    """The gateway's tools, or why there are none: without them no work can be handed in."""
    try:
        offered = toolbox.gateway_tools(gateway, gateway.connect())
    except Trouble as trouble:
        return [], str(trouble)
    return offered, "" if offered else "the MCP server lists none"


def _conversation(arguments: Arguments) -> Kept:
    folder = arguments.home / ".sandgate" / "conversations"
    return resumed(folder, arguments.resume) if arguments.resume else begun(folder)


def _system(arguments: Arguments, instructions: str) -> str:
    parts = [
        arguments.system,
        instructions,
        f"Working directory: {arguments.workdir}",
        repository.words(arguments.workdir),
    ]
    return "\n\n".join(part.strip() for part in parts if part.strip())


def _interrupt(number: int, _: FrameType | None) -> None:
    """Once is enough: what follows must be left to end in order."""
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.SIG_IGN)
    raise Interrupted(signal.Signals(number).name)


if __name__ == "__main__":
    sys.exit(main())
