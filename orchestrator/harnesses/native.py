"""Sandgate's own loop, which lives in the sandbox image (images/sandbox/native)."""

from collections.abc import Mapping
from typing import Any

from orchestrator.harnesses.lines import object_in, raw, text_at
from orchestrator.ports import Assignment, Start

FOLDER = "/home/agent/.sandgate"
"""Outside of the repository's tree, so that nothing of ours is ever committed."""


class Native:
    """Starts the native loop; its lines are our events already."""

    name = "native"
    speaks = frozenset({"anthropic", "openai", "google"})

    def start(self, assignment: Assignment) -> Start:
        """The command and its two files."""
        return Start(
            argv=[
                "/opt/sandgate/native/run",
                "--model",
                assignment.model,
                "--system-file",
                f"{FOLDER}/system.md",
                "--prompt-file",
                f"{FOLDER}/prompt.md",
                "--workdir",
                assignment.workdir,
                *_unless_empty("--dialect", assignment.dialect),
                *_unless_empty("--resume", assignment.resume),
            ],
            env={
                "SANDGATE_ENTRANCE": assignment.entrance,
                "SANDGATE_RUN_TOKEN": assignment.run_token,
                **assignment.env,
            },
            files={
                f"{FOLDER}/system.md": assignment.system.encode(),
                f"{FOLDER}/prompt.md": assignment.prompt.encode(),
            },
            cwd=assignment.workdir,
        )

    def kept_at(self, conversation: str, workdir: str) -> str:  # noqa: ARG002 - the port's
        """The loop's own file, whichever folder it works in."""
        return f"{FOLDER}/conversations/{conversation}.jsonl"

    def read(self, line: str) -> tuple[str, Mapping[str, Any]]:
        """A line is `{"type": ..., ...}`; what can't be read is kept as `raw`."""
        said = object_in(line)
        kind = text_at(said, "type")
        if said is None or not kind:
            return raw(line)
        return kind, {key: value for key, value in said.items() if key != "type"}


def _unless_empty(option: str, value: str) -> list[str]:
    return [option, value] if value else []
