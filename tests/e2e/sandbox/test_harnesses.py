"""Each harness's real program, in a real sandbox: as the agent, under our seccomp profile, without rights."""

from dataclasses import replace

import pytest

from orchestrator.ports import SandboxSpec
from orchestrator.stack.harness_programs import HARNESS_PROGRAMS
from tests.e2e.sandbox.lab import Lab

pytestmark = pytest.mark.docker

KEEPS = {"claude_code": "/home/agent/.claude", "codex": "/home/agent/.codex"}
"""Where each keeps its conversations: on the task's own disk."""


@pytest.mark.parametrize("harness", HARNESS_PROGRAMS)
async def test_its_program_runs_and_can_keep_its_conversations(
    harness: str, lab: Lab, spec: SandboxSpec
) -> None:
    program = HARNESS_PROGRAMS[harness]
    command = f"/opt/harness/{harness}/{program.path}"
    async with lab.sandboxes(lab.blueprint(memory="1Gi")) as sandboxes:
        sandbox = await sandboxes.create(replace(spec, harness=harness))
        assert sandbox.facts["image"] == lab.images.by_harness[harness]
        assert sandbox.facts["harness"] == {
            "name": harness,
            "version": program.version,
            "integrity": program.package.integrity,
        }
        says = await sandboxes.execute(sandbox, [command, "--version"])
        assert (says.exit_code, program.version in says.output) == (0, True), says
        keeps = await sandboxes.execute(
            sandbox,
            ["sh", "-c", f"mkdir -p {KEEPS[harness]}/x && touch {KEEPS[harness]}/x/y && id -u"],
        )
        assert (keeps.exit_code, keeps.output.strip()) == (0, "10001"), keeps
        changed = await sandboxes.execute(sandbox, ["sh", "-c", f"echo x >> {command}"])
        assert changed.exit_code != 0, "its program is not the agent's to change"


async def test_the_native_loop_is_in_every_sandbox(lab: Lab, spec: SandboxSpec) -> None:
    async with lab.sandboxes(lab.blueprint(memory="1Gi")) as sandboxes:
        sandbox = await sandboxes.create(replace(spec, harness="codex"))
        says = await sandboxes.execute(sandbox, ["/opt/sandgate/native/run", "--help"])
        assert says.exit_code == 0, says
