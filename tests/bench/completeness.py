"""The completeness of the egress log with the full load: 20 sandboxes, 50,000 attempts.

    python -m tests.bench.completeness [--sandboxes 20] [--attempts 50000]

What CI tries with fewer (tests/e2e/system/test_completeness.py), in an installation of its own: the
runner and then the egress proxy are killed in the middle. The last line is one JSON object.
"""

import argparse
import json
import os
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

from tests.e2e.completeness.trial import tried, wanted
from tests.e2e.conftest import FILES
from tests.e2e.house import open_house
from tests.servers.certificates import WebAuthority

SCENARIO = Path(__file__).parents[1] / "e2e" / "scenario.yaml"
MOST_TOLD = 40
TARGETS = {"wrong": 0}
"""Attempts that are not in the log as they must be; and the chain is whole."""


def main(options: argparse.Namespace) -> int:
    """Try it, tell the figures; 1 when anything doesn't agree."""
    with tempfile.TemporaryDirectory() as name:
        web = WebAuthority(Path(name))
        opened = contextmanager(open_house)
        with opened(Path(name) / "home", FILES, SCENARIO, wanted(web)) as house:
            result = tried(house, web, options.sandboxes, options.attempts)
    for sentence in result.wrong[:MOST_TOLD]:
        print(sentence)  # noqa: T201
    whole = not result.wrong and bool(result.verified["ok"])
    told = {
        "bench": "completeness",
        "ratios": {},
        "figures": {**result.figures, "wrong": len(result.wrong)},
        "targets": TARGETS,
        "met": whole,
        "load": os.getloadavg()[0],
    }
    print(json.dumps(told))  # noqa: T201
    return 0 if whole else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--sandboxes", type=int, default=20)
    parser.add_argument("--attempts", type=int, default=50_000)
    sys.exit(main(parser.parse_args()))
