"""Puts honeytokens into a sandbox before its agent comes, in place of those of the run before."""

import structlog

from entrance.honeytokens.canaries import canaries_of, files_of
from entrance.session import RunId
from orchestrator.domain.run import Run
from orchestrator.ports import Sandbox
from orchestrator.runner.world import World

log = structlog.get_logger()

PLANT = """\
umask 077
n=0
while [ $n -lt "$COUNT" ]; do
  eval "path=\\$PATH_$n text=\\$TEXT_$n"
  folder=${path%/*}
  if [ -L "$folder" ] || [ ! -d "$folder" ]; then rm -rf -- "$folder"; fi
  rm -rf -- "$path"
  mkdir -p -- "$folder" && printf %s "$text" > "$path" || exit 1
  n=$((n + 1))
done
"""
"""An agent before may have left anything in their place: a link must not lead into the repository."""
EARLIER = 3
"""Canaries of so many runs of the task before are looked for, too: their agents may have kept them."""


async def whose_honeytokens(world: World, run: Run) -> tuple[RunId, ...]:
    """The runs whose canaries may be on the task's disk or in its conversations; newest first."""
    if not world.honey_key:
        return ()
    before = await world.runs.recent(EARLIER + 1, run.task)
    return (run.id, *[one.id for one in before if one.id != run.id][:EARLIER])


async def plant(world: World, sandbox: Sandbox, run: RunId) -> None:
    """Write the run's canaries as the sandbox's user. A full disk has none, and that is logged.

    Raises: Unavailable, NotFound (the sandbox is lost).
    """
    if not world.honey_key:
        return
    files = files_of(canaries_of(world.honey_key, run))
    env = {"COUNT": str(len(files))}
    for number, (path, text) in enumerate(files.items()):
        env |= {f"PATH_{number}": path, f"TEXT_{number}": text}
    done = await world.sandboxes.execute(sandbox, ["sh", "-c", PLANT], env=env)
    if done.exit_code != 0:
        log.warning("honeytokens_not_planted", run=run, said=done.output.strip()[-300:])
