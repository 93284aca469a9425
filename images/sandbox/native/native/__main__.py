"""`run --model MODEL --system-file F --prompt-file F --workdir DIR`: puts the loop together and runs it."""

import contextlib
import os
import signal
import sys
import threading
from types import FrameType

import httpx2

from native import mcp, toolbox
from native.arguments import Arguments, NotStarted, parse
from native.events import GOOD_ENDS, Emit, emitter
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

    The SDK's import takes longest, so it begins first.

    Raises:
        Trouble: the gateway refuses, or stayed away.
    """
    threading.Thread(target=_import_ahead, daemon=True).start()
    authorisation = {"Authorization": f"Bearer {arguments.token}"}
    with httpx2.Client(headers=authorisation, timeout=mcp.TIMEOUT, trust_env=False) as client:
        spill = Spill()
        gateway = mcp.Gateway(f"{arguments.entrance}/mcp", client, emit, spill)
        offered = toolbox.gateway_tools(gateway, gateway.connect())
        own = toolbox.own_tools(arguments.workdir, spill)
        tools = toolbox.Toolbox([*own, *offered], gateway, emit)
        emit("started", model=arguments.model, tools=tools.names)
        return _converse(arguments, tools, emit, _system(arguments, gateway.peer.instructions))


def _converse(
    arguments: Arguments, tools: toolbox.Toolbox, emit: Emit, system: str
) -> tuple[str, str]:
    from native.loop import Limits, Loop  # noqa: PLC0415 - see `run`
    from native.model import Model  # noqa: PLC0415

    base_url = f"{arguments.entrance}/model/anthropic"
    limits = Limits(arguments.max_turns, arguments.context_tokens)
    asked = Model(base_url, arguments.token, arguments.model, max_tokens=arguments.max_tokens)
    with contextlib.closing(asked) as model:
        loop = Loop(model, tools, emit=emit, limits=limits, system=system, prompt=arguments.prompt)
        ending = loop.run()
    return ending.reason, ending.detail


def _import_ahead() -> None:
    import native.model  # noqa: F401, PLC0415


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
