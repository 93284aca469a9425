"""`python -m orchestrator.stack.scripted --script FILE --port N`."""

import argparse
import asyncio
import contextlib
import signal
import sys
from collections.abc import Awaitable
from pathlib import Path

from orchestrator import logs
from orchestrator.stack.scripted.loading import ScenarioError, load
from orchestrator.stack.scripted.server import serve


def main(argv: list[str] | None = None) -> int:
    """Serve until SIGINT or SIGTERM; 2 if the file can't be played, 1 if the port can't be had."""
    logs.configure()
    options = _options(argv)
    try:
        scenario = load(options.script)
        key = options.api_key_file.read_text().strip() if options.api_key_file else None
    except ScenarioError as error:
        return _complain(str(error), 2)
    except OSError as error:
        return _complain(f"the key file can't be read: {error}", 2)
    if key == "":
        return _complain(f"{options.api_key_file} is empty: put the key into it", 2)
    serving = serve(scenario, host=options.host, port=options.port, api_key=key, on_ready=_announce)
    try:
        asyncio.run(_until_signal(serving))
    except OSError as error:
        return _complain(f"can't listen on {options.host}:{options.port}: {error}", 1)
    return 0


async def _until_signal(serving: Awaitable[None]) -> None:
    here = asyncio.current_task()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, lambda: here and here.cancel())
    with contextlib.suppress(asyncio.CancelledError):
        await serving


def _options(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("scripted", description="A model that plays a scenario file.")
    parser.add_argument("--script", type=Path, required=True)
    parser.add_argument("--port", type=int, required=True, help="0 takes a free one")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--api-key-file", type=Path, help="requests must carry the key in it")
    return parser.parse_args(argv)


def _announce(host: str, port: int) -> None:
    print(f"scripted model on http://{host}:{port}", flush=True)  # noqa: T201 - a program's one word


def _complain(message: str, code: int) -> int:
    print(message, file=sys.stderr)  # noqa: T201 - a sentence for a person
    return code


if __name__ == "__main__":
    sys.exit(main())
