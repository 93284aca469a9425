"""The npm programs that these tests run, where `make conformance` has put them."""

import platform
import sys
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from orchestrator.settings import Environment
from orchestrator.stack.installation import Installation
from orchestrator.stack.npm_tree import lay_out
from orchestrator.stack.steps import StepFailed, Steps

HERE = Path(__file__).parent
_MACHINES = {"x86_64": "x64", "aarch64": "arm64"}


@dataclass(frozen=True)
class Programs:
    """Their `node_modules`."""

    modules: Path

    @property
    def node(self) -> str:
        return str(self.modules / f"node-linux-{_MACHINES[platform.machine()]}" / "bin" / "node")

    @property
    def suite(self) -> list[str]:
        """The conformance suite, as a command."""
        return [self.node, str(self.modules / "@modelcontextprotocol/conformance/dist/index.js")]

    @property
    def inspector(self) -> list[str]:
        """The Inspector, as a command."""
        return [self.node, str(self.modules / ".bin" / "mcp-inspector")]


def programs() -> Programs:
    """In place, fetched if they must be. Raises: StepFailed."""
    here = Installation.open(Environment().home, create=True)
    with Steps(Console()).step("MCP's own programs") as step:
        return Programs(lay_out(HERE, cache=here.cache, step=step))


if __name__ == "__main__":
    try:
        programs()
    except StepFailed as error:
        sys.exit(str(error))
