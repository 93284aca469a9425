"""`make images`: the engine, the tools and the images of an installation; no service is started."""

import sys

from rich.console import Console

from orchestrator.settings import Environment
from orchestrator.stack import engine
from orchestrator.stack.images import ImageBuilder
from orchestrator.stack.installation import Installation
from orchestrator.stack.packages import DebianPackages
from orchestrator.stack.steps import StepFailed, Steps
from orchestrator.stack.up import TOOLS


def main() -> int:
    """Build them; say why not in a sentence, and return the exit code."""
    steps = Steps(Console())
    environment = Environment()
    debian = DebianPackages()
    try:
        with steps.step("Tools") as step:
            debian.ensure(TOOLS, doing=step.doing)
        with steps.step("Docker engine") as step:
            docker = engine.ensure(step, debian, docker_host=environment.docker_host)
        here = Installation.open(environment.home, create=True)
        with here.only_one(), steps.step("Images") as step:
            ImageBuilder(engine=docker, name=here.name, cache=here.cache, debian=debian).ensure(
                step
            )
    except StepFailed as error:
        Console(stderr=True).print(str(error), markup=False, highlight=False)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
