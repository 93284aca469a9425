"""The single commands against a real API: what they ask for, print and answer."""

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from entrance.errors import Unavailable
from entrance.tool_policy import BeyondTools, ConnectionRules, Mode, ToolRule
from orchestrator.cli.codes import Code
from orchestrator.domain.run import Cause, Exit, Outcome, Run, RunState
from orchestrator.stack import local_git
from orchestrator.stack.installation import Installation
from tests.fakes.run import a_run
from tests.fakes.world import ENGAGEMENT, TASK
from tests.servers.api import Api
from tests.servers.command import sandgate_beside
from tests.servers.githosts.github import app_key

VALUE = "sk-ant-a-secret-of-the-tests"
EVIL = "x\x1b]0;owned\x07\u202e[red]y[/red]\u2028z"


async def a_stored_run(api: Api, **changes: object) -> Run:
    run = a_run(**changes)
    await api.fakes.runs.create(run)
    return run


async def test_an_agent_is_created(api: Api, tmp_path: Path) -> None:
    told = tmp_path / "instructions.md"
    told.write_text("Be kind.\n")
    done = await sandgate_beside(
        "agent", "create", "rex", "--model", "anthropic:m", "--instructions", str(told)
    )
    assert (done.code, done.out) == (0, "AGENTS/AGENTS-1: rex acts as bot-rex\n")
    assert api.hiring.agents[0].instructions == "Be kind.\n"


async def test_a_harness_is_named_with_either_dash_and_one_that_is_not_here_is_told(
    api: Api,
) -> None:
    for name in ("claude-code", "claude_code"):
        done = await sandgate_beside(
            "agent", "create", "cody", "--model", "anthropic:m", "--harness", name
        )
        assert done.code == 0
        assert "`sandgate up --harness claude_code`" in done.out
        assert api.hiring.agents[-1].harness == "claude_code"
    done = await sandgate_beside("agent", "create", "x", "--model", "a:m", "--harness", "pilot")
    assert (done.code, done.err) == (
        Code.USAGE,
        "--harness pilot: there is native|claude-code|codex\n",
    )


async def test_what_is_made_can_be_had_as_json(api: Api) -> None:
    done = await sandgate_beside("agent", "create", "rex", "--model", "anthropic:m", "--json")
    assert done.json == {"id": "AGENTS/AGENTS-1", "bot": "bot-rex"}
    await sandgate_beside(
        "secret", "set", "git", "--host", "git.example", "--kind", "git", stdin=VALUE.encode()
    )
    done = await sandgate_beside(
        *("hire", "rex", "--project", "DEMO", "--supervisor", "lead", "--budget", "5"),
        *("--repo", "https://git.example/a.git=git", "--read", "https://git.example/b.git"),
        "--json",
    )
    assert done.json == {"id": "DEMO/DEMO-1", "bot": "bot-rex", "standing": []}
    grants = api.hiring.hired[0].grants.repositories
    assert [(one.url, one.push, one.credential) for one in grants] == [
        ("https://git.example/a.git", True, "git"),
        ("https://git.example/b.git", False, None),
    ]


async def test_what_a_repositorys_host_is_comes_after_a_comma(api: Api) -> None:
    await sandgate_beside("agent", "create", "rex", "--model", "anthropic:m")
    hire = ("hire", "rex", "--project", "DEMO", "--supervisor", "lead", "--budget", "5", "--repo")
    url = "https://git.example/team/thing.git"
    more = f"{url},host=gitea,api=https://git.example/sub/api/v1,pull-requests=no"
    done = await sandgate_beside(*hire, more)
    assert done.code == 0, done.err
    (grant,) = api.hiring.hired[0].grants.repositories
    assert (grant.url, grant.host, grant.pull_requests) == (url, "gitea", False)
    assert grant.api == "https://git.example/sub/api/v1"
    for wrong, code in ((f"{url},host=svn", Code.USAGE), (f"{url},api=https://x", Code.REFUSED)):
        refused = await sandgate_beside(*hire, wrong)
        assert refused.code == code, refused


