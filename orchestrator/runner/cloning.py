"""The task's repository comes onto its disk, through the door; or is brought up to date there."""

import re

from entrance.errors import Unavailable
from orchestrator.domain.grants import door_name, folder_of
from orchestrator.domain.task import Task
from orchestrator.ports import Sandbox
from orchestrator.runner.order import PreparationFailed
from orchestrator.runner.world import World

CLONE = """\
set -eu
if [ -d "$DIR/.git" ]; then
  git -C "$DIR" fetch --quiet --prune origin
else
  git clone --quiet --no-tags --branch "$BASE" -- "$URL" "$DIR"
fi
"""
CLONE_TIMEOUT_S = 600.0
PASSES = re.compile(
    r"returned error: 5\d\d|could not resolve|failed to connect|connection (refused|reset|timed out)"
    r"|early eof|unexpected disconnect|operation timed out|empty reply",
    re.IGNORECASE,
)
"""What git says when the way to the repository is broken now, and not the request wrong."""


async def clone(world: World, task: Task, sandbox: Sandbox, token: str) -> str:
    """The folder in which the agent works.

    Raises: Unavailable, PreparationFailed.
    """
    if not task.repository:
        return "/workspace"
    workdir = f"/workspace/{folder_of(task.repository)}"
    done = await world.sandboxes.execute(
        sandbox,
        ["sh", "-c", CLONE],
        env={
            "SANDGATE_RUN_TOKEN": token,
            "URL": f"{world.entrance}/git/{door_name(task.repository)}",
            "BASE": task.base_branch,
            "DIR": workdir,
        },
        timeout_s=CLONE_TIMEOUT_S,
    )
    if done.exit_code != 0:
        what = f"git could not clone {task.repository} at {task.base_branch}"
        why = f"{what} (exit {done.exit_code}): {done.output.strip()[-600:]}"
        raise Unavailable(why) if PASSES.search(done.output) else PreparationFailed(why)
    return workdir
