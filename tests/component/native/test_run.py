"""The native loop as a program, against the scripted model and a gateway, each on a real socket."""

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.door import TOKEN, Door, hang, scenario

RUN = Path(__file__).parents[3] / "images/sandbox/native/run"
LIMIT_S = 60


@dataclass
class Running:
    process: asyncio.subprocess.Process
    events: list[dict[str, Any]] = field(default_factory=list)

    async def until(self, kind: str, **facts: Any) -> dict[str, Any]:
        """Read on to an event of this kind that has these facts."""
        assert self.process.stdout is not None
        async with asyncio.timeout(LIMIT_S):
            while line := await self.process.stdout.readline():
                event: dict[str, Any] = json.loads(line)
                self.events.append(event)
                if event["type"] == kind and facts.items() <= event.items():
                    return event
        raise AssertionError(f"no {kind} event in {self.events}")

    async def end(self) -> tuple[dict[str, Any], int]:
        """The `ended` event and the exit code."""
        ended = await self.until("ended")
        return ended, await asyncio.wait_for(self.process.wait(), 10)

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [event for event in self.events if event["type"] == kind]


@asynccontextmanager
async def started(
    url: str, folder: Path, *more: str, token: str = TOKEN, model: str = "anthropic:m"
) -> AsyncIterator[Running]:
    workdir = folder / "work"
    workdir.mkdir(exist_ok=True)
    (folder / "system").write_text("You fix things.")
    (folder / "prompt").write_text("Fix it.")
    command = [sys.executable, "-I", str(RUN), "--model", model, "--workdir", str(workdir)]
    command += [
        "--system-file",
        str(folder / "system"),
        "--prompt-file",
        str(folder / "prompt"),
        *more,
    ]
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        limit=1 << 24,
        cwd=workdir,
        env={
            "SANDGATE_ENTRANCE": url,
            "SANDGATE_RUN_TOKEN": token,
            "HOME": str(folder / "home"),
            "PATH": "/usr/bin:/bin",
            "HTTP_PROXY": "http://127.0.0.1:9",
        },
    )
    try:
        yield Running(process)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def whole_run(
    door: Door, folder: Path, model: str = "anthropic:m"
) -> tuple[Running, dict[str, Any], int]:
    async with door.open(), started(door.url, folder, model=model) as running:
        ended, code = await running.end()
        return running, ended, code


WORK = """
      - say: I look.
        mcp: get_task
        capture: {what: 'fix (\\w+)'}
      - parallel:
          - shell: printf 'a = 1\\n' > {{what}}.py; ls
          - write: notes.txt
            content: "found {{what}}"
          - read: notes.txt
            expect: found pager
      - edit: "{{what}}.py"
        old: a = 1
        new: a = 2
      - shell: cat pager.py
        expect: {error: false, contains: a = 2}
      - mcp: submit_for_approval
        arguments: {summary: "Fixed {{what}}."}
"""


KILLED = """
scenario: 1
conversations:
  - name: first
    when: {prompt_number: 1}
    steps: [{shell: echo $$ > pid; sleep 300}]
  - name: later
    when: {prompt_number: 2}
    steps: [{say: all is there}]
"""


@pytest.mark.parametrize(
    ("model", "modern"),
    [("anthropic:m", True), ("anthropic:m", False), ("openai:m", True), ("google:m", True)],
)
async def test_a_task_is_worked_on_and_handed_in(
    tmp_path: Path,
    model: str,
    modern: bool,  # noqa: FBT001 - a table
) -> None:
    """CASE-70: both eras of MCP; every dialect."""
    door = Door(scenario(WORK), modern=modern, results={"get_task": "please fix pager"})
    running, ended, code = await whole_run(door, tmp_path, model)
    assert (ended["reason"], code) == ("submitted", 0), running.events
    assert running.of("started")[0]["tools"][-4:] == [
        "mcp__sandgate__get_task",
        "mcp__sandgate__add_comment",
        "mcp__sandgate__submit_for_approval",
        "mcp__sandgate__ask_questions",
    ]
    assert door.called == [("get_task", {}), ("submit_for_approval", {"summary": "Fixed pager."})]
    assert (tmp_path / "work/pager.py").read_text() == "a = 2\n"
    calls = [event["id"] for event in running.of("tool_call")]
    assert [event["id"] for event in running.of("tool_result")] == calls
    assert len(running.of("usage")) == 5
    assert all(
        event["input_tokens"] > 0 and event["output_tokens"] > 0 for event in running.of("usage")
    )


async def test_a_refused_token_ends_the_run_before_it_begins(tmp_path: Path) -> None:
    """CASE-71."""
    door = Door(scenario("      - say: x\n"))
    async with door.open(), started(door.url, tmp_path, token="sgr_other") as running:
        ended, code = await running.end()
    said = "Sandgate's tools can't be reached: 401: who are you?"
    assert (ended["reason"], ended["detail"], code) == ("tools", said, 1)
    assert running.of("started")[0]["unreachable"] == "401: who are you?"
    assert len(door.requests) == 1


