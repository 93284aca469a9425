"""Harnesses as people name them: `claude-code` is `claude_code`."""

from orchestrator.cli.codes import Code, CommandFailed
from orchestrator.stack.harness_programs import NAMES

CHOICE = "|".join(name.replace("_", "-") for name in NAMES)
"""How help texts name them all."""


def harness_of(text: str) -> str:
    """The harness's name in code and in Polarion. Raises: CommandFailed when there is none."""
    name = text.strip().replace("-", "_")
    if name not in NAMES:
        raise CommandFailed(f"--harness {text}: there is {CHOICE}", Code.USAGE)
    return name