async def test_the_key_of_an_app_is_read_whole_from_stdin(api: Api) -> None:
    pem = app_key()[0]
    kind = ("--kind", "github-app:12345", "--host", "api.github.com", "--host", "github.com")
    done = await sandgate_beside("secret", "set", "hub", *kind, stdin=pem.encode())
    assert done.code == 0, done.err
    assert api.secrets.rows["hub"].meta["argument"] == "12345"
    refused = await sandgate_beside("secret", "set", "hub2", *kind, stdin=b"ghp_no-key-at-all")
    assert refused.code != 0
    assert "hub2" not in api.secrets.rows
    said = done.out + done.err + refused.out + refused.err
    assert not any(line in said for line in pem.splitlines())
    assert "no-key-at-all" not in said


async def test_what_was_made_of_a_path_is_said(
    api: Api, here: Installation, tmp_path: Path
) -> None:
    """A repository that is named by its path is served under a URL that one has not seen before."""
    folder = tmp_path / "thing"
    subprocess.run(["git", "init", "-q", str(folder)], check=True, timeout=30)  # noqa: ASYNC221
    try:
        done = await sandgate_beside(
            *("hire", "rex", "--project", "DEMO", "--supervisor", "lead", "--budget", "5"),
            *("--repo", str(folder)),
        )
        task = await sandgate_beside(
            *("task", "create", "--project", "DEMO", "--title", "x", "--repo", str(folder))
        )
    finally:
        local_git.service(here, {}).program.stop()
    assert (done.code, task.code) == (0, 0), done.err + task.err
    url = api.hiring.hired[0].grants.repositories[0].url
    for said in (done, task):
        assert said.out.splitlines()[1:] == [
            f"{folder} is served as {url}, with the secret githost; branches land in it"
        ]


async def test_a_task_is_created_from_a_file(api: Api, tmp_path: Path) -> None:
    text = tmp_path / "what.md"
    text.write_text("Line one.\nLine two.\n")
    done = await sandgate_beside(
        *("task", "create", "--project", "DEMO", "--title", "Fix [red]it[/red]"),
        *("--description", f"@{text}", "--assign", "rex"),
    )
    assert done.code == 0
    assert "sandgate run watch DEMO/DEMO-1" in done.out
    assert api.hiring.tasks[0].description == "Line one.\nLine two.\n"


@pytest.mark.parametrize("content", [None, b"\xff\xfe"], ids=["not there", "no text"])
async def test_a_file_that_can_not_be_read_is_named(
    api: Api, tmp_path: Path, content: bytes | None
) -> None:
    file = tmp_path / "what.md"
    if content:
        file.write_bytes(content)
    done = await sandgate_beside(
        "task", "create", "--project", "DEMO", "--title", "x", "--description", f"@{file}"
    )
    assert done.code == Code.NOT_FOUND
    assert done.err.startswith(f"{file} can't be read: ")
    assert not api.hiring.tasks


async def test_bad_input_is_said_in_the_apis_words(api: Api) -> None:
    done = await sandgate_beside("agent", "create", "rex!", "--model", "anthropic:m")
    assert done.code == Code.REFUSED
    assert done.err.startswith("name: String should match pattern")
    assert not api.hiring.agents


async def test_polarion_being_down_is_said(api: Api) -> None:
    api.hiring.down = True
    done = await sandgate_beside("agent", "create", "rex", "--model", "anthropic:m")
    assert (done.code, done.err) == (Code.FAILED, "Polarion can't be reached\n")


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n"], ids=["no line break", "LF", "CRLF"])
async def test_a_secret_is_read_from_stdin_and_shown_nowhere(
    api: Api, here: Installation, end: bytes
) -> None:
    done = await sandgate_beside(
        "secret", "set", "anthropic", "--host", "api.example", stdin=VALUE.encode() + end
    )
    assert done.code == 0
    assert done.out == "anthropic is sealed (version 1), for api.example only\n"
    assert VALUE not in done.out + done.err
    for file in here.home.rglob("*"):
        assert not file.is_file() or VALUE.encode() not in file.read_bytes()
    listed = await sandgate_beside("secret", "ls")
    assert "api.example" in listed.out
    assert VALUE not in listed.out
    assert api.secrets.rows["anthropic"].version == 1


