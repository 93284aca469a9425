"""`python -m proxy`: the egress proxy of one installation."""

import argparse
import sys
from pathlib import Path

import structlog

from proxy.engine import Config, run


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
    config = Config(**vars(parser.parse_args(arguments)))
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso"),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ],
    )
    try:
        run(config)
    except (OSError, ValueError) as error:
        print(f"the egress proxy can't start: {error}", file=sys.stderr)  # noqa: T201
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
