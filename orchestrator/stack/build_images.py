"""`make images`: the engine, the tools and the images of an installation; no service is started."""

import argparse
import sys

from rich.console import Console

from orchestrator.ports.sandboxes import STDIO
from orchestrator.settings import Environment
from orchestrator.stack import engine
from orchestrator.stack.harness_programs import HARNESS_PROGRAMS
from orchestrator.stack.images import ImageBuilder
from orchestrator.stack.installation import Installation
from orchestrator.stack.packages import DebianPackages
from orchestrator.stack.steps import StepFailed, Steps
from orchestrator.stack.up import TOOLS
from orchestrator.stack.wished import wished


def main() -> int:
    """Build them; say why not in a sentence, and return the exit code."""
    parser = argparse.ArgumentParser(description="Builds the images of an installation.")
    parser.add_argument(
        "--every-harness",
        action="store_true",
        help="those of all harnesses and of MCP servers; else only those that the installation was asked for",
    )
    every = parser.parse_args().every_harness
    try:
        _build(Steps(Console()), (*HARNESS_PROGRAMS, STDIO) if every else ())
    except StepFailed as error:
        Console(stderr=True).print(str(error), markup=False, highlight=False)
        return 1
    return 0


def _build(steps: Steps, harnesses: tuple[str, ...]) -> None:
    environment = Environment()
    debian = DebianPackages()
    with steps.step("Tools") as step:
        debian.ensure(TOOLS, doing=step.doing)
    with steps.step("Docker engine") as step:
        docker = engine.ensure(step, debian, docker_host=environment.docker_host)
    here = Installation.open(environment.home, create=True)
    with here.only_one(), steps.step("Images") as step:
        ImageBuilder(
            engine=docker,
            name=here.name,
            cache=here.cache,
            debian=debian,
            harnesses=wished(here, harnesses),
        ).ensure(step)


if __name__ == "__main__":
    sys.exit(main())