@pytest.mark.parametrize(
    ("given", "code"),
    [
        pytest.param(b"", Code.USAGE, id="nothing"),
        pytest.param(b"\n", Code.USAGE, id="an empty line"),
        pytest.param(VALUE.encode() + b"\nmore of it\n", Code.USAGE, id="two lines"),
        pytest.param(VALUE.encode() + b" \n", Code.REFUSED, id="a blank at the end"),
        pytest.param(VALUE.encode() + b"\xff", Code.REFUSED, id="no text"),
        pytest.param(b"short\n", Code.REFUSED, id="too short"),
    ],
)
async def test_a_secret_that_will_not_do_is_refused_without_being_repeated(
    api: Api, given: bytes, code: Code
) -> None:
    done = await sandgate_beside("secret", "set", "anthropic", "--host", "x.example", stdin=given)
    assert done.code == code
    assert VALUE not in done.out + done.err
    assert "short\n" not in done.err
    assert not api.secrets.rows


async def test_runs_are_listed_one_a_line(api: Api) -> None:
    run = await a_stored_run(
        api, state=RunState.ENDED, outcome=Outcome.FAILED, cause=Cause.OOM, agent=EVIL
    )
    done = await sandgate_beside("run", "ls")
    assert done.code == 0
    assert len(done.out.splitlines()) == 2
    row = done.out.splitlines()[1]
    assert row.startswith(run.id)
    assert "failed" in row
    assert "[red]y[/red]" in row
    assert not set(done.out) & set("\x1b\x07\u202e\u2028")


async def test_json_is_all_that_is_printed(api: Api) -> None:
    run = await a_stored_run(api, agent=EVIL)
    listed = await sandgate_beside("run", "ls", "--json")
    assert json.loads(listed.out)[0]["agent"] == EVIL
    assert not set(listed.out) & set("\x1b\x07\u202e\u2028")
    shown = await sandgate_beside("run", "show", run.id, "--json")
    assert json.loads(shown.out)["id"] == run.id
    assert listed.err + shown.err == ""


async def test_a_run_is_found_by_its_tasks_id_too(api: Api) -> None:
    run = await a_stored_run(api)
    done = await sandgate_beside("run", "show", run.task, "--json")
    assert json.loads(done.out)["id"] == run.id


@pytest.mark.parametrize("command", ["show", "cancel", "transcript"])
@pytest.mark.parametrize("name", ["nope", "DEMO/DEMO-none", "../secrets", "a?b#c", "x y", "é"])
@pytest.mark.usefixtures("api")
async def test_what_is_not_there_is_not_found_at_once(command: str, name: str) -> None:
    done = await sandgate_beside("run", command, name)
    assert done.code == Code.NOT_FOUND
    assert done.err.startswith(("there is no run ", "task "))


async def test_a_task_without_a_run_says_what_holds_it_up(api: Api) -> None:
    done = await sandgate_beside("run", "show", "DEMO/DEMO-9")
    assert done.err == "task DEMO/DEMO-9 has no run: there is no task DEMO/DEMO-9\n"
    api.waits[TASK.id] = "bot-rex is busy with another task"
    done = await sandgate_beside("run", "show", TASK.id)
    assert done.err == f"task {TASK.id} has no run: it waits for {api.waits[TASK.id]}\n"


async def test_a_run_shows_what_it_pushed_and_why_it_ended_so(api: Api) -> None:
    push = {
        "seq": 1, "type": "decided", "kind": "git_push", "decision": "allow",
        "subject": "https://git.example/a", "detail": {"updates": [{"ref": "refs/heads/agent/DEMO-7/x"}]},
    }  # fmt: skip
    api.fakes.trail.extend([push, {**push, "seq": 2}])
    run = await a_stored_run(
        api, state=RunState.ENDED, outcome=Outcome.FAILED, cause=Cause.OOM,
        exit=Exit(137, detail="the harness ended"), evidence={"host": {"oom_kills": 2}},
    )  # fmt: skip
    done = await sandgate_beside("run", "show", run.id)
    rows = {line.split("  ")[0]: line for line in done.out.splitlines()}
    assert rows["pushed"].endswith("  agent/DEMO-7/x of https://git.example/a")
    assert "The kernel killed something in the sandbox for memory" in rows["why"]
    assert "2 kills for memory" in rows["why"]
    shown = json.loads((await sandgate_beside("run", "show", run.task, "--json")).out)
    assert shown["pushed"][0]["refs"] == ["refs/heads/agent/DEMO-7/x"]


