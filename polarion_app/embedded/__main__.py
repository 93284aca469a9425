"""`python -m polarion_app.embedded`: serves until SIGTERM or SIGINT."""

import argparse
import asyncio
import signal
import sys
from datetime import UTC, datetime
from pathlib import Path

import structlog
from aiohttp import web

from polarion_app.config import load
from polarion_app.embedded.app import create_app
from polarion_app.embedded.options import Options
from polarion_app.embedded.routes.call import PREFIX

MIN_TOKEN_LENGTH = 16
MAX_LINE = 64 * 1024
"""Some clients ask for the fields of every resource type in one long address."""


def main(arguments: list[str] | None = None) -> int:
    """Exit codes: 0 stopped by a signal, 1 could not serve, 2 wrong use."""
    args = _parser().parse_args(arguments)
    _log_to_stderr()
    try:
        token = _token(args.admin_token_file)
    except (OSError, ValueError) as error:
        print(f"the administrator's token can't be read: {error}", file=sys.stderr)  # noqa: T201
        return 2
    try:
        asyncio.run(_serve(args, token))
    except (OSError, RuntimeError) as error:
        print(f"the embedded Polarion can't serve: {error}", file=sys.stderr)  # noqa: T201
        return 1
    return 0


async def _serve(args: argparse.Namespace, token: str) -> None:
    args.data.mkdir(parents=True, exist_ok=True, mode=0o700)
    options = Options(strict=args.strict, max_page_size=args.max_page_size)
    app = create_app(args.data, token, load(), options, _now)
    runner = web.AppRunner(app, access_log=None, max_line_size=MAX_LINE, max_field_size=MAX_LINE)
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    try:
        await runner.setup()
        site = web.TCPSite(runner, args.host, args.port, shutdown_timeout=5)
        await site.start()
        host, port = runner.addresses[0][:2]
        print(f"serving http://{host}:{port}{PREFIX}", flush=True)  # noqa: T201 - port 0 is told here
        await stop.wait()
    finally:
        await runner.cleanup()


def _log_to_stderr() -> None:
    """One JSON object a line, tracebacks without the values of variables: those may be secrets."""
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ],
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )


def _now() -> datetime:
    return datetime.now(UTC)  # noqa: TID251 - this is where the clock comes from


def _token(path: Path) -> str:
    token = path.read_text("utf-8").strip()
    if len(token) < MIN_TOKEN_LENGTH or not token.isascii() or not token.isprintable():
        raise ValueError(
            f"{path} must hold one line of {MIN_TOKEN_LENGTH} or more ASCII characters"
        )
    return token


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m polarion_app.embedded", description=__doc__)
    parser.add_argument(
        "--data", type=Path, required=True, help="folder of database and attachments"
    )
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
    parser.add_argument("--port", type=int, required=True, help="0 picks a free one and prints it")
    parser.add_argument(
        "--admin-token-file",
        type=Path,
        required=True,
        help="holds the administrator's access token",
    )
    parser.add_argument(
        "--strict",
        action="store_true",
        help="refuse unknown options, custom fields and link targets",
    )
    parser.add_argument("--max-page-size", type=int, default=100, help="largest page of a list")
    return parser


if __name__ == "__main__":
    sys.exit(main())