async def test_an_entrance_that_restarts_is_waited_for(tmp_path: Path) -> None:
    """The runner is killed while the agent works: nothing is lost, nothing done twice."""
    steps = """
      - shell: touch begun; while [ -e begun ]; do sleep 0.05; done
      - mcp: add_comment
        arguments: {text: hi}
      - say: well
"""
    door = Door(scenario(steps))
    async with door.open():
        running_context = started(door.url, tmp_path)
        running = await running_context.__aenter__()
        await running.until("tool_call")
    try:
        await _exists(tmp_path / "work/begun")
        (tmp_path / "work/begun").unlink()
        retry = await running.until("retry")
        assert "can't be reached" in retry["reason"]
        async with door.open():
            ended, code = await running.end()
        assert (ended["reason"], code) == ("completed", 0)
        assert door.called == [("add_comment", {"text": "hi"})]
    finally:
        await running_context.__aexit__(None, None, None)


async def test_an_entrance_that_is_late_is_waited_for(tmp_path: Path) -> None:
    door = Door(scenario("      - say: x\n"))
    async with door.open():
        pass  # the port is known now, and nobody listens
    async with started(door.url, tmp_path) as running:
        assert "ConnectError" in (await running.until("retry"))["reason"]
        async with door.open():
            assert (await running.end())[0]["reason"] == "completed"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_signal_ends_the_run_and_the_command_that_runs(
    tmp_path: Path, number: signal.Signals
) -> None:
    steps = "      - shell: echo $$ > pid; sleep 300 & sleep 300\n"
    door = Door(scenario(steps))
    async with door.open(), started(door.url, tmp_path) as running:
        await running.until("tool_call")
        await _exists(tmp_path / "work/pid")
        started_at = time.monotonic()
        running.process.send_signal(number)
        ended, code = await running.end()
        assert time.monotonic() - started_at < 5
    assert (ended["reason"], ended["detail"], code) == (
        "interrupted",
        f"interrupted by {number.name}",
        1,
    )
    group = int((tmp_path / "work/pid").read_text())
    await _until(lambda: not _alive_in_group(group))


async def test_a_signal_ends_the_wait_for_the_model(tmp_path: Path) -> None:
    door = Door(scenario("      - say: x\n"), faults={"/model": [hang]})
    async with door.open(), started(door.url, tmp_path) as running:
        await running.until("started")
        await _until(lambda: any(path == "/model" for path, _ in door.requests))
        running.process.send_signal(signal.SIGINT)
        ended, code = await running.end()
    assert (ended["reason"], code) == ("interrupted", 1)


async def test_an_unknown_conversation_ends_the_run_before_anything_is_asked(
    tmp_path: Path,
) -> None:
    door = Door(scenario("      - say: x\n"))
    async with door.open(), started(door.url, tmp_path, "--resume", "0-none") as running:
        ended, code = await running.end()
    said = "there is no conversation 0-none: No such file or directory"
    assert (ended["reason"], ended["detail"], code) == ("error", said, 1)
    assert door.requests == []


async def test_a_loop_that_was_killed_is_gone_on_with(tmp_path: Path) -> None:
    """Its last call has no result: it gets one that says so."""
    door = Door(KILLED)
    async with door.open():
        async with started(door.url, tmp_path) as running:
            conversation = (await running.until("started"))["conversation"]
            await running.until("tool_call")
            await _exists(tmp_path / "work/pid")
            running.process.kill()
        os.killpg(int((tmp_path / "work/pid").read_text()), signal.SIGKILL)
        async with started(door.url, tmp_path, "--resume", conversation) as running:
            ended, code = await running.end()
    assert (ended["reason"], ended["detail"], code) == ("completed", "all is there", 0)
    (kept,) = (tmp_path / "home/.sandgate/conversations").iterdir()
    messages = [json.loads(line) for line in kept.read_text().splitlines()]
    assert [next(iter(message)) for message in messages] == [
        *["conversation", "prompt", "reply", "results", "prompt", "reply"]
    ]
    assert "may have happened" in messages[3]["results"]["results"][0]["text"]


async def test_the_repository_that_is_worked_on_is_never_imported(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    for name in ("anthropic", "httpx2", "json", "native"):
        (work / f"{name}.py").write_text("raise SystemExit('imported from the repository')")
    _, ended, _ = await whole_run(Door(scenario("      - say: x\n")), tmp_path)
    assert ended["reason"] == "completed"


async def test_what_is_missing_is_said_in_the_ended_event(tmp_path: Path) -> None:
    (tmp_path / "prompt").mkdir()
    process = await asyncio.create_subprocess_exec(
        *[sys.executable, "-I", str(RUN), "--model", "anthropic:m", "--workdir", str(tmp_path)],
        *["--system-file", str(tmp_path / "none"), "--prompt-file", str(tmp_path / "prompt")],
        stdout=asyncio.subprocess.PIPE,
        env={},
    )
    out, _ = await asyncio.wait_for(process.communicate(), LIMIT_S)
    assert process.returncode == 1
    assert json.loads(out)["detail"] == f"{tmp_path}/none can't be read: No such file or directory"


async def _exists(path: Path) -> None:
    await _until(lambda: path.exists() and (path.name != "pid" or path.read_text() != ""))


async def _until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(LIMIT_S):
        while not holds():  # noqa: ASYNC110 - what happens in another process has no event here
            await asyncio.sleep(0.02)


def _alive_in_group(group: int) -> bool:
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[2]) == group and fields[0] != "Z":
            return True
    return False