async def test_a_run_is_cancelled_once_and_not_when_it_is_over(api: Api) -> None:
    run = await a_stored_run(api)
    done = await sandgate_beside("run", "cancel", run.id)
    assert (done.code, done.out) == (0, f"{run.id} is queued and will be stopped\n")
    over = await a_stored_run(api, state=RunState.ENDED, outcome=Outcome.SUBMITTED)
    done = await sandgate_beside("run", "cancel", over.id)
    assert done.code == Code.REFUSED
    assert done.err == f"run {over.id} has ended already: submitted\n"


async def test_a_transcript_goes_to_stdout_harmlessly_or_to_a_file_as_it_is(
    api: Api, tmp_path: Path
) -> None:
    run = await a_stored_run(api)
    await api.world.tell(run.id, [("text", {"text": EVIL}), ("text", {"text": "two"})])
    done = await sandgate_beside("run", "transcript", run.id)
    rows = [json.loads(line) for line in done.out.splitlines()]
    assert [row["data"]["text"] for row in rows] == [EVIL, "two"]
    assert not set(done.out) & set("\x1b\x07\u202e\u2028")
    out = tmp_path / "t.jsonl"
    done = await sandgate_beside("run", "transcript", run.id, "--out", str(out))
    assert (done.code, done.out) == (0, "")
    assert [json.loads(line)["seq"] for line in out.read_bytes().split(b"\n")[:-1]] == [0, 1]
    assert "\u202e" in out.read_text()


async def test_a_transcript_that_breaks_off_leaves_no_half_file(api: Api, tmp_path: Path) -> None:
    run = await a_stored_run(api)
    api.fakes.runs.down = True
    out = tmp_path / "t.jsonl"
    done = await sandgate_beside("run", "transcript", run.id, "--out", str(out))
    assert done.code != 0
    done = await sandgate_beside("run", "transcript", run.id, "--out", str(tmp_path / "no" / "x"))
    assert done.code != 0
    assert list(tmp_path.glob("*.jsonl*")) == []
    assert list(tmp_path.glob(".t*")) == []


async def test_the_doctors_exit_code_is_its_finding(api: Api) -> None:
    async def well() -> str:
        return "it answers"

    async def ill() -> str:
        raise Unavailable("[red]it doesn't[/red]")

    api.checks["PocketBase"] = well
    assert (await sandgate_beside("doctor")).code == 0
    api.checks["Polarion"] = ill
    done = await sandgate_beside("doctor")
    assert done.code == Code.FAILED
    assert "[red]it doesn't[/red]" in done.out
    done = await sandgate_beside("doctor", "--json")
    assert [check["ok"] for check in json.loads(done.out)] == [True, False]


async def test_another_token_than_the_runners_is_said(api: Api, here: Installation) -> None:
    (here.keys / "api.token").write_text("another")
    done = await sandgate_beside("run", "ls")
    assert done.code == Code.FAILED
    assert "Bearer" in done.err
    assert api.base


async def test_who_is_hired_is_listed_with_all_that_is_granted(api: Api) -> None:
    wiki = ConnectionRules(
        {"read_page": ToolRule(Mode.READ)},
        more=BeyondTools(frozenset({"greet"}), ("wiki://*",), frozenset({"elicitation"})),
    )
    grants = replace(ENGAGEMENT.grants, tools={}, tool_rules={"wiki": wiki})
    api.fakes.tracker.hired[ENGAGEMENT.id] = replace(ENGAGEMENT, grants=grants)
    done = await sandgate_beside("agent", "hired")
    assert done.code == 0, done.err
    told = " ".join(done.out.split())
    assert "wiki: read_page (read), others: approval" in told
    assert "prompts: greet, resources: wiki://*, asks: elicitation" in told
