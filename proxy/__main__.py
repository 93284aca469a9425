"""`python -m proxy`: the egress proxy of one installation."""

import argparse
import sys
from pathlib import Path

import structlog

from proxy.engine import Config, run
from proxy.supervisor import CANT_START, child_command, supervise


def main(arguments: list[str]) -> int:
    """Run it; say in a line why it can't."""
    parser = argparse.ArgumentParser(prog="python -m proxy", description=__doc__)
    parser.add_argument("--host", required=True, help="address to listen on")
    parser.add_argument("--port", type=int, required=True, help="port to listen on")
    for name, help_text in (
        ("policy", "the policy file that the runner writes"),
        ("recorder", "the Unix socket of the log"),
        ("state", "folder for status and usage"),
        ("key", "the authority's private key"),
        ("certificate", "the authority's certificate"),
        ("upstream", "bundle of authorities that servers are verified against"),
    ):
        parser.add_argument(f"--{name}", type=Path, required=True, help=help_text)
    parser.add_argument(
        "--unsupervised", action="store_true", help="not started again when it dies"
    )
    given = vars(parser.parse_args(arguments))
    alone: bool = given.pop("unsupervised")
    config = Config(**given)
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso"),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ],
    )
    if not alone:
        return supervise(child_command(arguments))
    try:
        run(config)
    except (OSError, ValueError) as error:
        print(f"the egress proxy can't start: {error}", file=sys.stderr)  # noqa: T201
        return CANT_START
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
