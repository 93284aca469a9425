"""`execd [--init] [--host H] [--port N] [ENTRYPOINT ...]`: hardened, listening, then serving.

`--init`: reap orphans and start ENTRYPOINT (default: nothing), as the sandbox's PID 1 does.
Environment: EXECD_ACCESS_TOKEN (required), EXECD_LOG_DIR (default: HOME, else /tmp), EXECD_ENVS.
Exit codes: 64 for wrong arguments, 78 without a token.

It listens before it has loaded the rest: who calls meanwhile waits some ms and is not refused.
"""

import socket
import sys

from execd.hardening import TOKEN_VARIABLE, OomScore, harden, take_token

PORT = 44772
BACKLOG = 128
USAGE, NO_TOKEN = 64, 78


def parse(argv: list[str]) -> tuple[bool, str, int, list[str]]:
    """Return (init, host, port, entrypoint). Raises: ValueError. (argparse would cost 8 ms.)"""
    given = {"--host": "0.0.0.0", "--port": str(PORT)}  # noqa: S104  # the token is the lock
    rest, init = list(argv), False
    while rest and rest[0].startswith("--"):
        option = rest.pop(0)
        if option == "--init":
            init = True
        elif option in given and rest:
            given[option] = rest.pop(0)
        elif option == "--":
            break
        else:
            raise ValueError(f"unknown option {option}")
    return init, given["--host"], int(given["--port"]), rest


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket whose connections send at once.

    An answer is several small writes: held back for the client's acknowledgement, a command takes
    40 ms longer. asyncio would see to it, but only on sockets whose protocol number is set.
    """
    listening = socket.create_server((host, port), backlog=BACKLOG)
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # inherited on accept
    return listening


def main() -> int:
    """Run execd. Returns only when it can't."""
    oom = OomScore()
    harden()
    token = take_token()
    try:
        init, host, port, entrypoint = parse(sys.argv[1:])
    except ValueError as error:
        print(f"execd: {error}", file=sys.stderr)
        return USAGE
    if not token:
        print(f"execd: refusing to start without {TOKEN_VARIABLE}", file=sys.stderr)
        return NO_TOKEN
    listening = listen(host, port)
    # asyncio imports ssl for TLS, which execd does not speak: 10 ms and 4 MB saved.
    sys.modules["ssl"] = None  # type: ignore[assignment]
    import asyncio  # noqa: PLC0415  # see the module's docstring

    from execd.daemon import serve  # noqa: PLC0415  # as above

    asyncio.run(serve(listening, token, oom, init=init, entrypoint=entrypoint))
    return 0


if __name__ == "__main__":
    sys.exit(main())
