"""What an agent leaves in its workspace is never followed, read or run by the host."""

import os
from collections.abc import Callable
from pathlib import Path

import aiohttp
import pytest
from yarl import URL

from orchestrator.adapters.polarion import KeyedLocks, PolarionClient
from tests.e2e.escape.agent import Agent, obeying
from tests.e2e.house import House

pytestmark = [pytest.mark.docker, pytest.mark.timeout(240)]

PLANT = """
rm -rf /home/agent/.sandgate
ln -s {host} /home/agent/.sandgate
ln -s {host}/secret /workspace/secret
ln -s /etc/shadow /workspace/thing/shadow
ln -s {host} /workspace/thing/folder
cd /workspace/thing
git config core.fsmonitor 'touch {host}/ran'
git config core.sshCommand 'touch {host}/ran'
for hook in post-checkout post-merge pre-push reference-transaction fsmonitor-watchman; do
  printf '#!/bin/sh\\ntouch {host}/ran\\n' > .git/hooks/$hook && chmod +x .git/hooks/$hook
done
printf 'touch {host}/ran\\n' | tee /home/agent/.bashrc /home/agent/.profile > /home/agent/.bash_profile
git status > /dev/null 2>&1
ls {host}
"""


async def test_what_an_agent_plants_reaches_nothing_of_the_host(
    leaver: Callable[[], Agent], tmp_path: Path
) -> None:
    """No link, hook or start-up file that an agent leaves on its disk is followed or run by the host.

    The run ends, its record is written, a second run of the same task is prepared on the same disk:
    whatever follows a link or runs a hook does so inside, where the host's folder is not.
    """
    host = tmp_path / "host"
    host.mkdir()
    secret = host / "secret"
    secret.write_text("the host's own")
    os.utime(secret, (0, secret.stat().st_mtime))  # a reader would leave its mark
    first = leaver()
    planted = first.do(f"mkdir -p {host}; {PLANT.format(host=host)}")
    assert planted.output == "ran\n", "what was planted does not work"
    first.end()
    second = await woken(first)
    try:
        seen = second.do(f"ls -L /home/agent/.sandgate; cat /workspace/secret; head -1 {SHADOW}")
        assert "prompt.md" in seen.output, "nothing followed the link, not even inside"
        assert "the host's own" not in seen.output
        assert "root:" not in seen.output
    finally:
        second.end()
    assert secret.stat().st_atime == 0, "the host read it"
    assert [file.name for file in host.iterdir()] == ["secret"]
    assert secret.read_text() == "the host's own"
    transcript = first.house.here.home / "data" / "transcripts" / f"{second.run['id']}.jsonl"
    assert "the host's own" not in transcript.read_text()


SHADOW = "/workspace/thing/shadow"


async def woken(agent: Agent) -> Agent:
    """The agent's task, answered by a person, in its next run."""
    task = str(agent.run["task"])
    await answer(agent.house, task, str(agent.run["agent"]))
    agent.house.wait(task, lambda run: run["id"] != agent.run["id"])
    return obeying(agent.house, agent.engine, task)


async def answer(house: House, task: str, bot: str) -> None:
    """What a person does in Polarion who gives a task back to its agent."""
    token = (house.here.keys / "polarion-admin.token").read_text().strip()

    async def authorize(method: str, url: URL) -> dict[str, str]:
        del method, url
        return {"Authorization": f"Bearer {token}"}

    url = f"http://127.0.0.1:{house.here.ports.polarion}/polarion/rest/v1"
    async with aiohttp.ClientSession() as http:
        client = PolarionClient(http, url, authorize, locks=KeyedLocks())
        await client.items.update(task, assignees=[bot], workflow_action="answer")
