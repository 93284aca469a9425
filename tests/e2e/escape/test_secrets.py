"""No secret is in a sandbox, or comes into it: not in a file, not in a process, not in an answer."""

import json
import re
import secrets
from collections.abc import Mapping

import pytest

from tests.e2e.escape.agent import Agent
from tests.e2e.escape.hunt import forms_of, hunt, key_files
from tests.e2e.escape.wire import OWN, Ask, send, status

pytestmark = [pytest.mark.docker, pytest.mark.timeout(240)]

PLAIN, PACKED = "/workspace/.canary", "/home/agent/.canary"
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@pytest.fixture(scope="module")
def kept(mole: Agent, neighbour: Agent) -> Mapping[str, bytes]:
    """The secrets of the installation, of both sandboxes' execd, and the neighbour's run token."""
    found = key_files(mole.house.here.keys)
    assert {"model.key", "githost.credential", "polarion-admin.token", "vault.key"} <= found.keys()
    return {
        **found,
        "the mole's execd": mole.execd_token.encode(),
        "the neighbour's execd": neighbour.execd_token.encode(),
        "the neighbour's run token": neighbour.run_token.encode(),
    }


def test_no_secret_is_anywhere_in_the_sandbox(mole: Agent, kept: Mapping[str, bytes]) -> None:
    """No secret is in a sandbox's files, environments, command lines or memory: plain, hex or base64.

    So none can be printed by accident (CASE-27), and the sandbox server's key is none of them (CASE-30).
    That the agent would find one is seen by a canary, put into a file and into an environment.
    """
    canary = secrets.token_urlsafe(32)
    half, other = canary[:20], canary[20:]
    planted = mole.do(
        f"A={half} B={other}; printf %s $A$B > {PLAIN}; base64 -w0 {PLAIN} > {PACKED};"
        f"CANARY=$(cat {PLAIN}) setsid sleep 300 >/dev/null 2>&1 & echo $!"
    )
    pid = planted.output.strip()
    try:
        found = hunt(mole, [*kept.values(), canary.encode()])
    finally:
        mole.do(f"kill {pid}; rm {PLAIN} {PACKED}")
    assert sorted(found) == sorted([PLAIN, PACKED, f"{pid} environ", f"{pid} memory"])


def test_the_run_token_is_the_only_secret_in_the_agents_environment(mole: Agent) -> None:
    """The agent's own environment holds nothing that looks like a secret but the run token."""
    lines = mole.do("env").output.splitlines()
    variables = dict(line.split("=", 1) for line in lines if "=" in line)
    token = variables["SANDGATE_RUN_TOKEN"]
    assert token.startswith("sgr_")
    telling = re.compile(r"KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH(?!OR|METHOD)", re.IGNORECASE)
    assert [name for name in variables if telling.search(name)] == ["SANDGATE_RUN_TOKEN"]
    secret_like = [
        name
        for name, value in variables.items()
        if re.search(r"[\w-]{30}", value.replace(token, "")) and not UUID.fullmatch(value)
    ]
    assert secret_like == []


def message(said: str) -> str:
    """A model call's body."""
    messages = [{"role": "user", "content": said}]
    return json.dumps({"model": "claude-sonnet-5", "max_tokens": 50, "messages": messages})


def test_no_answer_of_the_door_shows_a_secret(mole: Agent, kept: Mapping[str, bytes]) -> None:
    """No answer of the door, served or refused, ours or the host's, shows a secret in header or body."""
    house = mole.house
    git = f"/git/127.0.0.1:{house.here.ports.githost}/team"
    upload = "Content-Type: application/x-git-upload-pack-request"
    rpc = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    task = json.dumps({**rpc, "params": {"name": "get_task", "arguments": {}}})
    wrong = json.dumps({**rpc, "params": {"name": "get_work_item", "arguments": {"id": "no/such"}}})
    asked = {
        Ask(f"GET {git}/thing.git/info/refs?service=git-upload-pack"): 200,
        Ask(f"GET {git}/thing.git/info/refs?service=git-receive-pack"): 200,
        Ask(f"POST {git}/thing.git/git-upload-pack", "nonsense", (OWN, upload)): None,
        Ask(f"GET {git}/other.git/info/refs?service=git-upload-pack"): 403,
        Ask("POST /mcp", task): 200,
        Ask("POST /mcp", wrong): 200,
        Ask("POST /mcp", "nonsense"): 400,
        Ask("POST /model/anthropic/v1/messages", message("Hello.")): 200,
        Ask("POST /model/anthropic/v1/messages", message("REFUSE ME")): 400,
        Ask("POST /model/anthropic/v1/messages", "nonsense"): 400,
        Ask("POST /model/anthropic/v1/messages/count_tokens", message("Hello.")): 200,
        Ask("GET /healthz", headers=()): 200,
        Ask("GET /", headers=()): 401,
        Ask("TRACE /mcp"): 405,
    }
    answers = send(mole, *asked)
    for (ask, wanted), answer in zip(asked.items(), answers, strict=True):
        assert wanted in {None, status(answer)}, (ask, answer)
    all_of_it = "\n".join(answers)
    shown = [name for name, secret in kept.items() if any(f in all_of_it for f in forms_of(secret))]
    assert shown == []
    assert "sgr_" not in all_of_it
